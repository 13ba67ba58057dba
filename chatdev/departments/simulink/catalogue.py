"""The block catalogue: what each block is called, where it lies in the libraries, its ports, parameters and looks, and
which block a name means.

It is read from `company_config/simugen/knowledge/blocks/*.yaml`, a file for each library.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from chatdev.config.yaml_nodes import StrictModel, place_of, read, validate_node
from chatdev.departments.simulink.ports import BlockPort, expand_ports, merge_parameters
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder
from chatdev.tools.retrieval.search import Passage, WordIndex

Domain = Literal["signal", "ps", "electrical", "three_phase", "rotational", "translational", "thermal", "hydraulic",
                 "any"]


class _Port(StrictModel):
    """A port or a row of them (`ports.expand_ports`)."""

    direction: Literal["in", "out", "conserving"]
    domain: Domain = "signal"
    side: Literal["left", "right"] | None = None
    name: str | None = None
    label: str = ""
    count: str | None = None
    names: bool = False
    each: str | None = None
    when: dict[str, str | list[str]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_a_side(self) -> Self:
        if (self.domain == "signal") == (self.side is not None):
            raise ValueError("`side` (left or right) is for physical ports, which need it; a signal's port has none")
        return self


class BlockType(StrictModel):
    """A block of a library.

    `type` is its name there; `block_type` what files call it; `display` maps a name that the block is shown or known by
    to the parameters that make it so; `choices` are the values of parameters that are words; `look` is for people and
    agents who see a picture; `sim` names the kernel that simulates it; `verified` says that MATLAB R2024b took a model
    with it, else it is as documented or reported; `note` says what is doubtful.
    """

    type: str = Field(min_length=1)
    paths: list[str] = Field(min_length=1)
    block_type: str
    aliases: list[str] = Field(default_factory=list)
    display: dict[str, dict[str, str]] = Field(default_factory=dict)
    ports: list[_Port]
    parameters: dict[str, str] = Field(default_factory=dict)
    choices: dict[str, list[str]] = Field(default_factory=dict)
    look: str
    principle: str
    sim: str | None = None
    verified: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _knows_its_parameters(self) -> Self:
        written = [*self._write_values()]
        asked = [*self.port_parameters, *self.choices, *(name for name, _ in written)]
        if missing := [name for name in asked if name not in self.parameters]:
            raise ValueError(f"{self.type}: `ports`, `display` or `choices` ask for {missing[0]!r}, which has no "
                             "default; add it to `parameters`")
        if wrong := [one for one in written if one[1] not in self.choices.get(one[0], [one[1]])]:
            name, value = wrong[0]
            raise ValueError(f"{self.type}: {value!r} is not among the `choices` of {name!r}; add it, or write one of "
                             "them")
        try:
            self.ports_with({})
        except ValueError as error:
            raise ValueError(f"{self.type}: `parameters`: {error}") from None
        return self

    def _write_values(self) -> Iterator[tuple[str, str]]:
        """Each value of a parameter that the record writes."""
        yield from self.parameters.items()
        for shown in self.display.values():
            yield from shown.items()
        for port in self.ports:
            for name, values in port.when.items():
                yield from ((name, value) for value in ([values] if isinstance(values, str) else values))

    @property
    def path(self) -> str:
        """Where `add_block` finds it."""
        return self.paths[0]

    @property
    def port_parameters(self) -> list[str]:
        """The parameters that decide which ports there are."""
        return list(dict.fromkeys(name for port in self.ports
                                  for name in (*port.when, port.count, port.each) if name))

    def with_defaults(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """All parameters of a block that has these."""
        return merge_parameters(self.parameters, parameters)

    def ports_with(self, parameters: Mapping[str, str]) -> list[BlockPort]:
        """The ports of a block with these parameters; raises ValueError where their number cannot be told."""
        return expand_ports([port.model_dump() for port in self.ports], self.with_defaults(parameters))


class _Library(StrictModel):
    """A file of the catalogue."""

    library: str
    blocks: list[BlockType] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All block types by their names, by their paths in the libraries, and by the libraries' names."""

    types: Mapping[str, BlockType]
    paths: Mapping[str, BlockType]
    libraries: Mapping[str, tuple[BlockType, ...]]

    @classmethod
    def read(cls, folder: Path) -> Catalogue:
        """The catalogue in a folder. Raises ConfigError, which names file, line and field."""
        types: dict[str, BlockType] = {}
        paths: dict[str, BlockType] = {}
        libraries: dict[str, tuple[BlockType, ...]] = {}
        for file in sorted(folder.glob("*.yaml")):
            node = read(file)
            library = validate_node(_Library, node)
            libraries[library.library] = (*libraries.get(library.library, ()), *library.blocks)
            for number, block in enumerate(library.blocks):
                place = place_of(node, ("blocks", number, "type"))
                if types.setdefault(block.type, block) is not block:
                    raise ConfigError(f"{place}: type: the block {block.type!r} is there twice; remove one of them")
                for path in block.paths:
                    if (other := paths.setdefault(_plain_blanks(path), block)) is not block:
                        raise ConfigError(f"{place}: paths: {path!r} is the path of {other.type!r} and {block.type!r}; "
                                          "remove it from one of them")
        return cls(MappingProxyType(types), MappingProxyType(paths), MappingProxyType(libraries))

    def at(self, path: str) -> BlockType | None:
        """The block at a path of a library; blanks and line breaks in names are alike."""
        return self.paths.get(_plain_blanks(path))

    def of(self, name: str) -> BlockType | None:
        """The block of exactly that type or path."""
        return self.types.get(name) or self.at(name)

    def plain(self) -> list[dict[str, Any]]:
        """As JSON values, for the executor's sandbox."""
        return [block.model_dump(exclude_none=True) for block in self.types.values()]


def _plain_blanks(path: str) -> str:
    return " ".join(path.split())


@functools.cache
def catalogue() -> Catalogue:
    """The catalogue that ships with the package."""
    return Catalogue.read(bundled_folder("company_config") / "simugen" / "knowledge" / "blocks")


# Which block a name means: by type or path, name on the icon, alias, spelling, and words.

Way = Literal["type", "path", "display name", "alias", "spelling", "words", "nothing"]
"""How a name was found."""
EXACT: frozenset[Way] = frozenset({"type", "path", "display name", "alias"})

_MOST = 5  # suggestions
_LONGEST = 80  # characters of a name that are shown, and up to which its spelling is compared
_ALIKE = 0.75  # from 0 to 1, of difflib
_BLANKS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block, and the parameters that make it what its name says: `Log` is Math Function with Operator log."""

    block: BlockType
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Found:
    """What a name may mean, best first, and how that was found. `name` is what was asked for, shortened."""

    name: str
    way: Way
    candidates: tuple[Candidate, ...] = ()

    @property
    def sure(self) -> Candidate | None:
        """What the name means without a doubt: a type, a path, or an exact name that one block bears."""
        is_own_name = self.way in ("type", "path")
        return self.candidates[0] if is_own_name or (self.way in EXACT and len(self.candidates) == 1) else None

    @property
    def others(self) -> tuple[Candidate, ...]:
        """What else it may mean; who handed the name in is asked."""
        return self.candidates[1:] if self.sure else self.candidates


class BlockFinder:
    """Looks names up in a catalogue."""

    def __init__(self, blocks: Catalogue) -> None:
        self._blocks = blocks
        self._shown, self._aliases = defaultdict[str, list[Candidate]](list), defaultdict[str, list[Candidate]](list)
        self._spelled = defaultdict[str, list[Candidate]](list)
        for block in blocks.types.values():
            for name, parameters in block.display.items():
                self._shown[_plain(name)].append(Candidate(block, MappingProxyType(parameters)))
            for name in block.aliases:
                self._aliases[_plain(name)].append(Candidate(block))
            for name, candidate in _all_names(block):
                self._spelled[_fold(name)].append(candidate)

    def find(self, name: str) -> Found:
        """What a name means; blanks and line breaks in it are alike."""
        plain = _plain(name)
        name = plain[:_LONGEST]
        if block := self._blocks.types.get(plain):
            return Found(name, "type", _unique([Candidate(block), *self._bearers(plain)]))
        if block := self._blocks.at(plain):
            return Found(name, "path", (Candidate(block),))
        if bearers := self._bearers(plain):
            return Found(name, "display name" if plain in self._shown else "alias", _unique(bearers))
        if alike := self._find_spelling(plain):
            return Found(name, "spelling", alike)
        related = self._find_words(plain)
        return Found(name, "words" if related else "nothing", related)

    def known(self, name: str) -> BlockType | None:
        """The block that a name means without a doubt."""
        plain = _plain(name)
        own, bearers = self._blocks.of(plain), self._bearers(plain)
        return own or (bearers[0].block if len(_unique(bearers)) == 1 else None)

    def _bearers(self, name: str) -> list[Candidate]:
        return [*self._shown.get(name, ()), *self._aliases.get(name, ())]

    def _find_spelling(self, name: str) -> tuple[Candidate, ...]:
        """Those whose name is the same but for case, blanks and hyphens, else those with a name like it; of a path that
        leads nowhere, its last part counts, too."""
        forms = [_fold(form) for form in dict.fromkeys((name, name.rpartition("/")[2])) if 0 < len(form) <= _LONGEST]
        for form in forms:
            if form in self._spelled:
                return _unique(self._spelled[form])
        close = [key for form in forms for key in get_close_matches(form, self._spelled, _MOST, _ALIKE)]
        return _unique(candidate for key in close for candidate in self._spelled[key])[:_MOST]

    def _find_words(self, name: str) -> tuple[Candidate, ...]:
        with WordIndex() as index:
            index.add(Passage(" ".join([block.type, *block.aliases, *block.display]),
                              f"{block.principle} {block.look}", block.type) for block in self._blocks.types.values())
            return tuple(Candidate(self._blocks.types[passage.source]) for passage in index.search(name, _MOST))


@functools.cache
def block_finder() -> BlockFinder:
    """Looks names up in the catalogue that ships with the package."""
    return BlockFinder(catalogue())


def _all_names(block: BlockType) -> Iterator[tuple[str, Candidate]]:
    """All names of a block, those of files included, with what each means."""
    yield block.type, Candidate(block)
    for name, parameters in block.display.items():
        yield name, Candidate(block, MappingProxyType(parameters))
    for name in (*block.aliases, *(path.rpartition("/")[2] for path in block.paths)):
        yield name, Candidate(block)
    if block.block_type not in ("Reference", "SubSystem"):
        yield block.block_type, Candidate(block)


def _unique(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Each block once, as it comes first."""
    by_type: dict[str, Candidate] = {}
    for candidate in candidates:
        by_type.setdefault(candidate.block.type, candidate)
    return tuple(by_type.values())


def _plain(name: str) -> str:
    return " ".join(name.split())


def _fold(name: str) -> str:
    """Without case, blanks and hyphens; a name of nothing else (`-`) stays."""
    return _BLANKS.sub("", name.casefold()) or name
