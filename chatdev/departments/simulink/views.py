"""The catalogue as agents read it (Markdown): the names by library, all that is known of some blocks, and a table for
the report; the tool `simulink.blocks` hands the first two out. And a model as a program that builds it.

The wording is in company_config/simugen/knowledge/*.j2.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.departments.simulink.agreement import model_name, settled_type
from chatdev.departments.simulink.catalogue import BlockType, Catalogue, Found, block_finder, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End
from chatdev.departments.simulink.engine.rules import PORT_BLOCKS
from chatdev.departments.simulink.hierarchy import block_type_of, join_path, systems
from chatdev.departments.simulink.layout import place
from chatdev.departments.simulink.saved_model import MASK
from chatdev.departments.simulink.wiring_checks import order_wires
from chatdev.errors import ToolError
from chatdev.paths import bundled_folder
from chatdev.tools.base import ToolContext, render_file, tool

MOST_BLOCKS = 40
"""Blocks that are described at once."""
_MOST_LEFT_OUT, _LONGEST = 20, 60  # names of further ones, and their characters
_DOMAINS = {"ps": "physical signal", "three_phase": "three-phase", "any": "any physical domain"}


@tool(reads=("requested_blocks?",))
def blocks(
    context: ToolContext, *,
    names: Annotated[list[str] | None, Field(
        description="The blocks to describe, each by its type, its path or the name that its icon shows; the list of "
                    "all names when left out.")] = None,
) -> str:
    """Look blocks of the Simulink libraries up: without names the list of all blocks and how they look, with names what
    their ports and parameters are called. A name that several blocks bear is asked back."""
    wanted = names or _read_names(context.values.get("requested_blocks"))
    return describe_blocks(wanted) if wanted else list_names()


def list_names(known: Catalogue | None = None, *, libraries: Iterable[str] = (), looks: bool = True) -> str:
    """The names of all blocks, or of those in some libraries, with their looks if wanted."""
    every = (known or catalogue()).libraries
    return render_file(_template("names"), libraries=[(name, every[name]) for name in libraries or every], looks=looks)


def describe_blocks(names: Sequence[str]) -> str:
    """What is known of these blocks; a name that is not clear is asked back. Past MOST_BLOCKS names are left out."""
    finder = block_finder()
    unique = list(dict.fromkeys(" ".join(name.split()) for name in names))
    found = defaultdict[str, list[Found]](list)
    for one in map(finder.find, unique[:MOST_BLOCKS]):
        found[one.sure.block.type if one.sure else one.name].append(one)
    return render_file(_template("blocks"), found=list(found.values()), domains=_Domains(),
                       left_out=[name[:_LONGEST] for name in unique[MOST_BLOCKS:MOST_BLOCKS + _MOST_LEFT_OUT]])


def tabulate_blocks(types: Iterable[BlockType]) -> str:
    """The table of a model's blocks for its report, each once."""
    return render_file(_template("report"), blocks=list({block.type: block for block in types}.values()))


class _Domains(dict[str, str]):
    """What a domain is called."""

    def __missing__(self, domain: str) -> str:
        return _DOMAINS.get(domain, domain)


def _template(name: str) -> Any:
    return bundled_folder("company_config") / "simugen" / "knowledge" / f"{name}.j2"


def _read_names(value: object) -> list[str]:
    """The names in a value of the memory: a list of names or of records with `type`, or a name a line. Raises
    ToolError for another."""
    entries = value.splitlines() if isinstance(value, str) else [] if value is None else value
    if not isinstance(entries, Sequence):
        raise ToolError(f"`requested_blocks` is a list of names of blocks; it is {value!r:.80}")
    return [name for name in map(_read_name, entries) if name]


def _read_name(entry: object) -> str:
    name = entry.get("type") if isinstance(entry, Mapping) else entry
    if not isinstance(name, str):
        raise ToolError("`requested_blocks` is a list of names of blocks, or of records with `type`; one is "
                        f"{entry!r:.80}")
    return name.strip().removeprefix("- ").strip(" `")


# A model as a program that builds it: it needs no agent, and has no faults of its own.

_SHAPES = Path(__file__).with_name("wording")
_CONTROLS = re.compile("([\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff])")


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What a program calls to build a model.

    `blocks` are a path in the libraries, a path in the model and parameters each, what holds others first; `holders`
    the blocks among them whose content is built anew; `lines` the path of the system behind the model's name (with a
    slash at its begin, or empty) and two ends each.
    """

    name: str
    settings: Mapping[str, str]
    variables: Mapping[str, str]
    blocks: Sequence[tuple[str, str, Mapping[str, str]]]
    holders: Sequence[str]
    lines: Sequence[tuple[str, str, str]]
    is_placed: bool


def plan_build(model: Diagram) -> BuildPlan:
    """The calls that build a model; blocks that have their places keep them."""
    blocks, lines, holders = list[tuple[str, str, Mapping[str, str]]](), list[tuple[str, str, str]](), list[str]()
    is_placed = any(block.position for _, system in systems(model) for block in system.blocks.values())
    for path, system in systems(model):
        shown = place(system) if is_placed and system.blocks else system
        around = "".join(f"/{join_path(name)}" for name in path)
        for name in _ports_in_order(shown):
            block, there = shown.blocks[name], join_path(*path, name)
            blocks.append((_path_of(block), there, _parameters_of(block)))
            holders += [there] if block.system else []
        lines += [(around, *map(_written_end, wire)) for wire in order_wires(shown.wires)]  # type: ignore[misc]  # two ends
    return BuildPlan(model_name(model.name), dict(model.settings), dict(model.variables), blocks, holders, lines,
                     is_placed)


def write_program(model: Diagram) -> str:
    """The program that builds the model, in Python for MATLAB."""
    return f"{render_file(_SHAPES / 'build_model.py.j2', plan=plan_build(model), literal=repr)}\n"


def write_script(model: Diagram) -> str:
    """The script that builds the model, in MATLAB's language."""
    script = render_file(_SHAPES / "build_model.m.j2", plan=plan_build(model), literal=matlab_literal,
                         inside=_inside_model)
    return f"{script}\n"


def matlab_literal(text: str) -> str:
    """A text as MATLAB writes it; line breaks and other signs that cannot be written by their numbers."""
    parts = [part for part in _CONTROLS.split(text) if part]
    written = [f"char({ord(part)})" if _CONTROLS.fullmatch(part) else "'{}'".format(part.replace("'", "''"))
               for part in parts] or ["''"]
    return written[0] if len(written) == 1 else f"[{' '.join(written)}]"


def _inside_model(path: str) -> str:
    literal = matlab_literal(f"/{path}")
    return f"[model {literal[1:-1] if literal.startswith('[') else literal}]"


def _ports_in_order(system: Diagram) -> Iterable[str]:
    """The names of the blocks; those that make numbered ports come by their numbers, as MATLAB numbers them itself."""
    rows: dict[str, list[str]] = defaultdict(list)
    for name, block in system.blocks.items():
        rows[block_type_of(block)].append(name)
    queues = {row: iter(sorted(names, key=lambda name: _number(system.blocks[name]))) for row, names in rows.items()
              if row in PORT_BLOCKS}
    for name, block in system.blocks.items():
        row = block_type_of(block)
        yield next(queues[row]) if row in queues else name


def _number(block: DiagramBlock) -> int:
    text = block.parameters.get("Port", "1").strip()
    return int(text) if text.isdecimal() else 0


def _written_end(end: End) -> str:
    """As `add_line` takes it: it calls a control input Enable."""
    return f"{join_path(end.block)}/{end.port if end.port.isdecimal() else end.port[0].upper() + end.port[1:]}"


def _path_of(block: DiagramBlock) -> str:
    kind = catalogue().of(settled_type(block))
    return kind.path if kind else block.type


def _parameters_of(block: DiagramBlock) -> dict[str, str]:
    place_ = {"Position": f"[{' '.join(map(str, block.position))}]"} if block.position else {}
    mask = {"Mask": "on", MASK: "".join(f"{name} = {value};\n" for name, value in block.system.variables.items())
            } if block.system and block.system.variables else {}
    return {**block.parameters, **mask, **place_}
