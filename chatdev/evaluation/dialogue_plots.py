"""Plots of dialogues, as SVG (ChatDev, ACL 2024, figures 3 to 5). Needs matplotlib, of the extra `eval`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chatdev.errors import MissingProgram
from chatdev.evaluation.dialogue_tables import Dialogues, Kinds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANGUAGE, CODE, SHADES = "#4c6ef5", "#e8590c", "Blues"
_STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "chatdev", "font.family": "sans-serif",
                          "text.parse_math": False}


def plots(dialogues: Dialogues) -> Iterator[tuple[str, str]]:
    """Names of files and their SVG texts; nothing for what was never observed. Equal dialogues give equal texts.
    Raises MissingProgram without matplotlib."""
    if dialogues.speech:
        yield "speech.svg", _speech(dialogues)
    for name, title, kinds in (("reviews.svg", "What reviewers name, and what they name next", dialogues.reviews),
                               ("tests.svg", "What tests show, and what they show next", dialogues.tests)):
        if kinds.sequences:
            yield name, _transitions(kinds, title)


def _speech(dialogues: Dialogues) -> str:
    """A bar for each phase: the shares of natural language and of code."""
    phases = [(name, share) for name, said in dialogues.speech.items()
              if (share := said.share_of_language) is not None]
    names, shares = [name for name, _ in phases], [share for _, share in phases]
    figure, axes = _figure(8, 1.2 + 0.4 * len(phases))
    axes.barh(names, shares, color=LANGUAGE, label="natural language")
    axes.barh(names, [1 - share for share in shares], left=shares, color=CODE, label="code")
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel(f"share of the characters said, {dialogues.runs} runs")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return _svg(figure)


def _transitions(kinds: Kinds, title: str) -> str:
    """A field for each kind (row) and the one that followed (column); beside a row how often the kind was observed."""
    counts, followed = kinds.counts, kinds.transitions
    names = [name for name, _ in counts.most_common()]
    table = [[followed[one, other] for other in names] for one in names]
    figure, axes = _figure(4.5 + 0.6 * len(names), 2.5 + 0.45 * len(names))
    axes.imshow(table, cmap=SHADES, aspect="auto", vmin=0)
    most = max(map(max, table))
    for row, line in enumerate(table):
        for column, count in enumerate(line):
            if count:
                axes.text(column, row, str(count), ha="center", va="center",
                          color="white" if count > most / 2 else "black")
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), [f"{name} ({counts[name]})" for name in names])
    figure.suptitle(title, fontsize=11)
    return _svg(figure)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of so many inches, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingProgram("plots need matplotlib: pip install 'chatdev-chain[eval]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure) -> str:
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
