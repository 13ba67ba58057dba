"""The rehearsal of a run: what it sends is what the run sends, and it touches nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from chatdev import Company, ConfigError, RunOptions, ScriptedModel
from chatdev.department import installed_companies
from chatdev.runner.rehearsal import Rehearsal, least_value, rehearse
from chatdev.tools.base import ToolContext, Verdict
from tests.support.slogans import COMPANY

TRACKER = "Develop an expense tracker for the terminal with categories and monthly reports"


def rehearsed(company: Company, task: str = TRACKER, **options: Any) -> Rehearsal:
    return asyncio.run(rehearse(company, task, RunOptions(**{"model": "gpt-4o", **options})))


def test_what_is_rehearsed_is_what_a_run_sends(here: Path) -> None:
    """The first requests, which depend on no reply: message by message, with the same sampling and tools."""
    for name in ("chatdev", "single", "pipeline", "agents4plc"):
        company = Company.load(name)
        found = rehearsed(company, language="English")
        model = ScriptedModel(["<SOLUTION> Command-line application"], name="gpt-4o")
        company.run(TRACKER, model=model, sandbox="none", language="English")
        (sent,) = model.requests[:1]
        (first,) = found.phases[0].requests.values()
        assert [message.content for message in first.messages] == [message.content for message in sent.messages]
        assert first.sampling == sent.sampling
        assert first.tools == sent.tools


def test_the_typical_run_is_the_one_in_which_every_check_passes() -> None:
    found = rehearsed(Company.load("chatdev"))
    assert [one.phase for one in found.phases] == ["demand_analysis", "architecture", "checks", "coding", "code_review",
                                                   "manual"]
    assert found.problem == ""
    assert found.load.calls == 8
    assert found.load.cost is not None
    assert 0.01 < found.load.cost < 0.1
    assert {"code_completion", "system_test", "redraft"} <= set(found.left_out)
    assert {"extension", "examples", "test_plan"} & set(found.left_out) == set()


def test_software_that_is_handed_in_leads_another_way(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print(1)\n")
    found = rehearsed(Company.load("chatdev"), software=tmp_path)
    assert "extension" in [one.phase for one in found.phases]
    assert {"coding", "redraft", "architecture"} & {*found.left_out, *(one.phase for one in found.phases)} == set()


@pytest.mark.parametrize("name", sorted(installed_companies()))
def test_every_company_is_rehearsed_to_its_end(name: str, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print(1)\n")
    company = Company.load(name)
    found = rehearsed(company, software=tmp_path if company.config.changes else None)
    assert found.problem == ""
    assert found.load.calls > 0
    for one in found.phases:
        for request in one.requests.values():
            text = "".join(message.content for message in request.messages)
            assert "{{" not in text.replace("{{{", ""), one.phase
            assert "{%" not in text, one.phase


def test_nothing_is_started_asked_or_kept(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def ring(ctx: ToolContext) -> str:
        """Ring a bell."""
        called.append("ring")
        return "rung"

    def judge(ctx: ToolContext) -> Verdict:
        """Judge."""
        called.append("judge")
        return Verdict(False, "never")

    text = COMPANY.replace("chain:", "chain:\n  - {tool: mine.ring, writes: sound}").replace(
        "value.check, reads: [slogan], writes: test", "mine.judge, writes: test")
    found = rehearsed(Company.from_yaml(text, tools=[ring, judge]), "a list", base_url="http://192.0.2.1/v1")
    assert (found.problem, found.load.calls, called) == ("", 2, [])
    assert list(here.iterdir()) == []


def test_a_person_in_a_rehearsal_accepts_and_costs_nothing() -> None:
    alone = Company.load("chatdev")
    together = alone.with_people(["reviewer"], ["coding", "deliveries"])
    found = rehearsed(together)
    assert [one.phase for one in found.phases] == [one.phase for one in rehearsed(alone).phases]
    assert found.problem == ""
    assert found.load.calls == rehearsed(alone).load.calls - 2  # what the reviewer says


def test_what_a_run_refuses_at_once_a_rehearsal_refuses() -> None:
    with pytest.raises(ConfigError, match="the task is empty"):
        rehearsed(Company.load("single"), "")
    with pytest.raises(ConfigError, match="unknown input 'colour'"):
        rehearsed(Company.load("single"), inputs={"colour": "red"})


@pytest.mark.parametrize("schema", [
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 2, "items": {
        "type": "string", "minLength": 9}}, "b": {"type": "string"}}},
    {"enum": [3, 4]}, {"const": None}, {"anyOf": [{"type": "null"}, {"type": "string"}]},
    {"type": ["integer", "null"], "minimum": 7}, {"type": "boolean"}, {"type": "number"}, {},
])
def test_a_made_up_value_fits_its_schema(schema: dict[str, Any]) -> None:
    jsonschema.validate(least_value(schema), schema)
