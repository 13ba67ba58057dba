"""A trial of likely examples: the software is started as its request seems to show, and what it prints is looked for
there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from chatdev.tools.software.cases.case import Start
from chatdev.tools.software.cases.comparison import printed_lines
from chatdev.tools.software.cases.likely import LikelyExample, best_of
from chatdev.tools.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.tools.software.toolchains.verdict import Finding

_MOST_STARTS, _MOST_ENDLESS = 40, 2
_SURE_RANK = 1  # up to which an example that holds leaves no other one to try


@dataclass(frozen=True, slots=True)
class LikelyTrial:
    """How many of the starts that the request seems to show print what stands there. `shown`: it surely shows some;
    `seen` is what one of these printed, and does not stand there."""

    held: int
    there: int
    shown: bool
    seen: Finding | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the software does what the request seems to show."""
        return self.held == self.there

    @property
    def counts(self) -> tuple[int, int] | None:
        """The examples that hold, of how many; None where perhaps there are none."""
        return (self.held, self.there) if self.confirmed or self.shown else None


def try_likely(toolchain: Toolchain, built: BuiltSoftware, examples: Sequence[LikelyExample], request: str,
               command: str, alone: Finding) -> LikelyTrial | None:
    """Try the likely examples of a request until a sure one holds; None where there are none. `alone` is how the
    software went without any input: what it says then says nothing of an example."""
    trial = _Trial(toolchain, built, {_output_of(alone)})
    held, seen = list[tuple[LikelyExample, int]](), list[Finding]()
    for example in examples:
        if not trial.has_time_for(example):
            break
        findings = trial.start_all(example)
        count = example.count_held([trial.output(example, finding) for finding in findings], request, command)
        held.append((example, count))
        seen += findings[:1] if example.shown and not count else []
        if example.rank <= _SURE_RANK and example.is_all(count):
            break
    if not held:
        return None
    return LikelyTrial(*best_of(held), any(example.shown for example, _ in held), next(iter(seen), None))


@dataclass(slots=True)
class _Trial:
    """The starts of one software; `idle` is what it prints without any input."""

    toolchain: Toolchain
    built: BuiltSoftware
    idle: set[str]
    starts: int = 0
    endless: int = 0
    _idle_with: dict[object, str] = field(default_factory=dict)

    def has_time_for(self, example: LikelyExample) -> bool:
        """Whether the trial comes to its end with this example, too."""
        return self.starts + len(example.starts) <= _MOST_STARTS and self.endless <= _MOST_ENDLESS

    def start_all(self, example: LikelyExample) -> list[Finding]:
        """The starts of an example, one after another in a fresh copy."""
        starts = [Start(start.arguments, start.stdin) for start in example.starts]
        if example.files and (key := (tuple(example.files), starts[0].arguments)) not in self._idle_with:
            finding, = self._run(dict.fromkeys(example.files, ""), starts[:1])
            self._idle_with[key] = _output_of(finding)
        return self._run(example.files, starts)

    def output(self, example: LikelyExample, finding: Finding) -> str | None:
        """What a start printed, unless it ended by an error, or prints it without what comes in, too."""
        said = _output_of(finding)
        is_idle = said in self.idle or (example.files and said in self._idle_with.values())
        return None if finding.facts.get("exception") or (is_idle and example.has_input) else said

    def _run(self, files: Mapping[str, str], starts: Collection[Start]) -> list[Finding]:
        with self.built.copy(files) as folder:
            findings = [self.toolchain.start(folder, start, ends=True) for start in starts]
        self.starts += len(findings)
        self.endless += sum(bool(finding.facts.get("still_running")) for finding in findings)
        return findings


def _output_of(finding: Finding) -> str:
    """What a program printed."""
    stdout, stderr = finding.facts.get("streams", ("", ""))
    return "\n".join(printed_lines(stdout, stderr, finding.facts.get("exit_status")))
