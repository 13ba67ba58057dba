"""Columns of blocks that are wired together (Sugiyama, Tagawa and Toda 1981): from the sources to the sinks, rows with
few crossings, ports level with their wires. A feedback does not count for the columns; it gets room below its blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import NamedTuple

import networkx

from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.frames import LINE, Frame

CHANNEL = 40
"""Pixels between columns, at least."""
APART = 24
"""Pixels between blocks of a column, beside their names."""
_TRACK = 10  # pixels for each wire that turns between columns
_LANE = 10
_BAND = 50  # pixels between rows, at most
_WEIGHT = 9  # of a block against a bend
_BELOW = 40  # pixels below a port at the bottom where what feeds it stands best
_SWEEPS = 8
_WIDEST = 30_000  # pixels


def move(frame: Frame, right: int, down: int) -> Frame:
    """The frame so many pixels farther."""
    return replace(frame, at=(frame.at[0] + right, frame.at[1] + down))


def round_up(value: float, step: int = 5) -> int:
    """The next multiple of `step`."""
    return step * math.ceil(value / step)


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


class Columns:
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
            left += wide + self.wider * max(CHANNEL, 20 + _TRACK * len(turns | self.turning[number + 1]))
        placed = {}
        for name, frame in self.frames.items():
            start, wide = lefts[self.column[name]]
            placed[name] = replace(frame, at=(round_up(start + (wide - frame.size[0]) / 2), heights[name]))
        return _fold(self._without_empty_bands(placed))

    def _without_empty_bands(self, placed: Mapping[str, Frame]) -> dict[str, Frame]:
        """All that is below a band in which no block is, moved up until the band is as high as a wire or two need."""
        closer: dict[str, Frame] = {}
        moved, low = 0, min(frame.at[1] for frame in placed.values())
        for name, frame in sorted(placed.items(), key=lambda item: item[1].at[1]):
            moved += max(0, frame.at[1] - low - _BAND)
            low = max(low, frame.at[1] + frame.size[1] + self._depth(name))
            closer[name] = move(frame, 0, -moved)
        return {name: closer[name] for name in placed}

    def _name_width(self, name: str) -> float:
        frame = self.frames[name]
        room = frame.room
        middle = frame.size[0] / 2
        return 2 * max(middle - (room.left - frame.at[0]), room.right - frame.at[0] - middle)

    def _directed(self, diagram: Diagram) -> Iterator[_Lead]:
        """From block to block; physical ones from ports at the right to those at the left."""
        heights = {(terminal.end, terminal.role == "in"): terminal.offset[1]
                   for frame in self.frames.values() for terminal in frame.terminals}

        def height(wire: Wire, of_target: bool) -> int:
            end = wire[of_target]
            return heights.get((end, of_target), heights.get((end, not of_target), 0))

        for wire, net in self._pairs(diagram):
            if wire.source.block in self.frames and wire.target.block in self.frames:
                yield _Lead(net, wire.source.block, wire.target.block, height(wire, False), height(wire, True))

    @staticmethod
    def _pairs(diagram: Diagram) -> Iterator[tuple[Wire, str]]:
        """The wires, with a name for their net."""
        for wire in diagram.wires:
            if not wire.is_physical:
                yield wire, str(wire.source)
        for ends in map(sorted, diagram.nets()):
            lefts = [end for end in ends if end.port.startswith("L")]
            for one, other in product((end for end in ends if end not in lefts), lefts):
                if one.block != other.block:
                    yield Wire(one, other), str(ends[0])

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
        for one, other in pairwise(chain):
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
        before, after = self._wishes()
        sources = {node: wishes for node, wishes in after.items() if node not in before}
        for sweep in range(_SWEEPS):
            known = before if sweep % 2 == 0 else sources if sweep == _SWEEPS - 1 else after
            for row in self.rows if sweep % 2 == 0 else reversed(self.rows):
                offsets = self._offsets(row)
                levels = _monotone([[top - offset for top in self._wish(node, known.get(node, []), tops)]
                                    for node, offset in zip(row, offsets, strict=True)])
                tops |= {node: level + offset for node, level, offset in zip(row, levels, offsets, strict=True)}
        return {node: 5 * round(top / 5) for node, top in tops.items()}

    def _wishes(self) -> tuple[dict[str | int, list[_Wish]], dict[str | int, list[_Wish]]]:
        """Where each would stand by what is before it, and by what is after it."""
        before: dict[str | int, list[_Wish]] = {}
        after: dict[str | int, list[_Wish]] = {}
        edges = list(dict.fromkeys(self.edges))
        for edge in (edge for edge in edges if edge.level):  # a top is the other's and the difference of the ports
            before.setdefault(edge.target, []).append(_Wish(edge.source, edge.leaves - edge.enters, _WEIGHT))
            after.setdefault(edge.source, []).append(_Wish(edge.target, edge.enters - edge.leaves, _WEIGHT))
        hung = {edge.target for edge in edges if not edge.level and edge.target not in before}
        for edge in (edge for edge in edges if not edge.level):
            more = edge.enters - edge.leaves + (_BELOW if edge.enters else -_BELOW)
            if edge.target in hung:
                before.setdefault(edge.target, []).append(_Wish(edge.source, -more, _WEIGHT))
            elif edge.source not in after:
                after[edge.source] = [_Wish(edge.target, more, 1)]
        for bend, name in self.beside.items():
            depth = self.frames[name].size[1] + self._depth(name) + _LANE
            for wishes in (before, after):
                wishes.setdefault(bend, []).append(_Wish(name, depth, 1))
        return before, after

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
            at += _LANE if isinstance(node, int) else round_up(
                self.frames[node].size[1] + self._depth(node) + APART * self.wider)
        return found

    def _depth(self, name: str) -> int:
        return LINE * len(self.frames[name].name) + 5


def _fold(placed: Mapping[str, Frame]) -> dict[str, Frame]:
    """What is wider than a model may be goes on below, at the left."""
    high = max(frame.at[1] + frame.size[1] for frame in placed.values()) - min(frame.at[1] for frame in placed.values())
    return {name: move(frame, -(frame.at[0] // _WIDEST) * _WIDEST, (frame.at[0] // _WIDEST) * (high + 4 * CHANNEL))
            for name, frame in placed.items()}


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
