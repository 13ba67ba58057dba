"""Which block a name means: by type or path, name on the icon, alias, spelling, and words.

Only an exact name that one block bears is taken; everything else is a suggestion, or is asked back.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from chatdev.departments.simulink.catalogue import BlockType, Catalogue, catalogue
from chatdev.tools.retrieval.search import Passage, WordIndex

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
