"""The relation graph of tasks, signals, transitions and examples, and what is found around a task."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog import plan as graph
from chatdev.errors import MissingProgram, ToolError
from tests.departments.verilog.graphs import SERIAL, relate

NAMES = ["clk", "in", "q", "state", "next_state", "\\bus+index", "a"]
TEXTS = st.lists(st.sampled_from([*NAMES, "rises", "In", "qq", "4'b1", "[3:0]"]), max_size=6).map(" ".join)
EXTRACTIONS = st.fixed_dictionaries({
    "signals": st.lists(st.fixed_dictionaries({"name": st.sampled_from(NAMES)}), max_size=6),
    "transitions": st.lists(st.fixed_dictionaries({"text": TEXTS}), max_size=5),
    "examples": st.lists(st.fixed_dictionaries({"text": TEXTS}), max_size=5),
})
PLANS = st.fixed_dictionaries({"subtasks": st.lists(
    st.fixed_dictionaries({"id": st.sampled_from(["1", "2", ""]), "content": TEXTS}), max_size=6)})


def edges(relations: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    return {(edge["source"], edge["target"], edge["type"], edge["by"]) for edge in relations["edges"]}


def test_what_an_identifier_names_is_linked() -> None:
    assert edges(relate(**SERIAL)) == {
        ("task 1", "signal clk", "IMPLEMENTS", "identifier"),
        ("task 1", "signal in", "IMPLEMENTS", "identifier"),
        ("task 1", "signal done", "IMPLEMENTS", "identifier"),
        ("task 3", "signal in", "IMPLEMENTS", "identifier"),
        ("task 3", "signal next_state", "IMPLEMENTS", "identifier"),
        ("signal in", "transition 1", "SIGNALTRANSITION", "identifier"),
        ("signal next_state", "transition 1", "SIGNALTRANSITION", "identifier"),
        ("signal in", "example 1", "EXAMPLES", "identifier"),
        ("signal done", "example 1", "EXAMPLES", "identifier"),
    }


def test_the_rest_is_one_question() -> None:
    assert relate(**SERIAL)["unlinked"] == [
        {"id": "task 2", "text": "Write the state register.", "wants": "signal"},
        {"id": "task 4", "text": "Simulate and mend.", "wants": "signal"},
        {"id": "signal bits", "text": "counts", "wants": "task"},
        {"id": "transition 2", "text": "After eight the byte is whole", "wants": "signal"},
    ]


def test_the_answer_joins_the_graph_whichever_way_round_it_is_written() -> None:
    links = [{"from": "task 2", "to": "signal bits"}, {"from": "Transition 2", "to": "`bits`"},
             {"from": "task 1", "to": "clk"}, {"from": "task 4", "to": "done"}]
    relations = relate(**SERIAL, links=links)
    assert edges(relations) - edges(relate(**SERIAL)) == {
        ("task 2", "signal bits", "IMPLEMENTS", "model"), ("task 4", "signal done", "IMPLEMENTS", "model"),
        ("signal bits", "transition 2", "SIGNALTRANSITION", "model")}
    assert relations["unlinked"] == []
    assert relations["notes"] == []


def test_a_link_that_makes_no_sense_is_noted_and_left_out() -> None:
    relations = relate(**SERIAL, links=[
        {"from": "task 9", "to": "signal in"}, {"from": "task 1", "to": "example 1"}, {"from": "task 1"}, "task 1",
        {"from": "1", "to": "signal in"}, {"from": None, "to": []},
    ])
    assert edges(relations) == edges(relate(**SERIAL))
    assert relations["notes"][1:4] == [
        "link 2: task 1 and example 1 have no relation; there are: task to signal, signal to transition, "
        "signal to example",
        "link 3: it must be {from: id, to: id}, not {'from': 'task 1'}",
        "link 4: it must be {from: id, to: id}, not 'task 1'",
    ]
    assert relations["notes"][0] == "link 1: there is no node 'task 9'; did you mean task 4 or task 3 or task 2?"
    assert [note.split(";")[0] for note in relations["notes"][4:]] == [
        "link 5: there is no node '1'", "link 6: there is no node 'None'"]


def test_a_plan_that_waits_for_itself_is_mended_and_noted() -> None:
    plan = {"subtasks": [{"id": 1, "content": "a", "parents": [2]}, {"id": 2, "content": "b", "parents": [1, 7]}]}
    relations = relate(plan=plan, extraction={})
    assert [(task["id"], task["parents"]) for task in relations["subtasks"]] == [("1", []), ("2", ["1"])]
    assert len(relations["notes"]) == 2


def test_a_signal_that_is_declared_twice_is_one_and_keeps_both_texts() -> None:
    signals = [{"name": "q[3:1]", "about": "high"}, {"name": "q[0]", "about": "low"}, {"name": "q", "about": "low"}]
    (node,) = relate(plan={"subtasks": []}, extraction={"signals": signals})["nodes"]
    assert (node["id"], node["text"]) == ("signal q", "high\nlow")


def test_a_specification_without_anything_to_extract_gives_tasks_alone() -> None:
    relations = relate(plan=SERIAL["plan"], extraction={"signals": []})
    assert [node["id"] for node in relations["nodes"]] == ["task 1", "task 2", "task 3", "task 4"]
    assert [node["id"] for node in relations["unlinked"]] == ["task 1", "task 2", "task 3", "task 4"]


def test_links_of_another_shape_are_an_error() -> None:
    with pytest.raises(ToolError, match="links must be a list"):
        relate(**SERIAL, links={"links": []})


@given(PLANS, EXTRACTIONS)
def test_every_identifier_that_a_text_mentions_is_linked(plan: dict[str, Any], extraction: dict[str, Any]) -> None:
    relations = relate(plan=plan, extraction=extraction)
    linked = {(start, end) for start, end, *_ in edges(relations)}
    by_type: dict[str, list[dict[str, Any]]] = {"task": [], "signal": [], "transition": [], "example": []}
    for node in relations["nodes"]:
        by_type[node["type"]].append(node)
    names = {node["id"]: {node["name"], "\\" + node["name"]} for node in by_type["signal"]}
    assert linked == {
        *((task["id"], signal) for task in by_type["task"] for signal in names if names[signal] & words(task)),
        *((signal, fact["id"]) for fact in (*by_type["transition"], *by_type["example"])
          for signal in names if names[signal] & words(fact)),
    }


def words(node: dict[str, Any]) -> set[str]:
    return set(node["text"].split())


@given(PLANS, EXTRACTIONS)
def test_the_graph_survives_its_way_through_json(plan: dict[str, Any], extraction: dict[str, Any]) -> None:
    relations = relate(plan=plan, extraction=extraction)
    again = graph.from_json(relations)
    assert graph.to_json(again) == {key: relations[key] for key in graph.to_json(again)}
    assert nx.utils.graphs_equal(again, graph.from_json(json.loads(json.dumps(graph.to_json(again)))))


@given(PLANS, EXTRACTIONS, st.integers(1, 9))
def test_more_hops_never_lose_a_node(plan: dict[str, Any], extraction: dict[str, Any], hops: int) -> None:
    relations = graph.from_json(relate(plan=plan, extraction=extraction))
    for task in [node for node, data in relations.nodes(data=True) if data["type"] == "task"]:
        fewer, more = graph.nodes_near(relations, task, hops), graph.nodes_near(relations, task, hops + 1)
        assert fewer.items() <= more.items()
        assert set(graph.nodes_near(relations, task, 1)) == set(relations.successors(task))
        assert all(relations.nodes[node]["type"] != "task" for node in more)


@pytest.mark.parametrize("data", [None, [], {}, {"nodes": [], "links": []}, "graph"])
def test_something_else_is_no_graph(data: Any) -> None:
    with pytest.raises(ToolError, match=r"no relation graph .*verilog\.relate"):
        graph.from_json(data)


def test_without_networkx_there_is_a_hint_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    monkeypatch.delitem(sys.modules, "chatdev.departments.verilog.plan")
    with pytest.raises(MissingProgram, match=r"networkx: pip install 'chatdev-chain\[verilog\]'"):
        import_module("chatdev.departments.verilog.plan")


def test_what_quotes_nothing_becomes_a_part_of_what_quotes() -> None:
    subtasks = [{"id": "1", "content": "Declare the port clk.", "source": "The specification"},
                {"id": "2", "content": "Write q.", "source": "q follows d at every edge", "parents": ["1"]},
                {"id": "3", "content": "Mind the reset.", "source": "q is 0 after reset", "parents": ["2"]}]
    relations = relate(" - input clk\n - output q\n\nq follows d at every edge; q is 0 after reset.",
                       plan={"subtasks": subtasks}, extraction={})
    assert [(task["id"], task["parents"]) for task in relations["subtasks"]] == [("1", []), ("3", ["1"])]
    assert relations["subtasks"][0]["content"] == "Declare the port clk.\nWrite q."
    assert "sub-task 2 is now a part of 1" in relations["notes"]
