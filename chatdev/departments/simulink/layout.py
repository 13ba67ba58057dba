"""Where blocks go: columns from the sources to the sinks, rows with few crossings, and ports level with their wires.

Blocks that have a position keep it. A feedback does not count for the columns; its wire gets room below its blocks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import networkx

from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.frames import LINE, NAME_ROOM, Box, Frame, Point, frames_of, names_apart
from chatdev.departments.simulink.routing import Route, route

_MARGIN = 40
_CHANNEL, _TRACK = 40, 10  # pixels between columns: at least, and for each wire that turns there
_APART = 24  # pixels between blocks of a column, beside their names
_LANE = 10
_BAND = 50  # pixels between rows, at most
_WEIGHT = 9  # of a block against a bend
_BELOW = 40  # pixels below a port at the bottom where what feeds it stands best
_SWEEPS = 8
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
    """All blocks anew: the groups that are wired together one below the other, and loose blocks in a row."""
    graph = networkx.Graph()
    graph.add_nodes_from(frames)
    graph.add_edges_from((source.block, target.block) for source, target in diagram.wires
                         if source.block in frames and target.block in frames)
    order = {name: number for number, name in enumerate(frames)}
    groups = sorted((sorted(group, key=order.__getitem__) for group in networkx.connected_components(graph)),
                    key=lambda group: (len(group) == 1, order[group[0]]))
    placed: dict[str, Frame] = {}
    top = _MARGIN
    for group in groups:
        if len(group) == 1:
            break
        part = _Columns({name: frames[name] for name in group}, diagram, wider).place()
        down = top - math.floor(min(min(frame.box.top, frame.room.top) for frame in part.values()))
        right = _MARGIN - math.floor(min(min(frame.box.left, frame.room.left) for frame in part.values()))
        placed |= {name: _moved(frame, _up(right), _up(down)) for name, frame in part.items()}
        top = _up(_bottom(placed.values()) + 2 * _APART)
    left, rows = _MARGIN, {group[0]: frames[group[0]] for group in groups if len(group) == 1}
    widest = max((frame.box.right for frame in placed.values()), default=0) or 1000
    for name, frame in rows.items():
        if left > _MARGIN and left + frame.size[0] > widest:
            left, top = _MARGIN, _up(_bottom(placed.values()) + _APART)
        wide = max(frame.size[0], _up(frame.room.right - frame.room.left))
        placed[name] = replace(frame, at=(left + _up((wide - frame.size[0]) / 2), top))
        left += wide + _APART
    return {name: placed[name] for name in frames}


def _moved(frame: Frame, right: int, down: int) -> Frame:
    return replace(frame, at=(frame.at[0] + right, frame.at[1] + down))


def _up(value: float, step: int = 5) -> int:
    return step * math.ceil(value / step)


def _bottom(frames: Iterable[Frame]) -> float:
    return max((max(frame.box.bottom, frame.room.bottom) for frame in frames), default=_MARGIN)


@dataclass(frozen=True, slots=True)
class _Edge:
    """A wire from a column to a later one: blocks, or bends on the way (numbers), and the heights of the ports. A wire
    to a port on top or at the bottom is not `level`."""

    source: str | int
    target: str | int
    leaves: int
    enters: int
    level: bool = True


class _Lead(NamedTuple):
    """A wire from block to block: its net, and how far below the blocks' tops its ports are."""

    net: str
    source: str
    target: str
    leaves: int
    enters: int


class _Wish(NamedTuple):
    """The top that a node would have: so much below that of another."""

    of: str | int
    more: int
    weight: int


class _Columns:
    """A layered layout of blocks that are wired together (Sugiyama, Tagawa and Toda 1981)."""

    def __init__(self, frames: Mapping[str, Frame], diagram: Diagram, wider: float) -> None:
        self.frames = frames
        self.wider = wider
        self.wires = list(dict.fromkeys(self._directed(diagram)))
        self.column = self._columns()
        self.edges: list[_Edge] = []
        self.rows: list[list[str | int]] = [[] for _ in range(max(self.column.values()) + 1)]
        self.beside: dict[int, str] = {}  # the bends of a feedback that are below a block
        self.turning: list[set[tuple[str | int, int]]] = [set() for _ in range(len(self.rows) + 1)]
        self._bends: dict[tuple[object, int, bool], int] = {}
        for name in frames:
            self.rows[self.column[name]].append(name)
        for wire in self.wires:
            self._lead(wire)

    def place(self) -> dict[str, Frame]:
        """The frames at their places; the corner of the whole is anywhere."""
        self._order()
        heights = self._heights()
        lefts: list[tuple[float, float]] = []
        left = 0.0
        for number, row in enumerate(self.rows):
            names = [name for name in row if isinstance(name, str)]
            wide = max((max(self.frames[name].size[0], self._name_width(name)) for name in names), default=0.0)
            lefts.append((left, wide))
            turns = {(edge.source, edge.leaves) for edge in self.edges if edge.source in row
                     and heights[edge.source] + edge.leaves != heights[edge.target] + edge.enters}
            left += wide + self.wider * max(_CHANNEL, 20 + _TRACK * len(turns | self.turning[number + 1]))
        placed = {}
        for name, frame in self.frames.items():
            start, wide = lefts[self.column[name]]
            placed[name] = replace(frame, at=(_up(start + (wide - frame.size[0]) / 2), heights[name]))
        return self._without_empty_bands(placed)

    def _without_empty_bands(self, placed: Mapping[str, Frame]) -> dict[str, Frame]:
        """All that is below a band in which no block is, moved up until the band is as high as a wire or two need."""
        closer: dict[str, Frame] = {}
        moved, low = 0, min(frame.at[1] for frame in placed.values())
        for name, frame in sorted(placed.items(), key=lambda item: item[1].at[1]):
            moved += max(0, frame.at[1] - low - _BAND)
            low = max(low, frame.at[1] + frame.size[1] + self._depth(name))
            closer[name] = _moved(frame, 0, -moved)
        return {name: closer[name] for name in placed}

    def _name_width(self, name: str) -> float:
        frame = self.frames[name]
        room = frame.room
        middle = frame.size[0] / 2
        return 2 * max(middle - (room.left - frame.at[0]), room.right - frame.at[0] - middle)

    def _directed(self, diagram: Diagram) -> Iterator[_Lead]:
        """From block to block; physical ones from ports at the right to those at the left."""
        places = {(terminal.end, terminal.role == "in"): terminal.offset[1]
                  for frame in self.frames.values() for terminal in frame.terminals}

        def height(wire: Wire, of_target: bool) -> int:
            end = wire[of_target]
            return places.get((end, of_target), places.get((end, not of_target), 0))

        for wire in diagram.wires:
            if wire.source.block in self.frames and wire.target.block in self.frames and not wire.is_physical:
                yield _Lead(str(wire.source), wire.source.block, wire.target.block, height(wire, False),
                            height(wire, True))
        for net in diagram.nets():
            ends = sorted(end for end in net if end.block in self.frames)
            for one in ends:
                for other in ends:
                    if one.block != other.block and not one.port.startswith("L") and other.port.startswith("L"):
                        yield _Lead(str(ends[0]), one.block, other.block, places.get((one, False), 0),
                                    places.get((other, False), 0))

    def _columns(self) -> dict[str, int]:
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.frames)
        graph.add_edges_from((wire.source, wire.target) for wire in self.wires if wire.source != wire.target)
        graph.remove_edges_from(list(_back_edges(graph)))
        column: dict[str, int] = {}
        order = list(networkx.lexicographical_topological_sort(graph, key=list(self.frames).index))
        for name in order:
            column[name] = max((column[source] + 1 for source in graph.predecessors(name)), default=0)
        for name in reversed(order):  # a source stands just before what it feeds
            following = [column[target] for target in graph.successors(name)]
            if following and not graph.in_degree(name):
                column[name] = min(following) - 1
        first = min(column.values())
        return {name: number - first for name, number in column.items()}

    def _lead(self, wire: _Lead) -> None:
        """Lay a wire through the columns between its ends, for a feedback through those of its ends, too. Wires of one
        net share their bends."""
        net, source, target, leaves, enters = wire
        first, last = self.column[source], self.column[target]
        back = first >= last
        between = list(range(last, first + 1) if back else range(first + 1, last))
        bends = []
        for column in between:
            bend = self._bends.setdefault((net, column, back), len(self._bends))
            bends.append(bend)
            if bend not in self.rows[column]:
                self.rows[column].append(bend)
        chain: list[str | int] = [*bends] if back else [source, *bends, target]
        for one, other in itertools.pairwise(chain):
            ends = other == target and not back
            self.edges.append(_Edge(one, other, leaves if one == source else 0, enters if ends else 0,
                                    not ends or 0 < enters < self.frames[target].size[1]))
        if back:
            self.beside = {bends[0]: target, bends[-1]: source} | self.beside
            for column in (last, first + 1):
                self.turning[column].add((source, leaves))

    def _order(self) -> None:
        """Order each column by the middle of what its blocks are wired to; keep the order with the fewest crossings."""
        before, after = self._neighbours()
        best, least = [list(row) for row in self.rows], self._crossings()
        for sweep in range(_SWEEPS):
            forward = sweep % 2 == 0
            for row in self.rows if forward else reversed(self.rows):
                self._sort(row, before if forward else after)
            crossings = self._crossings()
            if crossings < least:
                best, least = [list(row) for row in self.rows], crossings
        self.rows = best

    def _neighbours(self) -> tuple[dict[str | int, list[tuple[str | int, float]]], ...]:
        before: dict[str | int, list[tuple[str | int, float]]] = {}
        after: dict[str | int, list[tuple[str | int, float]]] = {}
        for edge in self.edges:
            before.setdefault(edge.target, []).append((edge.source, self._share(edge.source, edge.leaves)))
            after.setdefault(edge.source, []).append((edge.target, self._share(edge.target, edge.enters)))
        return before, after

    def _share(self, node: str | int, height: int) -> float:
        return height / self.frames[node].size[1] if isinstance(node, str) else 0.5

    def _sort(self, row: list[str | int], neighbours: Mapping[str | int, list[tuple[str | int, float]]]) -> None:
        rank = {node: number for nodes in self.rows for number, node in enumerate(nodes)}

        def key(node: str | int) -> float:
            if isinstance(node, int) and node in self.beside:
                return float("nan")
            ranks = [rank[other] + share for other, share in neighbours.get(node, [])]
            return sum(ranks) / len(ranks) if ranks else rank[node] + 0.5

        keys = {node: key(node) for node in row}
        keys |= {node: keys[self.beside[node]] + 0.01 for node in row if isinstance(node, int) and node in self.beside}
        row.sort(key=keys.__getitem__)

    def _crossings(self) -> int:
        rank = {node: number for nodes in self.rows for number, node in enumerate(nodes)}
        column = {node: number for number, nodes in enumerate(self.rows) for node in nodes}
        between: dict[int, list[tuple[float, float]]] = {}
        for edge in self.edges:
            ends = (rank[edge.source] + self._share(edge.source, edge.leaves),
                    rank[edge.target] + self._share(edge.target, edge.enters))
            between.setdefault(column[edge.source], []).append(ends)
        return sum(_inversions([target for _, target in sorted(pairs)]) for pairs in between.values())

    def _heights(self) -> dict[str | int, int]:
        """The top of each block: level with what it is wired to, and far enough below the one above it."""
        tops: dict[str | int, float] = {}
        for row in self.rows:
            tops |= dict(zip(row, self._offsets(row), strict=True))
        before: dict[str | int, list[_Wish]] = {}
        after: dict[str | int, list[_Wish]] = {}
        for edge in dict.fromkeys(self.edges):  # the top of one is that of the other and the difference of the ports
            more = edge.enters - edge.leaves
            if edge.level:
                before.setdefault(edge.target, []).append(_Wish(edge.source, -more, _WEIGHT))
                after.setdefault(edge.source, []).append(_Wish(edge.target, more, _WEIGHT))
        hung = {edge.target for edge in self.edges if not edge.level and edge.target not in before}
        for edge in self.edges:
            more = edge.enters - edge.leaves + (_BELOW if edge.enters else -_BELOW)
            if edge.target in hung and not edge.level:
                before.setdefault(edge.target, []).append(_Wish(edge.source, -more, 1))
            elif not edge.level and edge.source not in after:
                after[edge.source] = [_Wish(edge.target, more, 1)]
        for bend, name in self.beside.items():
            depth = self.frames[name].size[1] + self._depth(name) + _LANE
            for wishes in (before, after):
                wishes.setdefault(bend, []).append(_Wish(name, depth, 1))
        sources = {node: after.get(node, []) for node in after if node not in before}
        for sweep in range(_SWEEPS):
            last = sweep == _SWEEPS - 1
            known = (before, sources if last else after)[sweep % 2]
            for row in self.rows if sweep % 2 == 0 else reversed(self.rows):
                offsets = self._offsets(row)
                levels = _monotone([[top - offset for top in self._wish(node, known.get(node, []), tops)]
                                    for node, offset in zip(row, offsets, strict=True)])
                tops |= {node: level + offset for node, level, offset in zip(row, levels, offsets, strict=True)}
        return {node: 5 * round(top / 5) for node, top in tops.items()}

    def _wish(self, node: str | int, wishes: Sequence[_Wish], tops: Mapping[str | int, float]) -> list[float]:
        """The tops at which a wire would be straight. Those to a block of the next column count, if there are any, and
        a block counts more than a bend."""
        near = [wish for wish in wishes if isinstance(wish.of, str)] or wishes
        return [tops[wish.of] + wish.more for wish in near
                for _ in range(wish.weight if isinstance(node, str) else 1)] or [tops[node]] * (_WEIGHT // 2)

    def _offsets(self, row: Sequence[str | int]) -> list[int]:
        """How far below the column's beginning each is when all stand as near as they may."""
        found, at = [], 0
        for node in row:
            found.append(at)
            at += _LANE if isinstance(node, int) else _up(
                self.frames[node].size[1] + self._depth(node) + _APART * self.wider)
        return found

    def _depth(self, name: str) -> int:
        return LINE * len(self.frames[name].name) + 5


def _monotone(wishes: Sequence[Sequence[float]]) -> list[float]:
    """Levels that never fall and are as near to the wishes as they can be (pool adjacent violators, by medians)."""
    pools: list[tuple[list[float], int]] = []
    for wish in wishes:
        pool, count = sorted(wish), 1
        while pools and _median(pools[-1][0]) > _median(pool):
            earlier, more = pools.pop()
            pool, count = sorted(earlier + pool), count + more
        pools.append((pool, count))
    return [level for pool, count in pools for level in [_median(pool)] * count]


def _median(values: Sequence[float]) -> float:
    return values[(len(values) - 1) // 2]


def _inversions(values: Sequence[float]) -> int:
    return sum(one > other for number, one in enumerate(values) for other in values[number + 1:])


def _back_edges(graph: networkx.DiGraph) -> Iterator[tuple[str, str]]:
    """Those that close a circle for a walk in depth that begins at the sources."""
    done: set[str] = set()
    for root in sorted(graph, key=lambda name: graph.in_degree(name) > 0):
        if root in done:
            continue
        on_way, walk = {root}, [(root, iter(list(graph.successors(root))))]
        done.add(root)
        while walk:
            name, rest = walk[-1]
            target = next(rest, None)
            if target is None:
                on_way.discard(name)
                walk.pop()
            elif target in on_way:
                yield name, target
            elif target not in done:
                done.add(target)
                on_way.add(target)
                walk.append((target, iter(list(graph.successors(target)))))


def _add(diagram: Diagram, frames: Mapping[str, Frame], fixed: set[str], wider: float) -> dict[str, Frame]:
    """New blocks beside what they are wired to, one after the other; those wired to nothing placed as a whole below."""
    placed = {name: frames[name] for name in frames if name in fixed}
    left = [name for name in frames if name not in fixed]
    while left:
        near = [(wire, new_is_target) for wire in diagram.wires for new_is_target in (True, False)
                if wire[new_is_target].block in left and wire[not new_is_target].block in placed]
        if not near:
            break
        wire, new_is_target = near[0]
        name = wire[new_is_target].block
        placed[name] = _free_place(frames[name], placed[wire[not new_is_target].block], wire, new_is_target,
                                   placed.values())
        left.remove(name)
    if left:
        rest = _place_all(replace(diagram, blocks={name: diagram.blocks[name] for name in left}, wires=tuple(
            wire for wire in diagram.wires if wire.source.block in left and wire.target.block in left)),
            {name: frames[name] for name in left}, wider)
        corner = min(frame.box.left for frame in placed.values())
        down = _up(_bottom(placed.values())) + _APART - _MARGIN
        placed |= {name: _moved(frame, int(corner) - _MARGIN, down) for name, frame in rest.items()}
    return {name: placed[name] for name in frames}


def _free_place(frame: Frame, by: Frame, wire: Wire, new_is_target: bool, others: Iterable[Frame]) -> Frame:
    """The frame at the nearest place to the right (a target) or left (a source) of a block where it meets nothing."""
    def port(of: Frame, end_is_target: bool) -> Point:
        end = wire[end_is_target]
        return next((terminal.offset for terminal in of.terminals if terminal.end == end
                     and (wire.is_physical or (terminal.role == "in") == end_is_target)), (0, 0))

    taken = [box for other in others for box in (other.box, other.room)]
    y = by.at[1] + port(by, not new_is_target)[1] - port(frame, new_is_target)[1]
    is_right = port(by, not new_is_target)[0] * 2 > by.size[0] if wire.is_physical else new_is_target
    x = by.at[0] + by.size[0] + _CHANNEL if is_right else by.at[0] - frame.size[0] - _CHANNEL
    sign = 1 if is_right else -1
    for ring in range(_RINGS):
        for across, down in sorted(_ring(ring), key=lambda step: (abs(step[1]) + 2 * abs(step[0]), step)):
            moved = replace(frame, at=(x + sign * across * 20, y + down * 20))
            room = Box(moved.room.left, moved.room.top, moved.room.right, moved.room.bottom)
            if not any(moved.box.meets(box, 20) or room.meets(box, 5) for box in taken):
                return moved
    return replace(frame, at=(x, _up(_bottom(others)) + _APART))


def _ring(radius: int) -> list[Point]:
    return [(across, down) for across in range(-(radius // 3), radius + 1) for down in range(-radius, radius + 1)
            if max(abs(across), abs(down)) == radius] or [(radius, 0)]


__all__ = ["NAME_ROOM", "Picture", "arrange", "place"]
