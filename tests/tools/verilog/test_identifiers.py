"""Identifiers in what models write about hardware."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chatdev.tools.verilog.specification import declared_names, identifiers

BLANKS = st.sampled_from([" ", "\n", "\t"])
BEFORE = st.sampled_from(["", "`", "'", '"', "(", "[", "{", "//", "/*", "~", "!", "tb.", "=", "&"])
AFTER = st.sampled_from(["", "`", "'", '"', ")", "]", "}", "[3:0]", ".", ",", ";", ":", "*/", " <= 1'b0", "==S1", "'s"])
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_$]{0,8}", fullmatch=True)


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
