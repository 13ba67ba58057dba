"""What blocks and interfaces owe to those that they extend and implement, and who may stand for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatdev.departments.plc.st.elaborate_type import scalar_of
from chatdev.departments.plc.st.scope import Scope, World
from chatdev.departments.plc.st.syntax import Name, Unit


def find_chain(key: str, units: Mapping[str, Unit]) -> Iterator[Unit]:
    """A block and those that it extends, by its lower-case name."""
    seen: set[str] = set()
    while key in units and key not in seen:
        seen.add(key)
        yield units[key]
        base = units[key].base
        key = base.key if base else ""


class Heritage:
    """The units of a source by whom they extend (EXTENDS) and implement (IMPLEMENTS)."""

    def __init__(self, world: World, units: Mapping[str, Unit]) -> None:
        self._world = world
        self._units = units
        world.find_access, world.find_misfit = self._find_access, self._find_misfit

    def chain(self, key: str) -> Iterator[Unit]:
        """A block and those that it extends."""
        return find_chain(key, self._units)

    def check(self, unit: Unit) -> None:
        """Report what a block lacks, and what it overrides that it may not."""
        self._check_interfaces(unit)
        self._check_overrides(unit)

    def miss(self, name: Name, what: str) -> None:
        """Report what a block extends or implements and is not there."""
        scope = Scope(self._world, {})
        if self._world.dialect.allows_missing:
            scope.miss(name.text, name.span)
        elif name.key not in self._world.lost:
            scope.report("no-base", name.span, name=name.text, what=what)

    def _find_access(self, key: str, routine: str) -> str:
        definer, kind, name = key.split(".")[1:4]
        words = next((one.words for one in self._units[definer].members if (one.kind, one.name.key) == (kind, name)),
                     frozenset[str]())
        if not routine:
            return "ABSTRACT" if "abstract" in words else ""
        here = routine.split(".")[1] if "." in routine else routine
        line = {one.name.key for one in self.chain(here)}
        is_own = here == definer or here in {one.name.key for one in self.chain(definer)}
        if "private" in words and not is_own:
            return "PRIVATE"
        return "PROTECTED" if "protected" in words and not is_own and definer not in line else ""

    def _find_misfit(self, name: str, interface: str) -> str:
        wanted, waiting, seen = interface.lower(), [name.lower()], set[str]()
        while waiting:
            key = waiting.pop()
            if key == wanted or (key not in self._units and key not in self._world.standard):
                return ""
            if key in self._units and key not in seen:
                seen.add(key)
                waiting += [one.key for one in _parents(self._units[key])]
        own = self._units.get(name.lower())
        return "extend" if own is not None and own.kind == "interface" else "implement"

    def asked(self, interface: str) -> Iterator[tuple[str, Unit]]:
        """The members of an interface and of those that it extends, each with the lower-case name of its own."""
        waiting, seen = [interface.lower()], set[str]()
        while waiting:
            key = waiting.pop()
            if key in self._units and key not in seen:
                seen.add(key)
                yield from ((key, member) for member in self._units[key].members)
                waiting += [one.key for one in _parents(self._units[key])]

    def names_asked(self, interface: str) -> list[str] | None:
        """The names of these members; nothing where an interface among them is not there."""
        waiting, seen = [interface.lower()], set[str]()
        while waiting:
            key = waiting.pop()
            if key not in self._units:
                return None
            waiting += [one.key for one in _parents(self._units[key]) if one.key not in seen]
            seen.add(key)
        return [member.name.text for _, member in self.asked(interface)]

    def _asked(self, name: Name) -> Iterator[Unit]:
        """The members of an interface, and of those that it extends."""
        waiting, seen = [name], set[str]()
        while waiting:
            one = waiting.pop()
            interface = self._units.get(one.key)
            if interface is None or interface.kind != "interface":
                self.miss(one, "an interface")
            elif one.key not in seen:
                seen.add(one.key)
                yield from interface.members
                waiting += interface.interfaces

    def _check_interfaces(self, unit: Unit) -> None:
        """Whether a block that is no ABSTRACT one has the members of the interfaces that it implements."""
        chain = list(self.chain(unit.name.key))
        have = {one.name.key for definer in chain for one in definer.members}
        is_whole = chain[-1].base is None and "abstract" not in unit.words
        for name in unit.interfaces:
            for member in self._asked(name):
                if member.name.key not in have and is_whole:
                    self._world.findings.report("no-method", name.span, name=member.name.text, interface=name.text,
                                                block=unit.name.text)

    def _check_overrides(self, unit: Unit) -> None:
        """Whether a block that is no ABSTRACT one has a body for each member, and nothing overrides what is FINAL."""
        findings = self._world.findings
        chain = list(self.chain(unit.name.key))
        if unit.base is not None and len(chain) > 1 and "final" in chain[1].words:
            findings.report("final", unit.base.span, name=chain[1].name.text, does="extend")
        nearest: dict[tuple[str, str], tuple[Unit, Unit]] = {}
        for definer in chain:
            for one in definer.members:
                owner, over = nearest.setdefault((one.kind, one.name.key), (definer, one))
                if owner is unit and over is not one:
                    self._check_override(over, one, f"{definer.name.text}.{one.name.text}")
        for _, one in nearest.values() if "abstract" not in unit.words else ():
            if "abstract" in one.words:
                findings.report("abstract-member", unit.name.span, name=one.name.text, block=unit.name.text)

    def _check_override(self, over: Unit, one: Unit, name: str) -> None:
        findings = self._world.findings
        if "final" in one.words:
            findings.report("final", over.name.span, name=name, does="override")
        results = [scalar_of(unit.result) for unit in (over, one)]
        if None not in results and results[0] != results[1]:
            findings.report("other-result", over.name.span, name=name, own=results[0], other=results[1])


def _parents(unit: Unit) -> tuple[Name, ...]:
    return (*unit.interfaces, unit.base) if unit.base else unit.interfaces
