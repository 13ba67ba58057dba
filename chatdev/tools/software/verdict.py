"""From a finding to the verdict agents read: short, and the same whenever the same thing happened."""

from __future__ import annotations

import functools
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chatdev.sandbox.base import Execution
from chatdev.tools.base import Verdict
from chatdev.tools.software import knowledge
from chatdev.tools.software.trace import Trace, last_traceback

_FRAMES = 6
_TAIL_LINES, _TAIL_CHARACTERS = 15, 1500
_NO_ERROR: Mapping[str, Any] = {"errors": (), "frames": (), "exception": "", "stderr": "", "compiler": ""}
_PYTHON: Mapping[str, Any] = {"language": "Python", "expected": "main.py"}  # what a finding speaks of by default
_CHANGING = ((re.compile(r"0x[0-9a-fA-F]{6,}"), "0x…"), (re.compile(r"/tmp/[\w.-]+"), "/tmp/…"))


@dataclass(frozen=True, slots=True)
class Finding:
    """Which rule applies, what the report says of it, and what machines may want to know."""

    rule: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)


def verdict(finding: Finding) -> Verdict:
    """The verdict of the rule in `rules.yaml`, with its report."""
    rule = knowledge.rules()[finding.rule]
    facts = {"command": "", "stdout": "", "reasons": {}, **_PYTHON, **_NO_ERROR, **finding.facts}
    if rule["passed"]:
        facts |= _NO_ERROR  # what a passing program says on stderr is no concern of its programmer
    says = template(rule["says"]).render(facts).strip()
    report = template(knowledge.report_template()).render(facts, says=says).strip()
    return Verdict(rule["passed"], report, float(rule["score"]), {"rule": finding.rule, **finding.evidence},
                   judged=rule.get("judged", True))


def facts_of(execution: Execution, files: Mapping[str, bytes], places: Mapping[str, str]) -> dict[str, Any]:
    """What a report says of an execution. `places` maps folders that differ from run to run to what is shown."""
    stderr = plainly(execution.stderr, places)
    trace = last_traceback(stderr)
    return {
        "exit_status": execution.exit_status, "signal": _signal_name(execution.signal),
        "still_running": execution.timed_out, "exceeded": execution.exceeded,
        "frames": _own_frames(trace, files), "exception": trace.exception if trace else "",
        "stderr": "" if trace else _tail(stderr), "stdout": _tail(plainly(execution.stdout, places)),
        "printed": f"{execution.stdout}\n{execution.stderr}",
    }


def plainly(text: str, places: Mapping[str, str]) -> str:
    """What a program wrote, without that which differs from run to run."""
    for folder, shown in places.items():
        text = text.replace(folder, shown)
    for pattern, shown in _CHANGING:
        text = pattern.sub(shown, text)
    return text


def _signal_name(number: int | None) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else str(number)


def _own_frames(trace: Trace | None, files: Mapping[str, bytes]) -> Sequence[Mapping[str, Any]]:
    """The innermost frames in the software itself, or the innermost ones of all when none are."""
    if trace is None:
        return ()
    own = [frame for frame in trace.frames if frame.path in files] or list(trace.frames[-2:])
    return [asdict(frame) for frame in own[-_FRAMES:]]


def _tail(text: str) -> str:
    """The last lines that matter."""
    return "\n".join(text.strip().splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]


@functools.cache
def template(source: str) -> Any:
    """A report's template, from its text."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)
