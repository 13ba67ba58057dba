"""`verilog.plan`: what a plan lacks is counted, and told by the sub-task and the signal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.errors import ToolError
from chatdev.sandbox.unconfined import Unconfined
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.registry import registry

SPECIFICATION = """Write TopModule:

 - input  clk
 - input  load
 - output ready
 - output count (4 bits)

The counter counts up at every rising edge of clk. While load is high it
is set to 0. The output ready is high when the counter is 15."""
COUNTER = {"id": "1", "content": "`count` goes up at each edge of clk, and is 0 after load.", "parents": [],
           "source": "While load is high it is set to 0."}
READY = {"id": "2", "content": "`ready` is 1 when count is 15.", "parents": ["1"],
         "source": "the output READY is high, when the counter is 15"}


def reviewed(*subtasks: dict[str, Any], task: str = SPECIFICATION, **values: Any) -> Verdict:
    values = values or {"plan": {"subtasks": list(subtasks)}}
    context = ToolContext({}, values, {"task": task}, Unconfined(), Path(), Path())
    verdict = registry()["verilog.plan"].call(context, {})
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_plan_that_quotes_and_names_all_passes() -> None:
    verdict = reviewed(COUNTER, READY)
    assert (verdict.passed, verdict.score) == (True, 0)


@pytest.mark.parametrize(("changed", "told"), [
    ({"content": "Add another register.", "source": "The specification"},
     "Sub-task 2 names no port and quotes nothing. Say which of clk, load, ready, count"),
    ({"source": "The specification"}, "Sub-task 2 quotes nothing."),
    ({"source": "Ready is the end of counting."}, "Sub-task 2 quotes nothing."),
    ({"source": ""}, "Sub-task 2 quotes nothing."),
    ({"content": "Write the rest of count.", "source": "the counter is 15"}, "No sub-task names the output ready."),
    ({"content": COUNTER["content"]}, "Sub-task '2' says the same as '1'; left out."),
    ({"parents": ["7"]}, "Sub-task 2 has parents that are no sub-tasks: 7; left out."),
])
def test_what_a_plan_lacks_is_told(changed: dict[str, Any], told: str) -> None:
    verdict = reviewed(COUNTER, {**READY, **changed})
    assert not verdict.passed
    assert told in verdict.report


def test_a_sub_task_about_inner_signals_is_fine_when_it_quotes() -> None:
    inner = {"id": "3", "content": "Write the register `value`.", "source": "counts up at every rising edge"}
    assert reviewed(COUNTER, READY, inner).passed


def test_a_plan_with_fewer_gaps_has_a_higher_score_and_none_the_lowest() -> None:
    vague = {"id": "3", "content": "Add another register.", "source": "The specification"}
    none, worst, better = reviewed(software=None), reviewed(vague), reviewed(COUNTER, vague)
    assert none.report == "There is no plan yet."
    assert none.score is not None
    assert none.score < float(worst.score or 0) < float(better.score or 0) < 0


def test_without_listed_ports_no_sub_task_has_to_name_one() -> None:
    assert reviewed({**READY, "parents": []}, task="The output ready is high when the counter is 15.").passed


def test_what_is_no_plan_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"plan\.subtasks: Field required"):
        reviewed(plan={"tasks": []})
