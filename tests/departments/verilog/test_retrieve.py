"""What is retrieved for a sub-task, however an agent names it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatdev.errors import ToolError
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolArgumentsError, ToolContext, registry
from tests.departments.verilog.graphs import SERIAL, relate


def retrieve(task: str, relations: dict[str, Any] | None = None, **arguments: Any) -> str:
    values = {"graph": relate(**SERIAL) if relations is None else relations}
    context = ToolContext({}, values, {}, Unconfined(), Path(), Path())
    text = registry()["verilog.retrieve"].call(context, {"task": task, **arguments})
    assert isinstance(text, str)
    return text


def test_two_hops_show_signals_transitions_and_examples() -> None:
    assert retrieve("3") == """\
Sub-task 3: Compute `next_state[1:0]`.

Signals:
- [hop 1] in: the serial line
- [hop 1] next_state: combinational

Signal transitions:
- [hop 2] IDLE: // in falls
    next_state = FIRST

Signal examples:
- [hop 2] in = 1, 0, 1 gives done = 0, 0, 1"""


def test_of_the_sub_task_at_hand_three_hops_are_shown() -> None:
    graph = {"graph": relate(**SERIAL)}
    at_hand = ToolContext({}, {**graph, "subtask": {"id": "3", "content": "x"}}, {}, Unconfined(), Path(), Path())
    assert registry()["verilog.related"].call(at_hand, {}) == retrieve("3", hops=3)
    with pytest.raises(ToolError, match="must be one of the sub-tasks"):
        registry()["verilog.related"].call(replace(at_hand, values={**graph, "subtask": "3"}), {})


def test_one_hop_shows_signals_and_three_those_that_change_with_them() -> None:
    assert retrieve("3", hops=1).count("[hop") == 2
    assert "- [hop 3] done\n" in retrieve("3", hops=3)
    assert "clk" not in retrieve("3", hops=10)


@pytest.mark.parametrize("task", [
    "3", "task 3", "Task 3: the next state", "sub-task #3", "3. Compute it", "Compute `next_state[1:0]`.",
    "compute next_state[1:0]", "Please compute the next_state [1:0] of the machine now",
])
def test_a_sub_task_is_known_however_it_is_named(task: str) -> None:
    assert retrieve(task).startswith("Sub-task 3:")


@pytest.mark.parametrize("task", ["task 9", "", "the", "Write a multiplier", "9. Write", "register"])
def test_an_unknown_sub_task_is_answered_with_those_there_are(task: str) -> None:
    assert retrieve(task) == f"""\
There is no sub-task "{task}". These are the sub-tasks; give the id of one:
1: Define the module with the ports clk, in and done.
2: Write the state register.
3: Compute `next_state[1:0]`.
4: Simulate and mend."""


def test_a_wording_that_fits_two_sub_tasks_alike_is_not_guessed() -> None:
    plan = {"subtasks": [{"id": n, "content": f"Write the logic of {name}"} for n, name in enumerate("xyz")]}
    relations = relate(plan=plan, extraction={})
    assert retrieve("write the logic", relations).startswith("There is no sub-task")
    assert retrieve("write logic of y", relations).startswith("Sub-task 1:")


def test_every_one_of_25_sub_tasks_is_found_by_its_id_and_by_its_text() -> None:
    plan = {"subtasks": [{"id": f"{n}", "content": f"Connect the {n}. stage to q{n}"} for n in range(1, 26)]}
    relations = relate(plan=plan, extraction={"signals": [{"name": f"q{n}"} for n in range(1, 26)]})
    for n in range(1, 26):
        assert retrieve(f"{n}", relations).endswith(f"Signals:\n- [hop 1] q{n}")
        assert retrieve(f"Connect the {n}. stage to q{n}", relations) == retrieve(f"{n}", relations)


def test_a_sub_task_without_links_is_answered_with_the_signals() -> None:
    assert retrieve("4") == """\
Sub-task 4: Simulate and mend.

Nothing is linked with this sub-task. The signals are: clk, in, done, next_state, bits."""
    assert retrieve("4", relate(plan=SERIAL["plan"], extraction={})).endswith("The signals are: none.")


def test_what_a_model_wrote_is_shown_and_never_rendered() -> None:
    plan = {"subtasks": [{"id": "1", "content": "{{ 7 * 7 }} q"}]}
    signals = [{"name": "q", "about": "{% raise %} <b>"}]
    text = retrieve("{{ 8 * 8 }}", relate(plan=plan, extraction={"signals": signals}))
    assert '"{{ 8 * 8 }}"' in text
    assert "- [hop 1] q: {% raise %} <b>" in retrieve("1", relate(plan=plan, extraction={"signals": signals}))


@pytest.mark.parametrize("hops", [0, 11, "far"])
def test_the_hops_have_limits(hops: Any) -> None:
    with pytest.raises(ToolArgumentsError, match="hops"):
        retrieve("3", hops=hops)


def test_without_a_graph_the_agent_is_told() -> None:
    with pytest.raises(ToolError, match=r"verilog\.relate"):
        retrieve("3", {})
