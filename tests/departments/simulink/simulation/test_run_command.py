"""`chatdev simulink run` as an engineer uses it: tables, plots, settings and exit codes."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

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
