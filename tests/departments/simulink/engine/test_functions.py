"""What MATLAB's functions do to a model, called as programs call them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.simulink.engine.arguments import double, int32, logical
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.engine.program import MatlabEngine, MatlabExecutionError
from chatdev.departments.simulink.saved_model import SavedModel

STEP, GAIN, SCOPE = "simulink/Sources/Step", "simulink/Math Operations/Gain", "simulink/Sinks/Scope"
ELECTRICAL = "fl_lib/Electrical/Electrical Elements"


@pytest.fixture
def built(eng: MatlabEngine) -> MatlabEngine:
    """A step, a gain and a scope in a row."""
    eng.add_block(STEP, "m/Step", nargout=0)
    eng.add_block(GAIN, "m/Gain", "Gain", "2", nargout=0)
    eng.add_block(SCOPE, "m/Scope", nargout=0)
    eng.add_line("m", "Step/1", "Gain/1", "autorouting", "on", nargout=0)
    eng.add_line("m", "Gain/1", "Scope/1", nargout=0)
    return eng


def saved(eng: MatlabEngine, folder: Path, name: str = "m") -> dict[str, Any]:
    """What is saved of a model."""
    eng.save_system(name, nargout=0)
    model: dict[str, Any] = json.loads((folder / "saved" / f"{name}.json").read_text())
    return model


def lines(eng: MatlabEngine, folder: Path) -> list[str]:
    return [" ".join(f"{block}/{port}" for block, _, port in ends) for ends in saved(eng, folder)["lines"]]


def test_a_model_is_saved_with_all_that_it_is(built: MatlabEngine, tmp_path: Path) -> None:
    built.set_param("m/Gain", "Position", double([30, 30, 60, 60]), nargout=0)
    built.set_param("m", "StopTime", "20", nargout=0)
    model = saved(built, tmp_path)
    assert model["blocks"] == [
        {"name": "Step", "type": "Step", "parameters": {}, "position": None},
        {"name": "Gain", "type": "Gain", "parameters": {"Gain": "2"}, "position": [30, 30, 60, 60]},
        {"name": "Scope", "type": "Scope", "parameters": {}, "position": None}]
    assert model["lines"] == [[["Step", "out", "1"], ["Gain", "in", "1"]], [["Gain", "out", "1"], ["Scope", "in", "1"]]]
    assert (model["name"], model["settings"], model["refused"]) == ("m", {"StopTime": "20"}, [])


@pytest.mark.parametrize("path", ["nesl_utility/PS-Simulink\nConverter", "nesl_utility/PS-Simulink Converter",
                                  "simulink/Discontinuities/Hit \nCrossing", "simulink/Discontinuities/Hit  Crossing",
                                  "simulink/Commonly Used Blocks/Gain", "built-in/Gain", "built-in/TransferFcn"])
def test_a_block_is_found_however_its_path_is_broken(path: str, eng: MatlabEngine) -> None:
    assert isinstance(eng.add_block(path, "m/Block"), float)


@pytest.mark.parametrize("kind", ["Sum", "Product", "Subsystem", "Constant", "Display"])
def test_a_built_in_block_is_itself_and_no_kin(kind: str, eng: MatlabEngine, tmp_path: Path) -> None:
    eng.add_block(f"built-in/{kind}", "m/Block", nargout=0)
    assert saved(eng, tmp_path)["blocks"][0]["type"] == kind


def test_names_with_line_breaks_and_slashes_are_met(eng: MatlabEngine, tmp_path: Path) -> None:
    eng.add_block(STEP, "m/Two\nlines", nargout=0)
    eng.add_block(GAIN, "m/1//s", nargout=0)
    eng.add_line("m", "Two lines/1", "1//s/1", nargout=0)
    eng.add_block(SCOPE, "m/Scope", nargout=0)
    eng.add_line("m", "1/s/1", "Scope/1", nargout=0)
    eng.set_param("m/1//s", "Gain", "3", nargout=0)
    assert lines(eng, tmp_path) == ["Two lines/1 1/s/1", "1/s/1 Scope/1"]


def test_names_are_made_unique_where_that_is_asked(eng: MatlabEngine) -> None:
    for _ in range(3):
        eng.add_block(GAIN, "m/Gain", "MakeNameUnique", "on", nargout=0)
    eng.add_block(GAIN, "m/Gain2", "makenameunique", "on", nargout=0)
    assert eng.find_system("m") == ["m", "m/Gain", "m/Gain1", "m/Gain2", "m/Gain3"]


def test_parameters_decide_the_ports(eng: MatlabEngine, tmp_path: Path) -> None:
    eng.add_block("simulink/Math Operations/Sum", "m/Sum", "Inputs", "|+-", nargout=0)
    eng.add_block(STEP, "m/Step", nargout=0)
    eng.add_line("m", "Step/1", "Sum/2", nargout=0)
    with pytest.raises(MatlabExecutionError, match="'Sum/3'"):
        eng.add_line("m", "Step/1", "Sum/3", nargout=0)
    eng.set_param("m/Sum", "inputs", "+++", nargout=0)
    eng.add_line("m", "Step/1", "Sum/3", nargout=0)
    eng.set_param("m/Sum", "Inputs", "++", nargout=0)
    assert lines(eng, tmp_path) == ["Step/1 Sum/2"]


def test_named_ports_are_met_by_their_names(eng: MatlabEngine, tmp_path: Path) -> None:
    eng.add_block("simulink/Continuous/Integrator", "m/I", "ShowStatePort", "on", nargout=0)
    eng.add_block(SCOPE, "m/Scope", nargout=0)
    eng.add_line("m", "I/State", "Scope/1", nargout=0)
    assert lines(eng, tmp_path) == ["I/State Scope/1"]


def test_lines_are_drawn_between_handles_and_lists(built: MatlabEngine, tmp_path: Path) -> None:
    added = built.add_block(SCOPE, "m/Seen", "NumInputPorts", "2")
    ports = built.get_param("m/Step", "PortHandles")
    into = built.get_param(added, "PortHandles")["Inport"]
    line = built.add_line("m", ports["Outport"], into[1])
    built.add_line("m", ["Gain/1"], ["Seen/1"], nargout=0)
    assert lines(built, tmp_path)[2:] == ["Step/1 Seen/2", "Gain/1 Seen/1"]
    built.delete_line(line, nargout=0)
    built.delete_line("m", "Gain/1", "Scope/1", nargout=0)
    assert lines(built, tmp_path) == ["Step/1 Gain/1", "Gain/1 Seen/1"]


def test_blocks_are_copied_renamed_and_deleted(built: MatlabEngine, tmp_path: Path) -> None:
    built.add_block("m/Gain", "m/Copy", nargout=0)
    built.set_param("m/Gain", "Name", "Twice", nargout=0)
    built.delete_block("m/Step", nargout=0)
    assert [(block["name"], block["parameters"]) for block in saved(built, tmp_path)["blocks"]] == [
        ("Twice", {"Gain": "2"}), ("Scope", {}), ("Copy", {"Gain": "2"})]
    assert lines(built, tmp_path) == ["Twice/1 Scope/1"]


def test_what_a_block_is_can_be_asked(built: MatlabEngine) -> None:
    assert built.get_param("m/Gain", "gain") == "2"
    assert built.get_param("m/Gain", "BlockType") == "Gain"
    assert built.get_param("m/Step", "Time") == "1"  # as it is by default
    assert built.get_param(built.get_param("m/Gain", "Handle"), "Name") == "Gain"
    assert built.find_system("m", "SearchDepth", "1", "BlockType", "Scope") == ["m/Scope"]
    assert "Gain" in built.get_param("m/Gain", "DialogParameters")


def test_unknown_parameters_are_kept_and_told(eng: MatlabEngine, tmp_path: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    eng.add_block(GAIN, "m/Gain", "Gian", "2", "FontSize", "12", nargout=0)
    assert saved(eng, tmp_path)["blocks"][0]["parameters"] == {"Gian": "2", "FontSize": "12"}
    told = capsys.readouterr().out
    assert "'Gian' is no parameter of Gain that we know of; 'm/Gain' keeps it unchecked (did you mean 'Gain'?)" in told
    assert "FontSize" not in told


def test_a_model_is_saved_under_another_name(built: MatlabEngine, tmp_path: Path) -> None:
    built.save_system("m", r"C:\models\other.slx", nargout=0)
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["other.json"]
    assert built.bdIsLoaded("other")
    assert not built.bdIsLoaded("m")
    built.close_system("other", 0, nargout=0)
    built.close_system("other", 0, nargout=0)  # MATLAB's answer is not known: a warning
    built.bdclose("all", nargout=0)
    assert built.exist("other") == 0


def test_closing_saves_where_that_is_asked(built: MatlabEngine, tmp_path: Path) -> None:
    built.close_system("m", 1.0, nargout=0)
    assert (tmp_path / "saved" / "m.json").exists()


def test_open_ports_are_told_and_no_error(eng: MatlabEngine, capsys: pytest.CaptureFixture[str]) -> None:
    eng.add_block(GAIN, "m/Gain", nargout=0)
    eng.add_block(f"{ELECTRICAL}/Resistor", "m/R", nargout=0)
    eng.save_system("m", nargout=0)
    assert capsys.readouterr().out.splitlines() == [
        "Warning: Input port 1 of 'm/Gain' is not connected.", "Warning: Output port 1 of 'm/Gain' is not connected.",
        "Warning: Connection port LConn1 of 'm/R' is not connected.",
        "Warning: Connection port RConn1 of 'm/R' is not connected."]


def circuit(eng: MatlabEngine, solvers: int = 1, references: int = 1) -> None:
    eng.add_block("fl_lib/Electrical/Electrical Sources/DC Voltage Source", "m/V", nargout=0)
    eng.add_block(f"{ELECTRICAL}/Resistor", "m/R", nargout=0)
    eng.add_line("m", "V/LConn1", "R/LConn1", nargout=0)
    eng.add_line("m", "V/RConn1", "R/RConn1", nargout=0)
    for _ in range(solvers):
        name = eng.get_param(eng.add_block("nesl_utility/Solver Configuration", "m/C", "MakeNameUnique", "on"), "Name")
        eng.add_line("m", f"{name}/RConn1", "R/LConn1", nargout=0)
    for _ in range(references):
        eng.add_block(f"{ELECTRICAL}/Electrical Reference", "m/Ground", nargout=0)
        eng.add_line("m", "Ground/LConn1", "R/RConn1", nargout=0)


def test_a_whole_circuit_is_checked_and_not_simulated(eng: MatlabEngine, capsys: pytest.CaptureFixture[str]) -> None:
    circuit(eng)
    out = eng.sim("m", nargout=1)
    assert capsys.readouterr().out == "Warning: 'm' was checked, and not simulated: there is no MATLAB here\n"
    with pytest.raises(AttributeError, match="not simulated"):
        _ = out.tout


@pytest.mark.parametrize(("solvers", "references", "fault"), [
    (0, 1, "the physical network of 'V', 'R', 'Ground' has no Solver Configuration block"),
    (2, 1, "has more than one Solver Configuration block: 'C', 'C1'"),
    (1, 0, "the electrical network of 'V', 'R', 'C' has no Electrical Reference block")])
def test_a_circuit_needs_one_solver_and_a_reference(solvers: int, references: int, fault: str, eng: MatlabEngine,
                                                    capsys: pytest.CaptureFixture[str]) -> None:
    circuit(eng, solvers, references)
    eng.save_system("m", nargout=0)
    assert fault in capsys.readouterr().out
    with pytest.raises(MatlabExecutionError, match="Error compiling Simscape network for model m.\n"):
        eng.set_param("m", "SimulationCommand", "start", nargout=0)
    assert fault in capsys.readouterr().err


def test_two_circuits_may_have_a_solver_each(eng: MatlabEngine, capsys: pytest.CaptureFixture[str]) -> None:
    circuit(eng)
    for name, path in {"V2": "Electrical Sources/DC Voltage Source", "R2": "Electrical Elements/Resistor",
                       "G2": "Electrical Elements/Electrical Reference"}.items():
        eng.add_block(f"fl_lib/Electrical/{path}", f"m/{name}", nargout=0)
    eng.add_block("nesl_utility/Solver Configuration", "m/C2", nargout=0)
    for one, other in [("V2/LConn1", "R2/LConn1"), ("V2/RConn1", "R2/RConn1"), ("C2/RConn1", "R2/LConn1"),
                       ("G2/LConn1", "R2/RConn1")]:
        eng.add_line("m", one, other, nargout=0)
    eng.sim("m", nargout=0)
    assert "Solver" not in capsys.readouterr().out


def test_eval_sets_variables_and_calls_functions(built: MatlabEngine) -> None:
    built.eval("x = 3; name = 'it''s'; v = [1 2 3];", nargout=0)
    built.eval("set_param('m/Gain','Gain','4')", nargout=0)
    built.eval("clc; close all", nargout=0)
    built.workspace["y"] = 2.0
    built.assignin("base", "z", 1.0, nargout=0)
    assert built.workspace == {"x": 3.0, "name": "it's", "v": "[1 2 3]", "y": 2.0, "z": 1.0}
    assert built.get_param("m/Gain", "Gain") == "4"
    with pytest.raises(MatlabExecutionError, match="There is no block named 'simulink/Gain'"):
        built.eval("add_block('simulink/Gain', 'm/G')", nargout=0)


def test_calls_run_in_the_background_and_print_where_told(eng: MatlabEngine) -> None:
    told = io.StringIO()
    assert isinstance(eng.add_block(GAIN, "m/Gain", background=True).result(), float)
    eng.save_system("m", nargout=0, stdout=told)
    assert told.getvalue().startswith("Warning: Input port 1")


@pytest.mark.parametrize("act", [lambda eng: eng.add_block(GAIN, "m/G", Gain="2"),
                                 lambda eng: eng.add_block(GAIN, "m/G", nargout=-1)])
def test_what_matlab_engine_itself_refuses_is_refused(act: Callable[[Any], Any], eng: MatlabEngine) -> None:
    with pytest.raises(TypeError):
        act(eng)


def test_libraries_can_be_loaded(eng: MatlabEngine) -> None:
    for name in ("simulink", "fl_lib", "nesl_utility", "ee_lib", "m"):
        eng.load_system(name, nargout=0)


def test_arranging_leaves_places_to_the_painter(built: MatlabEngine, tmp_path: Path) -> None:
    built.set_param("m/Gain", "Position", "[30, 30, 60, 60]", nargout=0)
    built.Simulink.BlockDiagram.arrangeSystem("m", "FullLayout", "true", nargout=0)
    assert [block["position"] for block in saved(built, tmp_path)["blocks"]] == [None] * 3


def test_refused_calls_are_saved_with_the_model(built: MatlabEngine, tmp_path: Path) -> None:
    with pytest.raises(MatlabExecutionError):
        built.add_line("m", "Step/1", "Gain/1", nargout=0)
    assert saved(built, tmp_path)["refused"] == ["The destination port already has a line connection"]


def test_a_long_refusal_spoils_no_model(built: MatlabEngine, tmp_path: Path, library: Library) -> None:
    with pytest.raises(MatlabExecutionError):
        built.add_block("x" * 5000, "m/X", nargout=0)
    built.save_system("m", nargout=0)
    assert SavedModel.read((tmp_path / "saved" / "m.json").read_text()).rebuild(library, strict=True).name == "m"


def test_arrays_are_rows_of_numbers() -> None:
    assert (double([[1, 2], [3, 4]]).size, double([1, 2, 3]).size, double(5).size) == ((2, 2), (1, 3), (1, 1))
    assert (int32([1.0]), logical([1, 0]), double([1])[0]) == ([1], [True, False], 1.0)
    with pytest.raises(ValueError, match="rectangular"):
        double([[1, 2], [3]])
