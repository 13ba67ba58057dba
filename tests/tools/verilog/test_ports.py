"""The ports that a specification lists."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest

from chatdev.errors import ToolError
from chatdev.sandbox.unconfined import Unconfined
from chatdev.tools.base import ToolContext
from chatdev.tools.verilog.specification import ports
from tests.support.checkout import ROOT

ARCHIVE = ROOT / "benchmarks" / "data" / "verilogeval_v2.tar.gz"


def listed(task: str | None) -> list[tuple[str, str, str]]:
    context = ToolContext({}, {}, {"task": task}, Unconfined(), Path(), Path())
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
    assert listed(text) == expected


@pytest.mark.parametrize("text", ["Write a counter.", "", None, "It has an input and an output.",
                                  "the output of the counter"])
def test_a_specification_without_ports_is_refused(text: str | None) -> None:
    with pytest.raises(ToolError, match="lists no ports of TopModule; give its ports one a line"):
        listed(text)


def test_every_specification_of_verilogeval_lists_the_ports_that_its_reference_has() -> None:
    with tarfile.open(ARCHIVE) as archive:
        texts = {member.name.rpartition("/")[2]: archive.extractfile(member) for member in archive if member.isfile()}
        prompts = {name: file.read().decode() for name, file in texts.items() if file and name.endswith("_prompt.txt")}
        references = {name: file.read().decode() for name, file in texts.items() if file and name.endswith("_ref.sv")}
    assert len(prompts) == 156
    for name, prompt in prompts.items():
        head = references[name.replace("_prompt.txt", "_ref.sv")].partition(");")[0]
        wanted = set(re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"//.*", "", head.partition("(")[2]), re.MULTILINE))
        assert {found for _, found, _ in listed(prompt)} >= wanted, name  # one shows another module, too
