"""A command that a program wants before all others, such as `init`: who tries the program finds that out from what it
says, and a trial by looking whether other commands do more after it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.trial.plan import Plan
from chatdev.departments.software.trial.probe import NoTimeLeft, Probe, is_done
from chatdev.errors import WorkspaceError


def begin_with_needed(plan: Plan, probe: Probe) -> Plan:
    """The plan with such a command before the Tester's own ones, if there is one that the plan lacks."""
    with suppress(WorkspaceError, NoTimeLeft):  # it may leave what cannot be copied
        if start := _find_needed(probe):
            return replace(plan, own=replace(probe.own, starts=(start, *probe.own.starts)))
    return plan


def _find_needed(probe: Probe) -> Start | None:
    """The start without which the first planned command that has something behind it keeps nothing, if there is one."""
    later = next((start for start in probe.own.starts if len(start.arguments) > 1), None)
    starts = _unplanned_beginnings(probe)
    if later is None or not starts:
        return None
    with probe.fresh_copy() as folder:
        alone, changed = probe.run_and_look(folder, later)
    return None if changed else next((start for start in starts if _opens(probe, start, later, alone.said)), None)


def _unplanned_beginnings(probe: Probe) -> list[Start]:
    planned = {start.arguments[:1] for start in probe.own.starts}
    return [Start((word,)) for word in probe.words_of("begins") if (word,) not in planned]


def _opens(probe: Probe, start: Start, later: Start, alone: str) -> bool:
    """Whether the other start changes files, and says something else than `alone`, once this one was carried out."""
    with probe.fresh_copy() as folder:
        begun, has_begun = probe.run_and_look(folder, start)
        if not (has_begun and is_done(begun)):
            return False
        after, changed = probe.run_and_look(folder, later)
    return changed and is_done(after) and after.said != alone
