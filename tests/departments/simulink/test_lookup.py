"""Look-up of names: what is exact and clear is taken, everything else is asked back or suggested."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.simulink.catalogue import EXACT, Candidate, block_finder, catalogue

BLOCKS = list(catalogue().types.values())


def sure(name: str) -> tuple[str, dict[str, str]] | None:
    found = block_finder().find(name).sure
    return (found.block.type, dict(found.parameters)) if found else None


def meant(candidates: tuple[Candidate, ...]) -> list[str]:
    return [one.block.type for one in candidates]


def test_every_type_and_path_is_taken_without_a_doubt() -> None:
    for block in BLOCKS:
        for name, way in [(block.type, "type"), *((path, "path") for path in block.paths)]:
            found = block_finder().find(name.replace(" ", "\n"))
            assert (found.way, found.sure and found.sure.block) == (way, block)


def test_every_name_leads_back_to_its_block_or_is_asked() -> None:
    for block in BLOCKS:
        for name in [*block.display, *block.aliases]:
            found = block_finder().find(name)
            assert found.way in EXACT
            assert block.type in meant(found.candidates)
            if found.sure and found.way in ("display name", "alias"):
                assert found.sure == Candidate(block, block.display.get(name, {}))
                assert not found.others


@pytest.mark.parametrize(("name", "type_", "parameters"), [
    ("Log", "Math Function", {"Operator": "log"}), ("ln", "Math Function", {"Operator": "log"}),
    ("Exp", "Math Function", {"Operator": "exp"}), ("Log10", "Math Function", {"Operator": "log10"}),
    ("Reciprocal", "Math Function", {"Operator": "reciprocal"}), ("Power", "Math Function", {"Operator": "pow"}),
    ("Magnitude^2", "Math Function", {"Operator": "magnitude^2"}), ("1/u", "Math Function", {"Operator": "reciprocal"}),
    ("sin", "Trigonometric Function", {"Operator": "sin"}), ("atan2", "Trigonometric Function", {"Operator": "atan2"}),
    ("AND", "Logical Operator", {"Operator": "AND"}), ("NOT", "Logical Operator", {"Operator": "NOT"}),
    ("XOR", "Logical Operator", {"Operator": "XOR"}), ("Bitwise AND", "Bitwise Operator", {"logicop": "AND"}),
    (">=", "Relational Operator", {"Operator": ">="}), ("≠", "Relational Operator", {"Operator": "~="}),
    ("Min", "MinMax", {"Function": "min"}), ("Max", "MinMax", {"Function": "max"}),
    ("Floor", "Rounding Function", {"Operator": "floor"}), ("PI(s)", "PID Controller", {"Controller": "PI"}),
    ("Divide", "Divide", {}), ("Subtract", "Subtract", {}), ("Add", "Add", {}), ("Sqrt", "Sqrt", {}),
    ("Sum of Elements", "Sum of Elements", {}), ("Inport", "In1", {}), ("GND", "Electrical Reference", {}),
    ("Transfer Function", "Transfer Fcn", {}), ("Second-Order Integrator", "Integrator, Second-Order", {}),
    ("simulink/Discontinuities/Hit \nCrossing", "Hit Crossing", {}),
])
def test_what_an_icon_shows_is_a_block_with_its_parameters(name: str, type_: str, parameters: dict[str, str]) -> None:
    assert sure(name) == (type_, parameters)


@pytest.mark.parametrize(("name", "others"), [
    ("Sine", {"Trigonometric Function", "Sine Wave", "Sine (Lookup Table)", "Signal Generator"}),
    ("Cosine", {"Trigonometric Function", "Cosine (Lookup Table)"}), ("Square", {"Math Function", "Signal Generator"}),
    ("Voltage Source", {"AC Voltage Source", "DC Voltage Source", "Controlled Voltage Source",
                        "Voltage Source (Three-Phase)"}),
    ("Three-Phase Load", {"Wye-Connected Load", "Delta-Connected Load"}), ("Σ", {"Sum", "Sum of Elements"}),
])
def test_a_name_that_several_blocks_bear_is_asked_back(name: str, others: set[str]) -> None:
    found = block_finder().find(name)
    assert found.sure is None
    assert set(meant(found.others)) == others


@pytest.mark.parametrize(("name", "others"), [
    ("Switch", {"Switch (Electrical)", "Multiport Switch", "Manual Switch"}),
    ("Ground", {"Electrical Reference", "Mechanical Translational Reference", "Mechanical Rotational Reference",
                "Grounded Neutral (Three-Phase)"}),
    ("Integrator", {"Integrator Limited", "Integrator, Second-Order", "Discrete-Time Integrator", "PS Integrator"}),
    ("Delay", {"Unit Delay", "Transport Delay"}),
])
def test_a_type_that_others_are_called_by_names_them(name: str, others: set[str]) -> None:
    """The type itself is what the text form of a model says; but who means another is told of it."""
    found = block_finder().find(name)
    assert sure(name) == (name, {})
    assert set(meant(found.others)) == others


@pytest.mark.parametrize(("name", "wanted"), [
    ("Intergrator", "Integrator"), ("gain", "Gain"), ("TransferFcn", "Transfer Fcn"), ("transfer-fcn", "Transfer Fcn"),
    ("Resistr", "Resistor"), ("saturate block", "Saturation"), ("MULTI PORT SWITCH", "Multiport Switch"),
    ("simscape/Utilities/PS-Simulink Converter", "PS-Simulink Converter"), ("built-in/Gain", "Gain"),
    ("simulink/Continuous/Second-Order Integrator", "Integrator, Second-Order"), ("Signum ", "Sign"),
    ("simulink/Math Operations/Log", "Math Function"), ("Unitdelay", "Unit Delay"), ("Hit Crosing", "Hit Crossing"),
    ("DiscreteIntegrator", "Discrete-Time Integrator"), ("Pulse Genrator", "Pulse Generator"),
])
def test_a_misspelling_is_suggested_and_never_taken(name: str, wanted: str) -> None:
    found = block_finder().find(name)
    assert wanted in meant(found.candidates)
    assert found.sure is None or found.way in EXACT


def test_a_slip_of_the_pen_is_nearly_always_understood() -> None:
    """A letter lost, doubled or swapped with the next, in any place: the block is among the suggestions or it is
    another's exact name."""
    slips = [(block, slip) for block in BLOCKS if len(block.type) > 4 for at in range(1, len(block.type) - 1)
             for slip in (block.type[:at] + block.type[at + 1:], block.type[:at] + block.type[at - 1:],
                          block.type[:at] + block.type[at + 1] + block.type[at] + block.type[at + 2:])]
    chosen = random.Random(1).sample(slips, 800)
    found = [(block, block_finder().find(slip)) for block, slip in chosen]
    understood = [one for block, one in found if block.type in meant(one.candidates)]
    assert len(understood) >= 0.99 * len(found)
    assert not [one.name for block, one in found if one.sure and one.sure.block is not block]


def test_words_find_what_no_name_does() -> None:
    found = block_finder().find("reports when a curve crosses a line")
    assert (found.way, found.sure) == ("words", None)
    assert "Hit Crossing" in meant(found.others)


@pytest.mark.parametrize("name", ["", " ", "\n", "xyzzyq", "/", "///", "-" * 200, "\0", "\ud800", '" NEAR *',
                                  "x" * 10**6])
def test_a_name_of_nothing_finds_nothing(name: str) -> None:
    found = block_finder().find(name)
    assert (found.way, found.sure, found.candidates) == ("nothing", None, ())
    assert len(found.name) <= 80


def test_the_parameters_of_a_name_are_kept_in_a_suggestion() -> None:
    assert dict(block_finder().find("simulink/Math Operations/Log").candidates[0].parameters) == {"Operator": "log"}
    assert dict(block_finder().find("LOG10").candidates[0].parameters) == {"Operator": "log10"}


NAMES = [name for block in BLOCKS for name in (block.type, *block.display, *block.aliases, *block.paths)]


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.text(max_size=200), st.sampled_from(NAMES), st.text(alphabet="/-_ \n|~<>=*abcS1", max_size=100),
                 st.builds(lambda name, at, sign: name[:at] + sign + name[at + 1:], st.sampled_from(NAMES),
                           st.integers(0, 30), st.characters())))
def test_any_text_is_looked_up_in_bounded_time_without_guessing(name: str) -> None:
    begin = time.process_time()
    found = block_finder().find(name)
    assert time.process_time() - begin < 2
    assert (found.way == "nothing") == (not found.candidates)
    assert len(set(meant(found.candidates))) == len(found.candidates)
    if found.sure:
        own = found.sure.block
        exact = " ".join(name.split())
        assert exact in [" ".join(one.split()) for one in (own.type, *own.display, *own.aliases, *own.paths)]
    assert found.way in EXACT or found.sure is None


@settings(deadline=None, max_examples=50)
@given(st.text(alphabet="ab Sineogt/", min_size=1000, max_size=20_000))
def test_a_long_text_costs_no_more_than_a_name(text: str) -> None:
    begin = time.process_time()
    assert block_finder().find(text).sure is None
    assert time.process_time() - begin < 2
