"""Castle: played to its end by typed lines, and tried with the ways that must not win."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.trial import Check, Program, crashed, said, tail
from chatdev.sandbox.base import Execution

_WAY = ["look", "north", "look", "take key", "inventory", "south", "south", "use key"]


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a player would make them."""
    won = _play(program, *_WAY)
    yield Check("the game can be won", _wins(won) and not crashed(won), tail(said(won)))
    yield Check("winning ends the game", _wins(won) and _ended(won), tail(said(won)))
    without = _play(program, "south", "use key", "quit")
    yield Check("no win without the key", not _wins(without) and not crashed(without), tail(said(without)))
    elsewhere = _play(program, "north", "take key", "use key", "quit")
    yield Check("no win outside the garden", not _wins(elsewhere) and not crashed(elsewhere), tail(said(elsewhere)))
    early = _play(program, "take key", "south", "use key", "quit")
    yield Check("the key lies only in the library", not _wins(early) and not crashed(early), tail(said(early)))
    carrying, empty = _inventory(program, "north", "take key"), _inventory(program)
    yield Check("the inventory shows the key", "key" in carrying.lower() and carrying != empty, tail(carrying))
    odd = _play(program, "dance", "", "take", "quit")
    yield Check("unknown commands do not crash it", not crashed(odd), tail(said(odd)))
    left = _play(program, "quit")
    yield Check("quit ends the game", _ended(left), tail(said(left)))


def _play(program: Program, *commands: str) -> Execution:
    return program.start(stdin="".join(f"{command}\n" for command in commands))


def _wins(run: Execution) -> bool:
    return "you win" in run.stdout.lower()


def _ended(run: Execution) -> bool:
    """The game ended by itself: with status 0 and without asking for more input than it got."""
    return run.exit_status == 0 and "EOFError" not in run.stderr


def _inventory(program: Program, *before: str) -> str:
    """What `inventory` adds to the output after `before`."""
    without, shown = _play(program, *before, "quit").stdout, _play(program, *before, "inventory", "quit").stdout
    common = 0
    while common < min(len(without), len(shown)) and without[common] == shown[common]:
        common += 1
    return shown[common:common + len(shown) - len(without)]
