"""A command that a program wants before all others, such as `init`: who tries the program finds that out from what it
says, and a trial by looking whether other commands do more after it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from chatdev.errors import WorkspaceError
from chatdev.tools.software.cases.case import Start
from chatdev.tools.software.plan import Plan
from chatdev.tools.software.probe import Probe, is_done, text_of


def begin_with_needed(plan: Plan, probe: Probe) -> Plan:
    """The plan with such a command before the Tester's own ones, if there is one that the plan lacks."""
    with suppress(WorkspaceError):  # it may leave what cannot be copied
        if start := _find_needed(probe):
            return replace(plan, own=replace(probe.own, starts=(start, *probe.own.starts)))
    return plan


def _find_needed(probe: Probe) -> Start | None:
    """The start that the first planned command with something behind it needs, if it needs one."""
    later = next((start for start in probe.own.starts if len(start.arguments) > 1), None)
    planned = {start.arguments[:1] for start in probe.own.starts}
    starts = [Start((word,)) for word in probe.words_of("begins") if (word,) not in planned]
    return next((start for start in starts if later and _opens(probe, start, later)), None)


def _opens(probe: Probe, start: Start, later: Start) -> bool:
    """Whether another start changes files, and says something else, only once this one was carried out."""
    with probe.fresh_copy() as folder:
        before, changed = probe.run_and_look(folder, later)
    if changed:
        return False
    with probe.fresh_copy() as folder:
        begun, has_begun = probe.run_and_look(folder, start)
        if not (has_begun and is_done(begun)):
            return False
        after, changed = probe.run_and_look(folder, later)
    return changed and is_done(after) and text_of(after) != text_of(before)
