"""`chatdev simulink` as an engineer and a CI job use it: lines with places, exit codes, JSON, pictures."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.cli.outcome import heed_signals
from chatdev.departments.simulink import commands
from tests.support.odd_files import make

LOOP = """model: loop
blocks:
  Rate: {type: Constant, parameters: {Value: '2'}}
  Sum:
    type: Sum
    parameters: {Inputs: +-}
  Level: {type: Integrator}
  Scope: {type: Scope}
lines:
- Rate/1 -> Sum/1
- Sum/1 -> Level/1
- Level/1 -> Sum/2
- Level/1 -> Scope/1
"""
MODELS = sorted((Path(commands.__file__).parent / "models").glob("*.yaml"))


def simulink(*arguments: object, given: str | bytes | None = None) -> Result:
    with heed_signals():
        return CliRunner().invoke(command_line, ["simulink", *map(str, arguments)], prog_name="chatdev", input=given)


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    return write(tmp_path, "loop.yaml", LOOP)


def test_right_models_pass(loop: Path) -> None:
    done = simulink("check", loop, *(file for file in MODELS if file.stem != "index"))
    assert done.exit_code == 0
    assert done.output.splitlines()[0] == f"OK {loop}: loop, 4 blocks, 4 lines"
    assert len(done.output.splitlines()) == len(MODELS)


@pytest.mark.parametrize(("before", "after", "line", "told"), [
    ("type: Integrator", "type: Integrater", 7, "error: block list: block Level"),
    ("+-", "+", 6, "error: parameters: block Sum, parameter Inputs: Inputs is '+', one input"),
    ("Level/1 -> Sum/2", "Level/1 -> Sum/1", 12, "error: duplicates: connection Level/1 -> Sum/1"),
    ("Level/1 -> Scope/1", "Level/1  ->  Skope/1", 13, "error: format: connection Level/1 -> Skope/1"),
    ("Level/1 -> Scope/1\n", "Level/1 -> Scope/1\n- Level/1 -> Scope/1\n", 14, "error: duplicates"),
])
def test_findings_have_file_and_line(tmp_path: Path, before: str, after: str, line: int, told: str) -> None:
    file = write(tmp_path, "wrong.yaml", LOOP.replace(before, after))
    done = simulink("check", file)
    assert done.exit_code == 1
    assert any(one.startswith(f"{file}:{line}: {told}") for one in done.output.splitlines()), done.output
    data = json.loads(simulink("check", file, "--json").output)["files"][0]
    assert not data["ok"]
    assert line in {one["line"] for one in data["findings"]}


def test_remarks_and_warnings_are_no_errors(tmp_path: Path) -> None:
    file = write(tmp_path, "a.yaml", LOOP.replace("lines:", "  Lost: {type: Scope}\nlines:"))
    done = simulink("check", file)
    assert done.exit_code == 0
    assert "warning: extra blocks: block Lost" in done.output
    assert "OK" in done.output


def test_what_an_agent_wrote_is_checked(tmp_path: Path) -> None:
    value = {"blocks": [{"name": "Rate", "type": "Constant"}, {"name": "Scope", "type": "Scope"}],
             "connections": ["Rate/1 -> Scope/1"]}
    right = write(tmp_path, "a.json", json.dumps(value))
    wrong = write(tmp_path, "b.json", json.dumps(value | {"connections": ["Scope/1 -> Rate/1"]}, indent=1))
    done = simulink("check", right, wrong)
    assert done.exit_code == 1
    assert f"OK {right}: 2 blocks, 1 connections" in done.output
    assert f"{wrong}:13: error: port types" in done.output


def test_one_bad_file_spoils_no_other(loop: Path, tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.yaml", "model: [")
    done = simulink("check", bad, tmp_path / "none.yaml", loop)
    assert done.exit_code == 2
    assert f"{bad}:2: not YAML" in done.output
    assert "none.yaml: No such file" in done.output
    assert f"OK {loop}" in done.output
    data = json.loads(simulink("check", bad, loop, "--json").output)["files"]
    assert [one["ok"] for one in data] == [False, True]
    assert "not YAML" in data[0]["problem"]


def test_standard_input_is_read() -> None:
    assert simulink("check", "-", given=LOOP).output == "OK -: loop, 4 blocks, 4 lines\n"
    assert simulink("draw", "-", given=LOOP).output.startswith("<svg")


@pytest.mark.parametrize("command", [("check", "{}"), ("draw", "{}"), ("diff", "{}", "{}")], ids=" ".join)
@pytest.mark.parametrize("kind", ["pipe", "folder", "/dev/zero", "half\udcff", "long"], ids=ascii)
def test_odd_files_are_refused_in_words(here: Path, command: tuple[str, ...], kind: str) -> None:
    place = str(make(here, kind))
    done = simulink(*(word.replace("{}", place) for word in command))
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_a_file_of_five_megabytes_is_refused(tmp_path: Path) -> None:
    done = simulink("check", write(tmp_path, "long.yaml", "#" * (5 << 20)))
    assert done.exit_code == 2
    assert "longer than 4 MB" in done.output


def test_nothing_of_a_file_steers_the_terminal(tmp_path: Path) -> None:
    codes = "\\e[2J\\a\\r\\n\\u202e"
    file = write(tmp_path, "a.yaml", f'model: "m{codes}"\nblocks: {{"B{codes}": {{type: "T{codes}"}}}}\n'
                                     f'lines: ["B{codes}/1 -> C{codes}/1"]\n')
    for done in (simulink("check", file), simulink("diff", file, write(tmp_path, "b.yaml", LOOP)),
                 simulink("check", file, "--json"), simulink("draw", file)):
        assert not set("\x1b\x07\r\u202e") & set(done.output)
        assert done.exit_code in (0, 1)


def test_a_model_is_drawn(loop: Path, tmp_path: Path) -> None:
    assert simulink("draw", loop).output.count("<svg") == 1
    out = tmp_path / "loop.svg"
    assert simulink("draw", loop, "--out", out).exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("<svg")
    assert simulink("draw", loop, "--out", tmp_path / "loop.gif").exit_code == 2
    assert simulink("draw", loop, "--out", tmp_path / "no" / "loop.svg").exit_code == 5


@pytest.mark.skipif(importlib.util.find_spec("resvg_py") is None, reason="needs resvg_py")
def test_a_model_is_drawn_as_png(loop: Path, tmp_path: Path) -> None:
    out = tmp_path / "loop.png"
    assert simulink("draw", loop, "--out", out).exit_code == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_png_without_a_renderer_exits_with_4(loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chatdev.departments.simulink import painter
    from chatdev.errors import MissingProgram

    def fail(*_: object) -> bytes:
        raise MissingProgram("nothing renders it")

    monkeypatch.setattr(painter, "draw_png", fail)
    assert simulink("draw", loop, "--out", tmp_path / "loop.png").exit_code == 4


def test_a_difference_is_told_and_exits_with_1(loop: Path, tmp_path: Path) -> None:
    new = write(tmp_path, "new.yaml", LOOP.replace("'2'", "'3'").replace("Scope:", "View:").replace("Scope/", "View/"))
    done = simulink("diff", loop, new)
    assert done.exit_code == 1
    assert done.output.splitlines() == [f"--- {loop}", f"+++ {new}", "~ block Scope: renamed View",
                                        "~ block Rate: Value 2 -> 3"]
    data = json.loads(simulink("diff", loop, new, "--json").output)
    assert data["differ"]
    assert data["renamed"] == {"Scope": "View"}


def test_equal_models_exit_with_0(loop: Path, tmp_path: Path) -> None:
    lines = LOOP.splitlines(keepends=True)
    other = write(tmp_path, "b.yaml", "".join([*lines[:9], *reversed(lines[9:])]))
    done = simulink("diff", loop, other)
    assert (done.exit_code, done.output) == (0, "")
    assert json.loads(simulink("diff", loop, other, "--json").output)["differ"] is False


def test_places_can_be_left_out(loop: Path, tmp_path: Path) -> None:
    moved = write(tmp_path, "b.yaml", LOOP.replace("type: Scope", "type: Scope, position: [1, 2, 30, 40]"))
    assert simulink("diff", loop, moved).output.splitlines()[2] == "> block Scope: (no place) -> [1, 2, 30, 40]"
    assert simulink("diff", loop, moved, "--meaning").exit_code == 0


def test_blocks_are_looked_up() -> None:
    assert "Operator" in simulink("blocks", "Log").output
    assert simulink("blocks", "Log").exit_code == 0
    assert simulink("blocks", "Sine").exit_code == 1
    assert "which block?" in simulink("blocks", "Sine").output
    assert "Integrator" in simulink("blocks").output


def test_a_terminal_sees_colours(loop: Path, tmp_path: Path) -> None:
    new = write(tmp_path, "new.yaml", LOOP.replace("'2'", "'3'"))
    with heed_signals():
        done = CliRunner().invoke(command_line, ["simulink", "diff", str(loop), str(new)], color=True)
    assert "\x1b[33m~ block Rate" in done.output
    assert io.StringIO(done.output).readline() == f"--- {loop}\n"


def test_a_default_that_is_said_and_a_place_inside_have_no_meaning(tmp_path: Path) -> None:
    text = ("model: m\nblocks:\n  S:\n    type: Subsystem\n    system:\n      blocks:\n"
            "        G: {type: Gain, parameters: {Gain: \"GAIN\"}, position: [1, 2, 30, PLACE]}\n")
    files = []
    for name, gain, place in (("a", "1", "40"), ("b", "1", "50"), ("c", "2", "40")):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(text.replace("GAIN", gain).replace("PLACE", place), encoding="utf-8")
    (tmp_path / "d.yaml").write_text(text.replace('parameters: {Gain: "GAIN"}, ', "").replace("PLACE", "40"),
                                     encoding="utf-8")
    assert simulink("diff", files[0], tmp_path / "d.yaml").exit_code == 1
    others = (*files[1:], tmp_path / "d.yaml")
    assert [simulink("diff", files[0], other, "--meaning").exit_code for other in others] == [0, 1, 0]
