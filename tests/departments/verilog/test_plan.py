"""Plans as models write them, what a `foreach` can take of them, and what `verilog.plan` says that they lack."""

from __future__ import annotations

from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.plan import Extraction, Plan, Subtask, bare_id, join_loose, parse, repair_plan
from chatdev.errors import ToolError
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, Verdict, registry

IDS = st.sampled_from(["1", "2", "3", "task 2", "", "x"])
SUBTASKS = st.builds(Subtask, id=IDS, content=st.integers(min_value=0).map(str), parents=st.lists(IDS, max_size=3))
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


def plan(*tasks: tuple[str, list[str]]) -> Plan:
    return Plan(subtasks=tuple(Subtask(id=name, content=f"do {number}", parents=tuple(parents))
                               for number, (name, parents) in enumerate(tasks)))


def parents(tasks: list[Subtask]) -> dict[str, tuple[str, ...]]:
    return {task.id: task.parents for task in tasks}


def test_a_sound_plan_stays_as_it_is() -> None:
    tasks, notes = repair_plan(plan(("1", []), ("2", ["1"]), ("3", ["1", "2"])))
    assert parents(tasks) == {"1": (), "2": ("1",), "3": ("1", "2")}
    assert notes == []


def test_a_parent_may_be_listed_after_its_child() -> None:
    tasks, notes = repair_plan(plan(("1", ["2"]), ("2", [])))
    assert parents(tasks) == {"1": ("2",), "2": ()}
    assert notes == []


def test_two_sub_tasks_of_one_id_get_ids_of_their_own() -> None:
    tasks, notes = repair_plan(plan(("1", []), ("1", []), ("1-2", ["1"])))
    assert parents(tasks) == {"1": (), "1-2": (), "1-2-2": ("1",)}
    assert notes == ["two sub-tasks have the id 1; the later one is now 1-2",
                     "two sub-tasks have the id 1-2; the later one is now 1-2-2"]


def test_a_parent_that_is_no_sub_task_is_left_out() -> None:
    tasks, notes = repair_plan(plan(("1", ["0"]), ("2", ["task 1", "the ports"])))
    assert parents(tasks) == {"1": (), "2": ("1",)}
    assert notes == ["sub-task 1 has parents that are no sub-tasks: 0; left out",
                     "sub-task 2 has parents that are no sub-tasks: the ports; left out"]


def test_a_circle_is_cut_where_a_sub_task_waits_for_a_later_one() -> None:
    tasks, notes = repair_plan(plan(("1", ["3"]), ("2", ["1"]), ("3", ["2", "3"])))
    assert parents(tasks) == {"1": (), "2": ("1",), "3": ("2",)}
    assert notes == ["sub-task 1 waits for 3, which waits for 1; 3 is left out of its parents",
                     "sub-task 3 waits for 3, which waits for 3; 3 is left out of its parents"]


def test_what_says_nothing_of_its_own_becomes_a_part_of_the_one_before() -> None:
    tasks, notes = repair_plan(plan(("1", []), ("2", ["1"]), ("3", ["2"]), ("4", ["1", "3"])))
    found = join_loose(tasks, {"1", "3"}, notes)
    assert [(task.id, task.content, task.parents) for task in found] == [
        ("1", "do 0\ndo 1\ndo 2", ()), ("4", "do 3", ("1",))]
    assert notes == ["sub-task 2 is now a part of 1", "sub-task 3 is now a part of 1"]


@given(st.lists(SUBTASKS, max_size=8, unique_by=lambda task: task.content), st.sets(st.integers(0, 7)))
def test_gathering_loses_no_word_and_keeps_an_order(subtasks: list[Subtask], loose: set[int]) -> None:
    tasks, notes = repair_plan(Plan(subtasks=tuple(subtasks)))
    found = join_loose(tasks, {task.id for number, task in enumerate(tasks) if number in loose}, notes)
    assert [line for task in found for line in task.content.split("\n")] == [task.content for task in tasks]
    assert set(TopologicalSorter(parents(found)).static_order()) == {task.id for task in found}


def test_what_is_said_before_is_left_out() -> None:
    tasks, notes = repair_plan(Plan(subtasks=tuple(
        Subtask(id=name, content=text) for name, text in [("1", "Add q."), ("2", "add `q`"), ("3", "Add w.")])))
    assert [task.id for task in tasks] == ["1", "3"]
    assert notes == ["sub-task '2' says the same as '1'; left out"]


@given(st.lists(SUBTASKS, max_size=8, unique_by=lambda task: task.content))
def test_whatever_the_plan_its_sub_tasks_have_an_order(subtasks: list[Subtask]) -> None:
    tasks, _ = repair_plan(Plan(subtasks=tuple(subtasks)))
    graph = parents(tasks)
    assert len(graph) == len(subtasks)
    assert set(TopologicalSorter(graph).static_order()) == set(graph)


@pytest.mark.parametrize(("written", "name"), [
    ("3", "3"), (" 3. ", "3"), ("Task 3", "3"), ("sub-task #3:", "3"), ("subtask_3", "3"), ("task3", "3"),
    ("The task 3", "3"), ("the sub-task 3.", "3"),
    ("reset", "reset"), ("tasks", "tasks"), ("task", "task"), ("", ""), (".", "."),
])
def test_an_id_is_known_however_it_is_written(written: str, name: str) -> None:
    assert bare_id(written) == name


def test_numbers_stand_for_texts_and_other_fields_do_no_harm() -> None:
    task = parse(Plan, {"subtasks": [{"id": 2, "content": "x", "parents": [1], "why": ""}], "title": ""}).subtasks[0]
    assert task == Subtask(id="2", content="x", parents=("1",))


@pytest.mark.parametrize(("value", "complaint"), [
    (None, r"^plan: .*given: None\); it has the fields subtasks$"),
    ({"subtasks": "all"}, r"^plan\.subtasks: .*given: 'all'"),
    ({"subtasks": [{"id": "1"}]}, r"^plan\.subtasks\.0\.content: Field required"),
])
def test_another_shape_is_named_with_its_place(value: object, complaint: str) -> None:
    with pytest.raises(ToolError, match=complaint):
        parse(Plan, value)


def test_nothing_need_be_extracted() -> None:
    assert parse(Extraction, {}) == Extraction()


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


def test_an_output_that_is_not_certain_needs_no_sub_task() -> None:
    task = SPECIFICATION.replace(" - output ready", " - output ready (only if READY is 1)")
    assert reviewed({**COUNTER, "source": "the counter is 15"}, task=task).passed


def test_without_listed_ports_no_sub_task_has_to_name_one() -> None:
    assert reviewed({**READY, "parents": []}, task="The output ready is high when the counter is 15.").passed


def test_what_is_no_plan_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"plan\.subtasks: Field required"):
        reviewed(plan={"tasks": []})
