"""A model is simulated, and what comes of it held against an acceptance: in a child with limits, as the model may be
anybody's. What has no kernel is not known; what ends in an algebraic loop, a Zeno effect or without an end is a fault.
"""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chatdev.departments.simulink.acceptance import Acceptance, Judgement, judge
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.execute import MODEL_FILE
from chatdev.errors import ConfigError, MissingProgram, ToolError
from chatdev.isolation.isolate import encode, isolate
from chatdev.isolation.parent import Reader, ReadingLimits
from chatdev.tools.base import ToolContext, Verdict, render_file, tool
from chatdev.workspace.file_tree import write_file

if TYPE_CHECKING:
    from chatdev.departments.simulink.parts import Part
    from chatdev.departments.simulink.simulation.solve import Results

DATA_FILE, PLOT_FILE = "simulation.csv", "simulation.svg"
STOP = 10.0
"""Seconds that are simulated where neither acceptance nor model say it, as in Simulink."""
LIMITS = ReadingLimits(memory=1536 << 20, seconds=60)
"""Of the child: bytes, and seconds of a processor."""
SECONDS = 20.0
"""Of a processor, after which a simulation ends where it is."""
_PARTS = 1000  # of the whole time, into which steps divide it at least: peaks lie between two rows
_ROWS, _SHOWN, _MOST_VALUES = 100_000, 2000, 100_000  # rows in the child, in its answer, and values there
_WORDS = Path(__file__).with_name("wording") / "simulated.j2"
Outcome = Literal["simulated", "partly", "unknown", "refused", "failed"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of simulating a model.

    `outcome`: *simulated*; *partly*, where its seconds ended it at `reached` of `stop` (seconds); *unknown*, where
    there are blocks that nothing here simulates; *refused* before anything ran; *failed*. `message` says why, with the
    fix, and `blocks` are those it is about. `values` are rows of the signals `columns` at `times`, thinned out
    where there are many; what is `judged` was judged by all rows. `is_open` says that something is wanted and was not
    judged.
    """

    outcome: Outcome
    stop: float
    message: str = ""
    blocks: tuple[str, ...] = ()
    reached: float = 0.0
    solver: str = ""
    steps: int = 0
    events: int = 0
    columns: tuple[str, ...] = ()
    sinks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    times: tuple[float, ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    notes: tuple[str, ...] = ()
    judged: tuple[Judgement, ...] = ()
    is_open: bool = False

    @property
    def missed(self) -> tuple[Judgement, ...]:
        """What of the acceptance does not hold."""
        return tuple(one for one in self.judged if not one.passed)

    @property
    def passed(self) -> bool:
        """Whether nothing is known against the model."""
        return self.outcome not in ("refused", "failed") and not self.missed

    def csv(self) -> str:
        """The signals as a table."""
        from chatdev.departments.simulink.simulation.table import write_csv

        text = io.StringIO()
        write_csv(self.results(), text)
        return text.getvalue()

    def plot(self) -> bytes:
        """The signals as SVG, an axis for each recording block. Raises MissingProgram."""
        from chatdev.departments.simulink.simulation.table import draw_plot

        return draw_plot(self.results(), ".svg")

    def results(self) -> Results:
        """Its rows as those of a simulation."""
        import numpy

        from chatdev.departments.simulink.simulation.solve import Results

        values = numpy.array(self.values).reshape(len(self.times), len(self.columns))
        return Results(numpy.array(self.times), values, self.columns, self.sinks, {}, self.notes, self.solver,
                       self.steps, self.events, 1)


def run_experiment(model: Diagram, acceptance: Acceptance, *, seconds: float | None = None,
                   progress: Callable[[float], None] | None = None) -> Experiment:
    """Simulate a model here, and judge what comes of it. Raises MissingProgram."""
    try:
        from chatdev.departments.simulink.simulation.kernel import ModelFault, NotSimulated, SimulationFailed
        from chatdev.departments.simulink.simulation.solve import options_of, simulate
    except ImportError as error:
        raise MissingProgram(f"simulating needs {error.name}: pip install 'chatdev-chain[simulink]'") from None
    stop, is_open = acceptance.stop or STOP, bool(acceptance.signals)
    try:
        options = options_of(model, stop=acceptance.stop, solver=acceptance.solver, step=acceptance.step,
                             relative=acceptance.tolerance)
        stop, longest = options.stop, min(options.longest or options.stop, options.stop / _PARTS)
        options = replace(options, longest=longest, rows=_ROWS, seconds=seconds)
        results = simulate(tap(model, acceptance), options, acceptance.set, progress)
    except NotSimulated as error:
        return Experiment("unknown", stop, str(error), error.blocks, is_open=is_open)
    except ModelFault as error:
        return Experiment("refused", stop, str(error), error.blocks)
    except SimulationFailed as error:
        return Experiment("failed", stop, str(error), error.blocks, error.time)
    found = _summary(results, stop)
    return replace(found, judged=judge(acceptance, results)) if results.is_whole else replace(found, is_open=is_open)


def tap(model: Diagram, acceptance: Acceptance) -> Diagram:
    """The model with an output for each signal of the acceptance that it does not record."""
    targets = [wish.target for wish in acceptance.signals.values() if isinstance(wish.target, str)]
    taps = {f"Acceptance {number}": end
            for number, end in enumerate(_find_unrecorded(model, [*acceptance.signals, *targets]), 1)}
    blocks = {name: DiagramBlock("Out1", {"Port": str(1000 + number)}) for number, name in enumerate(taps)}
    wires = [Wire(end, End(name, "1")) for name, end in taps.items()]
    return replace(model, blocks={**model.blocks, **blocks}, wires=(*model.wires, *wires))


def _find_unrecorded(model: Diagram, signals: Iterable[str]) -> Iterator[End]:
    """The outputs of these names that no block records; none where no block records anything, for then all are."""
    from chatdev.departments.simulink.parts import make_parts
    from chatdev.departments.simulink.simulation.compile import RECORDED

    parts = make_parts(model)
    sinks = {name for name, part in parts.items() if part.kind and part.kind.sim in RECORDED}
    recorded = {wire.source for wire in model.wires if wire.target.block in sinks}
    for signal in dict.fromkeys(signals if sinks else ()):
        yield from (end for end in _outputs_of(signal, parts) if end not in recorded)


def _outputs_of(signal: str, parts: Mapping[str, Part]) -> Iterator[End]:
    """The outputs that a name means: `Block`, `Block/2`, and `[3]` behind either."""
    whole = signal.rpartition("[")[0] if signal.endswith("]") and signal not in parts else signal
    name, _, port = whole.rpartition("/") if whole not in parts else (whole, "", "")
    for one in (parts[name].ports if name in parts else None) or ():
        if one.direction == "out" and not one.is_physical and port in ("", one.name):
            yield End(name, one.name)


def _summary(results: Results, stop: float) -> Experiment:
    import numpy

    reached = float(results.times[-1])
    most = max(2, min(_SHOWN, _MOST_VALUES // max(1, len(results.columns))))
    evenly = numpy.linspace(0, len(results.times) - 1, min(most, len(results.times))).astype(int)
    rows = numpy.unique([*evenly, *results.values.argmin(axis=0), *results.values.argmax(axis=0)])
    ended = (f"the time that a simulation may take was over at {reached:.4g} of {stop:g} s; give a shorter stop, or "
             "simulate it by `chatdev simulink run`")
    message = "" if results.is_whole else ended
    return Experiment(
        "simulated" if results.is_whole else "partly", stop, message, (), reached, results.solver, results.steps,
        results.events, results.columns, results.sinks, tuple(results.times[rows].tolist()),
        tuple(map(tuple, results.values[rows].tolist())), results.notes)


# The same in the child: texts there, plain values back.


class Unsimulated(ToolError):
    """The child that simulates was ended, or could not do it."""


@isolate(Unsimulated, MissingProgram, ConfigError)
def experiment_on(model: str, acceptance: str, files: Mapping[str, str], seconds: float) -> Experiment:
    """`run_experiment` on texts."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the child may start no threads
    wanted = Acceptance.read(acceptance, INPUT, files)
    return run_experiment(Diagram.parse(model, MODEL_FILE), wanted, seconds=seconds)


INPUT = "the input `acceptance`"
NOTHING_WANTED = "{}"


@functools.lru_cache(maxsize=16)
def isolated_experiment(model: str, acceptance: str = NOTHING_WANTED, files: tuple[tuple[str, str], ...] = (),
                        seconds: float = SECONDS) -> Experiment:
    """What comes of the text form of a model, in a child with limits. Raises ConfigError, MissingProgram, and
    SandboxError where no process can be started."""
    given = [model, acceptance, dict(files), seconds]
    request = encode([experiment_on.__module__, experiment_on.__qualname__, given, {}])
    reader = Reader(LIMITS)
    try:
        found: Experiment = experiment_on.isolated.take(*reader.ask(request))  # type: ignore[attr-defined]
        return found
    except Unsimulated as error:
        why = str(error).replace("the source", "simulating the model", 1)
        stop = Acceptance.read(acceptance, INPUT, dict(files)).stop or STOP
        return Experiment("failed", stop, f"{why}; simulate a shorter time, or take out what makes it so large")
    finally:
        reader.end()


# The tool `simulink.simulate`.


@tool(reads=("executed?",), name="simulink.simulate", sample={"passed": True, "report": "", "score": 1.0})
def simulate_built(context: ToolContext) -> Verdict:
    """Simulate the model that was built, and hold its signals against the input `acceptance` (YAML: figures and traces
    that are wanted, stop time, solver).

    A fault names its blocks and the way out. What has blocks that nothing here simulates is not judged by this.
    """
    executed = context.values.get("executed")
    files = executed.get("files") if isinstance(executed, Mapping) else None
    text = files.get(MODEL_FILE) if isinstance(files, Mapping) else None
    if not text:
        return Verdict(False, render_file(_WORDS, found=None, wanted=None), 0.0, {"outcome": "nothing"})
    found = experiment_of(context.inputs, text)
    verdict, picture = verdict_of(found), plot_of(found)
    if picture:
        write_file(context.run_folder, PLOT_FILE, picture)
    drawn = {"pictures": {"Simulation": PLOT_FILE}} if picture else {}
    return replace(verdict, evidence={**verdict.evidence, **drawn})


def read_acceptance(inputs: Mapping[str, Any]) -> Acceptance:
    """The input `acceptance`; one that wants nothing where there is none. Raises ToolError."""
    try:
        return Acceptance.read(*_texts(inputs))
    except ConfigError as error:
        raise ToolError(str(error)) from None


def _texts(inputs: Mapping[str, Any]) -> tuple[str, str, Mapping[str, str]]:
    return str(inputs.get("acceptance") or NOTHING_WANTED), INPUT, inputs.get("traces") or {}


def experiment_of(inputs: Mapping[str, Any], model: str) -> Experiment:
    """What comes of a model's text with the acceptance of the inputs; where numpy or scipy lack, nothing is known.
    Raises ToolError."""
    text, _, files = _texts(inputs)
    try:
        return isolated_experiment(model, text, tuple(sorted(files.items())), SECONDS)
    except MissingProgram as error:
        return Experiment("unknown", read_acceptance(inputs).stop or STOP, f"not simulated: {error}")
    except ConfigError as error:
        raise ToolError(str(error)) from None


def plot_of(found: Experiment) -> bytes:
    """Its plot; empty where there is nothing to draw, or nothing to draw with."""
    try:
        return found.plot() if found.columns else b""
    except MissingProgram:
        return b""


def data_files(found: Experiment) -> dict[str, str]:
    """What is handed over of it: the data, and the plot where it can be drawn."""
    picture = plot_of(found)
    return {**({DATA_FILE: found.csv()} if found.columns else {}), **({PLOT_FILE: picture.decode()} if picture else {})}


def verdict_of(found: Experiment) -> Verdict:
    """What agents read of it; not judged where what is wanted stays open."""
    report = render_file(_WORDS, found=found, rows=list(summarise(found)))
    score = 1.0 if found.passed else 0.1 if not found.missed else 0.9 - 0.8 * len(found.missed) / len(found.judged)
    rows = [{"signal": one.signal, "figure": one.figure, "wanted": one.wanted, "got": one.got, "when": one.when,
             "passed": one.passed} for one in found.judged]
    return Verdict(found.passed, report, score, {
        "outcome": found.outcome, "message": found.message, "blocks": list(found.blocks), "stop": found.stop,
        "reached": found.reached, "solver": found.solver, "acceptance": rows}, judged=not found.is_open)


def summarise(found: Experiment) -> Iterator[dict[str, Any]]:
    """The first, the last, the least and the greatest value of each signal."""
    for number, column in enumerate(found.columns):
        values = [row[number] for row in found.values]
        yield {"signal": column, "first": values[0], "last": values[-1], "least": min(values), "greatest": max(values)}
