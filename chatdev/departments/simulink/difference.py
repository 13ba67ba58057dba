"""What changed between two versions of a model, as a person would tell it: blocks, parameters, wires, nets, tags, and,
apart from these, places. The order in which things are listed is no change, and neither is that of a net's lines.

A block that is gone and a new one of the same type are one renamed block where their neighbours are the same, else
their type alone would do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, product
from operator import itemgetter
from typing import Any

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Position, Wire
from chatdev.departments.simulink.hierarchy import join_path

Change = tuple[str, str]
"""Before and after; empty where it was not there, or is not any more."""
Net = frozenset[End]
_MOST_STEPS, _MOST_PAIRS = 400_000, 40_000
"""How many blocks and lines are looked at to tell blocks apart, in all rounds, and how many pairs are compared."""


@dataclass(frozen=True, slots=True)
class DiagramDifference:
    """What changed. Blocks are named as in the new model, except `removed`; `renamed` maps old names to new ones.
    `systems` are those inside of blocks.
    `pairs` are Goto and From blocks that share a tag now, or no more; `nets` are those of physical ports, before and
    after."""

    model: Mapping[str, Change] = field(default_factory=dict)
    added: Mapping[str, DiagramBlock] = field(default_factory=dict)
    removed: Mapping[str, DiagramBlock] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, Change] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Change]] = field(default_factory=dict)
    retagged: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, tuple[Position | None, Position | None]] = field(default_factory=dict)
    wires_added: tuple[Wire, ...] = ()
    wires_removed: tuple[Wire, ...] = ()
    nets: tuple[tuple[Net, Net], ...] = ()
    pairs_added: tuple[tuple[str, str], ...] = ()
    pairs_removed: tuple[tuple[str, str], ...] = ()
    systems: Mapping[str, DiagramDifference] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed, places included."""
        return not (self.changes_meaning or self.moved or self.systems)

    @property
    def changes_meaning(self) -> bool:
        """Whether anything changed but places."""
        return any((self.model, self.added, self.removed, self.renamed, self.types, self.parameters, self.retagged,
                    self.wires_added, self.wires_removed, self.nets, self.pairs_added, self.pairs_removed,
                    *(inner.changes_meaning for inner in self.systems.values())))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; only what changed."""
        found = {
            "model": _changes(self.model), "added": _blocks(self.added), "removed": _blocks(self.removed),
            "renamed": dict(self.renamed), "types": _changes(self.types),
            "parameters": {name: _changes(changes) for name, changes in self.parameters.items()},
            "retagged": dict(self.retagged),
            "moved": {name: {"before": before and list(before), "after": after and list(after)}
                      for name, (before, after) in self.moved.items()},
            "wires_added": list(map(str, self.wires_added)), "wires_removed": list(map(str, self.wires_removed)),
            "nets": [{"before": _ends(before), "after": _ends(after)} for before, after in self.nets],
            "pairs_added": list(map(list, self.pairs_added)), "pairs_removed": list(map(list, self.pairs_removed)),
            "systems": {name: inner.to_dict() for name, inner in self.systems.items()}}
        return {key: value for key, value in found.items() if value}

    def lines(self) -> list[str]:
        """A line for each change: `+` what is new, `-` what is gone, `~` what is otherwise, `>` what only moved."""
        return [f"{line[:2]}in {join_path(*path)}: {line[2:]}" if path else line
                for path, found in self._levels() for line in _lines(found)]

    def _levels(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], DiagramDifference]]:
        yield path, self
        for name, inner in self.systems.items():
            yield from inner._levels((*path, name))


def _changes(changes: Mapping[str, Change]) -> dict[str, dict[str, str]]:
    return {name: {"before": before, "after": after} for name, (before, after) in changes.items()}


def _blocks(blocks: Mapping[str, DiagramBlock]) -> dict[str, dict[str, Any]]:
    return {name: {"type": block.type, "parameters": dict(block.parameters)} for name, block in blocks.items()}


def _ends(net: Net) -> list[str]:
    return sorted(map(str, net))


def meaning_of(model: Diagram) -> Diagram:
    """The model without the places of blocks, and without parameters that say the default, on all levels."""
    known = catalogue()
    blocks = {}
    for name, block in model.blocks.items():
        kind = known.of(block.type)
        said = {key: value for key, value in block.parameters.items() if not kind or kind.parameters.get(key) != value}
        blocks[name] = replace(block, position=None, parameters=said,
                               system=meaning_of(block.system) if block.system else None)
    return replace(model, blocks=blocks)


def compare(old: Diagram, new: Diagram) -> DiagramDifference:
    """What changed from one model to the other."""
    renamed = _find_renamed(old, new)
    before = _rename(old, renamed)
    shared = {name: (before.blocks[name], block) for name, block in new.blocks.items() if name in before.blocks}
    retagged = _find_retagged(before, new)
    pairs = _pairs(before), _pairs(new)
    wires = _signals(before), _signals(new)
    return DiagramDifference(
        model=_compare_texts(_heading(old), _heading(new)), systems=dict(_compare_systems(shared)),
        added=_others(new, before), removed=_others(before, new), renamed=renamed,
        types={name: (one.type, other.type) for name, (one, other) in shared.items() if one.type != other.type},
        parameters=_compare_parameters(shared, retagged), retagged=retagged,
        moved={name: (one.position, other.position) for name, (one, other) in shared.items()
               if one.position != other.position},
        wires_added=tuple((wires[1] - wires[0]).elements()), wires_removed=tuple((wires[0] - wires[1]).elements()),
        nets=tuple(_compare_nets(before.nets(), new.nets())),
        pairs_added=tuple(sorted(pairs[1] - pairs[0])), pairs_removed=tuple(sorted(pairs[0] - pairs[1])))


def _heading(model: Diagram) -> dict[str, str]:
    return {"name": model.name, "about": model.about,
            **{f"setting {key}": value for key, value in model.settings.items()},
            **{f"variable {key}": value for key, value in model.variables.items()}}


def _compare_systems(shared: Mapping[str, tuple[DiagramBlock, DiagramBlock]]
                     ) -> Iterator[tuple[str, DiagramDifference]]:
    """What changed inside of blocks; a system that is there on one side only is held against an empty one."""
    for name, blocks in shared.items():
        if any(block.system for block in blocks):
            found = compare(*(block.system or Diagram(name) for block in blocks))
            if not found.is_empty:
                yield name, found


def _others(model: Diagram, than: Diagram) -> dict[str, DiagramBlock]:
    return {name: block for name, block in model.blocks.items() if name not in than.blocks}


def _compare_parameters(shared: Mapping[str, tuple[DiagramBlock, DiagramBlock]], retagged: Mapping[str, str]
                        ) -> dict[str, dict[str, Change]]:
    """The parameters that changed, by block; tags that are only named otherwise are told apart."""
    changes = {name: _compare_texts(old.parameters, new.parameters) for name, (old, new) in shared.items()}
    told = {name: {key: change for key, change in changed.items() if not _is_retagged(key, change, retagged)}
            for name, changed in changes.items()}
    return {name: changed for name, changed in told.items() if changed}


def _is_retagged(parameter: str, change: Change, retagged: Mapping[str, str]) -> bool:
    return parameter == "GotoTag" and retagged.get(change[0] or "A") == (change[1] or "A")


def _compare_texts(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, Change]:
    return {name: (old.get(name, ""), new.get(name, "")) for name in dict.fromkeys((*old, *new))
            if old.get(name) != new.get(name)}


def _rename(model: Diagram, names: Mapping[str, str]) -> Diagram:
    def rename(end: End) -> End:
        return End(names.get(end.block, end.block), end.port)

    return replace(model, blocks={names.get(name, name): block for name, block in model.blocks.items()},
                   wires=tuple(Wire(rename(wire.source), rename(wire.target)) for wire in model.wires))


def _signals(model: Diagram) -> Counter[Wire]:
    return Counter(wire for wire in model.wires if not wire.is_physical)


def _pairs(model: Diagram) -> set[tuple[str, str]]:
    return {(goto, taker) for gotos, froms in model.tags().values() for goto in gotos for taker in froms}


def _find_retagged(old: Diagram, new: Diagram) -> dict[str, str]:
    """Tags that the same Goto and From blocks have under another name."""
    members = {tuple(map(frozenset, blocks)): tag for tag, blocks in new.tags().items()}
    found = {tag: members.get(tuple(map(frozenset, blocks)), tag) for tag, blocks in old.tags().items()}
    return {tag: now for tag, now in found.items() if tag != now}


def _compare_nets(old: list[Net], new: list[Net]) -> Iterator[tuple[Net, Net]]:
    """Nets that changed, each with the new one that it shares most ports with."""
    same = set(old) & set(new)
    gone, come = [net for net in old if net not in same], [net for net in new if net not in same]
    for net in gone:
        match = max(come, key=lambda other: len(net & other), default=frozenset[End]())
        if net & match:
            come.remove(match)
            yield net, match
        else:
            yield net, frozenset()
    yield from ((frozenset(), net) for net in come)


def _find_renamed(old: Diagram, new: Diagram) -> dict[str, str]:
    """Blocks of the old model that have another name in the new one: of the same type, and with the same neighbours."""
    lost, come = _others(old, new), _others(new, old)
    if not lost or not come:
        return {}
    renamed = _match_by_wiring(old, new)
    lost = {name: block for name, block in lost.items() if name not in renamed}
    come = {name: block for name, block in come.items() if name not in renamed.values()}
    return renamed | _match_by_neighbours(_around(old, lost, renamed), _around(new, come, {}), lost, come)


def _match_by_wiring(old: Diagram, new: Diagram) -> dict[str, str]:
    """Blocks that nothing else in the whole wiring is like: told apart in rounds, by type and by what their neighbours
    are told apart by (colour refinement)."""
    colours = _first_colours(old, new), _first_colours(new, old)
    links = _contacts(old), _contacts(new)
    for _ in range(_MOST_STEPS // (len(old.blocks) + len(old.wires) + len(new.blocks) + len(new.wires)) + 1):
        count, colours = _count(colours), _refine(colours, links)
        if _count(colours) == count:
            break
    alone = _unique(colours[0]), _unique(colours[1])
    return {name: alone[1][colour] for colour, name in alone[0].items()
            if colour in alone[1] and name not in new.blocks and alone[1][colour] not in old.blocks}


def _first_colours(model: Diagram, other: Diagram) -> dict[str, str]:
    return {name: f"shared {name}" if name in other.blocks else f"type {block.type}"
            for name, block in model.blocks.items()}


def _refine(colours: _Colours, links: tuple[_Links, _Links]) -> _Colours:
    finer = tuple({name: _finer(name, colour, around) for name in colour}
                  for colour, around in zip(colours, links, strict=True))
    short = {colour: str(number) for number, colour in enumerate(sorted({*finer[0].values(), *finer[1].values()}))}
    one, other = ({name: short[colour] for name, colour in row.items()} for row in finer)
    return one, other


def _count(colours: _Colours) -> int:
    return len({*colours[0].values(), *colours[1].values()})


def _unique(colours: Mapping[str, str]) -> dict[str, str]:
    """The blocks that alone have their colour, by it."""
    counts = Counter(colours.values())
    return {colour: name for name, colour in colours.items() if counts[colour] == 1}


_Colours = tuple[dict[str, str], dict[str, str]]
_Link = tuple[str, str, str, str]  # of a block: own port, direction, neighbour and its port
_Links = Mapping[str, list[_Link]]


def _contacts(model: Diagram) -> _Links:
    found: dict[str, list[_Link]] = defaultdict(list)
    for wire in model.wires:
        for own, other, row in ((wire.source, wire.target, "out"), (wire.target, wire.source, "in")):
            found[own.block].append((own.port, "" if wire.is_physical else row, other.block, other.port))
    return found


def _finer(name: str, colours: Mapping[str, str], links: _Links) -> str:
    around = sorted((port, row, colours.get(other, ""), others) for port, row, other, others in links.get(name, ()))
    return f"{colours[name]} {around}"


def _around(model: Diagram, names: Mapping[str, DiagramBlock], renamed: Mapping[str, str]) -> dict[str, Counter[_Link]]:
    """How each of these blocks is wired, with new names for old ones."""
    links = _contacts(model)
    return {name: Counter((port, row, renamed.get(other, other), end) for port, row, other, end in links.get(name, ()))
            for name in names}


def _match_by_neighbours(before: Mapping[str, Counter[_Link]], after: Mapping[str, Counter[_Link]],
                         lost: Mapping[str, DiagramBlock], come: Mapping[str, DiagramBlock]) -> dict[str, str]:
    """The best pairs of what is left that share half of their neighbours, or have none and the same parameters."""
    pairs = product(lost, come) if len(lost) * len(come) <= _MOST_PAIRS else ()
    scores = [(_likeness(before[one], after[other], lost[one], come[other]), one, other)
              for one, other in pairs if lost[one].type == come[other].type]
    found: dict[str, str] = {}
    for score, one, other in sorted(scores, key=itemgetter(0), reverse=True):
        if score >= (0.5, 0.0) and one not in found and other not in found.values():
            found[one] = other
    return found


def _likeness(before: Counter[_Link], after: Counter[_Link], old: DiagramBlock, new: DiagramBlock
              ) -> tuple[float, float]:
    """How many of the neighbours are the same, and then how many of the parameters, and whether the place is."""
    texts = set(old.parameters.items()), set(new.parameters.items())
    alike = len(texts[0] & texts[1]) / max(len(texts[0]), len(texts[1]), 1)
    alike += old.position is not None and old.position == new.position
    most = max(before.total(), after.total())
    return (before & after).total() / most if most else float(texts[0] == texts[1]), alike


def _lines(found: DiagramDifference) -> Iterator[str]:
    yield from (f"~ {name}: {_change(change)}" for name, change in found.model.items())
    yield from _block_lines(found)
    yield from (f"~ tag {old}: renamed {new}" for old, new in found.retagged.items())
    yield from (f"+ line {wire}" for wire in found.wires_added)
    yield from (f"- line {wire}" for wire in found.wires_removed)
    yield from chain.from_iterable(_net_lines(before, after) for before, after in found.nets)
    yield from (f"+ pair {goto} ~> {taker}" for goto, taker in found.pairs_added)
    yield from (f"- pair {goto} ~> {taker}" for goto, taker in found.pairs_removed)
    yield from (f"> block {name}: {_place(before)} -> {_place(after)}" for name, (before, after) in
                found.moved.items())


def _block_lines(found: DiagramDifference) -> Iterator[str]:
    yield from (f"+ block {name}: {_words(block)}" for name, block in found.added.items())
    yield from (f"- block {name}: {_words(block)}" for name, block in found.removed.items())
    yield from (f"~ block {name}: renamed {new}" for name, new in found.renamed.items())
    yield from (f"~ block {name}: type {_change(change)}" for name, change in found.types.items())
    yield from (f"~ block {name}: {parameter} {_change(change)}" for name, changes in found.parameters.items()
                for parameter, change in changes.items())


def _net_lines(before: Net, after: Net) -> Iterator[str]:
    if not (before and after):
        yield f"{'+' if after else '-'} net {' -- '.join(_ends(before | after))}"
        return
    where = f"net {' -- '.join(_ends(before & after))}"
    yield from (f"+ {where}: {end}" for end in _ends(after - before))
    yield from (f"- {where}: {end}" for end in _ends(before - after))


def _change(change: Change) -> str:
    before, after = (_quote(text) if text else "(not given)" for text in change)
    return f"{before} -> {after}"


def _quote(text: str) -> str:
    return text if re.fullmatch(r"[^\s]+( [^\s]+)*", text) and "->" not in text else repr(text)


def _words(block: DiagramBlock) -> str:
    parameters = ", ".join(f"{name} {_quote(value)}" for name, value in block.parameters.items())
    return block.type + (f" ({parameters})" if parameters else "")


def _place(at: Position | None) -> str:
    return str(list(at)) if at else "(no place)"
