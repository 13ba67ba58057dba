"""Which physical lines may be drawn: P1 to P3 over random wirings, against a model of nets that is slow and plain."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.simulink.engine.library import (
    NETS_DIFFER,
    ONE_PORT,
    RULES_BROKEN,
    SECOND_TAKEN,
    BuildRefused,
    Library,
)
from chatdev.departments.simulink.engine.rules import BlockDiagram

Line = tuple[str, str]
DOMAINS = {"R1/LConn1": "electrical", "R1/RConn1": "electrical", "R2/LConn1": "electrical", "R2/RConn1": "electrical",
           "R3/LConn1": "electrical", "G/LConn1": "electrical", "C/RConn1": "any", "C2/RConn1": "any",
           "V/LConn1": "electrical", "V/RConn1": "ps", "V/RConn2": "electrical", "P/LConn1": "ps", "P2/LConn1": "ps",
           "Bus/LConn1": "three_phase", "Bus/RConn1": "three_phase", "Bus2/LConn1": "three_phase"}
TYPES = {"R": "Resistor", "G": "Electrical Reference", "C": "Solver Configuration", "V": "Voltage Sensor",
         "P": "PS-Simulink Converter", "Bus": "Busbar"}
ENDS = sorted(DOMAINS)


class PlainNets:
    """All that the rules say, by looking through all lines each time."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.lines: list[Line] = []

    def net(self, end: str) -> set[str]:
        """Every port that lines lead to."""
        found = {end}
        while new := {other for line in self.lines if found & set(line) for other in line} - found:
            found |= new
        return found

    def domains(self, end: str) -> set[str]:
        return {DOMAINS[other] for other in self.net(end)} - {"any"}

    def verdict(self, one: str, other: str) -> str | None:
        """The message that forbids a line; None where it is drawn."""
        wired = [any(end in line for line in self.lines) for end in (one, other)]
        if one == other:
            return ONE_PORT.words
        if len(self.domains(one) | self.domains(other)) > 1:
            return RULES_BROKEN.words
        if all(wired) and other in self.net(one):
            return SECOND_TAKEN.words
        if all(wired) and self.strict:
            return NETS_DIFFER.words
        self.lines.append((one, other))
        return None


def diagram(library: Library, *, strict: bool) -> BlockDiagram:
    model = BlockDiagram("m", library, strict=strict)
    for name in dict.fromkeys(end.split("/")[0] for end in ENDS):
        model.add_block(library.types[TYPES[name.rstrip("0123456789")]], name, {})
    return model


def add(model: BlockDiagram, one: str, other: str) -> str | None:
    try:
        model.add_line(model.socket(one, "out"), model.socket(other, "in"))
    except BuildRefused as refused:
        return str(refused)
    return None


def agree(said: str | None, wanted: str | None) -> bool:
    """Whether a refusal is the wanted message, whatever ports it is about."""
    if said is None or wanted is None:
        return said == wanted
    return re.sub("'[^']*'", "", said) == re.sub("'[^']*'", "", wanted)


steps = st.lists(st.tuples(st.sampled_from(ENDS), st.sampled_from(ENDS), st.booleans()), max_size=40)


@pytest.mark.parametrize("strict", [True, False])
def test_the_rules_hold_over_random_wirings(strict: bool, library: Library) -> None:
    @given(steps)
    def hold(steps: list[tuple[str, str, bool]]) -> None:
        model, plain = diagram(library, strict=strict), PlainNets(strict=strict)
        for one, other, removes in steps:
            if removes and plain.lines:
                line = plain.lines.pop(len(one + other) % len(plain.lines))
                model.delete_line(model.socket(line[0], "out"), model.socket(line[1], "in"))
            assert agree(add(model, one, other), plain.verdict(one, other)), (one, other, plain.lines)
        assert [(str(source), str(target)) for source, target in model.lines] == plain.lines

    hold()


@pytest.mark.parametrize("strict", [True, False])
def test_what_was_built_can_be_built_again_in_its_order(strict: bool, library: Library) -> None:
    @given(steps)
    def hold(steps: list[tuple[str, str, bool]]) -> None:
        model, again = diagram(library, strict=strict), diagram(library, strict=strict)
        for one, other, removes in steps:
            if removes and model.lines:
                model.delete_line(*next(iter(model.lines)))
            add(model, one, other)
        for source, target in model.lines:
            again.add_line(source, target)

    hold()


@pytest.mark.parametrize("path", ["R1/LConn1 C/RConn1 G/LConn1", "R1/LConn1 R2/LConn1 R3/LConn1 V/LConn1"])
def test_a_free_port_joins_the_net_of_any_other(path: str, library: Library) -> None:
    model = diagram(library, strict=True)
    ends = path.split()
    for one, other in itertools.pairwise(ends):
        assert add(model, one, other) is None
    assert add(model, "V/RConn2", ends[0]) is None


def test_nets_are_joined_where_that_is_asked_for(library: Library) -> None:
    lines = [("R1/LConn1", "R2/LConn1"), ("R3/LConn1", "G/LConn1"), ("R1/LConn1", "R3/LConn1")]
    loose, strict = diagram(library, strict=False), diagram(library, strict=True)
    assert [add(loose, *line) for line in lines] == [None] * 3
    assert add(loose, "R2/LConn1", "G/LConn1") == SECOND_TAKEN.words
    assert "Join the nets by a line to a port that has none yet" in ([add(strict, *line) for line in lines][-1] or "")


@pytest.mark.parametrize("act", [lambda m: m.delete_block("R2"), lambda m: m.rename("R2", "R9")])
def test_deleting_and_renaming_keep_the_rest_joined(act: Callable[[BlockDiagram], None], library: Library) -> None:
    model = diagram(library, strict=True)
    for line in [("R1/LConn1", "R2/LConn1"), ("R1/LConn1", "R3/LConn1"), ("R1/LConn1", "G/LConn1")]:
        add(model, *line)
    act(model)
    assert add(model, "R3/LConn1", "G/LConn1") == SECOND_TAKEN.words
