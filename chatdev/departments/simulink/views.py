"""The catalogue as agents read it (Markdown): the names by library, all that is known of some blocks, and a table for
the report; the tool `simulink.blocks` hands the first two out. And a model as a program that builds it.

The wording is in company_config/simugen/knowledge/*.j2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.departments.simulink.agreement import model_name, settled_type
from chatdev.departments.simulink.catalogue import BlockType, Catalogue, Found, block_finder, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End
from chatdev.departments.simulink.layout import place
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

_SHAPE = Path(__file__).with_name("wording") / "build_model.py.j2"


def write_program(model: Diagram) -> str:
    """The program that builds the model, in Python for MATLAB; blocks that have their places keep them."""
    is_placed = any(block.position for block in model.blocks.values())
    shown = place(model) if is_placed else model
    blocks = [(_path_of(block), name, _parameters_of(block)) for name, block in shown.blocks.items()]
    lines = [tuple(map(_written_end, wire)) for wire in order_wires(shown.wires)]
    program = render_file(_SHAPE, name=model_name(model.name), blocks=blocks, lines=lines, positioned=is_placed,
                          literal=repr)
    return f"{program}\n"


def _written_end(end: End) -> str:
    """As `add_line` takes it: it calls a control input Enable."""
    return f"{end.block}/{end.port if end.port.isdecimal() else end.port[0].upper() + end.port[1:]}"


def _path_of(block: DiagramBlock) -> str:
    kind = catalogue().of(settled_type(block))
    return kind.path if kind else block.type


def _parameters_of(block: DiagramBlock) -> dict[str, str]:
    place_ = {"Position": f"[{' '.join(map(str, block.position))}]"} if block.position else {}
    return {**block.parameters, **place_}
