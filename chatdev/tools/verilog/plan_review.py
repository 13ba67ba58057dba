"""`verilog.plan`: does a plan speak of the specification, and of all of it?

What a Plan Verification Assistant would have to count is counted here, so that it can look at the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path

from chatdev.tools.base import ToolContext, Verdict, template
from chatdev.tools.function import tool
from chatdev.tools.verilog.identifiers import identifiers
from chatdev.tools.verilog.plan import Plan, Subtask, mended, read
from chatdev.tools.verilog.ports import listed

_QUOTED = 4  # words in a row that make a quotation, or all of a shorter source, but two at least
_NO_PLAN = -1000.0


@dataclass(frozen=True, slots=True)
class Gaps:
    """Ids of sub-tasks that neither name a port nor quote anything, and of others that quote nothing; outputs that no
    sub-task names; notes of `mended`."""

    vague: list[str]
    unquoted: list[str]
    outputs: list[str]
    notes: list[str]

    @property
    def count(self) -> int:
        return len(self.vague) + len(self.unquoted) + len(self.outputs) + len(self.notes)


@tool(reads=("plan?",), name="verilog.plan")
def review(context: ToolContext) -> Verdict:
    """Compare a plan of sub-tasks with the specification: each sub-task has to quote a sentence, every
    output needs a sub-task, and none stands twice."""
    page = template(Path(__file__).with_suffix(".j2").read_text(encoding="utf-8"))
    specification, plan = str(context.inputs.get("task") or ""), context.values.get("plan")
    ports = [port["name"] for port in listed(specification)]
    if plan is None:
        return Verdict(False, page.render(gaps=None, ports=ports).strip(), _NO_PLAN)
    gaps = gaps_of(*mended(read(Plan, plan)), specification)
    return Verdict(not gaps.count, page.render(gaps=gaps, ports=ports).strip(), -float(gaps.count), asdict(gaps))


def gaps_of(tasks: Sequence[Subtask], notes: Sequence[str], specification: str) -> Gaps:
    """What a plan lacks, as `mended` gives it. Ports are those that the specification lists; without any, no sub-task
    has to name one."""
    ports, words = listed(specification), _words(specification)
    names = {port["name"] for port in ports}
    mentioned = {task.id: identifiers(f"{task.content}\n{task.source}") & names for task in tasks}
    every = set[str]().union(*mentioned.values())
    unquoted = [task.id for task in tasks if words and not _quotes(_words(task.source), words)]
    return Gaps([task for task in unquoted if names and not mentioned[task]],
                [task for task in unquoted if not names or mentioned[task]],
                [port["name"] for port in ports if port["direction"] == "output" and port["name"] not in every],
                list(notes))


def _quotes(source: list[str], specification: list[str]) -> bool:
    match = SequenceMatcher(None, source, specification, autojunk=False).find_longest_match()
    return match.size >= max(2, min(_QUOTED, len(source)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
