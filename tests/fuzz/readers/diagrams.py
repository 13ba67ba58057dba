"""Readers of block diagrams: the text form of models, their lines, what an investigator wrote down, and what is wanted
of a simulation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from chatdev.departments.simulink.acceptance import Acceptance, judge
from chatdev.departments.simulink.checks import check_diagram, check_investigation, read_investigation
from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.difference import compare
from chatdev.departments.simulink.experiment import Experiment, verdict_of
from chatdev.departments.simulink.wiring_checks import order_wires
from chatdev.errors import ConfigError
from tests.fuzz.readers.reader import Reader, value_in

TEXT = ["model: m\n", "about: x\n", "blocks:\n", "  B№: {type: Gain}\n",
        "  G№: {type: Goto, parameters: {GotoTag: T№}}\n", "  F№: {type: From, parameters: {GotoTag: T0}}\n",
        "  R№: {type: Resistor, position: [1, 2, 30, 40]}\n", "  S№: {type: Sum, parameters: {Inputs: ++--}}\n",
        "lines:\n", "- B№/1 -> B0/1\n", "- B0/1 -> B№/1\n", "- R№/LConn1 -- R0/RConn1\n", "<<: ", "'", '"', "\n", " ",
        ": ", "#", "&a ", "*a", "[", "]", "{", "}", "\0", "\x85", "é", "1e999", "№"]
LINE = ["A/1", "/", " -> ", "->", " -- ", "--", "LConn1", "1", " ", '"', "\\", "\\n", "\\ud800", "\n", "a", "/1 -> ",
        "-", ">", "é", "\u2028", "\0", "\x85", "\ud800"]
AGENT = ['{"blocks": [', '{"name": "B№", "type": "Gain"}, ', '{"name": "S", "type": "Sum", "parameters": {"Inputs": ',
         '"+-', '"}}, ', '"A№ -> B№/1", ', '], "connections": [', '"B№/1 -> B0/1", ', '"B0/1 -> B№/1", ',
         '"R№/LConn1 -- R0/LConn1", ', "true", "null", "[", "]", "{", "}", '"', ", ", ": ", "1e400", '"\\ud800"', "Log"]
WANTED = ["signals: {", "S: {", "A: {", "}", "}, ", ", ", "start: 0.5", "initial: 1", "target: A", "target: 2",
          "set: {B.G: 1}",
          *(f"{name}: " for name in ("final", "rise_time", "settling_time", "overshoot", "peak", "min", "crossings",
                                     "steady_state_error", "trace", "stop", "solver")),
          "at most 1", "0 to 1", "1 ± 2 %", "{min: 0}", "1e308", "-1e-308", "{times: [1], within: 1}",
          "{count: 1 to 2, level: ",
          "{points: [[0, 1], [2, 3]], absolute: 1}", "{csv: 'time,S", "0,1", "', relative: 1}", "\n", "'", "ode45", "№"]
OTHER = Diagram.parse("model: m\nblocks:\n  A: {type: Gain}\n  B: {type: Goto}\nlines: [A/1 -> B/1]\n", "other")


def text_form(text: str) -> None:
    """What is read can be written, read again, checked, and compared with another model."""
    with suppress(ConfigError):
        model = Diagram.parse(text, "model.yaml")
        assert Diagram.parse(model.text(), "model.yaml") == model
        check_diagram(model)
        assert compare(model, model).is_empty
        assert sorted(order_wires(model.wires)) == sorted(model.wires)
        there, back = compare(OTHER, model), compare(model, OTHER)
        assert set(there.renamed.values()) == set(back.renamed)


def line(text: str) -> None:
    """A line of the text form."""
    with suppress(ValueError):
        wire = Wire.read(text)
        assert Wire.read(str(wire)) == wire


def investigation(text: str) -> None:
    """The blocks and connections that an agent wrote down."""
    value = value_in(text)
    read = read_investigation(value)
    assert Diagram.parse(read.model.text(), "model.yaml") == read.model
    assert all(one.message and one.fix for one in check_investigation(value))


def acceptance(text: str) -> None:
    """What is wanted can be judged, and told in words, whatever it is."""
    with suppress(ConfigError):
        wanted = Acceptance.read(text, "wanted.yaml")
        for values in ((0.0, 0.0, 0.0), (0.0, 1.5, 1.0), (-1e308, 1e308, 0.0), (1.0, float("nan"), float("inf"))):
            found = Experiment("simulated", 2.0, columns=("S", "A"), times=(0.0, 1.0, 2.0),
                               values=tuple((value, value) for value in values))
            judged = judge(wanted, found.results())
            assert verdict_of(replace(found, judged=judged)).report
            assert all(one.wanted or one.why == "broken" for one in judged)


READERS = {
    "text form of a model": Reader(text_form, TEXT, ("{}", "model: m\nblocks:\n{}", "model: m\nlines:\n{}")),
    "line of a model": Reader(line, LINE, ("{}", "A/1 -> {}", '"{}"/1 -> B/1')),
    "acceptance": Reader(acceptance, WANTED, ("{}", "signals: {S: {{}}}", "signals: {S: {final: {}}}")),
    "investigation": Reader(investigation, AGENT, ("{}", '{"blocks": [{}]}', '{"connections": [{}]}')),
}
