"""What is wrong with an investigation: by the eight checks, by what the first round saw, and by what nobody asked to
change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chatdev.departments.simulink.agreement import settle, settle_block, settled_type
from chatdev.departments.simulink.checks import check_investigation, read_investigation, sort_findings
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.parts import DiagramFinding


def review_investigation(investigation: Any, seen: Sequence[Any] = (), given: Diagram | None = None,
                         touched: Sequence[str] = ()) -> list[DiagramFinding]:
    """What is wrong by the eight checks, by the list of blocks that were `seen` first, and by the `given` model, of
    which only the blocks that are `touched` may change."""
    value = settle(investigation)
    model = read_investigation(value).model
    first = {str(one.get("name")): str(settle_block(one).get("type")) for one in seen if isinstance(one, Mapping)}
    return sort_findings([*check_investigation(value), *(_compare_lists(first, model) if first else ()),
                          *(_find_unasked(given, model, {*given.blocks} - {*touched}) if given else ())])


def _compare_lists(first: Mapping[str, str], model: Diagram) -> Iterator[DiagramFinding]:
    """Blocks of the first list that are not there, and blocks that it does not have; one may have got another name."""
    types = {name: settled_type(block) for name, block in model.blocks.items()}
    before, now = Counter(first.values()), Counter(types.values())
    for name, kind in first.items():
        if name not in types and now[kind] < before[kind]:
            yield DiagramFinding("block list", "warning", f"the block {name} ({kind}) of the first list is missing",
                                 "add it with its connections, unless the picture does not show it", block=name)
    for name, kind in types.items():
        if name not in first and now[kind] > before[kind]:
            yield DiagramFinding("extra blocks", "warning", f"the first list has no block {name}",
                                 "remove it, unless the picture shows it", block=name)


def _find_unasked(given: Diagram, model: Diagram, kept: set[str]) -> Iterator[DiagramFinding]:
    """What is not as it was of the blocks that are to be kept and the lines between them."""
    for name, block in given.blocks.items():
        if name in kept and _meaning(model.blocks.get(name)) != _meaning(block):
            what = "changed" if name in model.blocks else "gone"
            yield DiagramFinding("block list", "error", f"the block {name} is {what}, and nobody asked for that",
                                 f"give it back: {_write(name, block)}", block=name)
    before, now = _lines_between(kept, given), _lines_between(kept, model)
    for key, wire in {**before, **now}.items():
        if key not in now or key not in before:
            what, fix = ("gone", "give it back") if key in before else ("new", "remove it")
            yield DiagramFinding("block list", "error", f"the connection is {what}, and nobody asked for that", fix,
                                 connection=str(wire))


def _lines_between(blocks: set[str], model: Diagram) -> dict[object, Wire]:
    return {frozenset(wire) if wire.is_physical else wire: wire for wire in model.wires
            if {end.block for end in wire} <= blocks}


def _meaning(block: DiagramBlock | None) -> tuple[str, dict[str, str]] | None:
    return (settled_type(block), dict(block.parameters)) if block else None


def _write(name: str, block: DiagramBlock) -> str:
    return f"{name} is {block.type}" + (f" with {dict(block.parameters)}" if block.parameters else "")
