"""`chatdev eval plc`: tasks for controllers, over a real server, judged by the real prover."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.config.schema import PhaseStep, walk
from chatdev.departments.plc.agents4plc import add_help_ablations
from chatdev.evaluation.variants import variants
from tests.support.chat_server import ChatServer, Received

DATA = Path(__file__).parents[3] / "benchmarks" / "data" / "plc_simple"
LATCH, PRESS, VALVES = "pump_latch", "two_hand_start", "valve_pair"
WRITER = """
company: writer
extends: single
about: One call writes a control program.
inputs:
  properties: {about: What will be proved., kind: file}
phases:
  coding: {solution: {form: files, only: [main.st]}, opening: "{{ task }}"}
chain:
  - phase: coding
  - {tool: software.complete, writes: test}
"""


def answered(request: Received) -> str:
    """The solution of one task, a program that violates a property of the second, and none of the third."""
    asked = str(request.body["messages"])
    if "PumpLatch" in asked:
        return f"main.st\n```\n{(DATA / LATCH / 'solution.st').read_text(encoding='utf-8')}```"
    if "TwoHandStart" in asked:
        source = (DATA / PRESS / "solution.st").read_text(encoding="utf-8")
        return f"main.st\n```\n{source.replace('AND Guard', 'OR Guard')}```"
    return "main.st\n```\nInlet := Fill;\nEND_FUNCTION_BLOCK\n```"


def evaluated(server: ChatServer, folder: Path, *more: str) -> Result:
    (folder / "writer").mkdir(exist_ok=True)
    (folder / "writer" / "company.yaml").write_text(WRITER, encoding="utf-8")
    server.route(answered)
    return CliRunner().invoke(command_line, [
        "eval", "plc", "--data", str(DATA), "--companies", str(folder / "writer"), "--model", "m", "--base-url",
        server.url, "--quiet", *more])


def rows() -> dict[str, dict[str, Any]]:
    done = CliRunner().invoke(command_line, ["eval", "report", "--study", "plc", "--format", "csv"])
    assert done.exit_code == 0, done.output
    return {row["name"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


@pytest.mark.tool
def test_programs_are_judged_by_properties_that_no_agent_reads(chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, here, "--tasks", f"{LATCH},{PRESS},{VALVES}")
    assert done.exit_code == 0, done.output
    assert "3 jobs: 3 tasks × writer" in done.stdout
    assert "tokens per solved" in done.stdout
    found = rows()
    shown = ("compiled", "passed", "solved", "outcome", "attempts")
    assert [found[LATCH][name] for name in shown] == ["1.0", "1.0", "1.0", "solved", "1"]
    assert [found[PRESS][name] for name in shown] == ["1.0", "0.0", "0.0", "violated", "1"]
    assert [found[VALVES][name] for name in shown] == ["0.0", "0.0", "0.0", "does_not_compile", ""]
    assert found[LATCH]["area"] == "own"
    asked = "\n".join(str(request.body["messages"]) for request in chat_server.requests)
    assert "it stays on after" in asked
    assert "It does not start by itself" not in asked
    page = CliRunner().invoke(command_line, ["eval", "report", "--study", "plc", "--format", "html"])
    assert page.exit_code == 0, page.output
    assert "the rule of Agents4PLC" in (here / "studies" / "plc" / "report.html").read_text(encoding="utf-8")


@pytest.mark.tool
def test_properties_that_are_given_make_another_study(chat_server: ChatServer, here: Path) -> None:
    assert evaluated(chat_server, here, "--tasks", VALVES).exit_code == 0
    given = evaluated(chat_server, here, "--tasks", VALVES, "--give-properties")
    assert given.exit_code == 2
    assert "--study" in given.output
    again = evaluated(chat_server, here, "--tasks", VALVES, "--give-properties", "--study", "given")
    assert again.exit_code == 0, again.output


@pytest.mark.usefixtures("here")
def test_a_task_or_kind_that_there_is_not_is_named(chat_server: ChatServer, tmp_path: Path) -> None:
    assert "has no task 'v1-E-99'" in evaluated(chat_server, tmp_path, "--tasks", "v1-E-99").output
    assert "own" in evaluated(chat_server, tmp_path, "--kinds", "easy").output


@pytest.mark.usefixtures("here")
def test_data_that_is_none_is_refused_before_anything_is_paid(chat_server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "easy.jsonl").write_text('{"id": "t"', encoding="utf-8")
    done = evaluated(chat_server, tmp_path, "--data", str(tmp_path / "easy.jsonl"))
    assert (done.exit_code, chat_server.requests) == (2, [])
    assert "easy.jsonl" in done.output


def test_the_ablations_are_those_of_the_paper() -> None:
    found = add_help_ablations(variants(["single_plc", "agents4plc"], models=["m"]))
    assert [variant.name for variant in found] == [
        "single_plc · m", "agents4plc · m", *(f"agents4plc without {name} · m"
                                              for name in ("retrieval", "hints", "example", "patches"))]
    companies = {variant.short_name: variant.load().config for variant in found}
    steps = {name: [step.phase for _, step in walk(company.chain) if isinstance(step, PhaseStep)]
             for name, company in companies.items()}
    assert [name for name in steps["agents4plc"] if name not in steps["agents4plc without retrieval"]] == ["retrieval"]
    assert companies["agents4plc without hints"].inputs["hints"].default == "no"
