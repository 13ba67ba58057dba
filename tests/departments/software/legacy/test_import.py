"""`chatdev import`: companies of ChatDev 1.x that run as companies of ours."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev import Company, ConfigError, ScriptedModel
from chatdev.cli.app import command_line
from chatdev.config.templates import render
from chatdev.departments.software.legacy.company_of_1x import import_company
from tests.departments.software.legacy.written_by_hand import CHAIN, ROLES, simple, write_company
from tests.support.chat_server import ChatServer

UNFINISHED = 'main.py\n```python\nimport sys\n\n\ndef greet(name):\n    pass\n\n\nprint(greet("you"))\n```'
CRASHES = UNFINISHED.replace("    pass", '    return "hello " + nam')
WORKS = CRASHES.replace("nam\n", "name\n")
ANSWERS = {
    "demand_analysis": ["<SOLUTION> Application"], "language_choose": ["<SOLUTION> Python"], "naming": ["Hi"],
    "coding": [UNFINISHED], "code_complete": [CRASHES],
    "code_review_comment": ["Greet by name.", "<SOLUTION> Finished"],
    "code_review_modification": [CRASHES.replace('"you"', '"all"')], "test_error_summary": ["nam should be name"],
    "test_modification": [WORKS], "environment_doc": ["nothing"], "manual": ["# Hi\nIt greets."]}


def imported(folder: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line, ["import", str(folder), *arguments])
    return done.exit_code, done.output


def test_a_company_of_1x_is_written_checked_and_runs(here: Path) -> None:
    status, said = imported(write_company(here / "CompanyConfig" / "Own"))
    assert status == 0, said
    company = Company.load(here / "company_config" / "own")
    assert not company.warnings
    model = ScriptedModel(ANSWERS)
    run = company.run("a greeting", model=model, sandbox="none")
    model.assert_done()
    assert run.success, run.reason
    assert list(run.software) == ["main.py", "manual.md", "requirements.txt"]
    asked = {request.headers["X-ChatDev-Phase"]: request.messages for request in model.requests}
    assert "Write a greeting, a Application, in Python." in asked["coding"][1].content
    assert "We make small programs." in asked["coding"][0].content
    assert "NameError" in asked["test_error_summary"][1].content
    assert "Its faults: nam should be name" in asked["test_modification"][1].content
    assert 'as JSON: {"name": {% x %}} {unheard_of}' in asked["naming"][1].content
    assert "graphical" not in asked["coding"][1].content


def test_an_imported_company_runs_against_a_server(here: Path, chat_server: ChatServer) -> None:
    imported(write_company(here / "Own", chain={**CHAIN, "chain": [simple("DemandAnalysis"), simple("Coding")]}))
    chat_server.script("<SOLUTION> Application", WORKS)
    done = CliRunner().invoke(command_line, ["run", "a greeting", "--company", "own", "--model", "any", "--base-url",
                                             chat_server.url, "--sandbox", "none"])
    assert done.exit_code == 0, done.output


def test_the_account_says_what_became_of_everything(here: Path) -> None:
    _, said = imported(write_company(here / "Own"))
    assert (here / "company_config" / "own" / "import.md").read_text(encoding="utf-8") in said
    for line in ("- ChatChainConfig.json CodeReview, Test: repeat, at most 3",
                 "- PhaseConfig.json DemandAnalysis, CodeReviewComment: <INFO> is <SOLUTION>",
                 "- ChatChainConfig.json web_spider: no page is read from the web before the run",
                 "- ChatChainConfig.json novelty: unknown to ChatDev 1.x",
                 "- PhaseConfig.json Naming: a class of somebody's own, which is not read: the phase writes 'naming'",
                 "- PhaseConfig.json Naming: {unheard_of} is filled by a class of somebody's own; it stays as text",
                 "- RoleConfig.json Counselor: in no phase of the chain"):
        assert line in said
    assert "with_memory" not in said


def test_what_is_missing_comes_from_the_default_company(tmp_path: Path) -> None:
    write_company(tmp_path / "Default")
    own = write_company(tmp_path / "Own", phases=None, roles=None)
    assert Company.load(import_company(own, "own").company).config.roles["coder"].title == "Coder"


def test_a_phase_that_stands_twice_keeps_its_turns(tmp_path: Path) -> None:
    chain = {**CHAIN, "chain": [simple("Coding"), simple("Manual", 2), simple("Manual", 4)]}
    company = import_company(write_company(tmp_path, chain=chain), "own").company
    assert company["phases"]["manual"]["rounds"] == 2
    assert company["chain"][1:3] == [{"phase": "manual"}, {"phase": "manual", "rounds": 4}]


def test_a_person_in_the_loop_and_pictures_are_told_of(tmp_path: Path) -> None:
    phases = {name: {"user_role_name": "Boss", "assistant_role_name": "Coder", "phase_prompt": [f"{name} {{codes}}"]}
              for name in ("Coding", "CodeReviewHuman", "ArtDesign", "ArtIntegration")}
    chain = {**CHAIN, "incremental_develop": True, "chain": [
        simple("Coding"), {"phase": "HumanAgentInteraction", "phaseType": "ComposedPhase", "cycleNum": 5,
                           "Composition": [simple("CodeReviewHuman")]},
        {"phase": "Art", "phaseType": "ComposedPhase", "cycleNum": 1,
         "Composition": [simple("ArtDesign"), simple("ArtIntegration")]}]}
    found = import_company(write_company(tmp_path, chain=chain, phases=phases), "own")
    company = Company.load(found.company).config
    assert company.changes
    assert [step.name for step in company.chain] == ["coding", "code_review_human", "art_design", "art_integration",
                                                     "software.run"]
    assert company.phases["code_review_human"].rounds == 5
    told = " ".join(note.text for note in found.notes_of("changed"))
    assert "a person's part is played by the model unless you take it" in told
    assert "pictures are described and not made" in told


def changed(**changes: Any) -> dict[str, Any]:
    first = {**copy.deepcopy(CHAIN["chain"][0]), **changes}
    return {**CHAIN, "chain": [{key: value for key, value in first.items() if value is not None}]}


@pytest.mark.parametrize(("files", "message"), [
    ({"chain": None}, "holds no ChatChainConfig.json; give the folder of a company of ChatDev 1.x"),
    ({"roles": None}, "RoleConfig.json is missing, and there is none in "),
    ({"chain": '{"chain": [\n  {"phase": "Coding",}\n]}'}, "ChatChainConfig.json:2: not JSON: "),
    ({"chain": "[]"}, "ChatChainConfig.json holds no mapping"),
    ({"chain": "[" * 5000}, "ChatChainConfig.json: not JSON that can be used: nested too deeply"),
    ({"chain": {"chain": []}}, "ChatChainConfig.json: chain: List should have at least 1 item"),
    ({"chain": changed(phase=None)}, "ChatChainConfig.json: chain.0.phase: Field required"),
    ({"chain": changed(phase="Codin")}, "PhaseConfig.json has no such phase; did you mean 'Coding'"),
    ({"chain": changed(max_turn_step="often")}, "ChatChainConfig.json: chain.0.max_turn_step: Input should be a valid"),
    ({"chain": changed(phaseType="Simple")}, "ChatChainConfig.json: chain.0.phaseType: Input should be 'SimplePhase'"),
    ({"chain": changed(phaseType="ComposedPhase")}, "chain.0.Composition: a composed phase consists of simple phases"),
    ({"phases": {"DemandAnalysis": {"user_role_name": "Boss"}}}, "PhaseConfig.json: DemandAnalysis.phase_prompt: "),
    ({"roles": {**ROLES, "Boss": "You decide."}}, "RoleConfig.json: Boss: a role is a list of texts"),
    ({"roles": {"Bos": ["x"]}}, "RoleConfig.json has no role 'Boss'; did you mean 'Bos'"),
])
def test_a_broken_company_of_1x_is_refused_by_its_field(here: Path, files: dict[str, Any], message: str) -> None:
    status, said = imported(write_company(here / "Own", **files))
    assert status == 2
    assert message in said
    assert not (here / "company_config").exists()


def test_nothing_is_overwritten_and_no_bundled_name_is_taken(here: Path) -> None:
    write_company(here / "Chatdev")
    assert "is a company that comes with chatdev" in imported(here / "Chatdev")[1]
    assert imported(here / "Chatdev", "--name", "old")[0] == 0
    assert "is there already, and nothing is overwritten" in imported(here / "Chatdev", "--name", "old")[1]


def test_a_folder_of_1x_as_a_company_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a company of ChatDev 1.x, in JSON; turn it into one of ours: chatdev"):
        Company.load(write_company(tmp_path / "Own"))


@settings(max_examples=60)
@given(st.text(st.sampled_from("{}%#\"'\\ abtask\n") | st.characters(exclude_categories=["Cs", "Cc"]), max_size=60))
def test_any_prompt_reads_as_str_format_shows_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """A prompt that `str.format` takes is shown by our template as it is by 1.x; another one never fails."""
    folder = write_company(tmp_path_factory.mktemp("own"), chain={**CHAIN, "chain": [simple("Coding")]}, phases={
        "Coding": {"user_role_name": "Boss", "assistant_role_name": "Coder", "phase_prompt": [f"x{text}x"]}})
    template = import_company(folder, "own").company["phases"]["coding"]["opening"]
    shown = render(template, {"task": "T"}, "opening")
    try:
        expected = f"x{text}x".format(task="T")
    except (ValueError, KeyError, IndexError, AttributeError):
        return
    assert shown == expected.replace("<INFO>", "<SOLUTION>")


