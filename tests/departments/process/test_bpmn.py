"""Charts: BPMN files that are whole, that nothing in them lies on another, and pictures."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import replace
from random import Random
from xml.etree import ElementTree

import pytest

from benchmarks.process.drawing import Fault, find_drawing_faults
from benchmarks.process.pools import play_pool, random_names, random_tree
from chatdev.departments.process.bpmn import write_bpmn
from chatdev.departments.process.chart import PAGE, FlowGraph, draw_flow, draw_picture
from chatdev.departments.process.conformance import accepts, count_visits
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.pool import count_outcomes
from chatdev.departments.process.process_company import mine_pool
from chatdev.departments.process.process_tree import (
    SILENT,
    ProcessTree,
    exclusive,
    loop,
    normalise,
    optional,
    parallel,
    phase,
    sequence,
)
from tests.departments.process.office import COMPANY

SPACE = {"bpmn": "http://www.omg.org/spec/BPMN/20100524/MODEL"}
MODEL = sequence(phase('say "hi" <now>\x00'), optional(phase("b")), loop(parallel(phase("c"), phase("d")), phase("e")))


def walk(text: str, chance: Random) -> tuple[str, ...]:
    """An instance of a BPMN file, by tokens on its flows."""
    process = ElementTree.fromstring(text).find("bpmn:process", SPACE)
    assert process is not None
    flows = {flow.get("id"): flow for flow in process.findall("bpmn:sequenceFlow", SPACE)}
    nodes = {node.get("id"): node for node in process if node.get("id") not in flows}
    done: list[str] = []
    tokens = Counter(e.text for node in nodes.values() if node.tag.endswith("startEvent")
                     for e in node.findall("bpmn:outgoing", SPACE))
    while tokens:
        flow = chance.choice(sorted(filter(None, tokens.elements())))
        node = nodes[flows[flow].get("targetRef")]
        into, out = ([e.text for e in node.findall(f"bpmn:{side}", SPACE)] for side in ("incoming", "outgoing"))
        is_parallel = node.tag.endswith("parallelGateway")
        if is_parallel and not all(tokens[one] for one in into):
            continue
        tokens -= Counter(into if is_parallel else [flow])
        tokens.update(out if is_parallel or len(out) < 2 else [chance.choice(out)])
        done += [node.get("name", "")] if node.tag.endswith("task") else []
    return tuple(done)


def test_a_file_does_what_its_tree_allows() -> None:
    for seed in range(40):
        chance = Random(seed)
        tree = random_tree(chance, random_names(chance))
        assert accepts(tree, walk(write_bpmn(draw_flow(tree)), chance))


def test_charts_of_random_trees_have_no_fault() -> None:
    for seed in range(300):
        chance = Random(seed)
        text = write_bpmn(draw_flow(random_tree(chance, random_names(chance, 2, 14))))
        assert not find_drawing_faults(text), seed


def test_the_chart_of_the_pool_that_the_company_comes_with_has_no_fault() -> None:
    model = mine_pool(count_outcomes(COMPANY.starter_outcomes()))
    assert model is not None
    assert not find_drawing_faults(write_bpmn(draw_flow(model)))


def test_loops_with_redo_parts_within_redo_parts_have_no_fault() -> None:
    """What leads back leads forth within; this one was not laid out at all by the package that did it before."""
    tree: ProcessTree = phase("x")
    for name in "abcdef":
        tree = loop(phase(name), exclusive(SILENT, parallel(tree, phase(name.upper()))))
    hard = parallel(sequence(parallel(loop(parallel(optional(loop(phase("a"))), optional(phase("b")))), phase("c")),
                             optional(loop(phase("d")))), phase("e"), optional(phase("f")))
    for model in (tree, hard, loop(phase("a"), loop(phase("b"), loop(phase("c"), phase("d"))))):
        assert not find_drawing_faults(write_bpmn(draw_flow(model)))


def test_a_chart_of_any_size_is_drawn_in_proportion_to_it() -> None:
    spent = []
    for parts in (200, 1600):
        tree = sequence(*(optional(loop(phase(str(number)))) for number in range(parts)))
        began = time.process_time()
        text = write_bpmn(draw_flow(tree))
        spent.append(time.process_time() - began)
        assert text.count("<bpmndi:BPMNShape") == 5 * parts + 2
    assert spent[1] < 3 * 8 * spent[0]


def test_what_lies_on_top_of_each_other_is_found() -> None:
    """The way back and the skip on one line, as the former layout drew them: `a`, any number of `b`, `c`."""
    text = write_bpmn(draw_flow(sequence(phase("a"), optional(loop(phase("b"))), phase("c"))))
    rows = sorted({int(row) for row in re.findall(r'waypoint x="\d+" y="(\d+)"', text)})
    on_one_line = text.replace(f'y="{rows[-1]}"', f'y="{rows[-2]}"')
    assert find_drawing_faults(on_one_line)["flow on flow"] == 1


Points = list[tuple[int, int]]


def move_flow(points: Points, chart: FlowGraph) -> str:
    """The file of a chart with its way back drawn along these points between the flow's own ends."""
    back = next(flow for flow in chart.flows if flow.points[0][0] > flow.points[-1][0])
    drawn = back._replace(points=(back.points[0], *points, back.points[-1]))
    return write_bpmn(FlowGraph(chart.nodes, [drawn if flow is back else flow for flow in chart.flows]))


@pytest.mark.parametrize(("points", "fault"), [
    ([(555, 130), (736, 130), (736, 140), (293, 140)], "flow on flow"),
    ([(555, 200), (736, 200), (736, 110), (756, 110), (756, 200), (293, 200)], "crossing"),
    ([(555, 130), (651, 130), (555, 130), (293, 130)], "crossing"),
    ([(555, 60), (293, 60)], "flow through shape"),
    ([(555, 90), (293, 90)], "flow through shape"),
])
def test_a_flow_in_the_wrong_place_is_found(points: Points, fault: Fault) -> None:
    chart = draw_flow(sequence(phase("a"), loop(phase("b")), optional(phase("c"))))
    assert not find_drawing_faults(write_bpmn(chart))
    assert {(555, 85), (651, 130), (913, 130)} <= {point for flow in chart.flows for point in flow.points}
    assert find_drawing_faults(move_flow(points, chart))[fault]


def test_a_node_in_the_wrong_place_or_without_one_is_found() -> None:
    chart = draw_flow(sequence(phase("a"), phase("b")))
    first, second, third = chart.nodes[:3]
    moved = [first, replace(second, x=third.x - 50), third, *chart.nodes[3:]]
    found = find_drawing_faults(write_bpmn(FlowGraph(moved, chart.flows)))
    assert (found["shape on shape"], found["loose end"]) == (1, 2)
    for shape in ("BPMNShape", "BPMNEdge"):
        text = re.sub(rf"<bpmndi:{shape}.*?</bpmndi:{shape}>", "", write_bpmn(chart), count=1, flags=re.DOTALL)
        assert find_drawing_faults(text) == {"not drawn": 1}


def test_names_are_readable_whatever_is_in_them() -> None:
    names = {'say "hi" <now> & then\\n': 'say "hi" <now> & then\\n', "tab\there\nline": "tab\there\nline",
             "bell\x07 nul\x00 del\x7f": "bell\\x07 nul\\x00 del\\x7f", "lone\ud800": "lone\\ud800",
             "turned\u202eround": "turned\\u202eround", "分析 😀": "分析 😀"}
    tree = sequence(*map(phase, names))
    text = write_bpmn(draw_flow(tree), "a\x01b")
    root = ElementTree.fromstring(text.encode())
    assert [task.get("name") for task in root.iterfind(".//bpmn:task", SPACE)] == list(names.values())
    assert 'name="a\\x01b"' in text


def test_an_empty_process_is_a_chart_too() -> None:
    assert [node.kind for node in draw_flow(SILENT).nodes] == ["start", "end"]
    assert [node.kind for node in draw_flow(exclusive(phase("a"), SILENT)).gateways()] == ["exclusive"] * 2


def test_a_chart_is_drawn() -> None:
    names = ["tab\there", "bell\x07", "back\\slash", 'say "hi"', "a &lt; b", "\\N", "lone\ud800"]
    picture = draw_picture(draw_flow(sequence(*map(phase, names))), "svg", "a\tb & c")
    told = ["".join(text.itertext()) for text in ElementTree.fromstring(picture).iter() if text.tag.endswith("}text")]
    assert told == ["a\tb & c", "tab here", "bell\\x07", "back\\slash", 'say "hi"', "a &lt; b", "\\N", "lone\\ud800"]
    assert draw_picture(draw_flow(MODEL), "png").startswith(b"\x89PNG")


def test_long_names_stay_within_their_tasks() -> None:
    name = "Wait until the supplier has confirmed every position of the order " * 20
    picture = draw_picture(draw_flow(sequence(phase(name), phase("x" * 300))), "svg").decode()
    shown = re.findall(r"<text [^>]*>([^<]*)</text>", picture)
    width = max(int(one) for one in re.findall(r'<rect x="[^"]*" y="[^"]*" width="(\d+)"', picture))
    assert 8 >= len(shown) > 4
    assert max(map(len, shown)) * 8 <= width


def test_a_long_sequence_goes_on_in_the_next_line() -> None:
    steps = [phase(f"step {number}") for number in range(40)]
    parts = sequence(*steps[10:20]), sequence(*steps[20:32]), sequence(*steps[32:])
    tree = sequence(*steps[:10], loop(*parts[:2]), optional(parts[2]))
    for page in (700, PAGE):
        chart = draw_flow(tree, page=page)
        assert max(node.x for node in chart.nodes) < page + 200
        assert not find_drawing_faults(write_bpmn(chart))
    assert len({node.y for node in draw_flow(tree, page=10**6).nodes}) == 2


def test_flows_and_tasks_say_how_often_they_were_taken() -> None:
    tree = sequence(phase("a"), optional(loop(phase("b"), phase("c"))), phase("d"))
    log = {tuple("ad"): 5, tuple("abd"): 3, tuple("abcbcbd"): 2, tuple("db"): 90}
    chart = draw_flow(tree, count_visits(normalise(tree), log))
    assert {node.name: node.counts for node in chart.nodes if node.counts} == {
        "a": (10, 10), "b": (9, 5), "c": (4, 2), "d": (10, 10)}
    assert sorted([flow.times for flow in flows] for flows in chart.choices().values()) == [[5, 4], [5, 5]]
    picture = draw_picture(chart, "svg").decode()
    assert "9 · 50%" in picture
    assert "b: 9 times, in 50% of the cases" in picture
    assert "9 times, in 5 of 10 cases" in write_bpmn(chart)


def test_counts_of_every_flow_add_up() -> None:
    """What enters a gateway or task leaves it, whatever the tree: parallel parts multiply at their gateways alone."""
    for seed in range(60):
        chance = Random(seed)
        tree = random_tree(chance, random_names(chance, 2, 12))
        log = play_pool(tree, chance, 60)
        chart = draw_flow(mined := mine(log), count_visits(mined, log))
        for node in chart.nodes:
            into = [flow.times or 0 for flow in chart.flows if flow.target == node.id]
            out = [flow.times or 0 for flow in chart.flows if flow.source == node.id]
            if node.kind == "parallel":
                assert len({*into, *out}) == 1
            elif node.kind in ("task", "exclusive"):
                assert sum(into) == sum(out)
            if node.kind == "task":
                runs = sum(count * names.count(node.name) for names, count in log.items())
                assert node.counts == (runs, sum(count for names, count in log.items() if node.name in names))


def test_a_model_that_names_a_phase_twice_has_no_counts() -> None:
    assert count_visits(sequence(phase("a"), phase("a")), {("a", "a"): 1}) is None
