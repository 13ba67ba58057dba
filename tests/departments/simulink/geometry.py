"""What is wrong with a picture, told from its lines and boxes alone, and models to draw that nobody thought of."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import networkx

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Position, Wire
from chatdev.departments.simulink.frames import Box
from chatdev.departments.simulink.layout import Picture
from chatdev.departments.simulink.routing import Route

Segment = tuple[int, int, int, int]
NAMES = "name"
"""What each flaw begins with that is about a name; the others are about wires."""


def flaws(picture: Picture) -> list[str]:
    """Each thing that is wrong, in words; wires that are said to be lost are not looked at."""
    drawn = [(str(route.terminals[0].end), list(segments(route))) for route in picture.routes]
    boxes = {name: frame.box for name, frame in picture.frames.items()}
    found = [f"{net} is slanted" for net, row in drawn for x, y, u, v in row if x != u and y != v]
    found += [f"{net} goes through {name}" for net, row in drawn for piece in row for name, box in boxes.items()
              if _enters(piece, box)]
    for (one, row), (other, others) in combinations(drawn, 2):
        found += [f"{one} touches {other} at {piece}" for piece in row for its in others if _touch(piece, its)]
    found += [f"{route.terminals[0].end} does not reach {end}" for route in picture.routes
              for end in _unreached(route, picture)]
    rooms = [(name, frame.room) for name, frame in picture.frames.items() if frame.name]
    found += [f"{NAMES} of {name} lies on {net}" for net, row in drawn for piece in row for name, room in rooms
              if _enters(piece, room)]
    found += [f"{NAMES} of {name} lies on block {other}" for name, room in rooms for other, box in boxes.items()
              if room.meets(box)]
    found += [f"{NAMES} of {name} lies on that of {other}" for (name, room), (other, its) in combinations(rooms, 2)
              if room.meets(its)]
    return found


def segments(route: Route) -> Iterator[Segment]:
    """The straight pieces of a net."""
    for path in route.paths:
        for (x, y), (u, v) in pairwise(path.points if len(path.points) > 1 else path.points * 2):
            yield min(x, u), min(y, v), max(x, u), max(y, v)


def _enters(piece: Segment, box: Box) -> bool:
    left, top, right, bottom = piece
    return left < box.right and box.left < right and top < box.bottom and box.top < bottom


def _touch(one: Segment, other: Segment) -> bool:
    """Whether two wires look joined: they share a stretch, or one ends or bends on the other."""
    (a, b, c, d), (e, f, g, h) = one, other
    meets = a <= g and e <= c and b <= h and f <= d
    if not meets:
        return False
    if (a == c) == (e == g):
        return True
    x, y = (a, f) if a == c else (e, b)
    inside = (b < y < d if a == c else a < x < c) and (f < y < h if e == g else e < x < g)
    return not inside


def _unreached(route: Route, picture: Picture) -> list[End]:
    graph = networkx.Graph()
    pieces = list(segments(route))
    graph.add_nodes_from(range(len(pieces)))
    for (i, one), (j, other) in combinations(enumerate(pieces), 2):
        a, b, c, d = one
        e, f, g, h = other
        if a <= g and e <= c and b <= h and f <= d:
            graph.add_edge(i, j)
    reached = [terminal for terminal in route.terminals if terminal not in route.lost]
    if len(reached) < 2:
        return []
    at = []
    for terminal in reached:
        x, y = picture.frames[terminal.end.block].place_of(terminal)
        at.append(next((i for i, (a, b, c, d) in enumerate(pieces) if a <= x <= c and b <= y <= d), None))
    whole = networkx.node_connected_component(graph, at[0]) if at[0] is not None else set()
    return [terminal.end for terminal, piece in zip(reached, at, strict=True) if piece not in whole]


def random_model(seed: int, most: int = 25) -> Diagram:
    """A model of blocks of any kind, wired without sense, but each input once."""
    dice = random.Random(seed)
    types = sorted(catalogue().types)
    names = [f"{dice.choice(['Block', 'Some Longer Name', 'B'])} {number}" for number in range(dice.randint(2, most))]
    blocks = {name: DiagramBlock(dice.choice(types)) for name in names}
    outs: list[End] = []
    ins: list[End] = []
    physical: list[End] = []
    for name, block in blocks.items():
        known = catalogue().of(block.type)
        assert known is not None
        for port in known.ports_with({}):
            row = physical if port.is_physical else ins if port.direction == "in" else outs
            row.append(End(name, port.name))
    wires = [Wire(dice.choice(outs), end) for end in ins if outs and dice.random() < 0.8]
    dice.shuffle(physical)
    while len(physical) > 1 and dice.random() < 0.95:
        net = [physical.pop() for _ in range(min(len(physical), dice.randint(2, 4)))]
        wires += [Wire(net[0], other) for other in net[1:]]
    return Diagram(f"random_{seed}", blocks, tuple(wires))


def at_positions(model: Diagram, positions: Sequence[Position]) -> Diagram:
    """The model with its blocks there."""
    return model.with_positions(dict(zip(model.blocks, positions, strict=False)))
