"""BPMN files that are read: our own, what people make of them, and those that are refused."""

from __future__ import annotations

import re
from random import Random

import pytest

from benchmarks.process.pools import random_names, random_tree
from chatdev.departments.process.bpmn import parse_bpmn, write_bpmn
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.conformance import accepts, find_difference
from chatdev.departments.process.process_tree import (
    SILENT,
    ProcessTree,
    exclusive,
    loop,
    normalise,
    optional,
    parallel,
    parse_tree,
    phase,
    sequence,
)
from chatdev.errors import ConfigError

A, B, C, D = map(phase, "abcd")
HEAD = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'


def write_net(net: str, extra: str = "") -> bytes:
    """A file of flows as in `s>x1 x1>a`: s start, e… end, x… exclusive, p… parallel, o… inclusive, others tasks."""
    flows = [flow.split(">") for flow in net.split()]
    kinds = {"s": "startEvent", "e": "endEvent", "x": "exclusiveGateway", "p": "parallelGateway",
             "o": "inclusiveGateway"}
    nodes = dict.fromkeys(node for flow in flows for node in flow)
    lines = [f'<{(kind := kinds.get(node[0], "userTask"))} id="{node}"'
             + (f' name="{node}"/>' if kind == "userTask" else "/>") for node in nodes]
    lines += [f'<sequenceFlow id="f{number}" sourceRef="{one}" targetRef="{other}"/>'
              for number, (one, other) in enumerate(flows)]
    return f'{HEAD}<process id="p">{"".join(lines)}{extra}</process></definitions>'.encode()


@pytest.mark.parametrize("executable", [False, True])
def test_a_file_that_was_written_is_read_as_its_tree(executable: bool) -> None:
    for seed in range(150):
        chance = Random(seed)
        tree = normalise(random_tree(chance, random_names(chance, 1, 14)))
        assert parse_bpmn(write_bpmn(draw_flow(tree), executable=executable).encode()) == tree
    assert parse_bpmn(write_bpmn(draw_flow(SILENT)).encode()) == SILENT


def test_names_are_read_as_they_were() -> None:
    tree = sequence(*map(phase, ('say "hi" <now> & then', "tab\there\nline", "分析 😀", " spaces ", "l'été")))
    assert parse_bpmn(write_bpmn(draw_flow(tree)).encode()) == tree


@pytest.mark.parametrize(("net", "tree"), [
    ("s>a a>b b>e", sequence(A, B)),
    ("s>a a>b a>c b>p2 c>p2 p2>e", sequence(A, parallel(B, C))),  # several flows leave a task: all of them
    ("s>x1 x1>a x1>b a>c b>c c>e", sequence(exclusive(A, B), C)),  # several enter a task: any of them
    ("s>a a>x1 x1>b x1>c b>e1 c>e2", sequence(A, exclusive(B, C))),
    ("s>x1 x1>a a>x2 x2>x1 x2>e", loop(A)),
    ("s>a a>x2 x2>a x2>e", loop(A)),
    ("s>x1 x1>a a>x2 x2>b b>x1 x2>c c>x1 x2>e", loop(A, exclusive(B, C))),
    ("s>x1 x1>e x1>a a>x1", optional(loop(A))),  # one gateway where flows meet and part
    ("s>o1 o1>a o1>b a>o2 b>o2 o2>e", exclusive(B, parallel(A, optional(B)))),
    ("s>x1 x1>a x1>b b>x3 x3>c x3>x2 c>x2 a>x2 x2>e", exclusive(A, sequence(B, optional(C)))),
    ("s>x1 x1>a x1>x2 a>x2 x2>e", optional(A)),
    ("s>p1 p1>a p1>b p1>c a>p2 b>p2 p2>d c>p3 d>p3 p3>e", parallel(C, sequence(parallel(A, B), D))),
])
def test_files_of_other_programs_are_read(net: str, tree: ProcessTree) -> None:
    found = parse_bpmn(write_net(net))
    assert find_difference(found, tree) is None
    assert parse_bpmn(write_net(" ".join(reversed(net.split())))) == found


def test_three_inclusive_ways_allow_every_choice_but_none() -> None:
    tree = parse_bpmn(write_net("s>o1 o1>a o1>b o1>c a>o2 b>o2 c>o2 o2>e"))
    for number in range(8):
        names = tuple(name for place, name in enumerate("abc") if number >> place & 1)
        assert accepts(tree, names) is accepts(tree, names[::-1]) is bool(names)


def test_what_people_change_in_an_editor_is_read() -> None:
    text = write_bpmn(draw_flow(sequence(A, B, C)))
    moved = re.sub(r'(x|y)="(\d+)"', lambda found: f'{found[1]}="{int(found[2]) + 37}.5"', text)
    assert parse_bpmn(moved.encode()) == sequence(A, B, C)
    assert parse_bpmn(text.replace('name="b"', 'name="check it"').encode()) == sequence(A, phase("check it"), C)
    net = "s>a a>x1 x1>b b>x2 x1>x2 x2>c c>e"
    notes = '<textAnnotation id="n"><text>b is slow</text></textAnnotation><laneSet id="l"><lane id="m"/></laneSet>'
    assert parse_bpmn(write_net(net, notes)) == sequence(A, optional(B), C)


def test_the_inside_of_a_sub_process_is_a_block() -> None:
    inner = write_net("s>x1 x1>c x1>x2 c>x2 x2>d d>e").decode().partition('id="p">')[2].partition("</process>")[0]
    text = write_net("s>a a>b b>e").decode()
    sub = f'<subProcess id="b" name="more"><incoming>f1</incoming><outgoing>f2</outgoing>{inner}</subProcess>'
    expanded = text.replace('<userTask id="b" name="b"/>', sub)
    assert parse_bpmn(expanded.encode()) == sequence(A, optional(C), D)
    twice = expanded.replace('<userTask id="c" name="c"/>', sub.replace('id="b"', 'id="c"'))
    assert parse_bpmn(twice.encode()) == sequence(A, optional(sequence(optional(C), D)), D)
    collapsed = '<subProcess id="b" name="b"><incoming>f1</incoming></subProcess>'
    assert parse_bpmn(text.replace('<userTask id="b" name="b"/>', collapsed).encode()) == sequence(A, B)
    with pytest.raises(ConfigError, match=r'subProcess "more" \(b, line 1\): these have no flow in or out'):
        parse_bpmn(expanded.replace('targetRef="d"', 'targetRef="c"').encode())


def test_what_starts_a_process_and_what_its_end_tells_change_no_order() -> None:
    text = write_net("s>a a>e").decode()
    for event, inside in (("startEvent", "messageEventDefinition"), ("startEvent", "timerEventDefinition"),
                          ("endEvent", "signalEventDefinition")):
        told = re.sub(rf'<{event} id="(.)"/>', rf'<{event} id="\1"><{inside}/></{event}>', text)
        assert told != text
        assert parse_bpmn(told.encode()) == A


@pytest.mark.parametrize(("net", "extra", "reason"), [
    ("s>a a>e", '<subProcess id="sub" name="inner" triggeredByEvent="true"/>', r'SubProcess "inner" \(sub, line 1\)'),
    ("s>a a>e", '<subProcess id="sub"><incoming/><standardLoopCharacteristics/></subProcess>', "with standardLoop"),
    ("s>a a>e", '<transaction id="pay"/><intermediateCatchEvent id="w"/>', "transaction .pay.*intermediateCatchEvent"),
    ("s>a a>e", '<boundaryEvent id="late" attachedToRef="a"/><complexGateway id="g"/>',
     r"boundaryEvent \(late.*complexGateway \(g"),
    ("s>a a>e", '<task id="t"><multiInstanceLoopCharacteristics/></task>', r"task \(t"),
    ("s>a a>e", '<endEvent id="t"><terminateEventDefinition/></endEvent>', r"endEvent \(t, line 1\) with terminate"),
    ("s>a a>e", '<task id="a"/>', "id of its own"),
    ("s>a a>e", '<task id="lost"/>', r"no flow in or out.*lost"),
    ("s>a a>e", '<sequenceFlow id="f9" sourceRef="a" targetRef="nowhere"/>', r"nothing that is there.*f9"),
    ("s>a a>e", '<startEvent id="s2"/>', "one start event"),
    ("a>b b>e", "", "one start event, not none"),
    ("s>a s>b a>e b>e", "", "one flow leaves the start event"),
    ("s>x1 x1>a x1>b a>p2 b>p2 p2>e", "", "not made of blocks"),
    ("s>p1 p1>a p1>b a>e1 b>e2", "", "not made of blocks"),
    ("s>p1 p1>a p1>b a>p2 b>p2 p2>p1", "", "not made of blocks"),
    ("s>p1 p1>a p1>b p1>c a>p2 b>p2 b>p3 c>p3 p2>p4 p3>p4 p4>e", "", r"not made of blocks.*parallelGateway"),
])
def test_what_is_in_no_tree_is_refused_by_name(net: str, extra: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        parse_bpmn(write_net(net, extra))


@pytest.mark.parametrize(("text", "reason"), [
    ('<!DOCTYPE a [<!ENTITY b "c">]><a/>', "no entities"),
    (f'<!DOCTYPE definitions>{HEAD}</definitions>', "no document type"),
    (f"{HEAD}<process id='p'>", r"file:1: no XML that can be read"),
    ("", "no XML that can be read"),
    ("<svg xmlns='http://www.w3.org/2000/svg'/>", "begins with <svg> of the name space 'http://www.w3.org/2000/svg'"),
    ("<definitions/>", "name space ''"),
    (f"{HEAD}</definitions>", "no process with elements"),
    (f"{HEAD}<process id='p'><task id='a'/></process><process id='q'><task id='b'/></process></definitions>",
     "2 processes"),
    (HEAD + "<a>" * 300, "deeper than 200"),
])
def test_what_is_no_model_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        parse_bpmn(text.encode(), "file")


def test_a_large_file_is_read_in_proportion_to_it() -> None:
    tree = sequence(*(optional(loop(phase(str(number)))) for number in range(3000)))
    assert parse_bpmn(write_bpmn(draw_flow(tree)).encode()) == normalise(tree)
    deep: ProcessTree = A
    for number in range(70):
        deep = sequence(phase(f"{number}"), optional(loop(deep)))
    with pytest.raises(ConfigError, match="deeper than 60 levels"):
        parse_bpmn(write_bpmn(draw_flow(deep)).encode())


def test_a_tree_is_read_as_it_is_printed() -> None:
    for seed in range(100):
        chance = Random(seed)
        tree = random_tree(chance, random_names(chance, 1, 12))
        assert parse_tree(str(tree)) == tree
    odd = sequence(phase("it's"), phase('say "hi"'), phase("a\\b\n, (X"), SILENT)
    assert parse_tree(str(odd)) == odd


@pytest.mark.parametrize(("text", "reason"), [
    ("", "missing at character 1"), ("->('a'", "needs trees"), ("->()", "missing at character 4"),
    ("*('a')", "a body and a redo part"), ("'a' 'b'", "ends before character 5"), ("a", "is no part of a tree"),
    ("''", "missing at character 1"), ("X('a',)", "missing"), ("->(" * 100, "60 levels"),
])
def test_what_is_no_tree_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        parse_tree(text)
