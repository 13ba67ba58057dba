"""Charts: BPMN files that are whole, with and without a layout, and pictures."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from benchmarks.process.pools import random_names, random_tree
from chatdev.errors import MissingProgram
from chatdev.process.bpmn import write_bpmn
from chatdev.process.conformance import accepts
from chatdev.process.flow_graph import FlowGraph, draw_flow, draw_picture
from chatdev.process.process_tree import SILENT, exclusive, loop, optional, parallel, phase, sequence

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
        assert accepts(tree, walk(write_bpmn(draw_flow(tree), layout=False), chance))


def test_a_file_has_a_layout_and_is_valid() -> None:
    bpmn_io = pytest.importorskip("bpmn_io")
    text = write_bpmn(draw_flow(MODEL), "a model")
    assert bpmn_io.check(text).ok
    assert text.count("BPMNShape") >= len(draw_flow(MODEL).nodes)
    tasks = [task.get("name") for task in ElementTree.fromstring(text).iterfind(".//bpmn:task", SPACE)]
    assert tasks[0] == 'say "hi" <now>�'


def test_without_the_package_the_file_has_no_diagram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpmn_io", None)
    text = write_bpmn(draw_flow(MODEL))
    assert "BPMNShape" not in text
    assert ElementTree.fromstring(text).find("bpmn:process", SPACE) is not None


def test_a_chart_that_fits_no_page_is_not_laid_out() -> None:
    assert "BPMNShape" not in write_bpmn(draw_flow(sequence(*(phase(str(number)) for number in range(300)))))


def test_an_empty_process_is_a_chart_too() -> None:
    assert [node.kind for node in draw_flow(SILENT).nodes] == ["start", "end"]
    assert [node.kind for node in draw_flow(exclusive(phase("a"), SILENT)).gateways()] == ["exclusive"] * 2


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz is not installed")
def test_a_chart_is_drawn() -> None:
    assert b"</svg>" in draw_picture(draw_flow(MODEL), "svg", "a model")
    assert draw_picture(draw_flow(MODEL), "png").startswith(b"\x89PNG")


def test_without_graphviz_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgram, match="apt install graphviz"):
        draw_picture(FlowGraph(), "svg")
