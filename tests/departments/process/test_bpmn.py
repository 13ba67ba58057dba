"""Charts: BPMN files that are whole, that nothing in them lies on another, and pictures."""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from benchmarks.process.drawing import Fault, find_drawing_faults
from benchmarks.process.pools import random_names, random_tree
from chatdev.departments.process.conformance import accepts
from chatdev.departments.process.pool import count_outcomes
from chatdev.departments.process.process_company import mine_pool
from chatdev.departments.process.process_tree import (
    SILENT,
    FlowGraph,
    ProcessTree,
    draw_flow,
    draw_picture,
    exclusive,
    loop,
    optional,
    parallel,
    phase,
    sequence,
    write_bpmn,
)
from chatdev.errors import MissingProgram
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
    ([(531, 130), (700, 130), (700, 140), (281, 140)], "flow on flow"),
    ([(531, 200), (700, 200), (700, 110), (720, 110), (720, 200), (281, 200)], "crossing"),
    ([(531, 130), (621, 130), (531, 130), (281, 130)], "crossing"),
    ([(531, 60), (281, 60)], "flow through shape"),
    ([(531, 90), (281, 90)], "flow through shape"),
])
def test_a_flow_in_the_wrong_place_is_found(points: Points, fault: Fault) -> None:
    chart = draw_flow(sequence(phase("a"), loop(phase("b")), optional(phase("c"))))
    assert not find_drawing_faults(write_bpmn(chart))
    assert {(531, 85), (621, 130), (871, 130)} <= {point for flow in chart.flows for point in flow.points}
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


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz is not installed")
def test_a_chart_is_drawn() -> None:
    names = ["tab\there", "bell\x07", "back\\slash", 'say "hi"', "a &lt; b", "\\N", "lone\ud800"]
    picture = draw_picture(draw_flow(sequence(*map(phase, names))), "svg", "a\tb & c")
    told = ["".join(text.itertext()).replace("\xa0", " ") for text in ElementTree.fromstring(picture).iter()
            if text.tag.endswith("}text")]
    assert told == ["a   b & c", "tab here", "bell\\x07", "back\\slash", 'say "hi"', "a &lt; b", "\\N", "lone\\ud800"]
    assert b"</svg>" in draw_picture(draw_flow(MODEL), "svg", "a model")
    assert draw_picture(draw_flow(MODEL), "png").startswith(b"\x89PNG")


def test_without_graphviz_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgram, match="apt install graphviz"):
        draw_picture(FlowGraph(), "svg")
