"""A change of a model: carried out in steps that name what they touch, so that everything else stays as it is by
construction, and told afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chatdev.departments.simulink.agreement import settle, settled_type
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.checks import read_investigation
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire, matlab_text
from chatdev.departments.simulink.hierarchy import join_path, split_path, spread, system_at, with_system
from chatdev.departments.simulink.parts import nearest
from chatdev.errors import ConfigError

_LISTS = ("remove", "add", "set", "disconnect", "connect")


@dataclass(frozen=True, slots=True)
class ChangedModel:
    """A model after a change. `touched` are the blocks that the change names, `problems` what of it is impossible."""

    model: Diagram
    touched: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def change_model(model: Diagram, change: Any) -> ChangedModel:
    """The model with `{"remove": [name], "add": [{"name", "type", "parameters"}], "set": [{"block", "parameters"}],
    "disconnect": [line], "connect": [line]}` carried out in this order; a block takes its lines with it."""
    if not isinstance(change, Mapping):
        return ChangedModel(model, problems=["a change is an object"])
    work = _Work(model)
    for step in _LISTS:
        entries = change.get(step) or []
        for entry in entries if isinstance(entries, list) else [entries]:
            getattr(work, step)(entry)
    return ChangedModel(work.model, list(dict.fromkeys(work.touched)), work.problems)


class _Work:
    def __init__(self, model: Diagram) -> None:
        self.model = model
        self.touched: list[str] = []
        self.problems: list[str] = []

    def remove(self, name: Any) -> None:
        if self._is_there(name):
            path, own = self._place_of(name)
            system = system_at(self.model, path)
            blocks = {one: block for one, block in system.blocks.items() if one != own}
            wires = tuple(wire for wire in system.wires if own not in _blocks_of(wire))
            self._put(path, replace(system, blocks=blocks, wires=wires))

    def add(self, entry: Any) -> None:
        read = read_investigation(settle({"blocks": [entry]}))
        self.problems += [f"{one.message}; {one.fix}" for one in read.findings]
        for name, block in read.model.blocks.items():
            path, own = self._place_of(name)
            system = system_at(self.model, path)
            if own in system.blocks:
                self.problems.append(f"add {name}: there is a block of that name; remove it first, or name yours "
                                     "otherwise")
            else:
                self.touched.append(name)
                self._put(path, replace(system, blocks={**system.blocks, own: block}))

    def set(self, entry: Any) -> None:
        values = entry.get("parameters") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(values, Mapping):
            self.problems.append(f'set {entry!r:.80}: write {{"block": "Gain", "parameters": {{"Gain": "3"}}}}')
        elif self._is_there(name := entry.get("block")):
            path, own = self._place_of(str(name))
            system = system_at(self.model, path)
            block = system.blocks[own]
            try:
                parameters = {**block.parameters, **{str(key): matlab_text(value) for key, value in values.items()}}
                blocks = {**system.blocks, own: replace(block, parameters=parameters)}
                self._put(path, replace(system, blocks=blocks))
            except ValueError as error:
                self.problems.append(f"set {name}: {error}")

    def disconnect(self, line: Any) -> None:
        for path, wire in self._wires(line):
            system = system_at(self.model, path)
            left = tuple(one for one in system.wires if not _same(one, wire))
            if len(left) == len(system.wires):
                near = nearest(str(wire), map(str, system.wires), 1)
                self.problems.append(f"disconnect {wire}: there is no such line"
                                     + (f"; did you mean {near[0]}?" if near else ""))
            self._put(path, replace(system, wires=left))

    def connect(self, line: Any) -> None:
        for path, wire in self._wires(line):
            names = [join_path(*path, name) if path else name for name in _blocks_of(wire)]
            missing = [name for name in names if not self._is_there(name)]
            if not missing:
                system = system_at(self.model, path)
                self._put(path, replace(system, wires=(*system.wires, wire)))

    def _wires(self, line: Any) -> Iterator[tuple[tuple[str, ...], Wire]]:
        """The line with the system in which both its ends lie."""
        try:
            wire = Wire.read(str(line))
        except ValueError as error:
            self.problems.append(str(error))
            return
        self.touched += _blocks_of(wire)
        (path, source), (other, target) = (self._place_of(end.block) for end in wire)
        if path == other:
            yield path, Wire(End(source, wire.source.port), End(target, wire.target.port))
        else:
            self.problems.append(f"{wire}: its ends lie in different systems; lead it through an In1 or Out1 block")

    def _place_of(self, name: str) -> tuple[tuple[str, ...], str]:
        """The names that lead to a block's system, and its own; one of the model itself, unless a path says other."""
        *path, own = split_path(name) or [name]
        try:
            return ((), name) if name in self.model.blocks or system_at(self.model, path) is self.model else (
                tuple(path), own)
        except ConfigError:
            return (), name

    def _put(self, path: Sequence[str], system: Diagram) -> None:
        self.model = with_system(self.model, path, system)

    def _is_there(self, name: Any) -> bool:
        self.touched.append(str(name))
        path, own = self._place_of(str(name))
        if isinstance(name, str) and own in system_at(self.model, path).blocks:
            return True
        near = nearest(str(name), self.model.blocks, 1)
        self.problems.append(f"there is no block {name!r}{f'; did you mean {near[0]!r}?' if near else ''}")
        return False


def _blocks_of(wire: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(end.block for end in wire))


def _same(one: Wire, other: Wire) -> bool:
    return one == other or (one.is_physical and set(one) == set(other))


def list_differences(before: Diagram, after: Diagram) -> list[str]:
    """What is not in `after` as in `before`, line by line: blocks, parameters (defaults count as given), connections,
    and nets by the ports that they join, and places where `before` has them. The order of things is no difference."""
    before, after = spread(before), spread(after)
    return [*_differing_blocks(before, after), *_differing_lines(before, after)]


def _differing_blocks(before: Diagram, after: Diagram) -> Iterator[str]:
    for name, block in before.blocks.items():
        now = after.blocks.get(name)
        if now is None:
            yield f"block {name} ({settled_type(block)}) is missing"
        elif settled_type(now) != settled_type(block):
            yield f"block {name} is {settled_type(now)}, not {settled_type(block)}"
        else:
            was, values = _values(block), _values(now)
            if block.position not in (None, now.position):
                yield f"block {name} is not at its place; its Position is {list(block.position or ())}"
            yield from (f"block {name}: {key} is {values.get(key, 'not set')}, not {was.get(key, 'not set')}"
                        for key in {**was, **values} if _plain(was.get(key)) != _plain(values.get(key)))
    yield from (f"block {name} ({settled_type(block)}) is new" for name, block in after.blocks.items()
                if name not in before.blocks)


def _differing_lines(before: Diagram, after: Diagram) -> Iterator[str]:
    old, new = (Counter(wire for wire in model.wires if not wire.is_physical) for model in (before, after))
    yield from (f"connection {wire} is missing" for wire in old - new)
    yield from (f"connection {wire} is new" for wire in new - old)
    nets = [set(model.nets()) for model in (before, after)]
    yield from (f"net {_write_net(net)} is missing" for net in sorted(nets[0] - nets[1], key=sorted))
    yield from (f"net {_write_net(net)} is new" for net in sorted(nets[1] - nets[0], key=sorted))


def _write_net(net: Iterable[End]) -> str:
    return " -- ".join(map(str, sorted(net)))


def _values(block: DiagramBlock) -> dict[str, str]:
    kind = catalogue().of(settled_type(block))
    found = kind.with_defaults(block.parameters) if kind else dict(block.parameters)
    return {name: value for name, value in found.items() if name != "Position"}


def _plain(value: str | None) -> str:
    """A value without blanks, and a number as it is counted with: `2` is `2.0`."""
    text = " ".join((value or "").replace(",", " ").split())
    try:
        return repr(float(text))
    except ValueError:
        return text
