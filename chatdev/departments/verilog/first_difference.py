"""When an answer differs from its reference, and since when the bench minds it.

A bench may complain long after the mistake: it counts high levels over 256 clocks, or prints once at its end. And there
are differences that it never looks at: data beside a valid of 0, values before a reset. So it is asked: outputs are
played to it that are the answer's up to a time and the reference's from then on, and the earliest time is looked for
from which it complains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatdev.departments.verilog.answer import Answer
from chatdev.departments.verilog.bench import HiddenBench, add_parameters
from chatdev.departments.verilog.bench_report import BenchReport, PrintedLine, severe_lines
from chatdev.departments.verilog.design.design import Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.simulation import SimulationResult, simulate_unexamined
from chatdev.departments.verilog.target import ICARUS
from chatdev.departments.verilog.waveform.comparison import ANSWER, REFERENCE, Pair, are_different, find_pairs
from chatdev.departments.verilog.waveform.lookback import Step, bit_count
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.sandbox.base import Sandbox

_MOST_STEPS, _MOST_BITS = 20_000, 1 << 22  # of outputs that are played
_SECONDS = 10.0  # that all plays may take together


@dataclass(frozen=True, slots=True)
class SeenDifference:
    """At `time` these outputs got values that differ from the reference's; `is_known` where one of them has no unknown
    bit."""

    time: int
    outputs: tuple[str, ...]
    is_known: bool


@dataclass(frozen=True, slots=True)
class SeenDifferences:
    """The first ones of a simulation in the order of time, and the outputs that differ at its last time, each since
    when."""

    every: Sequence[SeenDifference]
    lasting: Mapping[str, int]

    @classmethod
    def find(cls, waves: Waves, root: str, until: float = math.inf) -> SeenDifferences:
        """Those up to a time, that included; raises WaveformError."""
        partners, values, lasting = pairs_of(waves, root), dict[str, str](), dict[str, int]()
        every: list[SeenDifference] = []
        for time, changed in waves.steps(partners, until + 1):
            values |= changed
            outputs, is_known = list[str](), False
            for output, pair in {output_of(partners[name]): partners[name] for name in changed}.items():
                given = values.get(pair.answer, "x")
                if are_different(values.get(pair.reference, "x"), given):
                    lasting.setdefault(output, time)
                    outputs.append(output)
                    is_known = is_known or not given.strip("01")
                else:
                    lasting.pop(output, None)
            if outputs and len(every) < _MOST_STEPS:
                every.append(SeenDifference(time, tuple(outputs), is_known))
        return cls(every, lasting)

    def begun_at(self, time: int) -> SeenDifference | None:
        """The one of this time."""
        return next((one for one in self.every if one.time == time), None)

    @property
    def likely_first(self) -> SeenDifference | None:
        """The one to begin with where nobody asks the bench: that since when the outputs differ that differ to the end;
        where none does, the first one that is no lack of a value."""
        start = min(self.lasting.values(), default=None)
        known = [one for one in self.every if (one.is_known if start is None else one.time == start)]
        return next(iter((*known, *self.every)), None)


def pairs_of(waves: Waves, root: str) -> dict[str, Pair]:
    """Both sides of each output, by the name of either."""
    pairs = [pair for pair in find_pairs(waves.signals) if pair.reference.rpartition(".")[0] == root]
    return {name: pair for pair in pairs for name in (pair.reference, pair.answer)}


def output_of(pair: Pair) -> str:
    """Its name."""
    return pair.reference.rpartition(".")[2].removesuffix(REFERENCE)


def find_minded(found: SimulationResult, answer: Answer, bench: HiddenBench, sandbox: Sandbox,
                folder: Path) -> int | None:
    """The time of the first difference from the reference without which the bench would not have complained as it did
    first. None where that need not be asked or cannot be told: the bench names the output by itself, there is no
    reference, plays would take too long, or the bench does not take a played reference for a right one. Raises as
    `simulate_answer`."""
    time = _time_of_complaint(found.report)
    if found.waves is None or time is None or not bench.reference or bench.target.simulator != ICARUS:
        return None
    waves = Waves.open(found.waves)
    times = [one.time for one in SeenDifferences.find(waves, bench.layout.root, time).every]
    if len(times) == 1:
        return times[0]
    tries = 2 + math.ceil(math.log2(len(times) + 1))
    may_try = 0 < len(times) < _MOST_STEPS and tries * found.seconds <= _SECONDS
    play = _Play.of(waves, answer, bench) if may_try else None
    return _search(times, _Listener(play, bench, sandbox, folder, time)) if play else None


def _time_of_complaint(report: BenchReport | None) -> int | None:
    """When a bench first complained that names no output by itself."""
    if report is None or report.first_complaint is None or any(one.count for one in report.outputs.values()):
        return None
    return report.first_complaint.time


def _search(times: Sequence[int], heard: _Listener) -> int | None:
    """The first of the times whose difference, with all before it, makes the bench complain."""
    silent, loud = 0, len(times)  # how many differences are played
    right = heard.lines(times[0])
    if right is None or heard.lines(None) in (None, right):
        return None
    while loud - silent > 1:
        middle = (silent + loud) // 2
        silent, loud = (middle, loud) if heard.lines(times[middle]) == right else (silent, middle)
    return times[loud - 1]


@dataclass(frozen=True, slots=True)
class _Play:
    """A module with the ports of the answer, whose outputs do what was recorded. `steps` hold for each time what
    changed on either side, by the name of the output."""

    top: str
    timescale: str
    parameters: Sequence[tuple[str, str]]
    ports: Sequence[Port]
    widths: Mapping[str, int]
    steps: Sequence[tuple[Any, ...]]

    @classmethod
    def of(cls, waves: Waves, answer: Answer, bench: HiddenBench) -> _Play | None:
        """None where an output was not recorded on both sides, too much happens, or the answer cannot be read."""
        target, pairs = add_parameters(bench, answer.text), pairs_of(waves, bench.layout.root)
        try:
            ports = read_design(answer.text, target).ports
        except DesignError:
            return None
        names = {side: output_of(pair) for side, pair in pairs.items()}
        can_be_played = all(_can_be_played(port, names.values()) for port in ports)
        steps = _read_steps(waves, names) if can_be_played else None
        if steps is None:
            return None
        split = [(time, *(_side_of(step, side, names) for side in (REFERENCE, ANSWER))) for time, step in steps]
        return cls(target.top, waves.timescale, target.parameters, ports,
                   {name: waves.signals[side].width for side, name in names.items()}, split)

    def text(self, switch: int | None) -> str:
        """The source: the outputs are the answer's up to the switch, if there is one, and the reference's from there
        on. They change as registers do, after a bench has looked at an edge."""
        ports = ", ".join(f"{'input' if port.direction == 'in' else 'output reg'} [{port.width - 1}:0] {port.name}"
                          for port in self.ports)
        given = ", ".join(f"parameter {name} = {value}" for name, value in self.parameters)
        return "\n".join([f"`timescale {self.timescale}/{self.timescale}",
                          f"module {self.top} {f'#({given}) ' if given else ''}({ports});", "initial begin",
                          *self._statements(switch), "end", "endmodule\n"])

    def _statements(self, switch: int | None) -> Iterator[str]:
        now, right = 0, dict[str, str]()
        for time, wanted, given in self.steps:
            right |= wanted
            plays_answer = switch is None or time < switch
            values = right if time == switch else given if plays_answer else wanted
            if values:
                yield f"#{time - now} " + " ".join(f"{name} <= {self.widths[name]}'b{bits};"
                                                   for name, bits in values.items())
                now = time


def _can_be_played(port: Port, recorded: Iterable[str]) -> bool:
    """Whether it is an input, or an output of which both sides were recorded."""
    return port.name.isidentifier() and (port.direction == "in" or (port.direction == "out" and port.name in recorded))


def _side_of(step: Mapping[str, str], side: str, names: Mapping[str, str]) -> dict[str, str]:
    """What changed on one side, by the names of the outputs."""
    return {names[name]: bits for name, bits in step.items() if name.endswith(side)}


def _read_steps(waves: Waves, names: Iterable[str]) -> list[Step] | None:
    """What the outputs did; None where that is too much to be played."""
    steps, held = list[Step](), 0
    for step in waves.steps(names):
        steps.append(step)
        held += bit_count(step)
        if len(steps) > _MOST_STEPS or held > _MOST_BITS:
            return None
    return steps


@dataclass(frozen=True, slots=True)
class _Listener:
    """Plays to a bench, and hears what it says at the time of its complaint."""

    play: _Play
    bench: HiddenBench
    sandbox: Sandbox
    folder: Path
    time: int

    def lines(self, switch: int | None) -> list[str] | None:
        """What it prints then of the answer's outputs up to the time of the switch, and the reference's from there on;
        None where it does not come to its end."""
        place = self.folder / f"play-{'whole' if switch is None else switch}"
        place.mkdir()
        bench = self.bench.marked("played")  # nothing that is played knows or prints the mark
        ran = simulate_unexamined(self.play.text(switch), bench, self.sandbox, place)
        if ran.report is None:
            return None
        said: Iterable[PrintedLine] = (*bench.lines_of(ran.printed), *severe_lines(ran.printed))
        return [line.text for line in said if line.time == self.time]
