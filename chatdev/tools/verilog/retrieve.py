"""`verilog.retrieve`: what the relation graph holds around one sub-task (VerilogCoder, arXiv 2408.08927, §3.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.tools.base import ToolContext, template
from chatdev.tools.function import tool
from chatdev.tools.verilog import graph
from chatdev.tools.verilog.plan import bare

_NEAR, _FEWEST = 0.6, 2  # share of the shorter text's words that are the same, and their least number
_NUMBERED = re.compile(r"\s*(?:(?:sub[\s_-]?)?task[\s_#-]*(\S+?)|(\S+?)[.:)])(?:[.:)\s]|$)", re.IGNORECASE)


@tool(reads=("graph",))
def retrieve(
    context: ToolContext, *,
    task: Annotated[str, Field(description="The sub-task: its id or its text.")],
    hops: Annotated[int, Field(ge=1, le=10, description="How far to look: 1 gives signals, 2 their transitions and "
                                                        "examples, more what these have to do with.")] = 2,
) -> str:
    """The signals, transitions and examples of the specification that are related to a sub-task."""
    relations = graph.from_json(context.values.get("graph"))
    tasks = {data["name"]: data["text"] for _, data in relations.nodes(data=True) if data["type"] == "task"}
    name = find(task, tasks)
    found: list[dict[str, Any]] = []
    if name is not None:
        distances = graph.around(relations, f"task {name}", hops)
        found = [{**relations.nodes[node], "hops": distance} for node, distance in distances.items()]
    signals = [data["name"] for _, data in relations.nodes(data=True) if data["type"] == "signal"]
    page = template(Path(__file__).with_name("retrieve.j2").read_text(encoding="utf-8"))
    text: str = page.render(given=task, name=name, tasks=tasks, hops=hops, found=found, signals=signals)
    return text.strip()


def find(given: str, tasks: Mapping[str, str]) -> str | None:
    """The id of the task that is meant by `given`: an id, `task 3`, its text, or a text like it; None without one."""
    if bare(given) in tasks:
        return bare(given)
    words = {name: _words(text) for name, text in tasks.items()}
    wanted = _words(given)
    if same := [name for name in tasks if words[name] == wanted]:
        return same[0]
    if (numbered := _NUMBERED.match(given)) and (name := numbered[1] or numbered[2]) in tasks:
        return name
    return _nearest(wanted, words)


def _nearest(wanted: list[str], words: Mapping[str, list[str]]) -> str | None:
    """The one text that shares the most words with `wanted` in the same order, and enough of them."""
    shared = {name: sum(block.size for block in SequenceMatcher(None, wanted, other, autojunk=False)
                        .get_matching_blocks()) for name, other in words.items()}
    most = max(shared.values(), default=0)
    best = [name for name in shared if shared[name] == most]
    shorter = min(len(wanted), len(words[best[0]])) if best else 0
    return best[0] if len(best) == 1 and most >= max(_NEAR * shorter, _FEWEST) else None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
