"""Where blocks go, and with it the picture of a model. Blocks that have a position keep it; the others are laid out in
columns, or, beside blocks that have one, put near what they are wired to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import networkx

from chatdev.departments.simulink.columns import APART, CHANNEL, Columns, move, round_up
from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.frames import Frame, Point, frames_of, names_apart
from chatdev.departments.simulink.routing import Route, route

_MARGIN = 40
_WIDENINGS = (1.0, 1.5, 2.5)
_RINGS = 60  # how far from the best place a new block is tried


@dataclass(frozen=True, slots=True)
class Picture:
    """A model with all its blocks at their places and its wires drawn. `faults` say what could not be done well."""

    diagram: Diagram
    frames: Mapping[str, Frame]
    routes: Sequence[Route]

    @property
    def faults(self) -> list[str]:
        """What a reader of the picture is to know: wires that found no way, and blocks that lie on each other."""
        boxes = [(frame.title, frame.box) for frame in self.frames.values()]
        over = [f"the blocks {one} and {other} lie on each other" for number, (one, box) in enumerate(boxes)
                for other, its in boxes[number + 1:] if box.meets(its)]
        lost = [(found.terminals[0], terminal) for found in self.routes for terminal in found.lost]
        return over + [f"no way is free for the wire from {first.end} to {terminal.end}; it is drawn dashed"
                       for first, terminal in lost if terminal != first]


def place(diagram: Diagram) -> Diagram:
    """The model with a position for each block; those that have one keep it."""
    return arrange(diagram).diagram


def arrange(diagram: Diagram) -> Picture:
    """The model's picture."""
    frames = frames_of(diagram)
    fixed = {name for name, block in diagram.blocks.items() if block.position}
    if len(fixed) == len(frames):
        return Picture(diagram, frames, route(diagram, frames))
    for wider in _WIDENINGS:
        placed = names_apart(_add(diagram, frames, fixed, wider) if fixed else _place_all(diagram, frames, wider))
        whole = diagram.with_positions({name: frame.position for name, frame in placed.items() if name not in fixed})
        picture = Picture(whole, placed, route(whole, placed))
        if not any(found.lost for found in picture.routes) or fixed:
            break
    return picture


def _place_all(diagram: Diagram, frames: Mapping[str, Frame], wider: float) -> dict[str, Frame]:
    """All blocks anew: the groups that are wired together one below the other, and loose blocks in rows."""
    placed: dict[str, Frame] = {}
    top, groups = _MARGIN, _groups(diagram, frames)
    for group in (group for group in groups if len(group) > 1):
        part = Columns({name: frames[name] for name in group}, diagram, wider).place()
        boxes = [box for frame in part.values() for box in (frame.box, frame.room)]
        down, right = top - min(box.top for box in boxes), _MARGIN - min(box.left for box in boxes)
        placed |= {name: move(frame, round_up(right), round_up(down)) for name, frame in part.items()}
        top = round_up(_bottom(placed.values()) + 2 * APART)
    loose = [frames[group[0]] for group in groups if len(group) == 1]
    widest = max((frame.box.right for frame in placed.values()), default=1000)
    placed |= {frame.title: frame for frame in _rows(loose, top, widest)}
    return {name: placed[name] for name in frames}


def _rows(frames: Iterable[Frame], top: int, widest: float) -> Iterator[Frame]:
    """Blocks beside each other, in as many rows as it takes."""
    left, low = _MARGIN, top
    for frame in frames:
        wide = max(frame.size[0], round_up(frame.room.right - frame.room.left))
        if left > _MARGIN and left + wide > widest:
            left, top = _MARGIN, low
        at = replace(frame, at=(left + round_up((wide - frame.size[0]) / 2), top))
        low = max(low, round_up(_bottom([at]) + APART))
        left += wide + APART
        yield at


def _groups(diagram: Diagram, frames: Mapping[str, Frame]) -> list[list[str]]:
    """Blocks that are wired together, in their order; those of one block are last."""
    graph = networkx.Graph()
    graph.add_nodes_from(frames)
    graph.add_edges_from((source.block, target.block) for source, target in diagram.wires
                         if source.block in frames and target.block in frames)
    order = {name: number for number, name in enumerate(frames)}
    return sorted((sorted(group, key=order.__getitem__) for group in networkx.connected_components(graph)),
                  key=lambda group: (len(group) == 1, order[group[0]]))


def _bottom(frames: Iterable[Frame]) -> float:
    return max((max(frame.box.bottom, frame.room.bottom) for frame in frames), default=_MARGIN)


def _add(diagram: Diagram, frames: Mapping[str, Frame], fixed: set[str], wider: float) -> dict[str, Frame]:
    """New blocks beside what they are wired to, one after the other; those wired to nothing placed as a whole below."""
    placed = {name: frames[name] for name in frames if name in fixed}
    left = {name: frames[name] for name in frames if name not in fixed}
    while near := next(_bridges(diagram, left, placed), None):
        wire, new_is_target = near
        frame = left.pop(wire[new_is_target].block)
        placed[frame.title] = _free_place(frame, placed[wire[not new_is_target].block], wire, new_is_target,
                                          placed.values())
    if left:
        rest = _place_all(diagram, left, wider)
        right = int(min(frame.box.left for frame in placed.values())) - _MARGIN
        down = round_up(_bottom(placed.values())) + APART - _MARGIN
        placed |= {name: move(frame, right, down) for name, frame in rest.items()}
    return {name: placed[name] for name in frames}


def _bridges(diagram: Diagram, new: Mapping[str, Frame], old: Mapping[str, Frame]) -> Iterator[tuple[Wire, bool]]:
    """The wires between new and old blocks, and whether the target is the new one."""
    for wire in diagram.wires:
        for new_is_target in (True, False):
            if wire[new_is_target].block in new and wire[not new_is_target].block in old:
                yield wire, new_is_target


def _free_place(frame: Frame, by: Frame, wire: Wire, new_is_target: bool, others: Iterable[Frame]) -> Frame:
    """The frame at the nearest place to the right (a target) or left (a source) of a block where it meets nothing."""
    its, mine = _port(by, wire, not new_is_target), _port(frame, wire, new_is_target)
    is_right = its[0] * 2 > by.size[0] if wire.is_physical else new_is_target
    x = by.at[0] + by.size[0] + CHANNEL if is_right else by.at[0] - frame.size[0] - CHANNEL
    y = by.at[1] + its[1] - mine[1]
    taken = [box for other in others for box in (other.box, other.room)]
    for ring in range(_RINGS):
        for across, down in _ring(ring):
            tried = replace(frame, at=(x + (20 if is_right else -20) * across, y + 20 * down))
            if not any(tried.box.meets(box, 20) or tried.room.meets(box, 5) for box in taken):
                return tried
    return replace(frame, at=(x, round_up(_bottom(others)) + APART))


def _port(frame: Frame, wire: Wire, is_target: bool) -> Point:
    return next((terminal.offset for terminal in frame.terminals if terminal.end == wire[is_target]
                 and (wire.is_physical or (terminal.role == "in") == is_target)), (0, 0))


def _ring(radius: int) -> list[Point]:
    """Steps to places as far as that, the nearest in height first."""
    steps = [(across, down) for across in range(-(radius // 3), radius + 1) for down in range(-radius, radius + 1)
             if max(abs(across), abs(down)) == radius]
    return sorted(steps, key=lambda step: (abs(step[1]) + 2 * abs(step[0]), step))
