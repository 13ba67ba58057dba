"""Orthogonal wires around blocks: for each net a tree, found path by path on a grid of few lines.

The grid has the lines of the ports and some beside the blocks. A search goes from bend to bend: it counts length,
bends, crossings and names that are crossed. No two nets share a stretch of a line, and no wire goes through a block;
where that cannot be, the wire is given up and named.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from chatdev.departments.simulink.diagram import Diagram, End
from chatdev.departments.simulink.frames import Box, Frame, Point, Role, Terminal

STUB = 10
"""Pixels that a wire goes straight on from a port, where there is room."""
_PITCH, _TRACKS = 10, 6  # pixels between the lines beside a block, and how many there are
_NEAREST = 6  # pixels between lines of the grid that no port asks for
_BY_NAME = 4  # pixels beside a name that belong to it
_CLEARANCE = 2  # pixels around a block where no wire goes
_BEND, _CROSSING, _BRANCH, _NAME, _BESIDE = 24, 20, 12, 400, 60
_GREED = 1.15  # a search that overrates the way still to go finds one nearly as good, and is several times as fast
_LONG = 500  # stretches after which a search is looked at from its other end: most that are as long are in vain
_MOST_NODES = 1_500_000
_ATTEMPTS = 4
_NEVER = 1 << 60


@dataclass(frozen=True, slots=True)
class Path:
    """A wire from a place on its net to a port: points at its ends and bends."""

    points: tuple[Point, ...]
    target: Terminal


@dataclass(frozen=True, slots=True)
class Route:
    """A net: its paths, and the dots where it branches. `lost` are the ports that it does not reach."""

    terminals: tuple[Terminal, ...]
    is_physical: bool
    paths: tuple[Path, ...] = ()
    dots: tuple[Point, ...] = ()
    lost: tuple[Terminal, ...] = ()

    @property
    def domain(self) -> str:
        """The first that a port of it has."""
        return next((terminal.port.domain for terminal in self.terminals if terminal.port.domain != "any"), "signal"
                    if not self.is_physical else "any")


class _Net(NamedTuple):
    terminals: tuple[Terminal, ...]
    is_physical: bool


def route(diagram: Diagram, frames: Mapping[str, Frame]) -> list[Route]:
    """The wires of a model whose blocks are at their places, the same for the same model."""
    nets = list(_nets(diagram, frames))
    order = sorted(range(len(nets)), key=lambda net: (nets[net].is_physical, _spread(nets[net], frames), net))
    best: dict[int, Route] = {}
    for _ in range(_ATTEMPTS):
        found = _route_all(nets, order, frames)
        if not best or _count_lost(found) < _count_lost(best):
            best = found
        hard = [number for number in order if found[number].lost]
        if not hard or order[:len(hard)] == hard:
            break
        order = hard + [number for number in order if number not in hard]
    return [best[number] for number in range(len(nets))]


def _count_lost(routes: Mapping[int, Route]) -> int:
    return sum(len(found.lost) for found in routes.values())


def _nets(diagram: Diagram, frames: Mapping[str, Frame]) -> Iterable[_Net]:
    ports = {(terminal.end, terminal.role): terminal for frame in frames.values() for terminal in frame.terminals}
    rank = {end: number for number, (end, _) in enumerate(ports)}

    def at(end: End, *roles: Role) -> list[Terminal]:
        return [ports[end, role] for role in roles if (end, role) in ports][:1]

    nets: dict[object, list[Terminal]] = {}
    for source, target in dict.fromkeys(wire for wire in diagram.wires if not wire.is_physical):
        nets.setdefault(source, at(source, "out", "both")).extend(at(target, "in", "both"))
    for net in diagram.nets():
        ends = sorted(net, key=lambda end: (rank.get(end, -1), end))
        nets[net] = list(chain.from_iterable(at(end, "both", "out", "in") for end in ends))
    return [_Net(tuple(terminals), not isinstance(key, End)) for key, terminals in nets.items() if len(terminals) > 1]


def _spread(net: _Net, frames: Mapping[str, Frame]) -> int:
    places = [frames[terminal.end.block].place_of(terminal) for terminal in net.terminals]
    return sum(max(row) - min(row) for row in zip(*places, strict=True))


def _route_all(nets: Sequence[_Net], order: Sequence[int], frames: Mapping[str, Frame]) -> dict[int, Route]:
    grid = _Grid.over(frames)
    if grid is None:
        return {number: Route(*net, lost=net.terminals) for number, net in enumerate(nets)}
    for number, net in enumerate(nets):
        for terminal in net.terminals:
            grid.reserve(frames[terminal.end.block], terminal, number + 1)
    grid.reserve_rest(frames, len(nets) + 1)
    return {number: grid.connect(nets[number], number + 1) for number in order}


def _stub(frame: Frame, terminal: Terminal, boxes: Iterable[Box]) -> tuple[Point, Point]:
    """From a port straight on: a third of the way to the next block, if that is less than usual."""
    (x, y), (right, down) = frame.place_of(terminal), terminal.way
    room = float(3 * STUB)
    for box in boxes:
        if right and box.top - _CLEARANCE <= y <= box.bottom + _CLEARANCE:
            ahead = box.left - x if right > 0 else x - box.right
        elif down and box.left - _CLEARANCE <= x <= box.right + _CLEARANCE:
            ahead = box.top - y if down > 0 else y - box.bottom
        else:
            continue
        if ahead >= 0:
            room = min(room, ahead)
    length = int(room) // 3
    return (x, y), (x + right * length, y + down * length)


def _lines(frames: Collection[Frame], stubs: Iterable[tuple[Point, Point]], row: int) -> list[int]:
    """Where lines of the grid are, across (0: their x) or down (1: their y): at ports, the ends of their stubs and in
    the middle of blocks and names; beside blocks where none is too near; and far outside."""
    lows, highs = ([int(frame.box[side]) for frame in frames] for side in (row, row + 2))
    needed = {point[row] for stub in stubs for point in stub}
    needed.update((low + high) // 2 for low, high in zip(lows, highs, strict=True))
    needed.update(int(frame.room[row] + frame.room[row + 2]) // 2 for frame in frames)
    needed |= {min(lows, default=0) - _PITCH * (_TRACKS + 2), max(highs, default=0) + _PITCH * (_TRACKS + 2)}
    kept = sorted(needed)
    for at in _tracks(lows, highs):
        place = bisect_left(kept, at)
        if all(abs(kept[near] - at) >= _NEAREST for near in (place - 1, place) if 0 <= near < len(kept)):
            kept.insert(place, at)
    return kept


def _tracks(lows: Sequence[int], highs: Sequence[int]) -> Iterable[int]:
    """The tracks beside blocks, those nearest to a block first."""
    for step in range(_PITCH, _PITCH * (_TRACKS + 1), _PITCH):
        yield from (low - step for low in lows)
        yield from (high + step for high in highs)


@dataclass
class _Grid:
    """The nodes are numbered row by row; `owner` says for wires across (0) and down (1) whose a node is."""

    xs: list[int]
    ys: list[int]
    stubs: dict[tuple[End, Role], tuple[Point, Point]]
    buried: set[tuple[End, Role]]
    solid: bytearray
    soft: tuple[list[int], list[int]]
    owner: tuple[list[int], list[int]]
    at: tuple[list[int], list[int]]
    ends: dict[tuple[End, Role], int] = field(default_factory=dict)

    @classmethod
    def over(cls, frames: Mapping[str, Frame]) -> _Grid | None:
        """The free grid around the blocks; None where it would be too large."""
        boxes = [frame.box for frame in frames.values()]
        stubs = {(terminal.end, terminal.role): _stub(frame, terminal, boxes)
                 for frame in frames.values() for terminal in frame.terminals}
        buried = {key for key, ((x, y), _) in stubs.items()
                  if any(name != key[0].block and box.left <= x <= box.right and box.top <= y <= box.bottom
                         for name, box in zip(frames, boxes, strict=True))}
        xs, ys = (_lines(frames.values(), stubs.values(), row) for row in (0, 1))
        size = len(xs) * len(ys)
        if size > _MOST_NODES:
            return None
        grid = cls(xs, ys, stubs, buried, bytearray(size), ([0] * size, [0] * size), ([0] * size, [0] * size),
                   (xs * len(ys), [y for y in ys for _ in xs]))
        grid._block(frames.values())
        return grid

    def _block(self, frames: Iterable[Frame]) -> None:
        width = len(self.xs)
        for frame in frames:
            box = frame.box
            grown = Box(box.left - _CLEARANCE, box.top - _CLEARANCE, box.right + _CLEARANCE, box.bottom + _CLEARANCE)
            for start, end in self._rows(grown):
                self.solid[start:end] = b"\1" * (end - start)
            name = frame.room
            for start, end in self._rows(Box(name.left - _BY_NAME, name.top, name.right + _BY_NAME, name.bottom)):
                for soft in self.soft:
                    soft[start:end] = [_NAME] * (end - start)
        for start, end in ((0, width), (len(self.solid) - width, len(self.solid))):
            self.solid[start:end] = b"\1" * width
        self.solid[::width] = self.solid[width - 1::width] = b"\1" * len(self.ys)

    def _rows(self, box: Box) -> Iterable[tuple[int, int]]:
        """The nodes in a box, row by row, each from the first to behind the last."""
        first, behind = bisect_left(self.xs, box.left), bisect_right(self.xs, box.right)
        for row in range(bisect_left(self.ys, box.top), bisect_right(self.ys, box.bottom)):
            yield row * len(self.xs) + first, row * len(self.xs) + behind

    def _node(self, point: Point) -> int:
        return bisect_left(self.ys, point[1]) * len(self.xs) + bisect_left(self.xs, point[0])

    def _between(self, one: int, other: int) -> range:
        """The nodes on the line from one to the other, both included."""
        low, high = min(one, other), max(one, other)
        step = 1 if low // len(self.xs) == high // len(self.xs) else len(self.xs)
        return range(low, high + 1, step)

    def reserve(self, frame: Frame, terminal: Terminal, net: int) -> None:
        """Keep the way straight out of a port for its net."""
        key = terminal.end, terminal.role
        start, end = map(self._node, self.stubs[key])
        for node in self._between(start, end):
            for owner in self.owner:
                owner[node] = owner[node] or net
            self.solid[node] |= node != end
        self.ends[key] = end

    def reserve_rest(self, frames: Mapping[str, Frame], nobody: int) -> None:
        """Keep the ways out of ports that no wire goes to."""
        for frame in frames.values():
            for terminal in frame.terminals:
                if (terminal.end, terminal.role) not in self.ends:
                    self.reserve(frame, terminal, nobody)

    def connect(self, net: _Net, number: int) -> Route:
        """The tree of a net, begun at its first port."""
        free_first = sorted(net.terminals, key=lambda terminal: (terminal.end, terminal.role) in self.buried)
        first, *rest = free_first if net.is_physical else net.terminals
        start = self.ends[first.end, first.role]
        if (first.end, first.role) in self.buried:
            return Route(*net, lost=net.terminals)
        tree: dict[int, None] = {start: None}
        edges: set[tuple[int, int]] = set()
        paths: list[Path] = []
        lost: list[Terminal] = []
        while rest:
            target = min(rest, key=lambda terminal: self._distance(tree, self.ends[terminal.end, terminal.role]))
            rest.remove(target)
            goal = self.ends[target.end, target.role]
            turns = [goal] if goal in tree else []
            is_free = (target.end, target.role) not in self.buried  # and no other wire ends in the port
            if is_free and self.owner[0][start] == self.owner[0][goal] == number:
                turns = turns or self._search(tree, first if len(tree) == 1 else None, target, number)
            if not turns:
                lost.append(target)
                continue
            for one, other in pairwise(turns):
                self._take(one, other, number, tree, edges)
            ends = [(self.at[0][node], self.at[1][node]) for node in turns]
            port, _ = self.stubs[target.end, target.role]
            beginning = [self.stubs[first.end, first.role][0]] if turns[0] == start and not paths else []
            paths.append(Path(tuple(_straight([*beginning, *ends, port])), target))
        return Route(*net, tuple(paths), tuple(self._dots(edges, net)), tuple(lost))

    def _distance(self, tree: Iterable[int], goal: int) -> int:
        (xs, ys), x, y = self.at, self.at[0][goal], self.at[1][goal]
        return min(abs(xs[node] - x) + abs(ys[node] - y) for node in tree)

    def _take(self, one: int, other: int, net: int, tree: dict[int, None], edges: set[tuple[int, int]]) -> None:
        nodes = self._between(one, other)
        down = int(nodes.step != 1)
        for node in nodes:
            self.owner[down][node] = net
            tree[node] = None
        edges.update(pairwise(nodes))
        for node in (one, other):
            self.owner[0][node] = self.owner[1][node] = net
        step, at = (1, self.at[0]) if down else (len(self.xs), self.at[1])
        for side in (-step, step):  # lines so near that two wires would seem to be one
            if abs(at[nodes[0] + side] - at[nodes[0]]) < _NEAREST:
                for node in nodes:
                    self.soft[down][node + side] += _BESIDE

    def _dots(self, edges: set[tuple[int, int]], net: _Net) -> Iterable[Point]:
        arms: dict[int, int] = {}
        for edge in edges:
            for node in edge:
                arms[node] = arms.get(node, 0) + 1
        for terminal in net.terminals:
            node = self.ends[terminal.end, terminal.role]
            if node in arms:
                arms[node] += 1
        return [(self.at[0][node], self.at[1][node]) for node in sorted(arms) if arms[node] > 2]

    def _search(self, tree: Mapping[int, None], first: Terminal | None, target: Terminal, net: int) -> list[int]:
        """The nodes at the ends and bends of the cheapest path (A*); none where there is none. A state is twice a node,
        and one more when it is reached along a line down."""
        goal, goal_down = self.ends[target.end, target.role], int(target.way[0] == 0)
        best: dict[int, int] = {}
        before: dict[int, int] = {}
        heap: list[tuple[float, int, int]] = []  # estimate, cost negated, state
        for node in tree:
            for down in (0, 1):  # as if reached in this direction: the next stretch is in the other
                cost = _BRANCH if first is None else (-_BEND if down != int(first.way[0] == 0) else 0)
                best[2 * node + down] = cost
                heap.append((cost + self._left(node, down, goal, goal_down)(node), -cost, 2 * node + down))
        heapq.heapify(heap)
        tried = 0
        while heap:
            _, cost, state = heapq.heappop(heap)
            if -cost > best[state]:
                continue
            if state >> 1 == goal:
                return self._trace(before, state)
            tried += 1
            if tried == _LONG and self._is_shut_in(goal, net, tree):
                break
            down = 1 - (state & 1)
            left = self._left(state >> 1, down, goal, goal_down)
            for node, spent in self._slide(state, _BEND - cost, net, tree, goal):
                reached = 2 * node + down
                spent += _BEND * (node == goal and down != goal_down)
                if spent < best.get(reached, _NEVER):
                    best[reached] = spent
                    before[reached] = state
                    heapq.heappush(heap, (spent + left(node), -spent, reached))
        return []

    def _is_shut_in(self, goal: int, net: int, tree: Container[int]) -> bool:
        """Whether no way that ends at the goal comes from the tree: the search the other way round, without costs."""
        owners, mine = self.owner, (0, net)
        steps = (1, -1), (len(self.xs), -len(self.xs))
        seen = {(goal + step, down) for down in (0, 1) for step in steps[down]}  # a node, and the line it is left along
        ahead = [*seen]
        while ahead:
            node, down = ahead.pop()
            if node in tree:
                return False
            if self.solid[node] or owners[down][node] not in mine:
                continue
            for came in (down, 1 - down):
                if owners[came][node] in mine:
                    found = {(node + step, came) for step in steps[came]} - seen
                    seen |= found
                    ahead += found
        return True

    def _left(self, start: int, down: int, goal: int, goal_down: int) -> Callable[[int], float]:
        """What it takes about to go on to the goal from the nodes of a line: the length, and each stretch to come; one
        where the node is level with the goal, else two."""
        along, across = self.at[down], self.at[1 - down]
        end, aside = along[goal], _GREED * abs(across[start] - across[goal])
        one, two = aside + _BEND * (1 + (down == goal_down)), aside + _BEND * (2 + (down != goal_down))

        def left(node: int) -> float:
            if node == goal:
                return 0.0
            ahead = abs(along[node] - end)
            return two + _GREED * ahead if ahead else one

        return left

    def _slide(self, state: int, cost: int, net: int, tree: Container[int], goal: int) -> list[tuple[int, int]]:
        """Where one can turn, both ways on a line as far as it is free, and what it costs to come there."""
        down = 1 - (state & 1)
        along, soft, solid = self.at[down], self.soft[down], self.solid
        own, other = self.owner[down], self.owner[1 - down]
        found = []
        for step in ((len(self.xs), -len(self.xs)) if down else (1, -1)):
            node, spent = state >> 1, cost
            while node != goal:
                following = node + step
                if following != goal and (solid[following] or own[following] not in (0, net) or following in tree):
                    break
                spent += abs(along[following] - along[node]) + soft[following]
                node = following
                if other[node] not in (0, net):
                    spent += _CROSSING
                else:
                    found.append((node, spent))
        return found

    def _trace(self, before: Mapping[int, int], state: int) -> list[int]:
        turns = [state >> 1]
        while state in before:
            state = before[state]
            turns.append(state >> 1)
        return turns[::-1]


def _straight(points: Sequence[Point]) -> list[Point]:
    """Without points that are there twice or lie on a straight line between others."""
    kept: list[Point] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and any(kept[-2][row] == kept[-1][row] == point[row] for row in (0, 1)):
            kept.pop()
        kept.append(point)
    return kept
