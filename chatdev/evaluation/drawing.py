"""Plots in one style, as SVG: for a page, whose colour of text they take, or as files of their own.

Needs matplotlib, of the extra `eval`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chatdev.errors import MissingProgram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#123456"  # no other colour is this one, so that a page can replace it
_SIZE = re.compile(r' (width|height)="([\d.]+pt)"')
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "chatdev", "font.family": "sans-serif", "font.size": 10,
    "text.parse_math": False, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.edgecolor": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
}


@contextmanager
def drawing(size: tuple[float, float], columns: int = 1, *, for_page: bool = False,
            **panels: Any) -> Iterator[tuple[Figure, Sequence[Axes], Callable[[], str]]]:
    """A figure of so many inches, its panels side by side (`panels`: how they are laid out, as in `Figure.subplots`),
    and what writes it. Equal figures give equal texts. Raises MissingProgram without matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingProgram("plots need matplotlib: pip install 'chatdev-chain[eval]'") from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.1))
        grid: Any = figure.subplots(1, columns, squeeze=False, **panels)
        yield figure, list(grid[0]), lambda: _for_page(_svg(figure, transparent=True)) if for_page else _svg(figure)


def _svg(figure: Figure, *, transparent: bool = False) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=transparent, metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _for_page(text: str) -> str:
    """The element alone, no wider than it was drawn, in the colour of the text around it."""
    head, end, rest = text[text.index("<svg"):].partition(">")
    sizes = dict(_SIZE.findall(head))
    head = _SIZE.sub("", head).replace("<svg", f'<svg class="plot" style="max-width: {sizes["width"]}"', 1)
    return (head + end + rest).replace(INK, "currentColor")
