"""What the checks of a diagram look at, and what they find: each block with its type in the catalogue, its parameters
and its ports, as far as these are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from chatdev.departments.simulink.catalogue import BlockFinder, BlockType, Catalogue, Found, block_finder, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.hierarchy import ports_of
from chatdev.departments.simulink.ports import BlockPort

CHECKS = ("block list", "extra blocks", "format", "parameters", "duplicates", "port types", "complete ports", "nets")
"""The reviewer's eight checks, in their order."""
Severity = Literal["error", "warning", "remark"]
_MOST_STRANGE = 100
_OWN_PORTS = ("MATLAB Function", "S-Function", "Level-2 MATLAB S-Function", "Model")
"""Types whose ports their own content decides, which is not at hand: nothing is said of them."""


@dataclass(frozen=True, slots=True)
class DiagramFinding:
    """What a check found: at a block, a parameter of it, or a connection (as its text); and what to do. Blocks
    inside of `system` are named by their paths, and connections as they stand there."""

    check: str
    severity: Severity
    message: str
    fix: str
    block: str = ""
    parameter: str = ""
    connection: str = ""
    system: str = ""

    @property
    def place(self) -> str:
        """Where, in words."""
        if self.connection:
            return f"connection {self.connection}" + (f" in {self.system}" if self.system else "")
        if self.parameter:
            return f"block {self.block}, parameter {self.parameter}"
        return f"block {self.block}" if self.block else self.system or "the model"


@dataclass(frozen=True, slots=True)
class Part:
    """A block as the checks see it: what its type was `found` to mean, the parameters that are `given`, and all
    `values` with the defaults. `kind` and `ports` are None where nobody knows them."""

    name: str
    found: Found
    kind: BlockType | None
    given: Mapping[str, str]
    values: Mapping[str, str]
    ports: tuple[BlockPort, ...] | None
    block: DiagramBlock

    @property
    def type(self) -> str:
        """What the catalogue calls it; empty where it is not known."""
        return self.kind.type if self.kind else ""

    def named(self, port: str) -> list[BlockPort]:
        """Its ports of that name: an input and an output may have the same."""
        return [one for one in self.ports or () if one.name == port]

    def list_ports(self) -> str:
        """All its ports in words."""
        rows = {"input": [], "output": [], "terminal": []}  # type: dict[str, list[str]]
        for one in self.ports or ():
            row = "terminal" if one.is_physical else "input" if one.direction == "in" else "output"
            rows[row].append(one.name)
        return "; ".join(f"{row}s {', '.join(names)}" for row, names in rows.items() if names) or "none"


def nearest(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names that are most like it, without regard to case."""
    by_case = {one.lower(): one for one in names}
    return [by_case[one] for one in get_close_matches(name.lower(), by_case, n=most, cutoff=0.6)]


def make_parts(model: Diagram, known: Catalogue | None = None) -> dict[str, Part]:
    """The blocks of a model; a name that only one type bears is taken as that type. Of very many strange names, only
    the first are looked up at length."""
    finder, known = (BlockFinder(known), known) if known else (block_finder(), catalogue())
    names = dict.fromkeys(block.type for block in model.blocks.values())
    strange = [name for name in names if known.of(name) is None]
    skipped = {name: Found(name[:80], "nothing") for name in strange[_MOST_STRANGE:]}
    found = {name: skipped.get(name) or finder.find(name) for name in names}
    return {name: _part(name, block, found[block.type]) for name, block in model.blocks.items()}


def _part(name: str, block: DiagramBlock, found: Found) -> Part:
    if found.sure is None:
        return Part(name, found, None, block.parameters, block.parameters, None, block)
    kind = found.sure.block
    given = with_known_case(kind, {**found.sure.parameters, **block.parameters})
    try:
        ports = None if has_own_ports(kind, block) else tuple(ports_of(replace(block, parameters=given), kind))
    except ValueError:
        ports = None  # the check of the parameters says why
    return Part(name, found, kind, given, kind.with_defaults(given), ports, block)


def has_own_ports(kind: BlockType, block: DiagramBlock) -> bool:
    """Whether what is in a block decides its ports, and that is not at hand."""
    return block.system is None and (kind.type in _OWN_PORTS or kind.block_type == "SubSystem")


def with_known_case(kind: BlockType, parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters named as the catalogue does: MATLAB does not regard the case of their names."""
    known = {name.lower(): name for name in kind.parameters}
    return {name if name in kind.parameters else known.get(name.lower(), name): value
            for name, value in parameters.items()}
