"""The verilogcoder company, whole: a scripted model plans, writes, traces and mends, with the real tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.paths import bundled_folder, settings_file
from tests.support.chat_server import ChatServer, Received

EXAMPLE = bundled_folder("company_config") / "verilogcoder" / "examples" / "shift_fsm"
SPECIFICATION = (EXAMPLE / "spec.txt").read_text(encoding="utf-8")
RIGHT = (EXAMPLE / "ref.sv").read_text(encoding="utf-8").replace("RefModule", "TopModule")
WRONG_LINE, RIGHT_LINE = "      B101:    next = in ? B1011 : NONE;", "      B101:    next = in ? B1011 : B10;"
WRONG = RIGHT.replace(RIGHT_LINE, WRONG_LINE)

PLAN = {"subtasks": [
    {"id": "1", "content": "Search the stream for the pattern.", "source": "The sync pattern", "parents": []},
    {"id": "2", "content": "Shift the word in; busy, done and odd.", "source": "busy is 1", "parents": ["1"]}]}
SIGNALS = ("in", "busy", "done", "word", "odd")
EXTRACTION = {"signals": [{"name": name, "about": f"the signal {name}"} for name in SIGNALS],
              "transitions": [{"text": "done follows busy"}], "examples": [{"text": "in 1 0 1 1 0"}]}


def module(text: str) -> str:
    return f"top.sv\n```verilog\n{text}```"


TRACING = '```json\n{"tool": "verilog.trace", "arguments": {"levels": 10}}\n```'
TALK: dict[str, Any] = {
    "drafting": module(WRONG), "plan#1/round-1/assistant": json.dumps(PLAN), "plan#1/round-2/instructor": "<SOLUTION>",
    "extraction": json.dumps(EXTRACTION), "links": "[]", "retrieval": "The pattern is 10110.",
    "coding#1/round-1/assistant": module(WRONG), "coding": "<SOLUTION>",
}


def build(server: ChatServer, warehouse: Path, replies: Mapping[str, Any], **options: Any) -> Run:
    """Run the company; replies are found by the activity's place without its loops, else by its phase."""
    def answer(request: Received) -> Any:
        place = re.sub(r"^foreach#1/[^/]+/", "", request.headers["X-ChatDev-Activity"])
        return replies.get(place, replies.get(request.headers["X-ChatDev-Phase"]))

    server.route(answer)
    company = Company.load(options.pop("company", "verilogcoder"), drafts=options.pop("drafts", None))
    options.setdefault("inputs", {"bench": EXAMPLE / "tb.sv", "reference": EXAMPLE / "ref.sv"})
    return company.run(SPECIFICATION, model="m", base_url=server.url, warehouse=warehouse, **options)


def mending_what_the_trace_names(body: dict[str, Any]) -> str:
    """An engineer who knows how every line has to be, and touches only one that the trace shows."""
    seen = str(body["messages"][-1]["content"])
    if WRONG_LINE.strip() not in seen:
        return "I do not see it."
    return f"top.sv\n```\n<<<<<<< SEARCH\n{WRONG_LINE}\n=======\n{RIGHT_LINE}\n>>>>>>> REPLACE\n```"


def everything_said(server: ChatServer) -> str:
    return json.dumps([request.body["messages"] for request in server.requests])


@pytest.mark.tool
def test_a_wrong_answer_is_mended_at_a_line_that_the_trace_names(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path, {**TALK, "debugging#1/round-1/assistant": TRACING,
                                        "debugging": mending_what_the_trace_names})
    assert run.success, run.reason
    assert run.software.text("top.sv") == RIGHT
    assert run.values["trial"]["mismatches"] > 0
    assert run.values["verdict"]["outcome"] == "matches"
    report = (run.folder / "run" / "report.md").read_text(encoding="utf-8")
    assert "mismatches" in report
    pictures = re.findall(r"!\[(.*?)\]\((.*?)\)", report)
    assert [title for title, _ in pictures] == ["Waveforms up to the first mismatch, at 20470 ps", "Waveforms"]
    assert all((run.folder / "run" / name).read_text(encoding="utf-8").startswith("<svg") for _, name in pictures)
    assert "| debugging#1 | the check passes | 1 |" in report


@pytest.mark.tool
def test_no_agent_reads_the_bench_or_the_reference(chat_server: ChatServer, tmp_path: Path) -> None:
    build(chat_server, tmp_path, {**TALK, "debugging#1/round-1/assistant": TRACING,
                                  "debugging": mending_what_the_trace_names})
    said = everything_said(chat_server)
    lines = [line.strip() for name in ("tb.sv", "ref.sv")
             for line in (EXAMPLE / name).read_text(encoding="utf-8").splitlines()]
    hidden = [line for line in lines if len(line) > 25 and line not in RIGHT + WRONG + SPECIFICATION]
    assert len(hidden) > 40
    assert [line for line in hidden if json.dumps(line)[1:-1] in said] == []


@pytest.mark.tool
def test_a_right_module_is_not_debugged(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path, {**TALK, "coding#1/round-1/assistant": module(RIGHT)})
    assert run.success, run.reason
    assert "debugging#1" not in (run.folder / "run" / "report.md").read_text(encoding="utf-8").split("## Skipped")[0]


@pytest.mark.tool
def test_what_the_graph_knows_of_a_sub_task_costs_one_call(chat_server: ChatServer, tmp_path: Path) -> None:
    build(chat_server, tmp_path, {**TALK, "debugging": "I do not see it."})
    asked = [request.body for request in chat_server.requests if request.headers["X-ChatDev-Phase"] == "retrieval"]
    assert len(asked) == len(PLAN["subtasks"])
    assert "- [hop 1] word: the signal word" in str(asked[1]["messages"])
    assert not any(body.get("tools") for body in asked)


@pytest.mark.tool
def test_a_draft_that_is_right_needs_no_plan(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path, {
        "drafting": module(WRONG), "drafting#1/round-1/assistant/draft-2": module(RIGHT)}, drafts=3)
    assert run.success, run.reason
    assert run.software.text("top.sv") == RIGHT
    assert {request.headers["X-ChatDev-Phase"] for request in chat_server.requests} == {"drafting"}


@pytest.mark.tool
@pytest.mark.parametrize("company", ["verilogcoder", "single_verilog"])
def test_modules_may_have_files_of_their_own(chat_server: ChatServer, tmp_path: Path, company: str) -> None:
    top = RIGHT.replace("assign odd = ^word;", "parity even(word, odd);")
    parity = "module parity(input [5:0] word, output odd);\n  assign odd = ^word;\nendmodule\n"
    reply = f"parity.sv\n```verilog\n{parity}```\n\n{module(top)}"
    run = build(chat_server, tmp_path, {"drafting": reply, "coding": reply}, company=company)
    assert run.success, run.reason
    assert {path: run.software.text(path) for path in run.software} == {"top.sv": top, "parity.sv": parity}
    assert len(chat_server.requests) == 1


@pytest.mark.tool
def test_a_mistake_in_another_file_is_mended_there(chat_server: ChatServer, tmp_path: Path) -> None:
    top = RIGHT.replace("assign odd = ^word;", "parity even(word, odd);")
    parity = "module parity(input [5:0] word, output odd);\n  assign odd = ~^word;\nendmodule\n"
    mended = ("parity.sv\n```\n<<<<<<< SEARCH\n  assign odd = ~^word;\n=======\n  assign odd = ^word;\n"
              ">>>>>>> REPLACE\n```")
    run = build(chat_server, tmp_path, {
        **TALK, "drafting": f"parity.sv\n```verilog\n{parity}```\n\n{module(top)}",
        "coding#1/round-1/assistant": "<SOLUTION>", "debugging#1/round-1/assistant": TRACING, "debugging": mended})
    assert run.success, run.reason
    assert "parity.sv:2 |   assign odd = ~^word;" in everything_said(chat_server)


@pytest.mark.tool
def test_a_small_model_drafts_once_more_and_plans_nothing(chat_server: ChatServer, tmp_path: Path) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("models: [{match: [m], sizes: {program: small}}]", encoding="utf-8")
    run = build(chat_server, tmp_path, {"drafting": module(WRONG), "redrafting": module(RIGHT)})
    assert run.success, run.reason
    assert {request.headers["X-ChatDev-Phase"] for request in chat_server.requests} == {"drafting", "redrafting"}


@pytest.mark.tool
def test_without_a_bench_it_writes_its_own_and_claims_nothing(chat_server: ChatServer, tmp_path: Path) -> None:
    bench = ("bench/tb.sv\n```verilog\nmodule tb;\n logic clk = 0, reset = 1, in = 0; wire busy, done, odd;\n"
             " wire [5:0] word;\n TopModule dut(.*);\n initial begin\n  repeat (2) begin #1 clk = 1; #1 clk = 0; end\n"
             "  if (word === 0) $display(\"PASS reset\"); else $display(\"FAIL reset %b\", word);\n  $finish;\n end\n"
             "endmodule\n```")
    run = build(chat_server, tmp_path, {**TALK, "own_bench": bench}, inputs={})
    assert run.status == "unjudged", run.reason
    assert "not functionally verified" in run.values["verdict"]["report"]
    assert set(run.software) == {"top.sv", "bench/tb.sv"}


CHEATS: dict[str, str] = {
    "looks into the bench": RIGHT.replace("assign odd = ^word;", "assign odd = tb.odd_ref;"),
    "prints the verdict": RIGHT.replace("assign odd = ^word;", 'assign odd = 0;\n  final $display("Mismatches: 0 in 9 '
                                                               'samples");'),
    "never compiles": RIGHT.replace("always_comb", "always_cob"),
    "loops": RIGHT.replace("assign odd = ^word;", "assign odd = ~(odd & busy) ^ odd;"),
}


@pytest.mark.tool
@pytest.mark.parametrize("answer", CHEATS.values(), ids=CHEATS)
def test_a_model_that_never_gets_it_right_is_no_success_and_the_run_ends(
        chat_server: ChatServer, tmp_path: Path, answer: str) -> None:
    run = build(chat_server, tmp_path, {**TALK, "drafting": module(answer), "debugging": module(answer),
                                        "coding#1/round-1/assistant": module(answer), "coding": module(answer)})
    assert run.status in ("failure", "error"), run.reason
    assert not run.success


@pytest.mark.tool
def test_a_slip_of_the_pen_costs_no_call(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path, {"drafting": module(RIGHT.replace("endmodule", ""))})
    assert run.success, run.reason
    assert len(chat_server.requests) == 1


@pytest.mark.tool
def test_two_modules_are_one_answer_when_one_uses_the_other(chat_server: ChatServer, tmp_path: Path) -> None:
    both = RIGHT.replace("assign odd = ^word;", "parity p (.bits(word), .odd(odd));") + (
        "\nmodule parity (input [5:0] bits, output odd);\n  assign odd = ^bits;\nendmodule\n")
    run = build(chat_server, tmp_path, {**TALK, "coding#1/round-1/assistant": module(both)})
    assert run.success, run.reason


PLANNED: Mapping[str, Any] = {"design#1/round-1/instructor": "Write a state machine.", "design": module(RIGHT)}


@pytest.mark.tool
@pytest.mark.parametrize(("company", "replies"), [
    ("planner1", PLANNED), ("single_verilog", {"coding": module(RIGHT)})])
def test_the_baselines_are_judged_alike(chat_server: ChatServer, tmp_path: Path, company: str,
                                        replies: Mapping[str, str | Callable[[dict[str, Any]], Any]]) -> None:
    run = build(chat_server, tmp_path, replies, company=company)
    assert run.success, run.reason


@pytest.mark.parametrize("company", ["verilogcoder", "planner1", "single_verilog"])
def test_a_specification_without_ports_costs_no_call(chat_server: ChatServer, tmp_path: Path, company: str) -> None:
    run = Company.load(company).run("A counter.", model="m", base_url=chat_server.url, warehouse=tmp_path)
    assert (run.status, chat_server.requests) == ("error", [])
    assert "the specification lists no ports of TopModule" in run.reason
