"""Plots of dialogues, as SVG (ChatDev, ACL 2024, figures 3 to 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatdev.engine.amounts import count_noun
from chatdev.evaluation.dialogue_tables import Dialogues, Kinds
from chatdev.evaluation.drawing import INK, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LANGUAGE, CODE, SHADES = "#4c6ef5", "#e8590c", "Blues"
_BAR, _FIELD, _LINE = 2.2, 0.55, 0.36  # inches: the bars' panel, a column, a row


def plots(dialogues: Dialogues) -> Iterator[tuple[str, str]]:
    """Names of files and their SVG texts; nothing for what was never observed. Equal dialogues give equal texts.
    Raises MissingProgram without matplotlib."""
    if any(said.share_of_language is not None for said in dialogues.speech.values()):
        yield "speech.svg", _speech(dialogues)
    for name, title, kinds in (("reviews.svg", "What reviewers named", dialogues.reviews),
                               ("tests.svg", "What tests showed", dialogues.tests)):
        if kinds.counts:
            yield name, _kinds(kinds, title)


def _speech(dialogues: Dialogues) -> str:
    """A bar for each phase: the shares of natural language and of code."""
    phases = [(name, share) for name, said in dialogues.speech.items()
              if (share := said.share_of_language) is not None]
    names, shares = [name for name, _ in phases], [share for _, share in phases]
    with drawing((8, 1.3 + _LINE * len(phases))) as (figure, (panel,), svg):
        panel.barh(names, shares, 0.7, color=LANGUAGE, label="natural language")
        panel.barh(names, [1 - share for share in shares], 0.7, left=shares, color=CODE, label="code")
        for row, share in enumerate(shares):
            panel.text(1.01, row, f"{share:.0%}", va="center")
        panel.invert_yaxis()
        panel.set_xlim(0, 1)
        panel.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
        panel.tick_params(axis="y", length=0)
        panel.set_title(f"Characters said in {count_noun(dialogues.runs, 'run')}, and the share of natural language")
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        return svg()


def _kinds(kinds: Kinds, title: str) -> str:
    """A line for each kind: how often it was observed, and, where anything followed anything, a field for each kind
    that came next."""
    names = [name for name, _ in kinds.counts.most_common()]
    widths = [_BAR, _FIELD * len(names)] if kinds.transitions else [_BAR]
    size = 2.4 + sum(widths), _LINE * len(names) + (2.2 if kinds.transitions else 0.6)
    with drawing(size, len(widths), sharey=True, width_ratios=widths) as (_, panels, svg):
        _bars(panels[0], [kinds.counts[name] for name in names])
        panels[0].set_title(title)
        for panel in panels[1:]:
            _next(panel, [[kinds.transitions[one, other] for other in names] for one in names], names)
        panels[0].set_yticks(range(len(names)), names)
        panels[0].set_ylim(len(names) - 0.5, -0.5)
        return svg()


def _bars(panel: Axes, counts: list[int]) -> None:
    panel.barh(range(len(counts)), counts, 0.7, color=LANGUAGE)
    for row, count in enumerate(counts):
        panel.annotate(str(count), (count, row), xytext=(4, 0), textcoords="offset points", va="center")
    panel.set_xlim(0, 1.2 * max(counts))
    panel.set_xticks([])
    panel.spines["bottom"].set_visible(False)
    panel.tick_params(axis="y", length=0)


def _next(panel: Axes, table: list[list[int]], names: list[str]) -> None:
    most = max(map(max, table))
    panel.imshow(table, cmap=SHADES, aspect="auto", vmin=0)
    for row, line in enumerate(table):
        for column, count in enumerate(line):
            if count:
                panel.text(column, row, str(count), ha="center", va="center",
                           color="white" if count > most / 2 else INK)
    panel.set_title("and next")
    panel.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    panel.tick_params(axis="both", length=0)
    panel.spines["bottom"].set_visible(False)
