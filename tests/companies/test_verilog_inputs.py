"""The Verilog companies on designs as people have them: a name of its own, files that come with it, a bench in its own
words; and what a run costs whose first draft is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatdev import Company, Run
from chatdev.cli.app import main
from chatdev.errors import ToolError
from tests.departments.verilog.accumulator import RIGHT, WRONG, benches
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.tool
SPECIFICATION = "The module accu sums d, of W bits, while en is 1. Ports: clk, rst_n, en, d, sum and full (all ones)."
BENCH = benches()["errors"]
KNOWN = "these ports are known (where the specification says otherwise, it is right):"
PACKAGE = "package widths;\n  localparam W = 4;\nendpackage\n"
INCLUDING = '`include "first.svh"\n' + RIGHT.replace("parameter W = 8", "parameter W = widths::W").replace(
    "sum <= '0", "sum <= `FIRST")


def reply(text: str) -> str:
    return f"top.sv\n```verilog\n{text}```"


def built(server: ChatServer, folder: Path, company: str, *replies: str, **inputs: str | Path) -> Run:
    server.script(*replies)
    return Company.load(company).run(SPECIFICATION, model="m", base_url=server.url, warehouse=folder, inputs=inputs)


@pytest.mark.parametrize("reference", [{}, {"reference": RIGHT}], ids=["bench alone", "with a reference"])
@pytest.mark.parametrize("company", ["verilogcoder", "single_verilog"])
def test_the_module_is_the_one_that_the_bench_tests(chat_server: ChatServer, tmp_path: Path, company: str,
                                                    reference: dict[str, str]) -> None:
    (tmp_path / "tb.sv").write_text(BENCH)
    for name, text in reference.items():
        (tmp_path / f"{name}.sv").write_text(text)
    files = {name: tmp_path / f"{name}.sv" for name in reference}
    run = built(chat_server, tmp_path, company, reply(RIGHT), bench=tmp_path / "tb.sv", **files)
    assert run.success, run.reason
    assert run.values["target"]["top"] == "accu"
    [request] = chat_server.requests
    assert "Write the whole module accu in top.sv" in str(request.body["messages"])


@pytest.mark.parametrize("company", ["verilogcoder", "planner1", "single_verilog"])
def test_designers_read_the_ports_that_only_the_bench_connects(chat_server: ChatServer, tmp_path: Path,
                                                               company: str) -> None:
    (tmp_path / "tb.sv").write_text(BENCH)
    replies = [*["Write it."] * (company == "planner1"), reply(RIGHT)]
    built(chat_server, tmp_path, company, *replies, bench=tmp_path / "tb.sv")
    assert f"{KNOWN}\\n- clk\\n- rst_n\\n- en\\n" in json.dumps(chat_server.requests[0].body["messages"])


def test_only_where_nothing_names_ports_an_analyst_reads_them(chat_server: ChatServer, tmp_path: Path) -> None:
    replies = {"port_reading": json.dumps([{"name": "sum", "direction": "output", "width": "8"},
                                           {"name": "carry", "direction": "output", "width": "1"}])}
    chat_server.route(lambda request: replies.get(request.headers["X-ChatDev-Phase"], "no"))
    Company.load("verilogcoder").run(SPECIFICATION, model="m", base_url=chat_server.url, warehouse=tmp_path / "one")
    phases = [request.headers["X-ChatDev-Phase"] for request in chat_server.requests]
    assert phases.count("port_reading") == 1
    drafting = chat_server.requests[phases.index("drafting")].body["messages"]
    assert f"{KNOWN}\\n- output sum\\n\\n" in json.dumps(drafting)
    chat_server.requests.clear()
    Company.load("verilogcoder").run("- input a\n- output q\n\nq is a.", model="m", base_url=chat_server.url,
                                     warehouse=tmp_path / "two")
    assert "port_reading" not in {request.headers["X-ChatDev-Phase"] for request in chat_server.requests}
    assert KNOWN not in str([request.body for request in chat_server.requests])


def test_a_right_first_draft_costs_about_one_call(chat_server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "tb.sv").write_text(BENCH)
    runs = [built(chat_server, tmp_path / company, company, reply(RIGHT), bench=tmp_path / "tb.sv")
            for company in ("single_verilog", "verilogcoder")]
    assert all(run.success for run in runs)
    one_call, company = (run.usage for run in runs)
    assert company.calls <= 3 * one_call.calls
    assert company.prompt_tokens <= 3 * one_call.prompt_tokens
    assert company.completion_tokens <= 3 * one_call.completion_tokens


def test_a_wrong_draft_is_mended_by_what_the_bench_says(chat_server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "tb.sv").write_text(BENCH)
    plan = '{"subtasks": [{"id": "1", "content": "Sum d into sum.", "source": "accu sums d", "parents": []}]}'
    extraction = '{"signals": [{"name": "sum", "about": "the sum"}], "transitions": [], "examples": []}'
    replies = {"drafting": reply(WRONG), "plan": plan, "extraction": extraction, "links": "[]", "retrieval": "sum",
               "coding": reply(WRONG), "debugging": reply(RIGHT)}
    chat_server.route(lambda request: "<SOLUTION>" if request.headers["X-ChatDev-Activity"].endswith("instructor")
                      else replies[request.headers["X-ChatDev-Phase"]])
    run = Company.load("verilogcoder").run(SPECIFICATION, model="m", base_url=chat_server.url, warehouse=tmp_path,
                                           inputs={"bench": tmp_path / "tb.sv"})
    assert run.success, run.reason
    [asked] = [one for one in chat_server.requests if one.headers["X-ChatDev-Phase"] == "debugging"]
    assert "sum is d" in str(asked.body["messages"])


def test_given_files_come_from_a_folder_on_the_command_line(chat_server: ChatServer, tmp_path: Path,
                                                            capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "widths.sv").write_text(PACKAGE)
    (tmp_path / "first.svh").write_text("`define FIRST '0\n")
    (tmp_path / "tb.sv").write_text(BENCH)
    chat_server.script(reply(INCLUDING))
    with pytest.raises(SystemExit) as ended:
        main(["run", "--company", "verilogcoder", "--task", SPECIFICATION, "--input", f"bench={tmp_path / 'tb.sv'}",
              "--input", f"given={tmp_path / 'rtl'}", "--input", f"given=@{tmp_path / 'first.svh'}", "--model", "m",
              "--base-url", chat_server.url, "--warehouse", str(tmp_path / "warehouse"), "--trust"])
    assert ended.value.code == 0, capsys.readouterr().out
    [request] = chat_server.requests
    said = str(request.body["messages"])
    assert "These files are given" in said
    assert "localparam W = 4;" in said
    assert "`define FIRST" in said


@pytest.mark.parametrize("company", ["verilogcoder", "planner1", "single_verilog"])
def test_a_bench_of_another_module_costs_nothing(chat_server: ChatServer, tmp_path: Path, company: str) -> None:
    (tmp_path / "tb.sv").write_text(BENCH)
    run = built(chat_server, tmp_path, company, bench=tmp_path / "tb.sv", top="uart")
    assert isinstance(run.error, ToolError)
    assert "it tests accu" in str(run.error)
    assert chat_server.requests == []
