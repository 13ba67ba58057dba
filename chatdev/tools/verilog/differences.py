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

from chatdev.sandbox.base import Sandbox
from chatdev.tools.verilog.answer import Answer
from chatdev.tools.verilog.bench import HiddenBench, add_parameters
from chatdev.tools.verilog.bench_report import PrintedLine, severe_lines
from chatdev.tools.verilog.design.design import Port
from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.design.facts import read_design
from chatdev.tools.verilog.simulation import SimulationResult, simulate_unexamined
from chatdev.tools.verilog.target import ICARUS
from chatdev.tools.verilog.waveform.comparison import ANSWER, REFERENCE, Pair, are_different, find_pairs
from chatdev.tools.verilog.waveform.steps import Step, bit_count
from chatdev.tools.verilog.waveform.waves import Waves

_MOST_STEPS, _MOST_BITS = 20_000, 1 << 22  # of outputs that are played
_SECONDS = 10.0  # that all plays may take together


@dataclass(frozen=True, slots=True)
class Difference:
    """At `time` these outputs got values that differ from the reference's; `is_known` where one of them has no unknown
    bit."""

    time: int
    outputs: tuple[str, ...]
    is_known: bool


@dataclass(frozen=True, slots=True)
class Differences:
    """The first ones of a simulation in the order of time, and the outputs that differ at its last time, each since
    when."""

    every: Sequence[Difference]
    lasting: Mapping[str, int]

    @classmethod
    def find(cls, waves: Waves, root: str, until: float = math.inf) -> Differences:
        """Those up to a time, that included; raises WaveformError."""
        partners, values, every, lasting = pairs_of(waves, root), dict[str, str](), list[Difference](), dict[str, int]()
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
                every.append(Difference(time, tuple(outputs), is_known))
        return cls(every, lasting)

    @property
    def likely_first(self) -> Difference | None:
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
    report, complaint = found.report, found.report.first_complaint if found.report else None
    if report is None or complaint is None or complaint.time is None or found.waves is None:
        return None
    if any(one.count for one in report.outputs.values()) or not bench.reference or bench.target.simulator != ICARUS:
        return None
    waves, root = Waves.open(found.waves), bench.layout.root
    every = Differences.find(waves, root, complaint.time).every
    tries = 2 + math.ceil(math.log2(len(every) + 1))
    if len(every) < 2 or len(every) >= _MOST_STEPS or tries * found.seconds > _SECONDS:
        return every[0].time if len(every) == 1 else None
    try:
        play = _Play.of(waves, answer, bench)
    except DesignError:
        return None
    heard = _Listener(play, bench, sandbox, folder, complaint.time) if play else None
    return _search([one.time for one in every], heard) if heard else None


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
    steps: Sequence[tuple[int, dict[str, str], dict[str, str]]]

    @classmethod
    def of(cls, waves: Waves, answer: Answer, bench: HiddenBench) -> _Play | None:
        """None where an output was not recorded on both sides, or too much happens; raises DesignError."""
        target = add_parameters(bench, answer.text)
        ports = read_design(answer.text, target).ports
        both = {output_of(pair): pair for pair in pairs_of(waves, bench.layout.root).values()}
        outputs = [port.name for port in ports if port.direction != "in"]
        names = {side: name for name in outputs if name in both
                 for side in (both[name].reference, both[name].answer)}
        is_whole = len(names) == 2 * len(outputs) and all(port.direction != "inout" for port in ports)
        if not is_whole or not all(port.name.isidentifier() for port in ports):
            return None
        steps, held = list[Step](), 0
        for step in waves.steps(names):
            steps.append(step)
            held += bit_count(step)
            if len(steps) > _MOST_STEPS or held > _MOST_BITS:
                return None
        split = [(time, {names[name]: bits for name, bits in step.items() if name.endswith(REFERENCE)},
                  {names[name]: bits for name, bits in step.items() if name.endswith(ANSWER)}) for time, step in steps]
        return cls(target.top, waves.timescale, target.parameters, ports,
                   {name: waves.signals[both[name].answer].width for name in outputs}, split)

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
