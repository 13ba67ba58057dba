"""Results of a simulation as a table (CSV) and as a plot (SVG or PNG)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from chatdev.errors import MissingProgram

if TYPE_CHECKING:
    from chatdev.departments.simulink.simulation.solve import Results

PLOTS = (".svg", ".png")
_ROW_INCHES, _WIDTH_INCHES, _MOST_ROWS = 2.2, 8.0, 12


def write_csv(results: Results, file: TextIO) -> None:
    """A head and a row for each time, to 15 digits; two rows of one time are the two sides of a jump."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["time", *results.columns])
    for time, row in zip(results.times.tolist(), results.values.tolist(), strict=True):
        writer.writerow([f"{value:.15g}" for value in (time, *row)])


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


def plot_ending(path: Path) -> str:
    """Which picture a path asks for, or empty if none that is drawn here."""
    return path.suffix.lower() if path.suffix.lower() in PLOTS else ""
