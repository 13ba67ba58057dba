"""What a specification says of names: its ports, which a module must have, and identifiers in its text."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from benchmarks.verilog.subjects import DATA
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.judge import check_bench
from chatdev.departments.verilog.simulation import reference_as_answer
from chatdev.departments.verilog.specification import declared_names, identifiers, port_differences, ports
from chatdev.departments.verilog.verilogeval import VerilogEval
from chatdev.errors import ToolError
from chatdev.sandbox.kinds import Unconfined, find_sandbox
from chatdev.tools.base import ToolContext

BLANKS = st.sampled_from([" ", "\n", "\t"])
BEFORE = st.sampled_from(["", "`", "'", '"', "(", "[", "{", "//", "/*", "~", "!", "tb.", "=", "&"])
AFTER = st.sampled_from(["", "`", "'", '"', ")", "]", "}", "[3:0]", ".", ",", ";", ":", "*/", " <= 1'b0", "==S1", "'s"])
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_$]{0,8}", fullmatch=True)
SPECIFICATION = " - input  clk\n - input  d   ( 8 bits)\n - output q   [7:0]\n - output w [N-1:0]\n\nq is d, delayed."
RIGHT = "module TopModule(input clk, input [7:0] d, output reg [7:0] q, output [3:0] w);\nendmodule"


def ports_of(task: str | None, bench: str = "", **values: Any) -> list[tuple[str, str, str]]:
    context = ToolContext({}, values, {"task": task, "bench": bench}, Unconfined(), Path(), Path())
    return [(port["direction"], port["name"], port["width"]) for port in ports.call(context, {})]


@pytest.mark.parametrize(("text", "expected"), [
    (" - input  clk\n - output word (6 bits)\n", [("input", "clk", ""), ("output", "word", "[5:0]")]),
    ("module TopModule (\n  input logic [7:0] a,\n  output reg signed [W-1:0] y\n);",
     [("input", "a", "[7:0]"), ("output", "y", "[W-1:0]")]),
    ("module TopModule(input a, output b);", [("input", "a", ""), ("output", "b", "")]),
    ("* `output` `q` [3:0]", [("output", "q", "[3:0]")]),
    ("| output | q |", [("output", "q", "")]),
    ("Output: q (8-bit)", [("output", "q", "[7:0]")]),
])
def test_ports_are_read_as_people_list_them(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert ports_of(text) == expected


@pytest.mark.parametrize("text", ["Eingänge: takt; Ausgang: q", "Une sortie q", "输入 clk，输出 q", "An output."])
def test_a_specification_in_another_language_is_none_without_ports(text: str) -> None:
    ports_of(text)


def test_where_a_bench_is_given_nothing_is_refused_for_want_of_ports() -> None:
    assert ports_of("Zählt.", "module tb; TopModule dut(a, b); endmodule") == []


@pytest.mark.parametrize("text", ["Write a counter.", "", None])
def test_a_specification_without_ports_is_refused(text: str | None) -> None:
    with pytest.raises(ToolError, match="lists no ports of TopModule; give its ports one a line"):
        ports_of(text)


def test_where_none_is_listed_the_bench_names_them() -> None:
    bench = "module tb; TopModule #(.N(4), .M(f(2))) dut (.clk(clk), .d ({a, b}), .\\q (q)); endmodule"
    assert ports_of("Write a counter.", bench) == [("", "clk", "?"), ("", "d", "?"), ("", "q", "?")]
    assert ports_of("It has an input and an output.") == []
    assert ports_of("- input clk\n- output q", bench) == [("input", "clk", ""), ("output", "q", ""), ("", "d", "?")]


def test_of_what_an_analyst_reads_only_what_stands_there_is_taken() -> None:
    said = [{"name": name, "direction": "input", "width": width} for name, width in (
        ("clk", "1"), ("d", "8"), ("d", "1"), ("e", "4"), ("byte_in", "8"), ("Clk", "1"), ("f", ""), ("load", "WIDTH"))]
    text = "The ports: clk, the data d and its enable e, byte_in_2 and f. d has 8 bits, load no more than WIDTH."
    assert ports_of(text, said_ports=said) == [
        ("input", "clk", ""), ("input", "d", "[7:0]"), ("input", "e", "?"), ("input", "f", "?"), ("input", "load", "?")]
    assert ports_of("- input clk\n- output q", said_ports=said) == [("input", "clk", ""), ("output", "q", "")]


def test_verilogeval_specifications_list_the_ports_of_their_references() -> None:
    with tarfile.open(DATA) as archive:
        texts = {member.name.rpartition("/")[2]: archive.extractfile(member) for member in archive if member.isfile()}
        prompts = {name: file.read().decode() for name, file in texts.items() if file and name.endswith("_prompt.txt")}
        references = {name: file.read().decode() for name, file in texts.items() if file and name.endswith("_ref.sv")}
    assert len(prompts) == 156
    for name, prompt in prompts.items():
        head = references[name.replace("_prompt.txt", "_ref.sv")].partition(");")[0]
        wanted = set(re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"//.*", "", head.partition("(")[2]), re.MULTILINE))
        assert {found for _, found, _ in ports_of(prompt)} >= wanted, name  # one shows another module, too


@given(NAMES, BLANKS, BEFORE, AFTER)
@example("B0", " ", "'", "'s")
def test_every_mention_is_found(name: str, blank: str, before: str, after: str) -> None:
    assume(before != "'" or after.startswith("'"))  # a quotation without an end may be a number, such as 'b0
    assert name in identifiers(f"When{blank}{before}{name}{after}{blank}rises")


@given(NAMES, BLANKS, st.sampled_from(["", "'", ",", ".", ")", ";"]))
def test_an_escaped_name_is_the_name_itself(name: str, blank: str, after: str) -> None:
    assert name in identifiers(f"assign \\{name}{after}{blank}= 1;")
    assert f"{name}+1" in identifiers(f"assign \\{name}+1{after}{blank}= 1;")


@given(NAMES, st.sampled_from(["_next", "x", "0", "$"]))
def test_a_part_of_an_identifier_is_no_mention(name: str, more: str) -> None:
    assert name not in identifiers(f"{name}{more}") | identifiers(f"${name}") | identifiers(f"7{name}")


def test_case_matters() -> None:
    assert identifiers("State S1") == {"State", "S1"}


def test_numbers_are_no_identifiers() -> None:
    assert identifiers("4'b01x1 8'hff 'd12 4'sb1 'x0 3rd 'b0") == {"x0"}


def test_words_in_quotes_are_identifiers() -> None:
    assert identifiers("'head' and 'data', 'b0'") == {"head", "and", "data", "b0"}


@pytest.mark.parametrize(("text", "names"), [
    ("q", ["q"]), ("q[7:0]", ["q"]), ("Q[0]", ["Q"]), ("output logic [7:0] out_byte", ["out_byte"]),
    ("`in`", ["in"]), ("q (8 bits)", ["q"]), ("in, reset", ["in", "reset"]), ("\\bus+index ", ["bus+index"]),
    ("signal", ["signal"]), ("", []), (" ", []), ("clk,", ["clk"]),
])
def test_the_names_that_a_model_declares(text: str, names: list[str]) -> None:
    assert declared_names(text) == names


def differences_of(text: str, specification: str = SPECIFICATION) -> list[tuple[str, str]]:
    return [(message.severity, message.text) for message in port_differences(text, specification)]


def test_a_right_head_is_right_and_a_range_of_parameters_is_not_judged() -> None:
    assert differences_of(RIGHT) == []


@pytest.mark.parametrize(("wrong", "severity", "text"), [
    (("[7:0] d", "d"), "error", "the port `d` has 1 bit(s), and not 8; write `input [7:0] d`"),
    (("input clk", "input [1:0] clk"), "warning",
     "the port `clk` has 2 bits; its line in the specification says no width"),
    (("input clk, ", ""), "error", "the port `clk` is missing; the specification lists `input clk`"),
    (("input clk", "input clk, input rst"), "error", "the specification lists no port `rst`"),
    (("input clk", "output clk"), "warning", "the specification lists `clk` as input"),
])
def test_what_differs_is_told(wrong: tuple[str, str], severity: str, text: str) -> None:
    assert differences_of(RIGHT.replace(*wrong)) == [(severity, text)]


def test_one_bit_is_a_width_where_the_text_says_that_it_is_usual() -> None:
    wrong, specification = RIGHT.replace("input clk", "input [1:0] clk"), f"One bit unless noted.\n{SPECIFICATION}"
    assert differences_of(wrong, specification) == [
        ("error", "the port `clk` has 2 bit(s), and not 1; write `input clk`")]


@pytest.mark.parametrize("specification", [
    "- input clk\n- input d\n- output q\n- output w\n\nq and d are 8 bits wide, w has 4.\n",
    "All data ports are 8 bits wide.\n\nInputs: clk, d\nOutputs: q, w[3:0]\n",
    "| Name | Direction | Notes |\n|--|--|--|\n| clk | input | clock |\n| d | input | 8-bit operand |\n"
    "| q | output | 4-bit halves, two |\n| w | output | high if words are 8 bits wide |\n",
    "Inputs: clk, d[7:0]\nOutputs:\n- q: sum\n- w: rest\n- Note: registered\n- Latency: two cycles\n- Reset: cleared\n",
    "- input d (8 bits)\n- output q (8 bits)\n- output w (4 bits)\n\nIt is clocked.\n",
    "- q[7:0] (output): the sum\n- w[3:0] (output): the rest\n- clk: the clock\n- d: the data\n",
])
def test_no_error_is_told_of_a_right_module(specification: str) -> None:
    assert [text for severity, text in differences_of(RIGHT, specification) if severity == "error"] == []


@pytest.mark.parametrize(("specification", "told"), [
    (SPECIFICATION, True), (SPECIFICATION.replace(" - output", "   output"), False),
    (f"{SPECIFICATION}\n - output e (only if WITH_E is 1)", False)])
def test_a_port_is_unknown_only_beside_a_whole_list(specification: str, told: bool) -> None:
    found = differences_of(RIGHT.replace("input clk", "input clk, input zz"), specification)
    assert any("lists no port `zz`" in text for _, text in found) is told


@pytest.mark.parametrize(("text", "specification"), [
    (RIGHT, "A counter."), (RIGHT, "Mend this:\n\nmodule TopModule (\n  input a,\n  output q\n);"),
    ("module TopModule(input clk", SPECIFICATION)])
def test_without_a_list_or_a_readable_source_nothing_is_told(text: str, specification: str) -> None:
    assert differences_of(text, specification) == []


def test_verilogeval_references_have_the_ports_that_are_listed() -> None:
    """Of one the specification lists the output as an input."""
    found = {problem.name: differences_of(reference_as_answer(problem.reference), problem.prompt)
             for problem in VerilogEval(DATA).problems()}
    assert {name: messages for name, messages in found.items() if messages} == {
        "Prob031_dff": [("warning", "the specification lists `q` as input")]}


CONFLICT = "A counter.\n\n- input clk\n- input reset_n\n- output q (4 bits)\n"
CONNECTS = ("module tb; reg clk, rst_n; wire [3:0] q; TopModule dut (.clk(clk), .rst_n(rst_n), .q(q));\n"
            "initial $display(\"PASS\"); endmodule")
COUNTER = "module TopModule(input clk, input {}, output reg [3:0] q);\nalways @(posedge clk) q <= {};\nendmodule\n"


@pytest.mark.parametrize("name", ["reset_n", "rst_n"])
def test_where_text_and_bench_disagree_on_a_name_nobody_is_refused(name: str, tmp_path: Path) -> None:
    told = port_differences(COUNTER.format(name, name), CONFLICT, bench=HiddenBench(CONNECTS))
    assert not [one.text for one in told if one.severity == "error"]
    assert "of the port `rst_n`: the bench connects it, and not `reset_n`, which the specification lists" in [
        one.text for one in told]
    assert [one.severity for one in port_differences(COUNTER.format("clr", "clr"), CONFLICT)].count("error") == 2


def test_what_the_bench_connects_otherwise_is_told_at_once(tmp_path: Path) -> None:
    context = ToolContext({}, {}, {"task": CONFLICT, "bench": CONNECTS}, find_sandbox(), tmp_path, tmp_path)
    [note] = check_bench.call(context, {})["notes"]
    assert "`rst_n`: the bench connects it, and not `reset_n`" in note
    assert [port["note"] for port in ports.call(context, {}) if port["source"] == "bench"] == [
        "the bench connects it, and not `reset_n`, which the specification lists"]
    right = ToolContext({}, {}, {"task": CONFLICT.replace("reset_n", "rst_n"), "bench": CONNECTS}, find_sandbox(),
                        tmp_path, tmp_path)
    assert check_bench.call(right, {})["notes"] == []
