"""The tools that departments offer to coding agents through `chatdev mcp`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from chatdev.cli.mcp.served import Served
from chatdev.cli.mcp.server import offered_tools
from chatdev.department import Department
from chatdev.errors import ConfigError
from tests.cli.mcp.stage import ask, call_all, said

pytestmark = pytest.mark.xdist_group("mcp")  # as in test_served_runs.py
LIGHTS = """PROGRAM Lights
VAR_INPUT a : BOOL; b : BOOL; END_VAR
VAR_OUTPUT Red : BOOL; Green : BOOL; END_VAR
Red := a; Green := b%s;
END_PROGRAM
"""
NEVER_BOTH: list[Mapping[str, Any]] = [{"property": {"pattern_id": "pattern-invariant",
                                                     "pattern_params": {"1": "NOT (Red AND Green)"}}}]
GATE = "module %s(input a, input b, output y);\n  assign y = a %s b;\nendmodule\n"
BENCH = """module tb;
  reg a, b; wire y_ref, y_dut; integer i, errors = 0;
  RefModule r(a, b, y_ref);
  TopModule d(a, b, y_dut);
  initial begin
    for (i = 0; i < 4; i = i + 1) begin
      {a, b} = i; #1;
      if (y_ref !== y_dut) errors = errors + 1;
    end
    $display("Mismatches: %0d in 4 samples", errors);
    $finish;
  end
endmodule
"""
NAMES = ["run", "plc_check", "plc_explain", "plc_verify", "process_mine", "simulink_check", "verilog_judge",
         "verilog_trace"]


def test_every_tool_says_what_it_takes(here: Path) -> None:
    async def work(client: Client) -> list[Any]:
        return (await client.list_tools()).tools

    tools = ask(here, work)
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.description
        assert all(field.get("description") for field in tool.input_schema["properties"].values()), tool.name
        assert tool.annotations.read_only_hint is (tool.name != "run")


def test_plc_programs_are_checked_verified_and_explained(here: Path) -> None:
    (here / "right.st").write_text(LIGHTS % " AND NOT a")
    (here / "wrong.st").write_text(LIGHTS % "")
    (here / "broken.st").write_text(LIGHTS % " AND c")
    checked, broken, right, wrong, explained = call_all(
        here, ("plc_check", {"file": "right.st"}), ("plc_check", {"file": "broken.st"}),
        ("plc_verify", {"file": "right.st", "properties": NEVER_BOTH}),
        ("plc_verify", {"file": "wrong.st", "properties": NEVER_BOTH}),
        ("plc_explain", {"file": "wrong.st", "properties": NEVER_BOTH}))
    assert checked.structured_content["ok"] is True
    assert [one["line"] for one in broken.structured_content["diagnostics"]] == [4]
    assert [one.structured_content["verdict"] for one in (right, wrong)] == ["PROVED", "VIOLATED"]
    assert wrong.structured_content["properties"][0]["cycles"]
    assert "Red := a; Green := b;" in explained.structured_content["explanations"][0]


@pytest.mark.skipif(not (shutil.which("iverilog") and shutil.which("bwrap")), reason="needs iverilog and bubblewrap")
def test_verilog_is_judged_and_traced(here: Path) -> None:
    (here / "tb.sv").write_text(BENCH)
    (here / "ref.sv").write_text(GATE % ("RefModule", "&"))
    (here / "right.sv").write_text(GATE % ("TopModule", "&"))
    (here / "wrong.sv").write_text(GATE % ("TopModule", "|"))
    files = {"bench": "tb.sv", "reference": "ref.sv"}
    right, wrong, alone, traced, broken = call_all(
        here, ("verilog_judge", {"file": "right.sv", **files}), ("verilog_judge", {"file": "wrong.sv", **files}),
        ("verilog_judge", {"file": "right.sv"}), ("verilog_trace", {"file": "wrong.sv", **files}),
        ("verilog_judge", {"file": "right.sv", "bench": "ref.sv"}))
    assert (right.structured_content["passed"], right.structured_content["judged"]) == (True, True)
    assert (wrong.structured_content["passed"], wrong.structured_content["mismatches"]) == (False, 2)
    assert alone.structured_content["judged"] is False
    assert "assign y = a | b" in traced.structured_content["report"]
    assert broken.is_error
    assert "the test bench does not test TopModule" in said(broken)


def test_a_process_is_mined_and_a_diagram_checked(here: Path) -> None:
    (here / "tank.yaml").write_text("model: tank\nblocks: {Level: {type: Integratr}}\nlines: []\n")
    mined, checked, elsewhere = call_all(here, ("process_mine", {"bpmn": True}),
                                         ("simulink_check", {"file": "tank.yaml"}),
                                         ("process_mine", {"pool": "mine", "ledger": "postgresql://lake.example/x"}))
    assert mined.structured_content["fitness"] == 1.0
    assert "<bpmn" in mined.structured_content["bpmn"]
    assert checked.structured_content["ok"] is False
    assert checked.structured_content["file"] == "tank.yaml"
    assert elsewhere.is_error  # a place that is no file below the folder is not opened


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.st", "link.st", "a/../../outside.st", "\0", "no.st", "",
                                  "pipe.st", "a" * 5000])
def test_nothing_outside_of_the_folders_is_read(here: Path, path: str) -> None:
    (folder := here / "served").mkdir()
    (here / "outside.st").write_text(LIGHTS % "")
    (folder / "link.st").symlink_to(here / "outside.st")
    os.mkfifo(folder / "pipe.st")
    with pytest.raises((ConfigError, OSError)):
        Served.of([folder]).read(path, "file")


def test_several_folders_may_be_served(here: Path) -> None:
    for name in ("one", "two"):
        (here / name).mkdir()
    (here / "two" / "lights.st").write_text("x")
    served = Served.of([here / "one", here / "two"])
    assert served.read("lights.st", "file") == served.read(str(here / "two" / "lights.st"), "file") == "x"
    with pytest.raises(ConfigError, match="--folder no: there is no such folder"):
        Served.of([Path("no")])


def test_wrong_calls_are_answered_and_the_server_goes_on(here: Path) -> None:
    unknown, unfit, outside, right = call_all(
        here, ("nothing", {}), ("plc_check", {"file": 1, "fil": "x"}), ("plc_check", {"file": "/etc/passwd"}),
        ("process_mine", {}))
    assert said(unknown).startswith("there is no tool 'nothing'; there are: run, plc_check")
    assert "the arguments of plc_check do not fit: file: Input should be a valid string" in said(unfit)
    assert "'/etc/passwd' lies outside of" in said(outside)
    assert all(one.is_error for one in (unknown, unfit, outside))
    assert not right.is_error


def test_a_tool_that_cannot_be_imported_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from chatdev import department as face

    broken = Department(name="lake", mcp={"lake_swim": "no_such_module:swim", "lake_sail": "os:sep"})
    found = face.InstalledDepartment("lake", "lake 1", broken)
    monkeypatch.setattr(face, "installed_departments", lambda: (found,))
    notes: list[str] = []
    assert list(offered_tools(notes.append)) == ["run"]
    assert "the tool 'lake_swim' (no_such_module:swim) cannot be imported" in notes[1]
    assert "os:sep is no tool" in notes[0]


@pytest.mark.parametrize("table", [{"swim": "a:b"}, {"lake_swim": "nowhere"}, {"lake_Swim": "a:b"}])
def test_a_departments_table_that_is_written_wrongly_is_refused(table: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="mcp: write {'lake_verb': 'package.module:tool', …}"):
        Department(name="lake", mcp=table)
