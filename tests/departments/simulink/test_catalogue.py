"""The block catalogue: every record loads, its ports follow its parameters as in MATLAB, and bad files are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.departments.simulink.catalogue import Catalogue, catalogue
from chatdev.departments.simulink.ports import count_of
from chatdev.errors import ConfigError

BLOCKS = list(catalogue().types.values())


def names(type_: str, parameters: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """The inputs, outputs and terminals of a block with these parameters."""
    block = catalogue().types[type_]
    ports = block.ports_with(parameters)
    inputs, outputs, terminals = ([one.name for one in ports if one.direction == direction]
                                  for direction in ("in", "out", "conserving"))
    return inputs, outputs, terminals


def test_there_are_enough_blocks_of_every_library() -> None:
    assert len(BLOCKS) >= 110
    assert {"Sources", "Sinks", "Continuous", "Discrete", "Math Operations", "Logic and Bit Operations",
            "Discontinuities", "Signal Routing", "Signal Attributes", "Lookup Tables", "User-Defined Functions",
            "Physical Signals", "Simscape Utilities"} <= set(catalogue().libraries)
    assert sorted(block.type for library in catalogue().libraries.values() for block in library) == sorted(
        catalogue().types)


def test_a_block_is_found_by_its_type_and_each_path() -> None:
    for block in BLOCKS:
        assert catalogue().of(block.type) is block
        for path in block.paths:
            assert catalogue().of(path) is catalogue().of(path.replace(" ", "\n")) is block
        assert block.path == block.paths[0]


def test_what_decides_about_ports_and_names_has_a_default() -> None:
    for block in BLOCKS:
        asked = [*block.port_parameters, *(name for shown in block.display.values() for name in shown)]
        assert set(asked) <= set(block.parameters), block.type
        assert len({name.lower() for name in block.parameters}) == len(block.parameters), "MATLAB's names know no case"


def test_a_display_name_makes_a_block_with_ports() -> None:
    for block in BLOCKS:
        for parameters in [{}, *block.display.values()]:
            ports = block.ports_with(parameters)
            assert len({(port.name, port.direction) for port in ports}) == len(ports), block.type
            assert all(port.is_physical == (port.domain != "signal") for port in ports), block.type


def test_every_value_that_decides_about_ports_changes_them() -> None:
    """No condition is dead: a port is there at the values that its record names, and gone at another."""
    for block in BLOCKS:
        for when in [port.when for port in block.ports if port.when]:
            base = {name: values if isinstance(values, str) else values[0] for name, values in when.items()}
            for name, values in when.items():
                for value in [values] if isinstance(values, str) else values:
                    there = block.ports_with({**base, name: value})
                    assert len(there) > len(block.ports_with({**base, name: "no such value"})), (block.type, value)


def test_parameters_that_are_words_have_their_choices() -> None:
    decided = {(block.type, name) for block in BLOCKS for port in block.ports for name in port.when
               if block.parameters[name] not in ("on", "off")}
    without = {(type_, name) for type_, name in decided if name not in catalogue().types[type_].choices}
    assert without == set()
    assert not [block.type for block in BLOCKS for name, values in block.choices.items()
                if len(set(values)) != len(values) or block.parameters[name] in ("on", "off")]


def test_a_kernel_is_named_for_signals_and_electrical_networks() -> None:
    networks = ("network", "simulink_ps", "ps_simulink")
    for block in BLOCKS:
        own = {"electrical", "ps", "any", "signal"} if block.sim in networks else {"signal"}
        assert block.sim is None or {port.domain for port in block.ports} <= own, block.type
        assert block.look, block.type
        assert "\n" not in block.principle, block.type


SURE = [
    ("Gain", {}, 1, 1), ("Sum", {}, 2, 1), ("Sum", {"Inputs": "+-"}, 2, 1), ("Sum", {"Inputs": "|+-|+"}, 3, 1),
    ("Sum", {"Inputs": "4"}, 4, 1), ("Product", {}, 2, 1), ("Product", {"Inputs": "*/*"}, 3, 1),
    ("Product", {"Inputs": "5"}, 5, 1), ("Integrator", {}, 1, 1), ("Integrator", {"ExternalReset": "rising"}, 2, 1),
    ("Integrator", {"InitialConditionSource": "external"}, 2, 1),
    ("Integrator", {"ExternalReset": "level", "InitialConditionSource": "external"}, 3, 1),
    ("Integrator", {"ShowSaturationPort": "on", "ShowStatePort": "on"}, 1, 3),
    ("Discrete-Time Integrator", {"ExternalReset": "falling", "InitialConditionSource": "external"}, 3, 1),
    ("Integrator, Second-Order", {}, 1, 2), ("Integrator, Second-Order", {"ICSourceX": "external"}, 2, 2),
    ("Integrator, Second-Order", {"ICSourceX": "external", "ICSourceDXDT": "external"}, 3, 2),
    ("Constant", {}, 0, 1), ("In1", {}, 0, 1), ("Scope", {}, 1, 0), ("Scope", {"NumInputPorts": "3"}, 3, 0),
    ("Out1", {}, 1, 0), ("Mux", {}, 2, 1), ("Mux", {"Inputs": "3"}, 3, 1), ("Mux", {"Inputs": "[1 2]"}, 2, 1),
    ("Switch", {}, 3, 1), ("Relational Operator", {}, 2, 1), ("Relational Operator", {"Operator": "isNaN"}, 1, 1),
    ("Saturation", {}, 1, 1), ("Compare To Zero", {}, 1, 1), ("Transfer Fcn", {}, 1, 1), ("Abs", {}, 1, 1),
    ("Sign", {}, 1, 1), ("Memory", {}, 1, 1), ("Unit Delay", {}, 1, 1), ("IC", {}, 1, 1), ("Relay", {}, 1, 1),
    ("Step", {}, 0, 1), ("Sine Wave", {}, 0, 1), ("Pulse Generator", {}, 0, 1), ("Clock", {}, 0, 1),
    ("XY Graph", {}, 2, 0),
]
DOCUMENTED = [
    ("Demux", {"Outputs": "4"}, 1, 4), ("Demux", {"Outputs": "[2 1 1]"}, 1, 3), ("Multiport Switch", {}, 4, 1),
    ("Multiport Switch", {"Inputs": "2", "DataPortForDefault": "Additional data port"}, 4, 1),
    ("Multiport Switch", {"DataPortOrder": "Specify indices", "DataPortIndices": "{1,[2 3],4,5}"}, 5, 1),
    ("Logical Operator", {}, 2, 1), ("Logical Operator", {"Operator": "NOT", "Inputs": "3"}, 1, 1),
    ("Logical Operator", {"Operator": "XOR", "Inputs": "3"}, 3, 1), ("Math Function", {"Operator": "log"}, 1, 1),
    ("Math Function", {"Operator": "pow"}, 2, 1), ("Trigonometric Function", {"Operator": "sincos"}, 1, 2),
    ("Trigonometric Function", {"Operator": "atan2"}, 2, 1), ("MinMax", {"Inputs": "3"}, 3, 1),
    ("Hit Crossing", {"ShowOutputPort": "off"}, 1, 0), ("Goto", {}, 1, 0), ("From", {}, 0, 1),
    ("Bus Selector", {"OutputSignals": "speed,torque, flow"}, 1, 3), ("Bus Creator", {"Inputs": "4"}, 4, 1),
]


@pytest.mark.parametrize(("type_", "parameters", "inputs", "outputs"), [*SURE, *DOCUMENTED])
def test_a_block_of_signals_has_the_ports_that_matlab_gives_it(type_: str, parameters: Mapping[str, str], inputs: int,
                                                                 outputs: int) -> None:
    found = names(type_, parameters)
    assert (len(found[0]), len(found[1]), found[2]) == (inputs, outputs, [])
    assert found[0] == [str(number) for number in range(1, inputs + 1)]


PHYSICAL = [
    ("Resistor", {}, "LConn1 electrical, RConn1 electrical"),
    ("Capacitor", {}, "LConn1 electrical, RConn1 electrical"),
    ("Electrical Reference", {}, "LConn1 electrical"),
    ("Voltage Sensor", {}, "LConn1 electrical, RConn1 ps, RConn2 electrical"),
    ("AC Voltage Source", {}, "LConn1 electrical, RConn1 electrical"),
    ("Controlled Voltage Source", {}, "LConn1 electrical, RConn1 ps, RConn2 electrical"),
    ("Voltage-Controlled Voltage Source", {},
     "LConn1 electrical, RConn1 electrical, LConn2 electrical, RConn2 electrical"),
    ("Current-Controlled Current Source", {},
     "LConn1 electrical, RConn1 electrical, LConn2 electrical, RConn2 electrical"),
    ("Solver Configuration", {}, "RConn1 any"),
    ("PS-Simulink Converter", {}, "LConn1 ps, 1 signal"),
    ("Simulink-PS Converter", {}, "1 signal, RConn1 ps"),
    ("Busbar", {"n_nodes": "1"}, "LConn1 three_phase"),
    ("Busbar", {"n_nodes": "2"}, "LConn1 three_phase, RConn1 three_phase"),
    ("Busbar", {"n_nodes": "3"}, "LConn1 three_phase, RConn1 three_phase, LConn2 three_phase"),
    ("Busbar", {"n_nodes": "4"}, "LConn1 three_phase, RConn1 three_phase, LConn2 three_phase, RConn2 three_phase"),
    ("Transmission Line (Three-Phase)", {},
     "LConn1 three_phase, RConn1 three_phase, LConn2 electrical, RConn2 electrical"),
    ("Wye-Connected Load", {}, "LConn1 three_phase, RConn1 electrical"),
    ("Load Flow Source", {}, "LConn1 three_phase, RConn1 electrical"),
]


@pytest.mark.parametrize(("type_", "parameters", "ports"), PHYSICAL)
def test_a_physical_block_has_the_terminals_that_matlab_gives_it(type_: str, parameters: Mapping[str, str],
                                                                   ports: str) -> None:
    block = catalogue().types[type_]
    assert ", ".join(f"{port.name} {port.domain}" for port in block.ports_with(parameters)) == ports


def test_only_what_matlab_took_is_said_to_be_sure() -> None:
    assert {block.type for block in BLOCKS if block.verified} == {row[0] for row in (*SURE, *PHYSICAL)}
    assert not any(catalogue().types[row[0]].verified for row in DOCUMENTED)


def test_a_parameter_is_known_in_any_case() -> None:
    assert len(catalogue().types["Scope"].ports_with({"numinputports": "3"})) == 3
    assert catalogue().types["Gain"].with_defaults({"gain": "2", "Own": "x"}).items() >= {"Gain": "2",
                                                                                         "Own": "x"}.items()


@pytest.mark.parametrize(("text", "count"), [
    ("3", 3), ("|++", 2), ("+|-|", 2), ("*/", 2), ("[1 2]", 2), ("[1, 2, 3]", 3), ("{1,[2 3],4}", 3), ("[]", 0),
    ("n", None), ("", None), ("+x", None), ("3.5", None), ("-3", None)])
def test_a_number_of_ports_is_read_as_matlab_writes_it(text: str, count: int | None) -> None:
    assert count_of(text) == count


@pytest.mark.parametrize("value", ["many", "", "1e9", "100000"])
def test_a_number_of_ports_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"^Inputs is "):
        catalogue().types["Mux"].ports_with({"Inputs": value})


GOOD = """\
library: Own
blocks:
- type: Valve
  paths: [own_lib/Valve]
  block_type: Reference
  ports: [{direction: in, count: Inlets}, {direction: out, when: {Open: "on"}}]
  parameters: {Inlets: "2", Open: "on"}
  look: square
  principle: opens
"""


def read(folder: Path, text: str, more: str = "") -> Catalogue:
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    if more:
        (folder / "b.yaml").write_text(more, encoding="utf-8")
    return Catalogue.read(folder)


def test_a_library_of_ones_own_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    assert [*found.types] == ["Valve"]
    assert [port.direction for port in found.types["Valve"].ports_with({"Open": "off"})] == ["in", "in"]
    assert not found.types["Valve"].verified


@pytest.mark.parametrize(("old", "new", "error"), [
    ("direction: in, ", "direction: inn, ", r"a\.yaml:6: blocks\.0\.ports\.0\.direction: 'inn' is not possible here; "
                                            r"did you mean 'in'\?"),
    ("count: Inlets", "number: Inlets", r"a\.yaml:6: blocks\.0\.ports\.0\.number: unknown key 'number'"),
    ("count: Inlets", "domain: electrical", r"a\.yaml:6: blocks\.0\.ports\.0: .*`side` \(left or right\)"),
    ("count: Inlets", "side: left", r"a\.yaml:6: blocks\.0\.ports\.0: .*`side` \(left or right\)"),
    ("count: Inlets", "count: Doors", r"a\.yaml:3: blocks\.0: .*Valve: .*'Doors', which has no default; add it"),
    ("when: {Open", "when: {Shut", r"a\.yaml:3: blocks\.0: .*Valve: .*'Shut', which has no default; add it"),
    ('Inlets: "2"', 'Inlets: "two"', r"a\.yaml:3: blocks\.0: .*Valve: `parameters`: Inlets is 'two'"),
    ('Inlets: "2"', "Inlets: 2", r"a\.yaml:7: blocks\.0\.parameters\.Inlets: .*string"),
    ("  look: square\n", "", r"a\.yaml:3: blocks\.0\.look: this key is required; add it"),
    ("principle: opens", "principle: opens\n  display: {Tap: {Turn: x}}", r"a\.yaml:3: .*'Turn', which has no default"),
    ("look: square", "choices: {Open: [open, shut]}\n  look: square",
     r"a\.yaml:3: .*Valve: 'on' is not among the `choices` of 'Open'; add it"),
    ("look: square", "choices: {Shut: [a]}\n  look: square", r"a\.yaml:3: .*'Shut', which has no default"),
    ("[own_lib/Valve]", "[]", r"a\.yaml:4: blocks\.0\.paths: .*at least 1"),
    ("library: Own\n", "", r"a\.yaml:\d: library: this key is required"),
    ("blocks:\n", "blocks: [\n", r"a\.yaml:\d+: not YAML"),
])
def test_a_bad_record_is_refused_by_file_line_and_field(tmp_path: Path, old: str, new: str, error: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError, match=error):
        read(tmp_path, GOOD.replace(old, new))


@pytest.mark.parametrize(("more", "error"), [
    (GOOD, r"b\.yaml:3: type: the block 'Valve' is there twice; remove one of them"),
    (GOOD.replace("type: Valve", "type: Tap").replace("[own_lib", "[own_lib/Tap, own_lib"),
     r"b\.yaml:3: paths: 'own_lib/Valve' is the path of 'Valve' and 'Tap'; remove it from one of them"),
])
def test_a_block_that_is_there_twice_is_refused(tmp_path: Path, more: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        read(tmp_path, GOOD, more)
