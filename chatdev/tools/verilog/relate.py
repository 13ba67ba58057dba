"""`verilog.relate`: the relation graph of a plan and of what was extracted from the specification."""

from __future__ import annotations

from typing import Any

from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.verilog import graph
from chatdev.tools.verilog.plan import Extraction, Plan, gathered, mended, read
from chatdev.tools.verilog.plan_review import gaps_of


@tool(reads=("plan", "extraction", "links?"))
def relate(context: ToolContext) -> dict[str, Any]:
    """Relate the plan's sub-tasks with the signals, transitions and examples of the specification.

    Sub-tasks that quote nothing of the specification become part of the one before. The result is the
    graph as node-link data (`nodes`, `edges`), `subtasks` (the plan's, in a form that
    `foreach: {depends_on: parents}` takes), `unlinked` (what no identifier links, for a model to answer with `links`)
    and `notes` on everything that was left out or changed. Raises ToolError when a value has another shape.
    """
    tasks, notes = mended(read(Plan, context.values.get("plan")))
    gaps = gaps_of(tasks, (), str(context.inputs.get("task") or ""))
    tasks = gathered(tasks, [*gaps.vague, *gaps.unquoted], notes)
    relations = graph.build(tasks, read(Extraction, context.values.get("extraction")))
    links = context.values.get("links") or []
    if not isinstance(links, list):
        raise ToolError(f"links must be a list of {{from: id, to: id}}, not {links!r:.80}")
    notes += graph.merge(relations, links)
    return {**graph.to_json(relations), "subtasks": [task.model_dump(mode="json") for task in tasks],
            "unlinked": graph.unlinked(relations), "notes": notes}
