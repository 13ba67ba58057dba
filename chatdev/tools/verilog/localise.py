"""`verilog.trace`: which lines gave a wrong output its value, and what the signals did before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.tools.base import ToolContext, Verdict, template, throwaway_copy
from chatdev.tools.function import ToolArgumentsError, tool
from chatdev.tools.verilog.answer import Answer, Refused, answer_of
from chatdev.tools.verilog.bench import BenchReport
from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.history import History
from chatdev.tools.verilog.mismatch import Wrong, columns_of, scope_of, wrong_outputs
from chatdev.tools.verilog.simulate import simulate
from chatdev.tools.verilog.simulation import simulate as simulated
from chatdev.tools.verilog.story import told
from chatdev.tools.verilog.trace import Trace, Watch, narrowest
from chatdev.tools.verilog.verdict import verdict_of
from chatdev.tools.verilog.waveform.table import table
from chatdev.tools.verilog.waveform.vcd import Waves

_TEMPLATE = Path(__file__).parent / "localise.j2"
_COLUMNS, _ROWS = 14, 16
_DEEPEST = 12  # levels


@tool(reads=("software",))
def trace(context: ToolContext, *,
          levels: Annotated[int, Field(ge=1, le=_DEEPEST, description="how far to go back: 2 is a good start")] = 2,
          outputs: Annotated[list[str] | None, Field(description="only these outputs; by default those that are wrong "
                                                                 "first")] = None) -> Verdict:
    """Simulate the Verilog module `TopModule` with the test bench and trace a wrong output back: the lines that gave it
    its value, and a table of the signals before the first mismatch.

    What does not compile or has no mismatch is reported as `verilog.simulate` does.
    """
    bench, reference = context.inputs.get("bench"), context.inputs.get("reference")
    try:
        answer = answer_of(context.software)
    except Refused:
        bench = None
    if not bench:
        verdict: Verdict = simulate.call(context, {})
        return verdict
    with throwaway_copy(context.scratch, {}) as folder:
        found = simulated(answer.text, bench, reference, context.sandbox, folder, dump=True)
        verdict = verdict_of(found, answer)
        if found.outcome != "mismatches" or found.report is None or found.waves is None:
            return verdict
        case = _Case(answer, bench, found.report, Waves.open(found.waves), outputs)
        return case.verdict(verdict, levels)


class _Case:
    """One simulation with mismatches."""

    def __init__(self, answer: Answer, bench: str, report: BenchReport, waves: Waves,
                 outputs: Sequence[str] | None) -> None:
        self._answer, self._report, self._waves, self._scope = answer, report, waves, scope_of(bench)
        wrong = wrong_outputs(report, waves, bench)
        self._wrong = [one for one in wrong if outputs is None or one.output in outputs]
        if not self._wrong:
            raise ToolArgumentsError(f"outputs: none of {', '.join(outputs or ()) or 'those'} has a mismatch; "
                                     f"those that have one: {', '.join(one.output for one in wrong)}")

    def verdict(self, plain: Verdict, levels: int) -> Verdict:
        """The verdict of the simulation with the report of the trace, and the lines as evidence."""
        try:
            design = Design.of(self._answer.text)
            history = self._history(design)
            followed: Trace | None = narrowest(design, self._watches(design), levels, history)
            problem = ""
        except DesignError as error:
            followed, problem = None, str(error)
        lines = list(followed.lines()) if followed else []
        focus = self._focus(followed)
        facts = {"report": self._report, "focus": focus, "wrong": self._wrong, "path": self._answer.path,
                 "problem": problem, "levels": told(followed, history) if followed else [],
                 "source": self._answer.text.splitlines(), "deeper": bool(followed and followed.next),
                 "deepest": _DEEPEST, "asked": levels, "misfits": self._misfits(followed),
                 "table": self._table(followed, focus)}
        text = template(_TEMPLATE.read_text(encoding="utf-8")).render(facts).strip()
        evidence = {**plain.evidence, "lines": lines, "output": focus.output, "time": focus.time}
        return Verdict(plain.passed, text, plain.score, evidence, judged=plain.judged)

    def _first(self) -> list[Wrong]:
        return [one for one in self._wrong if one.time == self._wrong[0].time]

    def _history(self, design: Design) -> History:
        return History.of(self._waves, self._scope, design.widths, self._wrong[0].sampled)

    def _watches(self, design: Design) -> list[Watch]:
        """The wrong bits of the outputs that are wrong first."""
        return [Watch(part, one.sampled) for one in self._first()
                for part in one.parts or (design.part(one.output),)]

    def _focus(self, followed: Trace | None) -> Wrong:
        """The output that the trace is about."""
        name = followed.levels[0].watched[0].part.signal if followed else self._wrong[0].output
        return next(one for one in self._wrong if one.output == name)

    @staticmethod
    def _misfits(followed: Trace | None) -> list[Any]:
        if followed is None:
            return []
        signals = followed.doubtful()
        return [misfit for misfit in followed.design.misfits if misfit.signal in signals]

    def _table(self, followed: Trace | None, focus: Wrong) -> str:
        """The rows before the mismatch: the signals of the trace, then both sides of the output."""
        names = [f"{self._scope}.{signal}" for signal in _signals(followed)] if followed else []
        names = [name for name in dict.fromkeys(names) if name in self._waves.signals]
        return table(self._waves, [*names[:_COLUMNS], *columns_of(focus.output, self._waves)], focus.sampled,
                     count=_ROWS)


def _signals(followed: Trace) -> Iterable[str]:
    """What was traced and what is read there: inputs first, then what is nearest to the output."""
    outputs = {port.name for port in followed.design.ports if port.direction == "out"}
    inputs = {port.name for port in followed.design.ports if port.direction == "in"}
    watched = [*(watch for level in followed.levels for watch in level.watched), *followed.next]
    return sorted((watch.part.signal for watch in watched if watch.part.signal not in outputs),
                  key=lambda signal: signal not in inputs)
