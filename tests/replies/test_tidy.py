"""Replies of small models as they are meant: markers astray, and source without its code block."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.phases import Solution
from chatdev.replies import parse_solution, tidy_body

MODULE = "module top(\n  input a,\n  output b\n);\n  assign b = a;\nendmodule"
PROSE = "The module is right now.\n- It resets to 0.\n- It counts at each edge.\nThere is nothing more to do."


def read(text: str, **solution: Any) -> dict[str, bytes]:
    form = Solution(form="files", **solution)
    return dict(parse_solution(form, tidy_body(form, text), {"top.sv": b"module top; endmodule\n"}).software)


@pytest.mark.parametrize("text", [
    f"<SOLUTION>\n{MODULE}\n", f"```verilog\n<SOLUTION>\n{MODULE}\n</SOLUTION>\n```", f"{MODULE}\n</SOLUTION>",
    f"```systemverilog\n{MODULE}\n```\nThat is all.", f"{MODULE}\n<SOLUTION>\n"])
@pytest.mark.parametrize("solution", [{"as_file": "top.sv"}, {"only": ["top.sv"]}])
def test_a_file_is_read_without_markers_and_with_or_without_its_block(text: str, solution: dict[str, Any]) -> None:
    assert read(text, **solution)["top.sv"].decode() == f"{MODULE}\n"


def test_a_marker_within_a_line_of_a_file_stays() -> None:
    body = "print('<SOLUTION>')\n<SOLUTION>\nprint('</SOLUTION>')\n"
    assert read(f"```python\n{body}```", as_file="top.sv")["top.sv"].decode() == body


@pytest.mark.parametrize("body", ["Say this:\n```\n<SOLUTION>\nDone.\n```\n", "Say this:\n<SOLUTION>\n"])
def test_a_marker_in_a_file_that_the_reply_names_stays(body: str) -> None:
    assert read(f"notes.txt\n````\n{body}````")["notes.txt"].decode() == body


@pytest.mark.parametrize("text", [PROSE, "It is right.", "a;\nb;", ""])
@pytest.mark.parametrize("only", [["top.sv"], ["*.sv"], ["top.sv", "bench.sv"]])
def test_prose_is_no_source(text: str, only: list[str]) -> None:
    assert tidy_body(Solution(form="files", only=only), text) == text


@pytest.mark.parametrize("only", [["*.sv"], ["top.sv", "bench.sv"]])
def test_source_that_may_be_several_files_stays(only: list[str]) -> None:
    assert tidy_body(Solution(form="files", only=only), MODULE) == MODULE


@given(st.lists(st.sampled_from(["<SOLUTION>\n", "</SOLUTION>", "```\n", "````", "\n", "a;\n", "  "])).map("".join))
def test_a_tidied_text_has_nothing_new_but_its_block(text: str) -> None:
    tidied = tidy_body(Solution(form="files", only=["top.sv"]), text)
    assert set(tidied) <= set(text) | set("top.sv\n`")
