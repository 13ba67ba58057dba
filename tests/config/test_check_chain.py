"""What the static check refuses in a chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.schema import names_written
from tests.config.tiny import loaded, refused

END = "{tool: software.run, writes: test}"


@pytest.mark.parametrize(("chain", "message"), [
    ("{phase: coding}, {phase: planning}", "phases.coding.reads: reads 'plan', which only a later step writes; write "
                                           "it before, or `plan?`"),
    ("{phase: coding}", "phases.coding.reads: reads 'plan', which nothing writes"),
    ("{phase: plannin}", "chain.0.phase: there is no phase 'plannin'; did you mean 'planning'? known: planning"),
    ("{tool: software.rn, writes: x}", "chain.0.tool: there is no tool 'software.rn'; did you mean 'software.run'?"),
    ("{tool: docs.read, writes: x}", "chain.0: the tool docs.read reads 'plan', which nothing writes"),
    ("{tool: docs.find, writes: x, reads: [plan]}", "chain.0.reads: the tool docs.find reads 'plan', which nothing"),
    ("{tool: docs.find, writes: task}", "chain.0.writes: 'task' is reserved"),
    ("{tool: docs.find, writes: software}", "chain.0.writes: the tool docs.find makes no files"),
    ("{phase: planning, when: plna}", "chain.0.when: names 'plna', which nothing writes; did you mean 'plan'?"),
    ("{phase: planning, when: 'a b'}", "chain.0.when: 'a b' is not an expression"),
    ("{phase: planning, optional: true}", "chain.0.optional: `optional` belongs to a branch of `parallel`"),
    ("{repeat: {until: test.passed, max: 2, steps: [{phase: planning}]}}",
     "chain.0.repeat.until: 'test.passed' names nothing that the loop writes, so it can never become true in it; name "
     "one of plan"),
    ("{repeat: {until: 'true', max: 2, steps: [{phase: planning}]}}", "chain.0.repeat.until: 'true' names nothing"),
    ("{repeat: {max: 2, steps: [{phase: coding}, {phase: planning}]}}", "phases.coding.reads: reads 'plan', which"),
    ("{foreach: {over: plan, as: part, steps: [{phase: planning}]}}", "chain.0.foreach.over: reads 'plan', which"),
    ("{phase: planning}, {foreach: {over: plan, as: plan, steps: [{phase: planning}]}}",
     "chain.1.foreach.as: an item cannot be called 'plan'"),
    ("{phase: planning}, {foreach: {over: plan, as: task, steps: [{phase: planning}]}}", "chain.1.foreach.as: an item"),
    ("{phase: planning}, {foreach: {over: plan, as: p, until: task, steps: [{phase: planning}]}}",
     "chain.1.foreach.until: 'task' names nothing that the loop writes"),
    ("{phase: planning}, {foreach: {over: plan, as: p, steps: [{foreach: {over: p, as: p, steps: [{process: p}]}}]}}",
     "chain.1.foreach.steps.0.foreach.as: an item cannot be called 'p'"),
    ("{phase: planning}, {foreach: {over: plan, as: p, steps: [{phase: planning}]}}, {phase: coding, when: p}",
     "chain.2.when: names 'p', which nothing writes"),
    ("{process: plan}", "chain.0.process: reads 'plan', which only a later step writes"),
    ("{parallel: [{phase: planning}, {phase: coding}]}", "phases.coding.reads: reads 'plan', which only a later step"),
    ("{parallel: [{phase: planning}, {steps: [{repeat: {max: 1, steps: [{phase: planning}]}}]}]}",
     "chain.0.parallel.1: this branch and branch 0 both write `plan`"),
])
def test_a_chain_that_cannot_run_is_refused(tmp_path: Path, chain: str, message: str) -> None:
    text = refused(tmp_path, f"chain: [{chain}, {END}]")
    assert f"own/company.yaml:2: {message}" in text or f"tiny/company.yaml:24: {message}" in text


DOCS = """
phases:
  manual: &doc {about: x, assistant: coder, writes: software, opening: x, solution: {form: files, as_file: a.md}}
  other: {about: x, assistant: coder, writes: software, opening: x, solution: {form: files, only: [a.md, b*.md]}}
  third: {about: x, assistant: coder, writes: software, opening: x, solution: {form: files, only: [b*.md]}}
"""


def test_branches_that_name_one_file_are_refused(tmp_path: Path) -> None:
    chain = f"chain: [{{parallel: [{{phase: manual}}, {{phase: third}}, {{phase: other}}]}}, {END}]"
    assert "chain.0.parallel.2: this branch and branch 0 both write the file a.md" in refused(tmp_path, DOCS + chain)


def test_branches_may_write_different_files_of_the_software(tmp_path: Path) -> None:
    loaded(tmp_path, DOCS + f"chain: [{{parallel: [{{phase: manual, optional: true}}, {{phase: third}}]}}, {END}]")


@pytest.mark.parametrize(("changes", "message"), [
    ("success: test.passed and plan", "success: 'test.passed and plan' must read 'test', which the last step writes, "
                                      "and nothing else; write e.g. `test.passed`"),
    ("success: 'true'", "success: 'true' must read 'test'"),
    ("success: tset.passed", "success: names 'tset', which nothing writes; did you mean 'test'?"),
    ("success: '}}'", "success: '}}' is not an expression"),
    ("chain: [{phase: planning}]", "chain.0: the last step must be a tool that states the verdict"),
])
def test_success_reads_the_verdict_of_the_last_tool(tmp_path: Path, changes: str, message: str) -> None:
    assert message in refused(tmp_path, changes)


def test_an_item_is_seen_inside_its_loop_only(tmp_path: Path) -> None:
    company = """
phases: {coding: {reads: [task, plan, 'software?', part]}}
chain:
  - phase: planning
  - foreach: {over: plan, as: part, until: test.passed and part.good, steps: [
      {phase: coding, when: part.type == 1}, {tool: software.run, writes: test}]}
  - {tool: software.run, writes: verdict}
success: verdict.passed
"""
    loaded(tmp_path, company)
    assert "phases.coding.reads: reads 'part', which nothing writes" in refused(
        tmp_path, company.replace("  - {tool", "  - phase: coding\n  - {tool"))


def test_what_a_loop_wrote_is_there_after_it(tmp_path: Path) -> None:
    loop = "{repeat: {until: plan, max: 2, steps: [{phase: planning}]}}"
    loaded(tmp_path, f"chain: [{loop}, {{phase: coding, when: plan}}, {END}]")


def test_only_a_tool_that_makes_files_may_write_the_software(tmp_path: Path) -> None:
    loaded(tmp_path, f"chain: [{{tool: docs.make, writes: software}}, {END}]")


def test_the_software_is_there_from_the_start(tmp_path: Path) -> None:
    loaded(tmp_path, f"phases: {{coding: {{reads: [task, software, 'plan?']}}}}\nchain: [{{phase: coding}}, {END}]")


def test_a_process_may_run_every_phase_and_nothing_else_is_left_unused(tmp_path: Path) -> None:
    extra = "  free: {about: x, assistant: boss, reads: [nowhere], writes: found, opening: '{{ nowhere }}'}"
    chain = f"chain: [{{phase: planning}}, {{process: plan}}, {END}]"
    loaded(tmp_path, chain)
    assert "phases.free.reads: reads 'nowhere', which nothing writes" in refused(tmp_path, f"phases:\n{extra}\n{chain}")


def test_a_process_may_run_only_the_phases_that_it_lists(tmp_path: Path) -> None:
    listed = "{process: plan, phases: [coding], supplies: [{tool: docs.find, writes: page}]}"
    company = loaded(tmp_path, f"chain: [{{phase: planning}}, {listed}, {END}]")
    assert company.chain[1].phases_run(company.phases) == ["coding"]
    assert names_written([company.chain[1]], company.phases) == {"software", "page"}
    assert "chain.1.phases.0: there is no phase 'codding'; did you mean 'coding'" in refused(
        tmp_path, f"chain: [{{phase: planning}}, {{process: plan, phases: [codding]}}, {END}]")


def test_inputs_are_there_from_the_start_when_they_are_sure_to_come(tmp_path: Path) -> None:
    reads = "phases: {{planning: {{reads: [task, inputs, {0}], opening: '{{{{ inputs.style }}}}'}}}}"
    loaded(tmp_path, reads.format("style"))
    loaded(tmp_path, reads.format("'sketch?'"))
    assert "reads the input 'sketch', which may be absent; write `sketch?` or give it a default" in refused(
        tmp_path, reads.format("sketch"))
