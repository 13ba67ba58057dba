"""`chatdev process`, whole: five tasks through three rounds over a real server, and every other command on the pool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.process.pool import InstanceOutcome, export_outcomes, find_outcomes
from tests.companies.test_top import COMPANY, REPLIES, SHORT, WRONG
from tests.support.chat_server import ChatServer, Received, Scripted

NAMES = ("Ann", "Bob", "Cy", "Dee", "Eve")
TESTED = "DemandAnalysis → LanguageChoose → Coding → TestErrorSummary → TestModification"
TAUGHT = "This is how projects that succeeded went:"


@dataclass
class Department:
    """Tasks in a folder of data, and a scripted model: what it proposes is up to the test."""

    folder: Path
    server: ChatServer
    propose: Callable[[str], str] = field(default=lambda _: SHORT)
    replies: dict[str, Any] = field(default_factory=dict)
    calls_left: int = 1000

    def __post_init__(self) -> None:
        data = self.folder / "data"
        data.mkdir()
        tasks = [{"name": name, "description": f"A program that greets: `python main.py {name}` prints `Hello {name}`"}
                 for name in NAMES]
        (data / "greetings.yaml").write_text(json.dumps({"area": "Words", "category": "Greetings", "tasks": tasks}))
        self.server.route(self.answer)

    def answer(self, request: Received) -> Any:
        phase = request.headers["X-ChatDev-Phase"]
        self.calls_left -= 1
        if self.calls_left < 0:
            return Scripted(status=401, body={"error": {"message": "no such key"}})
        if phase == "process_generation":
            return f"<SOLUTION>\n{self.propose(str(request.body['messages'][-1]['content']))}"
        return {**REPLIES, **self.replies}[phase]

    @property
    def prompts(self) -> list[str]:
        """What the Process Manager was asked."""
        return [str(one.body["messages"][-1]["content"]) for one in self.server.requests
                if one.headers["X-ChatDev-Phase"] == "process_generation"]

    def command(self, *arguments: str) -> Result:
        environment = {"CHATDEV_RETRY_SECONDS": "0", "COLUMNS": "200"}
        return CliRunner(env=environment).invoke(command_line(), ["process", *arguments])

    def run(self, name: str, *more: str) -> Result:
        return self.command(name, "--tasks", str(self.folder / "data"), "--model", "m", "--base-url", self.server.url,
                            "--quiet", *more)

    def done(self, name: str, *more: str) -> str:
        """The output of a command that succeeds."""
        result = self.run(name, *more)
        assert result.exit_code == 0, result.output
        return result.output

    @property
    def outcomes(self) -> list[InstanceOutcome]:
        return find_outcomes("studies/ledger.sqlite", "top", COMPANY.default) or []


@pytest.fixture
def department(tmp_path: Path, chat_server: ChatServer, here: Path) -> Department:
    return Department(tmp_path, chat_server)


def propose_by_text(prompt: str) -> str:
    """A generator that learns from its prompt alone: where the text says that tests succeed, it tests."""
    return TESTED if "TestModification" in prompt.partition(TAUGHT)[2].partition("Examples")[0] else SHORT


@pytest.mark.tool
def test_a_cycle_grows_the_pool_mines_it_and_teaches_it_back(department: Department) -> None:
    proposals = iter([TESTED, SHORT, SHORT, "DemandAnalysis → UsernameSet", SHORT, SHORT])
    department.propose = lambda prompt: next(proposals, None) or propose_by_text(prompt)
    department.replies = {"Coding": WRONG}  # only who tests succeeds
    said = department.done("cycle", "--rounds", "3", "--replays", "2", "--at-once", "1")
    first, later = department.prompts[:6], department.prompts[6:]
    assert all(TAUGHT not in prompt for prompt in first)
    assert all(TAUGHT in prompt for prompt in later)
    assert len(later) == 10
    assert 'Then run "TestErrorSummary". Finally run "TestModification".' in later[0]
    outcomes = department.outcomes
    assert len(outcomes) == 3 * 5 + 2 * 2 + 1  # the proposal that could not be run is one, too
    assert [one.failure for one in outcomes if one.starts is None] == ["unknown phase"]
    assert {one.instance for one in outcomes if one.success} == {tuple(TESTED.split(" → "))}
    assert all(one.temperature == 0.6 and one.area == "Words" for one in outcomes)
    assert re.search(r"round 1 +6 +0.83 +2 .* 5  0.20", said)
    assert re.search(r"round 3 +5 +1.00 +1 .* 5  1.00", said)

    asked = len(department.server.requests)
    again = department.done("cycle", "--rounds", "3", "--replays", "2", "--at-once", "1")
    assert len(department.server.requests) == asked
    assert again.splitlines()[-5:] == said.splitlines()[-5:]
    assert len(department.outcomes) == len(outcomes)


@pytest.mark.tool
def test_an_interrupted_cycle_is_gone_on_with_and_counts_nothing_twice(department: Department) -> None:
    """The server is away after some calls; what has ended until then is counted."""
    department.calls_left = 14
    stopped = department.run("cycle", "--rounds", "2", "--replays", "1", "--at-once", "1")
    assert stopped.exit_code == 1
    assert "the same command with --retry-failed goes on" in stopped.output
    assert 0 < len(department.outcomes) < 5
    department.calls_left = 1000
    wrong = department.run("cycle", "--rounds", "2", "--replays", "2", "--at-once", "1")
    assert wrong.exit_code == 2
    assert "was begun with other options" in wrong.output
    department.done("cycle", "--rounds", "2", "--replays", "1", "--at-once", "1", "--retry-failed")
    assert len(department.outcomes) == 11
    assert len({one.run for one in department.outcomes}) == 11


@pytest.mark.tool
def test_a_limit_holds_for_all_stages_together(department: Department) -> None:
    department.done("cycle", "--rounds", "1", "--replays", "0")
    refused = department.run("cycle", "--rounds", "2", "--replays", "0", "--max-tokens", "300")
    assert refused.exit_code == 6
    assert "300 tokens and $0.00 are spent, which is the limit" in refused.output
    assert "round 2 " in department.done("cycle", "--rounds", "2", "--replays", "0", "--max-tokens", "100000")


@pytest.mark.tool
def test_proposals_are_generated_first_and_developed_later(department: Department, tmp_path: Path) -> None:
    file = tmp_path / "proposals.json"
    answers = iter(["Foo → Bar"] * 3)
    department.propose = lambda _: next(answers, SHORT)
    said = department.done("generate", "--output", str(file), "--at-once", "1")
    assert said.count(SHORT) == 4
    assert [line["process"] for line in json.loads(file.read_text())] == [SHORT] * 4
    assert [one.failure for one in department.outcomes] == ["unknown phase"] * 3
    department.done("develop", "--from", str(file))
    assert sum(one.success for one in department.outcomes) == 4
    assert "holds no proposals" in department.run("develop", "--from", str(tmp_path / "data/greetings.yaml")).output


@pytest.mark.tool
def test_a_given_process_is_developed_replayed_and_enhanced(department: Department) -> None:
    assert "this process cannot be run" in department.run("develop", "--process", "Coding").output
    assert "nothing to replay" in department.run("replay").output
    assert "there is no text to show" in department.run("enhance").output
    department.done("develop", "--process", SHORT)
    department.replies = {"Coding": WRONG}
    department.done("replay", "--count", "3", "--strategy", "uct")
    assert [(one.success, one.failure) for one in department.outcomes[5:]] == [(False, "failure")] * 3
    department.replies = {}
    department.done("enhance")
    assert all(TAUGHT in prompt for prompt in department.prompts)
    assert len(department.outcomes) == 13


@pytest.mark.tool
def test_temperatures_are_swept_and_texts_compared(department: Department) -> None:
    said = department.done("sweep", "--temperature", "0,1.2")
    assert re.search(r"^0.0 +5 +1.00", said, re.M)
    assert re.search(r"^1.2 +5 +1.00", said, re.M)
    assert {one.body["temperature"] for one in department.server.requests} == {0, 1.2}
    assert "numbers from 0 to 2" in department.run("sweep", "--temperature", "hot").output
    assert "there is no text to show" in department.run("compare").output
    department.done("develop", "--process", TESTED)
    said = department.done("compare")
    assert re.search(r"^with text +5", said, re.M)
    assert re.search(r"^Words, without text +5", said, re.M)
    assert sum(TAUGHT in prompt for prompt in department.prompts) == 5


@pytest.fixture
def filled(department: Department) -> Department:
    """A pool that was imported."""
    outcomes = [InstanceOutcome(tuple(SHORT.split(" → ")), n < 2, True, area="Words") for n in range(3)]
    outcomes += [InstanceOutcome(tuple(TESTED.split(" → ")), True, True, area="Words", temperature=0.6),
                 InstanceOutcome(("Foo",), False, failure="unknown phase")]
    text = export_outcomes(outcomes, COMPANY.default)
    (department.folder / "pool.json").write_text(text)
    said = department.command("import", str(department.folder / "pool.json"))
    assert said.exit_code == 0
    assert "pool top: 5 new outcomes" in said.output
    return department


def test_a_pool_is_carried_elsewhere(filled: Department) -> None:
    exported = filled.command("export")
    again = CliRunner().invoke(command_line(), ["process", "import", "-", "--pool", "copy"], input=exported.output)
    assert again.exit_code == 0, again.output
    copied, kept = filled.command("filter", "--pool", "copy", "--all"), filled.command("filter", "--all")
    assert copied.output == kept.output
    broken = CliRunner().invoke(command_line(), ["process", "import", "-"], input="[]")
    assert broken.exit_code == 2
    assert "is no exported pool" in broken.output


def test_a_pool_is_filtered(filled: Department) -> None:
    said = filled.command("filter").output
    assert "2 of 3 instances succeed in at least 30% of their runs; 5 outcomes" in said
    assert re.search(rf"^{SHORT} +3 +2 +0.67", said, re.M)
    assert "Foo" not in said
    data = json.loads(filled.command("filter", "--json", "--least", "0.9").output)
    assert [(one["frequency"], one["success_rate"]) for one in data] == [(1, 1.0)]


def test_a_model_is_mined_drawn_and_described(filled: Department) -> None:
    files = {kind: filled.folder / f"model.{kind}" for kind in ("bpmn", "svg", "png")}
    options = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
    said = filled.command("mine", *options)
    assert said.exit_code == 0, said.output
    assert "fitness 1.00, precision 1.00; 6 phases, 2 exclusive and 0 parallel gateways" in said.output
    assert "bpmndi:BPMNShape" in files["bpmn"].read_text()
    assert "<svg" in files["svg"].read_text()
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert json.loads(filled.command("mine", "--json").output)["precision"] == 1
    assert 'First run "DemandAnalysis".' in filled.command("describe").output
    known = json.loads(filled.command("describe", "--json").output)
    assert sorted(known["instances"]) == sorted([SHORT, TESTED])
    refused = filled.command("mine", "--least", "1", "--pool", "none")
    assert refused.exit_code == 2
    assert "there is no pool 'none'" in refused.output


def test_a_pool_in_which_all_failed_teaches_nothing(department: Department) -> None:
    text = export_outcomes([InstanceOutcome(COMPANY.default, False)], COMPANY.default)
    CliRunner().invoke(command_line(), ["process", "import", "-"], input=text)
    for name in ("mine", "describe"):
        refused = department.command(name)
        assert refused.exit_code == 2
        assert "there is nothing to mine" in refused.output


def test_a_process_is_checked_before_anything_is_paid(department: Department) -> None:
    right = department.command("check", "demand analysis -> LanguageChoose -> Coding")
    assert (right.exit_code, right.output) == (0, "OK: DemandAnalysis → LanguageChoose → Coding\n")
    wrong = department.command("check", "LanguageChoose → Foo")
    assert (wrong.exit_code, wrong.output) == (1, "there is no phase Foo\n")
    data = json.loads(department.command("check", "Coding", "--json").output)
    assert [one["missing"] for one in data["problems"]] == ["language", "modality"]
    other = department.command("check", "Coding", "--company", "chatdev")
    assert other.exit_code == 2
    assert "runs no proposed processes" in other.output


@pytest.mark.parametrize(("tasks", "why"), [("nowhere", "names no data set"), ("", "names no data set"),
                                            ("easy:no-such-set", "no-such-set"), ("srdd:0", "names no data set")])
def test_tasks_that_are_none_are_refused(department: Department, tasks: str, why: str) -> None:
    refused = department.command("develop", "--tasks", tasks, "--model", "m")
    assert refused.exit_code == 2
    assert why in refused.output


@pytest.mark.tool
def test_the_pools_of_other_phases_and_of_the_company_are_not_written(filled: Department) -> None:
    refused = filled.run("develop", "--pool", "starter", "--process", SHORT)
    assert refused.exit_code == 2
    assert "is only read" in refused.output


def test_the_page_shows_what_became_of_the_pool(filled: Department) -> None:
    outcomes = [InstanceOutcome(tuple(SHORT.split(" → ")), n > 0, True, area="Words", temperature=1.0,
                                run=f"compare-1: {'with text' if n else 'without text'}/<b>{n}") for n in range(3)]
    (filled.folder / "more.json").write_text(export_outcomes(outcomes, COMPANY.default))
    filled.command("import", str(filled.folder / "more.json"))
    said = filled.command("report", "--output", "page.html")
    assert said.exit_code == 0, said.output
    page = Path("page.html").read_text()
    assert "<b>8</b><span>outcomes</span>" in page
    assert "unknown phase 1" in page
    assert "compare-1: without text" in page
    assert "<b>1<" not in page
    row = page.partition("<td>Words</td>")[2].partition("</tr>")[0]
    assert re.findall(r">([\d.][^<]*)<", row) == ["0.00 (1)", "1.00 [1.00, 1.00] (2)"]
    assert page.count('<svg class="plot"') == 3
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "First run &#34;DemandAnalysis&#34;." in page


def test_a_page_about_little_says_so(department: Department) -> None:
    text = export_outcomes([], COMPANY.default)
    CliRunner(env={"COLUMNS": "200"}).invoke(command_line(), ["process", "import", "-"], input=text)
    said = department.command("report", "--output", "page.html")
    assert said.exit_code == 0, said.output
    assert "There is nothing to mine." in Path("page.html").read_text()


def test_strategies_say_what_they_would_replay(filled: Department) -> None:
    said = filled.command("strategies", "--count", "2").output
    assert said.count("\n") == 5 * 3
    assert "Foo" not in said
    once = said.partition("uct_once:\n")[2].splitlines()
    assert {line.strip() for line in once} == {SHORT, TESTED}
    assert "the pool is empty" in filled.command("strategies", "--pool", "starter").output \
        or COMPANY.starter_outcomes()
