"""A source that takes the second parser down is refused, and the agents read why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatdev.departments.verilog.answer import lint, outside_names, undriven_signals
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.specification import port_differences
from chatdev.departments.verilog.tracing.search import find_causes
from chatdev.departments.verilog.tracing.trace import Past
from chatdev.isolation import parent
from tests.departments.verilog.small import RIGHT, Desk
from tests.isolation.hostile import DIES, SPINS, SWELLS, reader_of

CRASHING, SWELLING, ENDLESS = (f"{RIGHT}\n// {word}\n" for word in (DIES, SWELLS, SPINS))
"""pyslang 12 did so for sums of macros, for macros that double each other, and for modules that are there twice in each
other."""


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with reader_of(monkeypatch):
        yield


@pytest.mark.parametrize(("text", "why"), [
    (CRASHING, "makes the parser crash"), (SWELLING, "takes more memory"), (ENDLESS, "takes more time"),
], ids=["crashing", "swelling", "endless"])
def test_a_source_that_takes_the_parser_down_is_refused(text: str, why: str) -> None:
    found = outside_names(text)
    assert [(message.severity, why in message.text) for message in found] == [("error", True)]
    assert outside_names(RIGHT) == []


def test_what_cannot_be_looked_through_has_no_more_than_a_warning() -> None:
    assert [message.severity for message in lint(CRASHING)] == ["warning"]
    assert undriven_signals(CRASHING) == []


def test_a_design_that_cannot_be_read_is_an_error_that_agents_read() -> None:
    with pytest.raises(DesignError, match="makes the parser crash"):
        read_design(CRASHING)
    with pytest.raises(DesignError, match="makes the parser crash"):
        find_causes(CRASHING, (), 2, Past({}, []))
    assert port_differences(CRASHING, "- input a\n- output q\n") == []


def test_an_answer_that_crashes_the_second_parser_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as crashing:
        crashing.setattr(parent, "_START", "import os; os.write(0, b'+' + bytes(4)); os.read(0, 9999); os.abort()")
        verdict = desk.use("check", RIGHT)
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "refused")
    assert "makes the parser crash" in verdict.report


@pytest.mark.parametrize("macro", ["__slang__", "__slang_major__", "SV_COV_START", "SV_COV_PARTIAL"])
def test_nothing_can_be_hidden_from_the_second_parser(macro: str) -> None:
    hidden = RIGHT.replace("endmodule", f"`ifndef {macro}\nwire b = tb.stimulus.a;\n`endif\nendmodule")
    assert "tb" in " ".join(message.text for message in outside_names(hidden))
