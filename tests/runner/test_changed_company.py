"""A company, prompt or model that changed between two sessions: refused with the place and the fields, or accepted."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import chatdev
from tests.support import durable
from tests.support.durable import (
    GUIDE,
    PAGE,
    PASS_1,
    PASS_2,
    REPLIES,
    TITLE,
    WRITTEN,
    activities,
    answered,
    asked,
    contents,
    software,
    stopped_at,
    text,
    uninterrupted,
)
from tests.support.shop import Outcome, Shop

Company = dict[str, Any]


def resume(shop: Shop, folder: Path | None, *more: str) -> Outcome:
    """`chatdev resume` with the company as it is now."""
    now = () if "--as-it-was" in more else ("--company", str(shop.company))
    return durable.resume(shop, folder, *now, *more)


def change(shop: Shop, how: Callable[[Company], object]) -> None:
    """Change the company's YAML on disk."""
    file = shop.company / "company.yaml"
    company = yaml.safe_load(file.read_text())
    how(company)
    file.write_text(yaml.safe_dump(company, sort_keys=False))


def another_opening(company: Company) -> None:
    company["phases"]["change"]["opening"] = "CHANGE IT WELL\n{{ software | listing }}"


def another_temperature(company: Company) -> None:
    company["phases"]["write"]["model"] = {"temperature": 0.7}


def another_prompt(company: Company) -> None:
    company["roles"]["maker"]["prompt"] = "makes things\nslowly and well"


def a_new_phase(company: Company) -> None:
    company["phases"]["slow_down"] = text("pace", "task")
    company["chain"].insert(1, {"phase": "slow_down"})


def another_form(company: Company) -> None:
    company["phases"]["title"]["solution"] = {"form": "choice", "options": ["Greeter", "Hello"]}


CHANGES: dict[Callable[[Company], None], tuple[str, ...]] = {
    another_opening: (f"{PASS_1} would not be asked what it was asked before", "messages[1].content",
                      "-CHANGE", "+CHANGE IT WELL"),
    another_temperature: (f"{WRITTEN} would not be asked", "sampling.temperature: nothing → 0.7"),
    another_prompt: (f"{WRITTEN} would not be asked", "messages[0].content", "+slowly and well"),
    a_new_phase: (f"slow_down#1/round-1/assistant was not in the run before, and {PASS_1} was",),
    another_form: (f"{TITLE} would not be asked", "+form: CHOICE Greeter/Hello"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_change_is_refused_with_its_place_and_fields(workshop: Shop,
                                                                              how: Callable[[Company], None]) -> None:
    stopped = stopped_at(workshop, PAGE)
    before = contents(stopped.folder)
    change(workshop, how)
    refused = resume(workshop, stopped.folder)
    assert refused.status == 2, refused.out + refused.err
    for words in (*CHANGES[how], "--as-it-was", "--from-here", "--from ACTIVITY"):
        assert words in refused.err
    assert workshop.server.requests == []
    assert contents(stopped.folder) == before


def test_what_changes_nothing_of_the_record_is_no_difference(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    change(workshop, lambda company: company["phases"]["page"].update(opening="ANOTHER {{ title }} {{ slogan }}"))
    resumed = resume(workshop, stopped.folder)
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    assert "ANOTHER Greeter" in str(workshop.server.requests[-1].body)
    assert "ANOTHER {{ title }}" in company_of(resumed)


def company_of(outcome: Outcome) -> str:
    assert outcome.folder is not None
    return (outcome.folder / "run" / "company.yaml").read_text()


def test_a_phase_that_is_done_and_left_out_now_is_missed(workshop: Shop) -> None:
    def bid_farewell(company: Company) -> None:
        company["phases"]["farewell"] = text("bye", "task")
        company["chain"].insert(4, {"phase": "farewell"})

    unchanged = (workshop.company / "company.yaml").read_text()
    change(workshop, bid_farewell)
    workshop.route({**REPLIES, "farewell#1/round-1/assistant": "<SOLUTION> Bye"})
    whole = workshop.run()
    before = contents(whole.folder)
    (workshop.company / "company.yaml").write_text(unchanged)
    refused = resume(workshop, whole.folder)
    assert refused.status == 2
    assert "farewell#1/round-1/assistant was in the run, and the company does not come to it any more" in refused.err
    assert contents(whole.folder) == before
    resume(workshop, whole.folder, "--from-here").assert_succeeded()


@pytest.mark.parametrize("place", [TITLE, GUIDE])
def test_branches_that_got_on_differently_are_no_change(workshop: Shop, place: str) -> None:
    stopped = stopped_at(workshop, place)
    change(workshop, lambda company: company["phases"]["page"].update(opening="ANOTHER {{ title }} {{ slogan }}"))
    resume(workshop, stopped.folder).assert_succeeded()
    assert place in asked(workshop.server)


def test_from_here_pays_for_what_differs_and_for_nothing_else(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)
    change(workshop, another_opening)
    answered(workshop, {PASS_1: REPLIES[PASS_2]})  # done in one pass now
    resumed = resume(workshop, stopped.folder, "--from-here")
    resumed.assert_succeeded()
    assert asked(workshop.server) == [PASS_1, PAGE]
    assert "CHANGE IT WELL" in company_of(resumed)
    workshop.server.requests.clear()
    again = resume(workshop, stopped.folder)  # the change is the company's now
    again.assert_succeeded()
    assert workshop.server.requests == []


def test_as_it_was_takes_the_company_of_the_beginning(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    change(workshop, another_prompt)
    resumed = resume(workshop, stopped.folder, "--as-it-was")
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    assert asked(workshop.server) == [PAGE]
    assert "slowly" not in str(workshop.server.requests[-1].body)
    assert "slowly" not in company_of(resumed)


@pytest.mark.parametrize("damage", ["gone", "broken"])
def test_a_company_that_no_longer_loads_is_named_with_the_way_out(workshop: Shop, damage: str) -> None:
    stopped = stopped_at(workshop, PAGE)
    before = contents(stopped.folder)
    if damage == "gone":
        shutil.rmtree(workshop.company)
    else:
        change(workshop, lambda company: company["phases"]["page"].update(assistant="nobody"))
    refused = resume(workshop, stopped.folder)
    assert refused.status == 2
    assert "the company of the run cannot be loaded any more" in refused.err
    assert "`--as-it-was` takes it as it was" in refused.err
    assert contents(stopped.folder) == before
    resume(workshop, stopped.folder, "--as-it-was").assert_succeeded()


def test_settings_of_the_run_are_part_of_its_company(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PASS_1, "--set", "roles.maker.prompt=makes things at night", "--without", "page")
    resume(workshop, stopped.folder).assert_succeeded()
    assert "makes things at night" in str(workshop.server.requests[-1].body)
    assert PAGE not in asked(workshop.server)


def test_another_model_goes_on_without_doing_again_what_is_on_record(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, GUIDE, "--model", "gpt-4o")
    models = [request.body["model"] for request in workshop.server.requests]
    resumed = resume(workshop, stopped.folder, "--model", "gpt-4.1-mini")
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    assert [request.body["model"] for request in workshop.server.requests[len(models):]] == ["gpt-4.1-mini"] * 2


def test_the_model_that_was_chosen_last_is_the_runs_from_then_on(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PASS_2, "--model", "gpt-4o")
    workshop.route({**REPLIES, PAGE: None})
    assert resume(workshop, stopped.folder, "--model", "gpt-4.1-mini").status == 3
    workshop.server.requests.clear()
    answered(workshop)
    resume(workshop, stopped.folder).assert_succeeded()
    assert [request.body["model"] for request in workshop.server.requests] == ["gpt-4.1-mini"]
    replayed = workshop.command("replay", str(stopped.folder))
    assert replayed.status == 0, replayed.out


def test_a_changed_prompt_is_refused_with_another_model_too(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE, "--model", "gpt-4o")
    change(workshop, another_opening)
    refused = resume(workshop, stopped.folder, "--model", "gpt-4.1-mini")
    assert refused.status == 2
    assert PASS_1 in refused.err


def test_a_new_input_has_its_default_and_a_required_one_is_told(workshop: Shop) -> None:
    stopped = stopped_at(workshop, PAGE)

    def ask_for_style(company: Company) -> None:
        company["inputs"]["style"] = {"about": "How to write.", "default": "short"}
        company["phases"]["page"].update(reads=["software", "title", "style"], opening="{{ title }} {{ style }}")

    change(workshop, ask_for_style)
    resumed = resume(workshop, stopped.folder)
    resumed.assert_succeeded()
    assert "Greeter short" in str(workshop.server.requests[-1].body)
    change(workshop, lambda company: company["inputs"].update(colour={"about": "Which.", "required": True}))
    folders = sorted(workshop.warehouse.iterdir())
    for more in ([], ["--from", PAGE], ["--task", "and a picture"]):
        refused = resume(workshop, stopped.folder, *more)
        assert refused.status == 2
        assert "now needs an input 'colour', which the run does not have; `--as-it-was`" in refused.err
        assert sorted(workshop.warehouse.iterdir()) == folders


def test_a_run_resumed_from_another_folder_finds_its_company(workshop: Shop, monkeypatch: pytest.MonkeyPatch,
                                                             tmp_path: Path) -> None:
    monkeypatch.chdir(workshop.folder)
    workshop.route({**REPLIES, PAGE: None})
    stopped = workshop.command("run", "TASK", "--company", "stage", "--warehouse", "warehouse")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    answered(workshop)
    resumed = resume(workshop, stopped.folder)
    resumed.assert_succeeded()
    assert activities(resumed)[-1] == "software.complete#1"


def test_a_company_is_found_again_by_its_name_or_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chatdev").mkdir()  # a folder that bears the name of a company, as in a checkout
    own = tmp_path / "company_config" / "own" / "company.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("company: own\nabout: Ours.\nextends: single\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert chatdev.Company.load("chatdev").source["name_or_path"] == "chatdev"
    assert chatdev.Company.load("own").source["name_or_path"] == str(own)
