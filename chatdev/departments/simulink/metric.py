"""How far a model agrees with the one that was asked for: SimuGen's accuracy (equation 1), precision and F1.

The rule, in full. Two blocks can be matched when they are of one kind: of the same block type as files name it (Add and
Subtract are Sum), library blocks of the same type. A pair counts when what their icons show agrees, too: the ports with
their signs, in any order, and the defining parameters, which are those that display names stand for (Operator,
Function, …; `catalogue.BlockType.display`), GotoTag and the relation of a Compare block. Names of blocks decide
nothing; they help to find pairs.

A connection is a signal's way to one input, or one of the |net| - 1 edges that join a net of physical ports. A signal's
way counts when both blocks are matched and it leads from the same output to the same input; inputs that a Sum or
Product gives the same sign are one, and so are the inputs of a logical operator and of MinMax. Of the nets those edges
count that join ports which are joined in both models; the terminals of a resistor, capacitor and inductor are
interchangeable, and so are those of a busbar.

Systems within systems are laid side by side: the blocks and connections of all of them count.

Of all ways to match the blocks one that gives the highest accuracy is looked for: all are tried where they are few,
else pairs are found along the connections and exchanged while that helps, so that a figure is never too high.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import combinations, permutations, product
from typing import Any, NamedTuple, Self

from chatdev.departments.simulink.catalogue import BlockType, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.hierarchy import ports_of, spread
from chatdev.departments.simulink.ports import BlockPort


class Share(NamedTuple):
    """How many of the things asked for, and of those made, are matched."""

    matched: int
    asked: int
    made: int

    @property
    def recall(self) -> float:
        """The share of what was asked for; 1 where that is nothing."""
        return self.matched / self.asked if self.asked else 1.0

    @property
    def precision(self) -> float:
        """The share of what was made; where that is nothing, 1 if nothing was asked for."""
        return self.matched / self.made if self.made else float(not self.asked)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return _harmonic_mean(self.recall, self.precision)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two models agree; all figures lie between 0 and 1."""

    blocks: Share
    connections: Share

    @property
    def accuracy(self) -> float:
        """The mean of both recalls: equation 1 of SimuGen (arXiv 2506.15695)."""
        return (self.blocks.recall + self.connections.recall) / 2

    @property
    def precision(self) -> float:
        """The mean of both precisions, which accuracy leaves out: what is too much lowers it."""
        return (self.blocks.precision + self.connections.precision) / 2

    @property
    def f1(self) -> float:
        """The harmonic mean of accuracy and precision."""
        return _harmonic_mean(self.accuracy, self.precision)


def compare(asked: Diagram, made: Diagram) -> Agreement:
    """How far `made` is what was `asked` for."""
    wanted, given = Comparable.of(asked), Comparable.of(made)
    match = best_match(wanted, given)
    return Agreement(Share(count_common_blocks(wanted, given, match), len(wanted.kinds), len(given.kinds)),
                     Share(count_common_connections(wanted, given, match), wanted.size, given.size))


def count_connections(diagram: Diagram) -> int:
    """Signals' ways to inputs, and |net| - 1 edges of each physical net."""
    return Comparable.of(diagram).size


def _harmonic_mean(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


# A model as it is compared with another one: kinds of blocks, signals' ways, physical nets.

_LIBRARY_BLOCKS = ("Reference", "SubSystem")
"""What files call blocks of libraries, whatever they are."""
_INPUTS_ALIKE = ("Logic", "MinMax")
_TERMINALS_ALIKE = ("Resistor", "Capacitor", "Inductor", "Busbar")
_FIRST_SIGNS = {"Sum": "+", "Product": "*"}
"""Kinds whose inputs have signs, and the sign of all of them where only their number is given."""
_ALSO_DEFINING = {"GotoTag", "relop"}
"""What icons show beside what display names stand for."""
_SIGN = re.compile(r"[-+*/]")


class Pin(NamedTuple):
    """A port of a block in a net; ports of a block that have the same `place` are interchangeable."""

    block: str
    port: str
    place: str


class Way(NamedTuple):
    """From an output to an input; inputs of a block that have the same `place` are interchangeable."""

    source: str
    output: str
    target: str
    place: str


@dataclass(frozen=True, slots=True)
class Comparable:
    """`kinds` and `defining` parameters of all blocks by their names, `ways` of signals, and `nets` of physical ports.
    Lines to blocks that are not there are left out."""

    kinds: Mapping[str, str]
    defining: Mapping[str, tuple[str, ...]]
    ways: Counter[Way]
    nets: tuple[tuple[Pin, ...], ...]

    @classmethod
    def of(cls, diagram: Diagram) -> Self:
        """What is compared of a model."""
        diagram = spread(diagram)
        records = {name: _Record.of(block) for name, block in diagram.blocks.items()}
        return cls({name: record.kind for name, record in records.items()},
                   {name: record.defining for name, record in records.items()},
                   Counter(_ways(diagram, records)), tuple(_nets(diagram, records)))

    @property
    def size(self) -> int:
        """How many connections there are."""
        return self.ways.total() + sum(len(net) - 1 for net in self.nets)

    def part(self, blocks: Container[str]) -> Self:
        """What is compared of these blocks alone."""
        kinds = {name: kind for name, kind in self.kinds.items() if name in blocks}
        ways = Counter({way: number for way, number in self.ways.items()
                        if way.source in kinds and way.target in kinds})
        nets = (tuple(pin for pin in net if pin.block in kinds) for net in self.nets)
        return replace(self, kinds=kinds, ways=ways, nets=tuple(net for net in nets if net))

    def blocks_by_kind(self) -> dict[str, list[str]]:
        """The names of the blocks of each kind."""
        found: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            found.setdefault(kind, []).append(name)
        return found


@dataclass(frozen=True, slots=True)
class _Record:
    """What the catalogue says of a block: the place of each of its inputs and terminals, by their names."""

    kind: str
    defining: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    terminals: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, block: DiagramBlock) -> Self:
        known = catalogue().of(block.type)
        if known is None:
            return cls(f"unknown: {block.type}")
        kind, parameters, ports = _kind(known), known.with_defaults(block.parameters), _ports(known, block)
        names = _names(ports, "in")
        inputs = dict(zip(names, _places_of_inputs(kind, names, parameters), strict=True))
        terminals = {port.name: "" if kind in _TERMINALS_ALIKE else port.name for port in ports if port.is_physical}
        shape = "; ".join(" ".join(sorted(places)) for places in (inputs.values(), terminals.values(),
                                                                 _names(ports, "out")))
        shown = [parameters.get(name, "").strip() for name in _defining_names()[kind]]
        return cls(kind, (*shown, shape), inputs, terminals)

    def place_of_input(self, port: str) -> str:
        """What an input is to its block; one that is not there is like no other."""
        return self.inputs.get(port, f"no {port}")

    def place_of_terminal(self, port: str) -> str:
        """The same of a physical port."""
        return self.terminals.get(port, f"no {port}")


def _ports(known: BlockType, block: DiagramBlock) -> list[BlockPort]:
    try:
        return ports_of(block, known)
    except ValueError:  # a number of ports that is none
        return []


def _names(ports: Sequence[BlockPort], direction: str) -> list[str]:
    """The names of the ports of signals in a direction."""
    return [port.name for port in ports if port.direction == direction and not port.is_physical]


def _places_of_inputs(kind: str, names: Sequence[str], parameters: Mapping[str, str]) -> Sequence[str]:
    """Signs where inputs have signs, nothing where they are alike, else their names."""
    if kind not in _FIRST_SIGNS:
        return [""] * len(names) if kind in _INPUTS_ALIKE else names
    signs = _SIGN.findall(parameters.get("Inputs", ""))
    return signs if len(signs) == len(names) else [_FIRST_SIGNS[kind]] * len(names)


def _ways(diagram: Diagram, records: Mapping[str, _Record]) -> Iterator[Way]:
    signals = ((wire.source, wire.target) for wire in diagram.wires if not wire.is_physical)
    for source, target in dict.fromkeys(signals):
        if source.block in records and target.block in records:
            yield Way(*source, target.block, records[target.block].place_of_input(target.port))


def _nets(diagram: Diagram, records: Mapping[str, _Record]) -> Iterator[tuple[Pin, ...]]:
    for net in diagram.nets():
        pins = [Pin(*end, records[end.block].place_of_terminal(end.port)) for end in sorted(net)
                if end.block in records]
        if pins:
            yield tuple(pins)


def _kind(known: BlockType) -> str:
    return known.type if known.block_type in _LIBRARY_BLOCKS else known.block_type


@functools.cache
def _defining_names() -> Mapping[str, tuple[str, ...]]:
    """The parameters of each kind that say what it does; those that count ports say which ports there are."""
    found: dict[str, set[str]] = {}
    for known in catalogue().types.values():
        counts = {port.count for port in known.ports}
        shown = {name for parameters in known.display.values() for name in parameters} - counts
        found.setdefault(_kind(known), set()).update(shown, _ALSO_DEFINING & known.parameters.keys())
    return {kind: tuple(sorted(names)) for kind, names in found.items()}


# Which block of one model is which of another: of all ways to match them, one with a high accuracy.

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
