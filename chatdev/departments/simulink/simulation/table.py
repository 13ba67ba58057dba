"""Results of a simulation: the rows that are kept, as a table (CSV, .mat, JSON) and as a plot (SVG, PNG); and tables of
inputs."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy

from chatdev.departments.simulink.simulation.expressions import Values
from chatdev.departments.simulink.simulation.kernel import InputTable, Rate
from chatdev.errors import ConfigError, MissingProgram

if TYPE_CHECKING:
    from chatdev.departments.simulink.diagram import Diagram

PLOTS, TABLES = (".svg", ".png"), (".csv", ".mat")
_FEWEST_ROWS, _MOST_VALUES = 1000, 40_000_000  # that are kept, whatever a simulation's options say
_LONGEST_NAME = 63  # characters of a variable
_ELEMENT = re.compile(r"(.+)\[(\d{1,6})\]", re.DOTALL)
_ROW_INCHES, _WIDTH_INCHES, _MOST_ROWS = 2.2, 8.0, 12


@dataclass(frozen=True, slots=True)
class Results:
    """What a simulation gave: `values[row, column]` of the signals `columns` at `times`; two rows have one time where
    something jumps. `sinks` are the columns of each recording block, `rates` the blocks' sample times, `every` of how
    many whole steps one was kept, `events` those located."""

    times: Values
    values: Values
    columns: tuple[str, ...]
    sinks: Mapping[str, tuple[str, ...]]
    rates: Mapping[str, Rate]
    notes: tuple[str, ...]
    solver: str
    steps: int
    events: int
    every: int
    is_whole: bool = True

    def __getitem__(self, column: str) -> Values:
        """A signal by its name."""
        return numpy.asarray(self.values[:, self.columns.index(column)])


class Table:
    """The rows that are kept: both sides of a jump, and of the others as many as there is room for: every second,
    fourth, … where that is too little."""

    def __init__(self, width: int, rows: int) -> None:
        self._width, self._rows = width, min(rows, max(_FEWEST_ROWS, _MOST_VALUES // max(width, 1)))
        self._times, self._values, self._needed = array("d"), array("d"), bytearray()
        self.every, self._skipped, self.last_time = 1, 0, -1.0

    def add(self, time: float, row: tuple[float, ...], is_needed: bool = False) -> None:
        """Keeps a row if it is needed, or its turn."""
        self._skipped += 1
        if self._skipped < self.every and not is_needed:
            return
        self._skipped, self.last_time = 0, time
        self._times.append(time)
        self._values.extend(row)
        self._needed.append(is_needed)
        if len(self._times) > self._rows:
            self._thin()

    def _thin(self) -> None:
        needed = numpy.frombuffer(bytes(self._needed), dtype=bool)
        kept = numpy.arange(len(needed)) % 2 == 0
        if numpy.count_nonzero(needed) < len(needed) // 4:
            kept = kept | needed
        times, values = self.arrays()
        self._times, self._values = array("d", times[kept].tobytes()), array("d", values[kept].tobytes())
        self._needed, self.every = bytearray(needed[kept].tobytes()), 2 * self.every

    def arrays(self) -> tuple[Values, Values]:
        """Times, and a row of values for each."""
        times = numpy.array(self._times)
        return times, numpy.array(self._values).reshape(len(times), self._width)


def write_csv(results: Results, file: TextIO) -> None:
    """A head and a row for each time, to 15 digits; two rows of one time are the two sides of a jump."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["time", *results.columns])
    for time, row in zip(results.times.tolist(), results.values.tolist(), strict=True):
        writer.writerow([f"{value:.15g}" for value in (time, *row)])


def write_table(results: Results, path: Path) -> None:
    """The same in a file: .csv, or .mat with `time`, `signals` (a column each), `names` and a variable for each
    signal, named as MATLAB allows."""
    if path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            write_csv(results, file)
        return
    from scipy.io import savemat

    names = [str(name) for name in results.columns]
    variables = {"time": results.times, "signals": results.values, "names": numpy.array(names, dtype=object)}
    for name, column in zip(names, results.values.T, strict=True):
        variables.setdefault(_variable(name), column)
    with path.open("wb") as target:
        savemat(target, variables, oned_as="column", long_field_names=True)


def _variable(name: str) -> str:
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return (plain if plain[:1].isalpha() else f"signal_{plain}".rstrip("_"))[:_LONGEST_NAME]


def plain(results: Results, *, with_rows: bool = True) -> dict[str, Any]:
    """As JSON values: how it ran, and each signal's last value, or all of them with the times; what is not finite is
    null."""
    def finite(values: Iterable[float]) -> list[float | None]:
        return [value if math.isfinite(value) else None for value in values]

    columns = {name: column.tolist() for name, column in zip(results.columns, results.values.T, strict=True)}
    rows = {"time": results.times.tolist(), "signals": {name: finite(column) for name, column in columns.items()}}
    final = dict(zip(columns, finite(column[-1] for column in columns.values()), strict=True))
    return {"solver": results.solver, "steps": results.steps, "events": results.events, "notes": list(results.notes),
            "rates": {name: str(rate) for name, rate in results.rates.items()}, "final": final,
            **(rows if with_rows else {})}


def read_inputs(text: str, name: str, model: Diagram) -> dict[str, InputTable]:
    """What In1 blocks get, from a table (CSV): a column `time` in seconds and one for each block, or for each element
    of a vector (`In1[2]`). Two rows of one time are a jump. Raises ConfigError, which names the line."""
    head, rows = _read_rows(text, name)
    known = {" ".join(block.split()): block for block in model.blocks}
    found: dict[str, dict[int, Sequence[float]]] = {}
    columns = _numbers(rows, len(head), name)
    for at, label in enumerate(head[1:], 1):
        block, place = _element(label, known)
        if place in found.setdefault(block, {}):
            raise ConfigError(f"{name}:1: two columns are called {label!r}; keep one")
        found[block][place] = columns[at]
    for block, elements in found.items():
        if [*sorted(elements)] != [*range(1, len(elements) + 1)]:
            raise ConfigError(f"{name}:1: of {block!r} there are the elements {sorted(elements)}; give all from 1 on")
    return {block: InputTable(columns[0], [elements[place] for place in sorted(elements)])
            for block, elements in found.items()}


def _read_rows(text: str, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The head, and the rows with the numbers of their lines."""
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    try:
        (_, head), *rows = [(number, row) for number, row in enumerate(lines, 1) if row] or [(1, [""])]
    except csv.Error as error:
        raise ConfigError(f"{name}:{lines.line_num}: no table of inputs: {error}") from None
    head = [column.strip() for column in head]
    if head[0].lower() != "time" or not rows:
        raise ConfigError(f"{name}: no table of inputs; its first column is `time`, and the others are named by In1 "
                          "blocks (`time,In1`), with a row for each time")
    return head, rows


def _element(label: str, known: Mapping[str, str]) -> tuple[str, int]:
    """The block and the element of it that a column is for."""
    element = None if label in known else _ELEMENT.fullmatch(label)
    block, place = (element[1], int(element[2])) if element else (label, 1)
    return known.get(" ".join(block.split()), block), place


def _numbers(rows: Sequence[tuple[int, Sequence[str]]], width: int, name: str) -> list[array[float]]:
    """The columns; times do not run back."""
    columns = [array("d") for _ in range(width)]
    last = -math.inf
    for line, row in rows:
        try:
            values = [float(text) for text in row]
        except ValueError:
            values = []
        if len(values) != width or not all(map(math.isfinite, values)):
            raise ConfigError(f"{name}:{line}: {','.join(row)!r:.80} is no row of {width} finite numbers; write them "
                              "with a point, and commas between them")
        if values[0] < last:
            raise ConfigError(f"{name}:{line}: the time {values[0]:g} s comes behind {last:g} s; sort the rows")
        last = values[0]
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    return columns


def draw_plot(results: Results, ending: str) -> bytes:
    """The signals over time in seconds, an axis for each recording block. `ending` is .svg or .png. Raises
    MissingProgram."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingProgram("plots need matplotlib: pip install 'chatdev-chain[simulink]'") from None
    rows = [*_axes(results)][:_MOST_ROWS]
    with matplotlib.rc_context({"svg.hashsalt": "chatdev", "axes.grid": True, "grid.alpha": 0.3, "font.size": 9}):
        figure = Figure(figsize=(_WIDTH_INCHES, max(2.6, _ROW_INCHES * len(rows))), layout="constrained")
        FigureCanvasAgg(figure)
        for number, (title, columns) in enumerate(rows, 1):
            axes: Any = figure.add_subplot(len(rows), 1, number)
            for column in columns:
                axes.plot(results.times, results[column], label=_plain(column), linewidth=1.2)
            axes.set_title(_plain(title), loc="left", fontsize=9)
            axes.margins(x=0)
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
        axes.set_xlabel("time (s)")
        file = io.BytesIO()
        undated: dict[str, Any] = {"metadata": {"Date": None}} if ending == ".svg" else {}
        figure.savefig(file, format=ending.removeprefix("."), dpi=120, **undated)
    return file.getvalue()


def _axes(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = [(name, columns) for name, columns in results.sinks.items() if columns]
    yield from found or [("", results.columns)]


def _plain(text: str) -> str:
    """Without what matplotlib reads as a formula, or as a label to leave out."""
    return (" ".join(text.split()).replace("$", r"\$") or " ").lstrip("_") or " "

