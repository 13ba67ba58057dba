"""The text form of a model: every model that can be made is written and read back equal; all else is refused, with
file, line and fix."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chatdev.departments.simulink.diagram import MOST_LEVELS, Diagram, DiagramBlock, End, Wire, matlab_text
from chatdev.errors import ConfigError

ODD = ["a -> b", "a/1 -> b", "a/1->b", "a/LConn1 -- b", "a/b", "a//b", "/", "/1", "1/", '"a"', '"', "'a'", " a", "a ",
       "a\nb", "\n", "\t", "\\", "a\\", "->", "--", "-", ">", ": ", "#", "{a: 1}", "[a]", "&a", "*a", "!a", "<<", "=",
       "~", "null", "on", "off", "yes", "no", "true", "False", "1", "1e3", "0x1", "1:30", "2026-01-01", "-", "?", "|",
       "Ω₀", "日本", "e\u0301", "\u2028", "\x85", "\ufeff", "\xa0", "\0", "\x1b[2J", "\u202e", "x" * 2000, "Spar/Plate",
       "PS-Simulink\nConverter"]
texts = st.sampled_from(ODD) | st.text(max_size=6) | st.text(alphabet='a1/->-" \\\n', max_size=9)
names = texts.filter(bool)
ports = st.sampled_from(["1", "2", "LConn1", "RConn12", "Enable"]) | st.from_regex(r"\w{1,3}", fullmatch=True)
ends = st.builds(End, names, ports)
pixels = st.integers(-32767, 32766)
positions = st.builds(lambda left, top, wide, high: (left, top, min(left + wide, 32767), min(top + high, 32767)),
                      pixels, pixels, st.integers(1, 900), st.integers(1, 900))
blocks = st.builds(DiagramBlock, names, st.dictionaries(names, texts, max_size=3), st.none() | positions)
wires = st.lists(st.builds(Wire, ends, ends), max_size=4).map(tuple)
values = st.dictionaries(names, texts, max_size=2)
systems = st.recursive(
    st.builds(Diagram, st.just("s"), st.dictionaries(names, blocks, max_size=2), wires, texts, variables=values),
    lambda inner: st.builds(Diagram, st.just("s"), st.dictionaries(names, st.builds(
        DiagramBlock, names, values, st.none(), inner), max_size=2), wires, texts, variables=values), max_leaves=4)
holders = st.builds(DiagramBlock, names, values, st.none() | positions, systems)
diagrams = st.builds(Diagram, names, st.dictionaries(names, blocks | holders, max_size=4), wires, texts, values, values)


@pytest.mark.parametrize("name", ODD)
def test_a_block_of_any_name_is_carried(name: str) -> None:
    model = Diagram(name, {name: DiagramBlock(name, {name: name})},
                    (Wire(End(name, "1"), End(name, "2")), Wire(End(name, "LConn1"), End("b", "RConn1"))), name)
    assert Diagram.parse(model.text(), "f") == model


@settings(max_examples=300)
@given(diagrams)
@example(Diagram("<<", {"<<": DiagramBlock("<<", {"<<": "<<"})}))
def test_what_is_written_reads_back_equal(model: Diagram) -> None:
    text = model.text()
    assert Diagram.parse(text, "f") == model
    assert Diagram.parse(text, "f").text() == text


def test_systems_lie_in_each_other_only_so_deep() -> None:
    model = Diagram("m")
    for _ in range(MOST_LEVELS - 1):
        model = Diagram("m", {"S": DiagramBlock("Subsystem", {"a": "1"}, system=model)})
    assert Diagram.parse(model.text(), "f") == model
    with pytest.raises(ValueError, match="more than 30 levels deep; make the model flatter"):
        Diagram("m", {"S": DiagramBlock("Subsystem", system=model)})
    deeper = "model: m\nblocks: " + "{S: {type: Subsystem, system: {blocks: " * 32 + "{}" + "}}}" * 32
    with pytest.raises(ConfigError, match="f(:2)?: .*(30 levels deep|nested deeper than)"):
        Diagram.parse(deeper, "f")


def test_a_system_bears_the_name_of_its_block() -> None:
    inside = Diagram("any", {"u": DiagramBlock("In1")})
    model = Diagram("m", {"Plant": DiagramBlock("Subsystem", system=inside)})
    assert model.blocks["Plant"].system == replace(inside, name="Plant")
    with pytest.raises(ValueError, match="settings are those of the whole model"):
        DiagramBlock("Subsystem", system=Diagram("s", settings={"StopTime": "1"}))


@pytest.mark.parametrize(("text", "message"), [
    ("model: m\nblocks:\n  S:\n    type: Subsystem\n    system:\n      blocks:\n        G: {type: Gain, position: [1]}",
     "f:7: G: the position"),
    ("model: m\nblocks:\n  S:\n    type: Subsystem\n    system:\n      lines:\n      - a", "f:7: 'a' is no line"),
    ("model: m\nblocks:\n  S:\n    type: Subsystem\n    system: {settings: {StopTime: 1}}", "f:5: .*settings"),
    ("model: m\nsettings: {StopTime: {a: 1}}", "f:2: StopTime: .* is no value that MATLAB takes"),
    ("model: m\nblocks:\n  S:\n    type: Subsystem\n    system: 3", "f:5"),
])
def test_a_fault_inside_a_system_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Diagram.parse(text, "f")


@pytest.mark.parametrize(("line", "source", "target"), [
    ("A/1 -> B/2", ("A", "1"), ("B", "2")),
    ("  A/1->B/2 ", ("A", "1"), ("B", "2")),
    ("R1/RConn1--C1/LConn1", ("R1", "RConn1"), ("C1", "LConn1")),
    ("PS-Simulink Converter/LConn1 -- A/RConn1", ("PS-Simulink Converter", "LConn1"), ("A", "RConn1")),
    ("a -> b/1 -> c/1", ("a -> b", "1"), ("c", "1")),
    ("a/b/1 -> c/d/1", ("a/b", "1"), ("c/d", "1")),
    ('"a/1 -> b"/1 -> "c\\nd"/1', ("a/1 -> b", "1"), ("c\nd", "1")),
    ("A/1 -> B\nC/1", ("A", "1"), ("B\nC", "1")),
    ("A /1 ->  B/Enable", ("A", "1"), ("B", "Enable")),
])
def test_a_line_of_a_person_is_read(line: str, source: tuple[str, str], target: tuple[str, str]) -> None:
    assert Wire.read(line) == (source, target)


@pytest.mark.parametrize(("line", "why"), [
    ("", "is no line; write `Block/1 -> Other/1`"),
    ("A -> B", "is no line"),
    ("A/1 B/1", "is no line"),
    ("A/1 => B/1", "is no line"),
    ("A/1 -> B", "names no port"),
    ("A/1 -> /1", "names no port"),
    ("A/ -> B/1", "is no line"),
    ("A/1 -> B/1 -> C/1", "more than two ends"),
    ('"A/1 -> B/1', "is no line"),
    ('"\\x"/1 -> B/1', "no name in quotes"),
])
def test_a_line_that_is_none_is_refused_with_the_form(line: str, why: str) -> None:
    with pytest.raises(ConfigError, match=f"m.yaml:2: .*{why}"):
        Diagram.parse(f"model: m\nlines: [{json.dumps(line)}]\n", "m.yaml")


@pytest.mark.parametrize(("make", "why"), [
    (lambda: Diagram(""), "the model has no name"),
    (lambda: Diagram("\ud800"), "half a character"),
    (lambda: Diagram("m", {"": DiagramBlock("Gain")}), "the block has no name"),
    (lambda: Diagram("m", {"a": DiagramBlock("")}), "the type has no name"),
    (lambda: DiagramBlock("Gain", {"Gain": "\udfff"}), "half a character"),
    (lambda: DiagramBlock("Gain", {}, (0, 0, 0, 9)), "the position .* is none"),
    (lambda: DiagramBlock("Gain", {}, (0, 0, 9, 99999)), "within 32767"),
    (lambda: Diagram("m", {}, (Wire(End("a", "1"), End("b", "1 ")),)), "the name of no port"),
    (lambda: Diagram("m", {}, (Wire(End("a", "1"), End("b", "x/1")),)), "the name of no port"),
    (lambda: Diagram("m", {}, (Wire(End("", "1"), End("b", "1")),)), "the block has no name"),
])
def test_what_no_file_can_hold_is_refused_when_made(make: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


@pytest.mark.parametrize(("value", "text"), [
    (True, "on"), (False, "off"), (None, ""), (2, "2"), (1e-6, "1e-06"), ("1e3", "1e3"), ("+-", "+-"),
    ([1, 2.5, -3], "[1 2.5 -3]"), ([], "[]"), ([[1, 2], [3, 4]], "[1 2; 3 4]"), (["a"], "[a]"),
])
def test_a_value_is_what_matlab_takes(value: Any, text: str) -> None:
    assert matlab_text(value) == text


@pytest.mark.parametrize(("text", "why"), [
    ("- a", "no model; it holds `model`, `blocks` and `lines`"),
    ("blocks: {}", "model: this key is required"),
    ("model: m\nblock: {}", "f:2: block: unknown key 'block'; did you mean 'blocks'"),
    ("model: m\nblocks:\n  A: Gain", "f:3: blocks.A: "),
    ("model: m\nblocks:\n  A: {type: Gain}\n  A: {type: Gain}", "f:4: the key 'A' is given twice"),
    ("model: m\nblocks:\n  A: {type: Gain, parameters: {Gain: {a: 1}}}",
     "f:3: A: Gain: .* is no value that MATLAB takes"),
    ("model: m\nblocks:\n  A: {type: Gain, position: [1, 2, 3]}", "f:3: A: the position .* is none; write"),
    ("model: m\nblocks:\n  A: {type: Gain, position: [1, 2, 3, 4.5]}", "f:3: blocks.A.position.3"),
    ("model: m\nblocks:\n  A: {type: Gain, position: [9, 2, 3, 4]}", "f:3: A: the position"),
    ('model: "\\ud800"', "Unicode character"),
])
def test_a_file_that_is_no_model_is_refused_at_its_place(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Diagram.parse(text, "f")


BILLIONS = "\n".join(f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 1}]" for n in range(40))
HOSTILE = {
    "aliases": f"model: m\nblocks: {{}}\n{BILLIONS}\n",
    "an alias of itself": "model: m\nblocks: &b {A: *b}",
    "depth": "model: m\nblocks: " + "{a: " * 100_000,
    "lists": "model: " + "[" * 100_000,
    "4 MB of names": "model: m\nblocks:\n" + "".join(f"  B{n}: {{type: Gain}}\n" for n in range(180_000)),
    "4 MB of a name": f"model: m\nlines:\n- {'a/1' * 1_300_000}\n",
    "4 MB of arrows": f"model: m\nlines:\n- {'a/1 -> ' * 590_000}\n",
    "4 MB of slashes": f"model: m\nlines:\n- {'/' * 4_000_000}\n",
    "4 MB of quotes": "model: m\nlines:\n- '" + '"' * 4_000_000 + "'\n",
    "4 MB of escapes": "model: m\nlines:\n- '" + '"\\\\' * 1_300_000 + "'\n",
    "too long": "#" * ((4 << 20) + 1),
    "no text": "model: \0",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_time(tmp_path: Path, name: str) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(HOSTILE[name], encoding="utf-8")
    begin = time.process_time()
    with pytest.raises(ConfigError) as refused:
        Diagram.read(file)
    assert time.process_time() - begin < 20
    assert len(str(refused.value)) < 1000
