"""docs/verilog.md speaks of what there is, and what it claims holds in the results that are kept."""

from __future__ import annotations

import re

from benchmarks.verilog import benches, calls, judge, reports, slips
from chatdev.cli.app import OWN
from chatdev.department import load
from chatdev.departments.verilog import commands as verilog_commands
from chatdev.departments.verilog import eval_command
from chatdev.tools.base import registry

PAGE = judge.TABLE.page.read_text(encoding="utf-8")


def test_no_verdict_on_the_benches_that_people_write_is_wrong() -> None:
    rows = benches.STUDY.read()["rows"]
    assert not any(row["right"] == "refused" or "passed" in row["broken"] for row in rows)


def test_every_tool_is_explained() -> None:
    assert [name for name in registry() if name.startswith("verilog.") and f"`{name}`" not in PAGE] == []


def test_every_option_that_it_names_is_there() -> None:
    run, evaluate = (load(OWN[name].path, name) for name in ("run", "eval"))
    commands = [run, eval_command.command, *evaluate.commands.values(), *verilog_commands.command.commands.values()]
    known = {option for command in commands for parameter in command.params
             for option in (*parameter.opts, *parameter.secondary_opts)}
    text = re.sub(r"<!--.*?-->|^surfer .*?$", "", PAGE, flags=re.MULTILINE)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


def test_a_draft_that_is_right_costs_hardly_more_than_one_call() -> None:
    rows = calls.STUDY.read()["rows"]
    ours = {(row["draft"], row["subject"]): row for row in rows if row["company"] == "verilogcoder"}
    single = {(row["draft"], row["subject"]): row for row in rows if row["company"] == "single_verilog"}
    assert all(row["success"] and row["calls"] <= 3 for row in ours.values())
    assert all(row["tokens"] <= 3 * single[key]["tokens"] for key, row in ours.items())


def test_almost_all_slips_are_mended_and_what_compiles_then_is_right() -> None:
    rows = slips.STUDY.read()["rows"]
    compiled = [row for row in rows if row["compiles"]]
    assert len(compiled) / len(rows) > 0.95
    assert sum(row["passes"] for row in compiled) / len(compiled) > 0.99


def test_no_report_of_a_trace_is_longer_than_the_page_says() -> None:
    rows = [row for some in reports.STUDY.read()["rows"].values() for row in some]
    assert f"at most {reports.MOST_CHARACTERS:,} characters" in PAGE
    assert max(length for row in rows for length in row["characters"]) <= reports.MOST_CHARACTERS
