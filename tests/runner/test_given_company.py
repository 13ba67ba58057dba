"""Companies that are values of a program: a mapping, a YAML text; and options that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import chatdev
from chatdev import Company, ConfigError, ScriptedModel
from tests.support.slogans import COMPANY, REPLIES

MAPPING: dict[str, Any] = yaml.safe_load(COMPANY)


@pytest.mark.parametrize("company", [Company.from_yaml(COMPANY), Company.load(MAPPING)], ids=["text", "mapping"])
def test_a_company_without_a_file_runs_resumes_and_replays(here: Path, company: Company) -> None:
    stopped = company.run("a list", model=ScriptedModel({"name": ["<SOLUTION> Todo"], "slogan": []}), sandbox="none")
    assert stopped.status == "error"
    done = chatdev.resume(stopped.folder, model=ScriptedModel({"slogan": REPLIES["slogan"]}))
    assert (done.status, done.values["slogan"]) == ("success", "Get it done"), done.reason
    assert chatdev.replay(done.folder).values["name"] == "Todo"


def test_a_mapping_takes_the_changes_that_a_file_takes(here: Path) -> None:
    company = Company.load(MAPPING, sets=["phases.name.rounds=3"])
    assert company.config.phases["name"].rounds == 3
    shorter = Company.load({**MAPPING, "phases": {**MAPPING["phases"], "slogan": {
        **MAPPING["phases"]["slogan"], "reads": ["name?"]}}}, without=["name"])
    assert [step.name for step in shorter.config.chain] == ["slogan", "value.check"]
    run = chatdev.run("a list", {"extends": "single", "company": "own"}, model=ScriptedModel(["no"] * 9),
                      sandbox="none")
    assert run.folder.exists()


@pytest.mark.parametrize(("change", "message"), [
    ({"phases": {"name": {**MAPPING["phases"]["name"], "round": 3}}}, "the given mapping: phases.name.round: unknown "
                                                                      "key 'round'; did you mean 'rounds'"),
    ({"chain": {1: 2}}, "the given mapping: the key 1 is not text"),
    ({"about": Path("x")}, "is no value of YAML"),
    ({"about": float}, "is no value of YAML"),
    ({"extends": "../other"}, "extends: there is no installed company '../other'"),
    ({"background": {"file": "prompts/x.j2"}}, "a company that is no file has none beside it; write the text of "
                                               "'prompts/x.j2' itself"),
])
def test_a_wrong_mapping_is_refused_by_its_field(change: dict[Any, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        Company.load({**MAPPING, **change})
    assert message in str(error.value)


def test_a_mapping_that_holds_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["roles"] = endless
    with pytest.raises(ConfigError, match="nested deeper than 100 levels"):
        Company.load(endless)


@pytest.mark.parametrize(("text", "message"), [
    ("", "the given YAML is empty"), ("- a", "the given YAML holds a list"), ("a: [", "the given YAML:2: not YAML"),
    (COMPANY.replace("assistant: writer", "assistant: writr", 1), "the given YAML:7: phases.name.assistant: "),
])
def test_a_wrong_text_is_refused_by_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        Company.from_yaml(text)
    assert message in str(error.value)


def test_a_plain_mapping_is_no_company() -> None:
    with pytest.raises(ConfigError, match=r"Company takes a CompanyConfig, not dict; write Company.load\(\{…\}\)"):
        Company(MAPPING)  # type: ignore[arg-type]  # what people try first


@pytest.mark.parametrize(("option", "message"), [
    ("path", "there is no option 'path'; in the library it is software=…"),
    ("max_call", "there is no option 'max_call' (did you mean 'max_calls'?)"),
    ("nonsense", "there is no option 'nonsense'; the options are the fields of chatdev.RunOptions: inputs, "),
])
def test_an_option_that_there_is_not_says_which_is_meant(here: Path, option: str, message: str) -> None:
    calls: list[Any] = [Company.from_yaml(COMPANY).run, chatdev.run]
    if option != "path":  # the first argument of the others
        calls += [chatdev.resume, chatdev.replay]
    for act in calls:
        with pytest.raises(ConfigError) as error:
            act("x", **{option: 1})
        assert message in str(error.value)
    assert list(here.iterdir()) == []


class PlainModel:
    """A model whose method gives nothing to await."""

    def complete(self, request: chatdev.Request) -> chatdev.Reply:
        """A reply."""
        return chatdev.Reply("yes")

    async def close(self) -> None:
        """Nothing."""


def test_a_model_that_cannot_be_awaited_is_refused_when_it_is_given(here: Path) -> None:
    with pytest.raises(ConfigError, match="`complete` is a plain function, and a run awaits it; write `async def "
                                          "complete"):
        Company.from_yaml(COMPANY).run("a list", model=PlainModel())  # type: ignore[arg-type]
    assert list(here.iterdir()) == []


class Forwarding:
    """A model whose method is another one's, or an object that can be called."""

    def __init__(self, complete: Any) -> None:
        self.complete = complete

    async def close(self) -> None:
        """Nothing."""


def test_a_method_that_is_an_object_is_called(here: Path) -> None:
    from functools import partial

    model = ScriptedModel(REPLIES)
    for complete in (partial(model.complete), model.complete):
        assert isinstance(Forwarding(complete), Forwarding)
        chatdev.llm.base.model_name(Forwarding(complete))
    run = Company.from_yaml(COMPANY).run("a list", model=Forwarding(partial(model.complete)))
    assert run.success, run.reason
