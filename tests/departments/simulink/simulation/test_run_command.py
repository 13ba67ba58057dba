"""`chatdev simulink run` as an engineer uses it: tables, plots, settings and exit codes."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.cli.outcome import heed_signals
from tests.departments.simulink.simulation.models import constant, model


def simulink(*arguments: object) -> Result:
    with heed_signals():
        return CliRunner().invoke(command_line, ["simulink", *map(str, arguments)], prog_name="chatdev")


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    file = tmp_path / "loop.yaml"
    diagram = model({"Rate": constant("2"), "Sum": ("Sum", {"Inputs": "+-"}), "Level": "Integrator", "Scope": "Scope"},
                    "Rate/1 -> Sum/1", "Sum/1 -> Level/1", "Level/1 -> Sum/2", "Level/1 -> Scope/1")
    file.write_text(replace(diagram, name="loop").text(), encoding="utf-8")
    return file


def test_a_table_is_printed(loop: Path) -> None:
    done = simulink("run", loop, "--stop", "1", "--solver", "ode4", "--step", "0.5")
    assert done.exit_code == 0
    rows = [*csv.reader(done.stdout.splitlines())]
    assert rows[0] == ["time", "Level"]
    assert [row[0] for row in rows[1:]] == ["0", "0.5", "1"]
    assert float(rows[-1][1]) == pytest.approx(2 * (1 - 2.718281828459045 ** -1), rel=1e-3)
    assert done.stderr == "loop: ode4, 3 steps, 0 events\n"


def test_table_and_plots_go_into_files(loop: Path, tmp_path: Path) -> None:
    for plot, begin in ((tmp_path / "a.svg", b"<?xml"), (tmp_path / "a.png", b"\x89PNG")):
        done = simulink("run", loop, "--out", tmp_path / "a.csv", "--plot", plot)
        assert (done.exit_code, done.stdout) == (0, "")
        assert plot.read_bytes().startswith(begin)
        assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith("time,Level\n0,0\n")


def test_settings_change_parameters_and_give_variables(loop: Path, tmp_path: Path) -> None:
    done = simulink("run", loop, "--set", "Rate.Value=K*3", "--set", "K=2", "--stop", 40, "--out", tmp_path / "a.csv")
    assert done.exit_code == 0
    assert float((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()[-1].split(",")[1]) == pytest.approx(6)


@pytest.mark.parametrize(("arguments", "code", "told"), [
    (["--set", "Rate.Value=K"], 2, "Constant 'Rate': Value is 'K': the variable 'K' has no value"),
    (["--set", "Rat.Value=1"], 2, "there is no block 'Rat'"), (["--set", "Rate"], 2, "sets nothing"),
    (["--solver", "ode99"], 2, "the solver 'ode99' is not known"), (["--stop", "nan"], 2, "give a time above 0"),
    (["--plot", "a.gif"], 2, "neither a .svg nor a .png"), (["--set", "Sum.Inputs=++", "--stop", "1e3"], 1, "'Level'")])
def test_what_cannot_be_is_told_with_an_exit_code(loop: Path, arguments: list[str], code: int, told: str) -> None:
    done = simulink("run", loop, *arguments)
    assert done.exit_code == code
    assert told in done.stderr


def test_the_department_loads_nothing_heavy() -> None:
    code = ("import sys, chatdev.departments.simulink, chatdev.departments.simulink.commands\n"
            "print([name for name in ('numpy', 'scipy', 'matplotlib') if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture
def driven(tmp_path: Path) -> Path:
    file = tmp_path / "driven.yaml"
    diagram = model({"Demand": "In1", "Pair": ("In1", {"Port": "2", "PortDimensions": "2"}), "Twice": ("Gain", {
        "Gain": "2"}), "Level": "Integrator", "Out": "Out1", "Both": ("Out1", {"Port": "2"})},
        "Demand/1 -> Twice/1", "Twice/1 -> Level/1", "Level/1 -> Out/1", "Pair/1 -> Both/1")
    file.write_text(diagram.text(), encoding="utf-8")
    return file


def test_input_data_drives_the_inputs(driven: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("\ufefftime,Demand,Pair[2],Pair[1]\n0,1,5,0\n1,1,5,0\n\n1,-1,5,0\n2,-1,5,4\n",
                                     encoding="utf-8")
    done = simulink("run", driven, "--stop", 2, "--input-data", tmp_path / "in.csv", "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["final"] == {"Level": pytest.approx(0), "Pair[1]": 4.0, "Pair[2]": 5.0}
    assert max(data["signals"]["Level"]) == pytest.approx(2)
    assert data["rates"]["Demand"] == "continuous"
    assert len(data["time"]) == len(data["signals"]["Pair[1]"])


@pytest.mark.parametrize(("table", "told"), [
    ("time,Demand\n0,x\n", "in.csv:2: '0,x' is no row of 2 finite numbers"), ("time,Demand\n0,nan\n", "in.csv:2:"),
    ("time,Demand\n0,1,2\n", "in.csv:2:"), ("time,Demand\n1,1\n0,1\n", "in.csv:3: the time 0 s comes behind 1 s"),
    ("Demand\n1\n", "its first column is `time`"), ("", "its first column is `time`"), ("time\n", "no table of inputs"),
    ("time,Level\n0,1\n", "there is no In1 block 'Level' for these values; the model's are: Demand, Pair"),
    ("time,Pair[2]\n0,1\n", "there are the elements [2]"), ("time,Demand,Demand\n0,1,1\n", "two columns are called"),
    ("time,Pair\n0,1\n", "its table has 1 elements, and PortDimensions is 2")])
def test_input_data_that_is_none_is_told(driven: Path, tmp_path: Path, table: str, told: str) -> None:
    (tmp_path / "in.csv").write_text(table, encoding="utf-8")
    done = simulink("run", driven, "--input-data", tmp_path / "in.csv")
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_mat_file_holds_the_table(loop: Path, tmp_path: Path) -> None:
    from scipy.io import loadmat

    done = simulink("run", loop, "--out", tmp_path / "a.mat", "--json")
    assert done.exit_code == 0
    assert "time" not in json.loads(done.stdout)
    data = loadmat(tmp_path / "a.mat")
    assert data["Level"][-1, 0] == data["signals"][-1, 0] == json.loads(done.stdout)["final"]["Level"]
    assert [name[0][0] for name in data["names"]] == ["Level"]
    assert simulink("run", loop, "--out", tmp_path / "a.xls").exit_code == 2


@pytest.mark.parametrize("ending", ["yaml", "json", "m", "slx", "mdl"])
def test_models_of_all_forms_run_are_checked_drawn_and_compared(loop: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / ending / f"loop.{ending}"
    file.parent.mkdir()
    done = simulink("convert", loop, "--out", file)
    assert done.exit_code == 0, done.output
    assert simulink("run", file).stdout == simulink("run", loop).stdout
    assert simulink("check", file).stdout.startswith("OK")
    assert simulink("draw", file).stdout.startswith("<svg")
    assert simulink("diff", loop, file, "--meaning").exit_code == 0


@pytest.mark.parametrize(("arguments", "told"), [
    (["--out", "a.xyz"], "nothing here can write a .xyz; the endings are .yaml"), (["--out", "a"], "without an ending"),
    (["--out", "a.m", "--from", "fmu"], "is written, and not read")])
def test_what_cannot_be_converted_is_told(loop: Path, arguments: list[str], told: str) -> None:
    done = simulink("convert", loop, *arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_endings_that_say_too_little_are_said(loop: Path, tmp_path: Path) -> None:
    assert simulink("convert", loop, "--out", tmp_path / "a.txt", "--to", "m").exit_code == 0
    assert simulink("convert", tmp_path / "a.txt", "--from", "m", "--out", tmp_path / "b.yaml").exit_code == 0
    assert simulink("diff", loop, tmp_path / "b.yaml", "--meaning").exit_code == 0


@pytest.mark.tool
def test_a_terminal_is_told_how_far_it_is(loop: Path) -> None:
    child = pexpect.spawn(sys.executable, ["-m", "chatdev", "simulink", "run", str(loop), "--stop", "1e5", "--solver",
                                           "ode4", "--step", "0.05"], timeout=60, encoding="utf-8")
    child.expect(r"simulating: [\d.e+]+ of 100000 s \(\d+%\)")
    child.close(force=True)
