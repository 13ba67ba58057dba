"""Blocks as a picture has them: their outline at its place, the ports on it, and the room that the name takes.

Which ports there are says the catalogue; a port that only a wire names is there, too, so that wrong models can be seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from chatdev.departments.simulink.catalogue import Catalogue, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Position
from chatdev.departments.simulink.hierarchy import ports_of
from chatdev.departments.simulink.ports import BlockPort, is_physical_name, sides
from chatdev.departments.simulink.symbols import Face, clean, face_of, slots, text_width, wrap

NAME_SIZE = 11.0
"""Pixels; the size of the names at the blocks."""
NAME_ROOM = 104
MARK_SIZE = 9.0
"""Pixels; the size of what is written at ports."""
LINE = 14
"""Pixels from line to line of a name."""
_GAP = 3
_AROUND = ((0.5, 0.0), (0.0, 0.5), (0.5, 1.0))  # a circle's top, left and bottom
Point = tuple[int, int]
Role = Literal["in", "out", "both"]
_TURNS = {"right": lambda u, v: (u, v), "left": lambda u, v: (1 - u, v),
          "down": lambda u, v: (v, u), "up": lambda u, v: (v, 1 - u)}


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box, gap: float = 0) -> bool:
        """Whether they overlap or are nearer than `gap`."""
        return (self.left < other.right + gap and other.left < self.right + gap
                and self.top < other.bottom + gap and other.top < self.bottom + gap)


@dataclass(frozen=True, slots=True)
class Terminal:
    """A port on a block: its place from the upper left corner of the block, and the way out."""

    end: End
    role: Role
    port: BlockPort
    offset: Point
    way: Point
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A block in a picture. `name` are the lines of its name, `room` what they take, relative to the block's corner."""

    title: str
    block: DiagramBlock
    face: Face
    size: Point
    terminals: tuple[Terminal, ...]
    name: tuple[str, ...]
    at: Point = (0, 0)
    above: bool = False

    @property
    def box(self) -> Box:
        """The block without its name."""
        return Box(*self.at, self.at[0] + self.size[0], self.at[1] + self.size[1])

    @property
    def position(self) -> Position:
        """As a model keeps it."""
        return (*self.at, self.at[0] + self.size[0], self.at[1] + self.size[1])

    @property
    def orientation(self) -> str:
        """Where its front is."""
        given = self.block.parameters.get("Orientation", "right")
        return given if given in _TURNS else "right"

    @property
    def room(self) -> Box:
        """What the name takes."""
        width = max((text_width(line, NAME_SIZE) for line in self.name), default=0.0)
        height = LINE * len(self.name)
        box = self.box
        middle = (box.left + box.right) / 2
        top = box.top - _GAP - height if self.above else box.bottom + _GAP
        down = any(terminal.way == (0, -1 if self.above else 1) for terminal in self.terminals)
        left = middle + 8 if down else middle - width / 2
        return Box(left, top, left + width, top + height)

    def place_of(self, terminal: Terminal) -> Point:
        """Where a port is in the picture."""
        return self.at[0] + terminal.offset[0], self.at[1] + terminal.offset[1]

    def turned(self, u: float, v: float) -> tuple[float, float]:
        """A point of the block in the picture; `u` from its back to its front and `v` across, both from 0 to 1."""
        across, down = _TURNS[self.orientation](u, v)
        return self.at[0] + across * self.size[0], self.at[1] + down * self.size[1]


def frames_of(diagram: Diagram, types: Catalogue | None = None) -> dict[str, Frame]:
    """The blocks of a model at their positions, those without one in the corner with the size they ask for."""
    known = types or catalogue()
    wired: dict[str, dict[tuple[str, Role], None]] = {name: {} for name in diagram.blocks}
    for source, target in diagram.wires:
        for end, role in ((source, "out"), (target, "in")):
            if end.block in wired:
                wired[end.block][end.port, "both" if is_physical_name(end.port) else role] = None  # type: ignore[index]
    frames = {name: _frame(name, block, list(wired[name]), known) for name, block in diagram.blocks.items()}
    return names_apart(frames) if all(block.position for block in diagram.blocks.values()) else frames


def names_apart(frames: Mapping[str, Frame]) -> dict[str, Frame]:
    """The frames with a name above the block where it would lie on something below it."""
    placed: dict[str, Frame] = dict(frames)
    taken = [frame.box for frame in frames.values()]
    for name, frame in frames.items():
        for choice in (frame, replace(frame, above=True), frame):
            room = choice.room
            if not any(room.meets(box) for box in taken):
                break
        placed[name] = choice
        taken.append(room)
    return placed


def _frame(name: str, block: DiagramBlock, wired: Iterable[tuple[str, Role]], types: Catalogue) -> Frame:
    known = types.of(block.type)
    parameters = known.with_defaults(block.parameters) if known else dict(block.parameters)
    face = face_of(known.type if known else block.type, parameters)
    try:
        ports = ports_of(block, known)
    except ValueError:
        ports = []
    has = {(port.name, _role(port)) for port in ports}
    ports += [BlockPort(port, {"in": "in", "out": "out", "both": "conserving"}[role], "any")
              for port, role in sorted(wired, key=_by_number) if (port, role) not in has]
    spots = list(_spots(ports, face, parameters))
    size = _size(face, spots, block)
    blank = Frame(name, block, face, size, (), (), block.position[:2] if block.position else (0, 0))
    terminals = tuple(Terminal(End(name, port.name), _role(port), port, _offset(blank, u, v), _way(blank, u, v), mark)
                      for port, u, v, mark in spots)
    lines = tuple(wrap(clean(name), NAME_SIZE, max(NAME_ROOM, size[0]), 2))
    return replace(blank, terminals=terminals, name=lines)


def _by_number(wired: tuple[str, Role]) -> tuple[str, int, str]:
    digits = "".join(letter for letter in wired[0] if letter in "0123456789")[:9]
    return wired[1], int(digits or 0), wired[0]


def _role(port: BlockPort) -> Role:
    if port.is_physical:
        return "both"
    return "in" if port.direction == "in" else "out"


def _spots(ports: Sequence[BlockPort], face: Face, parameters: Mapping[str, str]
           ) -> Iterator[tuple[BlockPort, float, float, str]]:
    """Each port, where it is on a block of size 1, and what is written at it."""
    on_top = [port for port in ports if _is_on_top(port, face)]
    yield from ((port, u, 0.0, "") for port, u in zip(on_top, _even(len(on_top)), strict=True))
    around = [_AROUND[place] for place in slots(parameters)] if face.symbol.ports == "round" else []
    marks = None if face.marks is None else iter(face.marks)
    for side, row in sides([port for port in ports if port not in on_top]):
        spots = [(float(side == "right"), v) for v in _even(len(row))]
        if side == "left" and len(row) <= len(around):
            spots = around
        yield from _with_marks(row, spots, _labels(row) if marks is None else marks)


def _is_on_top(port: BlockPort, face: Face) -> bool:
    return face.symbol.ports == "top" or not (port.is_physical or port.name.isdecimal())


def _labels(row: Sequence[BlockPort]) -> Iterator[str]:
    """Of ports that have others beside them."""
    return (port.label if len(row) > 1 else "" for port in row)


def _with_marks(row: Sequence[BlockPort], spots: Sequence[tuple[float, float]], marks: Iterator[str]
                ) -> Iterator[tuple[BlockPort, float, float, str]]:
    for port, (u, v) in zip(row, spots, strict=False):
        yield port, u, v, next(marks, "")


def _even(count: int) -> list[float]:
    """So many places on a side of length 1."""
    return [(number + 0.5) / count for number in range(count)]


def _size(face: Face, spots: Sequence[tuple[BlockPort, float, float, str]], block: DiagramBlock) -> Point:
    if block.position:
        left, top, right, bottom = block.position
        return right - left, bottom - top
    most = max(sum(u == side for _, u, _, _ in spots) for side in (0.0, 1.0))
    width, height = face.size
    if face.marks is None and any(face.lines):
        wide = {side: max((text_width(mark, MARK_SIZE) for _, u, _, mark in spots if u == side), default=0.0)
                for side in (0.0, 1.0)}
        width += 10 * math.ceil(sum(wide.values()) / 10)
    if most > 1:
        height = 20 * most * -(-height // (20 * most))
    top_row = sum(v == 0 for _, _, v, _ in spots)
    width = max(width, 20 * top_row)
    return (height, width) if block.parameters.get("Orientation") in ("up", "down") else (width, height)


def _offset(frame: Frame, u: float, v: float) -> Point:
    x, y = frame.turned(u, v)
    return math.floor(x + 0.5) - frame.at[0], math.floor(y + 0.5) - frame.at[1]


def _way(frame: Frame, u: float, v: float) -> Point:
    """Out of the block; the side is told by the point that is not turned."""
    across, along = _TURNS[frame.orientation](u, v)
    if v in (0.0, 1.0) and 0 < u < 1:  # on top or at the bottom, not at the back or the front
        return (0, -1 if along == 0 else 1) if along in (0.0, 1.0) else (-1 if across == 0 else 1, 0)
    return (-1 if across == 0 else 1, 0) if across in (0.0, 1.0) else (0, -1 if along == 0 else 1)
