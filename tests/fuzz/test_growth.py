"""No reader takes a time that grows much faster than its text: a sample of what `make prove` tries."""

from __future__ import annotations

import pytest

from chatdev.isolation import isolate
from tests.fuzz.growth import MOST, Recipe, measure_growth, worst_growth
from tests.fuzz.readers.reader import Reader
from tests.fuzz.targets import TARGETS, find_readers

HERE = [name for target in TARGETS.values() if target.here for name in target.readers]
READERS = find_readers()
QUICK = {name: READERS[name] for name in HERE}

FOUND = (
    ("Verilog", Recipe("lines of first and then", "/*{}", "/*", "\t")),
    ("specification", Recipe("again", " - input {}", "\t", "")),
    ("specification", Recipe("nest", "module a({});", "(:", ",inout [")),
    ("waveform", Recipe("again", "$scope module tb $end\n{}", "$scope module u $end\n", "$var wire 1 ! a $end\n")),
    ("Structured Text", Recipe("again", "PROGRAM P VAR {} END_VAR END_PROGRAM", "v№ : INT;\n", "")),
    ("program of a company", Recipe("again", "{}", "FUNCTION_BLOCK B№\nVAR x : INT; END_VAR\nEND_FUNCTION_BLOCK\n",
                                    "")),
    ("proposed property", Recipe("again", "{}", "it ", "")),
    ("counterexample", Recipe("again", "{}", "v№,1\n", "")),
    ("plan of sub-tasks", Recipe("again", '{"subtasks": [{"content": "{}"}]}', " ", "1")),
)
"""What took a time that grew with the square of the text until it was found by `make prove`."""


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a child is none of ours."""
    monkeypatch.setattr(isolate, "_reads_here", True)


@pytest.mark.parametrize("reader", QUICK.values(), ids=QUICK)
def test_the_time_of_reading_grows_with_the_text(reader: Reader) -> None:
    worst = worst_growth(reader, seed=1, tries=4, measured=1)
    assert worst.exponent <= MOST, worst


@pytest.mark.parametrize(("name", "recipe"), FOUND)
def test_a_text_that_once_took_ever_longer_no_longer_does(name: str, recipe: Recipe) -> None:
    assert measure_growth(READERS[name], recipe).exponent <= MOST
