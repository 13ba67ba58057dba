"""`chatdev eval verilogeval`: problems of the archive, over a real server, judged with the real simulator."""

from __future__ import annotations

import csv
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.departments.verilog.verilogeval import add_tracing_ablations
from chatdev.evaluation.variants import variants
from tests.support.chat_server import ChatServer, Received

ARCHIVE = Path(__file__).parents[3] / "benchmarks" / "data" / "verilogeval_v2.tar.gz"
ZERO, NOT = "Prob001_zero", "Prob005_notgate"
ANSWERS = {"zero": "assign zero = 1'b0;", "notgate": "assign out = in;"}  # the second one is wrong
HEADS = {"zero": "module TopModule (output zero);", "notgate": "module TopModule (input in, output out);"}


def answered(request: Received) -> str:
    problem = "notgate" if "input  in" in str(request.body["messages"]) else "zero"
    return f"top.sv\n```verilog\n{HEADS[problem]}\n  {ANSWERS[problem]}\nendmodule\n```"


def evaluated(server: ChatServer, *more: str) -> Result:
    server.route(answered)
    return CliRunner().invoke(command_line, [
        "eval", "verilogeval", "--data", str(ARCHIVE), "--companies", "single_verilog", "--model", "m", "--base-url",
        server.url, "--quiet", *more])


def rows() -> dict[str, dict[str, Any]]:
    done = CliRunner().invoke(command_line, ["eval", "report", "--study", "verilogeval", "--format", "csv"])
    assert done.exit_code == 0, done.output
    return {row["name"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


@pytest.mark.tool
def test_problems_are_solved_or_not_by_both_rules(chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, "--problems", f"{ZERO},{NOT}")
    assert done.exit_code == 0, done.output
    assert "2 jobs: 2 tasks × single_verilog" in done.stdout
    assert "tokens per solved" in done.stdout
    found = rows()
    assert [found[ZERO][name] for name in ("compiled", "solved", "official", "letter")] == ["1.0", "1.0", "1.0", "."]
    assert [found[NOT][name] for name in ("compiled", "solved", "official", "letter")] == ["1.0", "0.0", "0.0", "R"]
    assert found[NOT]["area"] == "combinational"
    page = CliRunner().invoke(command_line, ["eval", "report", "--study", "verilogeval", "--format", "html"])
    assert page.exit_code == 0, page.output
    text = (here / "studies" / "verilogeval" / "report.html").read_text(encoding="utf-8")
    assert "agrees with the reference at every sample" in text
    assert "paper's own script" not in text


@pytest.mark.tool
def test_yosys_is_asked_for_a_second_opinion(chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, "--problems", f"{ZERO},{NOT}", "--proofs")
    assert done.exit_code == 0, done.output
    assert {name: row["equivalent"] for name, row in rows().items()} == {ZERO: "PROVED", NOT: "DIFFERS"}


def test_the_ablation_is_the_tool_that_traces() -> None:
    found = add_tracing_ablations(variants(["single_verilog", "planner1", "verilogcoder"]))
    assert [variant.name for variant in found] == [
        "single_verilog", "planner1", "planner1 with tracing", "verilogcoder", "verilogcoder without tracing"]
    tools = {variant.name: variant.load().config.phases for variant in found}
    assert tools["planner1 with tracing"]["design"].tools == ["verilog.check", "verilog.trace"]
    assert tools["verilogcoder without tracing"]["debugging"].tools == []
    assert tools["verilogcoder without tracing"]["coding"].tools == tools["verilogcoder"]["coding"].tools == []


@pytest.mark.parametrize(("make", "says"), [
    (lambda folder: folder, "holds no problems of VerilogEval"),
    (lambda folder: _archive(folder), "holds no problems of VerilogEval"),
    (lambda folder: _text(folder), "is no archive that can be read")])
@pytest.mark.usefixtures("here")
def test_data_that_is_none_is_refused_before_anything_is_paid(
        chat_server: ChatServer, tmp_path: Path, make: Any, says: str) -> None:
    done = evaluated(chat_server, "--data", str(make(tmp_path)))
    assert (done.exit_code, chat_server.requests) == (2, [])
    assert says in done.output


@pytest.mark.usefixtures("here")
def test_a_problem_or_kind_that_there_is_not_is_named(chat_server: ChatServer) -> None:
    assert "has no problem 'Prob999'" in evaluated(chat_server, "--problems", "Prob999").output
    assert "fsm" in evaluated(chat_server, "--kinds", "fms").output


def _archive(folder: Path) -> Path:
    with tarfile.open(folder / "empty.tar.gz", "w:gz"):
        return folder / "empty.tar.gz"


def _text(folder: Path) -> Path:
    (folder / "no.tar.gz").write_text("no archive")
    return folder / "no.tar.gz"
