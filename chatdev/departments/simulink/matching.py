"""Which block of one model is which of another: of all ways to match them, one with a high accuracy (`metric`)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import combinations, permutations, product
from typing import Any

from chatdev.departments.simulink.comparable import Comparable, Pin

Match = dict[str, str]
"""Blocks that were asked for, by the blocks made that they are taken for."""
_FEW = 200
"""Ways to match that are all tried."""
_MANY, _SPARE = 200, 20
"""Blocks made from which on one start has to do, and those of a kind, taken for nothing, that are tried instead."""
_ROUNDS = 4
"""How many steps along the connections blocks are told apart by their surroundings."""
_Links = dict[Any, list[tuple[tuple[str, ...], Any]]]
"""What a block (by its name) or net (by its number) is joined to, and as what."""
_Colours = Mapping[Any, list[int]]


def best_match(asked: Comparable, made: Comparable) -> Match:
    """The match with the highest accuracy that is found: the best of all where there are few ways, else the best that
    exchanges of two blocks lead to, from pairs that were found along the connections."""
    groups = [(made.blocks_by_kind().get(kind, []), blocks) for kind, blocks in asked.blocks_by_kind().items()]
    ways = math.prod(math.perm(max(map(len, group)), min(map(len, group))) for group in groups)
    if ways <= _FEW:
        return max(_all_matches(groups), key=lambda match: _score(asked, made, match))
    depths = range(_ROUNDS + 1) if len(made.kinds) <= _MANY else (_ROUNDS,)
    starts = (_grow(asked, made, rounds) for rounds in depths)
    return max((_improve(asked, made, start) for start in starts), key=lambda match: _score(asked, made, match))


def count_common_blocks(asked: Comparable, made: Comparable, match: Match) -> int:
    """How many pairs have the same defining parameters."""
    return sum(made.defining[theirs] == asked.defining[ours] for theirs, ours in match.items())


def count_common_connections(asked: Comparable, made: Comparable, match: Match) -> int:
    """How many of the connections asked for were made."""
    ways = Counter({way._replace(source=match[way.source], target=match[way.target]): number
                    for way, number in made.ways.items() if way.source in match and way.target in match})
    return (ways & asked.ways).total() + _count_common_edges(asked, made, match)


def _count_common_edges(asked: Comparable, made: Comparable, match: Match) -> int:
    """The edges that join ports which are joined in both: of the parts that the nets of one cut those of the other
    into, each has as many as it has ports, less one."""
    given = [[pin._replace(block=match[pin.block]) for pin in net if pin.block in match] for net in made.nets]
    parts = Counter(_common_parts([*asked.nets], given))
    return sum(parts.values()) - len(parts)


def _common_parts(asked: list[tuple[Pin, ...]], made: list[list[Pin]]) -> Iterator[tuple[int, int]]:
    """For each port that is in a net of both, the numbers of these nets. Interchangeable ports are paired so that those
    come together whose nets have most in common."""
    wanted, given = _places(asked), _places(made)
    common = Counter({(ours, theirs): number for ours, theirs, number in _overlaps(asked, made)})
    for place in wanted.keys() & given.keys():
        ours, theirs = [*wanted[place]], [*given[place]]
        nets = ((one, other) for one in dict.fromkeys(ours) for other in dict.fromkeys(theirs))
        for one, other in sorted(nets, key=lambda pair: (-common[pair], pair)):
            both = min(ours.count(one), theirs.count(other))
            for _ in range(both):
                ours.remove(one)
                theirs.remove(other)
                yield one, other


def _places(nets: list[Any]) -> dict[tuple[str, str], list[int]]:
    """The numbers of the nets in which a block has ports of a place."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, net in enumerate(nets):
        for pin in net:
            found.setdefault((pin.block, pin.place), []).append(number)
    return found


def _overlaps(asked: list[tuple[Pin, ...]], made: list[list[Pin]]) -> Iterator[tuple[int, int, int]]:
    """Pairs of nets, and how many ports they have in common at most."""
    wanted = [Counter((pin.block, pin.place) for pin in net) for net in asked]
    given = [Counter((pin.block, pin.place) for pin in net) for net in made]
    for one, other in product(range(len(wanted)), range(len(given))):
        yield one, other, (wanted[one] & given[other]).total()


def _score(asked: Comparable, made: Comparable, match: Match) -> tuple[int, int]:
    """Grows with accuracy (both shares over their common denominator); where that is the same, with the blocks."""
    blocks = count_common_blocks(asked, made, match)
    connections = count_common_connections(asked, made, match)
    return blocks * max(asked.size, 1) + connections * max(len(asked.kinds), 1), blocks


def _all_matches(groups: list[tuple[list[str], list[str]]]) -> Iterator[Match]:
    """Every match of all blocks that have a counterpart."""
    def of_kind(made: list[str], asked: list[str]) -> list[list[tuple[str, str]]]:
        if len(made) < len(asked):
            return [list(zip(made, some, strict=True)) for some in permutations(asked, len(made))]
        return [list(zip(some, asked, strict=True)) for some in permutations(made, len(asked))]

    for chosen in product(*(of_kind(*group) for group in groups)):
        yield dict(pair for pairs in chosen for pair in pairs)


def _improve(asked: Comparable, made: Comparable, match: Match) -> Match:
    """Exchange what two blocks of a kind are taken for while that helps."""
    groups = _exchangeable(asked, made, match)
    made = made.part({name for blocks in groups for name in blocks})
    pairs = [pair for blocks in groups for pair in combinations(blocks, 2)]
    best, improved = _score(asked, made, match), True
    while improved:
        improved = False
        for pair in pairs:
            tried = _exchange(match, *pair)
            if tried != match and (score := _score(asked, made, tried)) > best:
                match, best, improved = tried, score, True
    return match


def _exchangeable(asked: Comparable, made: Comparable, match: Match) -> list[list[str]]:
    """The blocks of each kind that are taken for one, and some of those that are taken for nothing."""
    wanted = set(asked.kinds.values())
    groups = [blocks for kind, blocks in made.blocks_by_kind().items() if kind in wanted]
    return [[name for name in blocks if name in match] + [name for name in blocks if name not in match][:_SPARE]
            for blocks in groups]


def _exchange(match: Match, one: str, other: str) -> Match:
    tried = {**match, one: match.get(other, ""), other: match.get(one, "")}
    return {theirs: ours for theirs, ours in tried.items() if ours}


def _grow(asked: Comparable, made: Comparable, rounds: int) -> Match:
    """Pairs found one after the other: first those that most connections to pairs found before speak for, of these
    those whose surroundings are most alike, then those with like parameters and names."""
    wanted, given = _links(asked), _links(made)
    alike = _likeness(asked, made, _colours(asked, wanted, rounds), _colours(made, given, rounds))
    support: Counter[tuple[Any, Any]] = Counter()
    match: dict[Any, Any] = {}
    while alike:
        pair = max(alike, key=lambda pair: (support[pair], alike[pair]))
        theirs, ours = pair
        match[theirs] = ours
        alike = {other: rank for other, rank in alike.items() if other[0] != theirs and other[1] != ours}
        for role, neighbour in given[theirs]:
            support.update((neighbour, other) for same, other in wanted[ours] if same == role)
    return {theirs: ours for theirs, ours in match.items() if isinstance(theirs, str)}


def _links(model: Comparable) -> _Links:
    links: _Links = defaultdict(list)
    for source, output, target, place in model.ways.elements():
        links[source].append((("to", output, place), target))
        links[target].append((("from", output, place), source))
    for number, net in enumerate(model.nets):
        for pin in net:
            links[pin.block].append((("net", pin.place), number))
            links[number].append((("pin", pin.place), pin.block))
    return links


def _likeness(asked: Comparable, made: Comparable, ours: _Colours, theirs: _Colours) -> dict[tuple[Any, Any], Any]:
    """How alike two blocks of a kind, or two nets, are, by the pair."""
    found: dict[tuple[Any, Any], Any] = {}
    for other, one in product(theirs, ours):
        if theirs[other][0] != ours[one][0]:
            continue
        depth = sum(a == b for a, b in zip(theirs[other], ours[one], strict=True))
        named = isinstance(other, str)
        same = named and made.defining[other] == asked.defining[one]
        found[other, one] = (depth, same, SequenceMatcher(None, other.lower(), one.lower()).ratio() if named else 0.0)
    return found


def _colours(model: Comparable, links: _Links, rounds: int) -> _Colours:
    """What each block and net looks like from nearby, and from farther and farther (Weisfeiler and Leman)."""
    now: dict[Any, int] = {name: hash(kind) for name, kind in model.kinds.items()} | dict.fromkeys(
        range(len(model.nets)), 0)
    colours = {node: [colour] for node, colour in now.items()}
    for _ in range(rounds):
        now = {node: hash((colour, *sorted((role, now[other]) for role, other in links[node])))
               for node, colour in now.items()}
        for node, colour in now.items():
            colours[node].append(colour)
    return colours
