"""Companies without software end as `value.check` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.studio import Studio
from tests.support.chat_server import ChatServer

SLOGAN = {"about": "Write a slogan.", "assistant": "maker", "reads": ["task"], "writes": "slogan", "opening": "SLOGAN"}
NAME = {**SLOGAN, "about": "Find a name.", "writes": "name", "opening": "NAME"}
REPLIES = {"slogan#1/round-1/assistant": "<SOLUTION>\nSleep on it.", "name#1/round-1/assistant": "<SOLUTION>\nGlow"}
INPUTS = {"task": {"about": "What to do.", "required": True}, "least_words": {"about": "Of it.", "default": "3"}}


def check(*reads: str, writes: str = "test") -> dict[str, Any]:
    return {"tool": "value.check", "reads": list(reads), "writes": writes}


@pytest.fixture
def studio(tmp_path: Path, chat_server: ChatServer) -> Studio:
    return Studio(tmp_path, chat_server)


@pytest.mark.parametrize(("least", "status"), [("3", "success"), ("4", "failure")])
def test_the_number_of_words_decides(studio: Studio, least: str, status: str) -> None:
    company = studio.company({"slogan": SLOGAN}, [{"phase": "slogan"}, check("slogan")], inputs=INPUTS,
                             success="test.passed")
    done = studio.run(company, REPLIES, inputs={"least_words": least})
    assert done.status == status, done.reason
    assert done.values["test"]["words"] == 3


def test_a_phase_that_is_left_out_is_no_success(studio: Studio) -> None:
    company = studio.company({"slogan": SLOGAN, "name": NAME},
                             [{"phase": "slogan"}, {"phase": "name"}, check("slogan?")], success="test.passed")
    done = studio.run(company, REPLIES, without=["slogan"])
    assert done.status == "failure"
    assert done.values["test"]["report"].startswith("There is no value to check")


@pytest.mark.parametrize(("without", "status"), [((), "success"), (("name",), "failure"), (("slogan",), "failure")])
def test_two_values_pass_together_or_not_at_all(studio: Studio, without: tuple[str, ...], status: str) -> None:
    company = studio.company({"slogan": SLOGAN, "name": NAME}, [
        {"phase": "slogan"}, {"phase": "name"}, check("slogan?", writes="described"), check("name?", writes="named"),
        check("described", "named")], success="test.passed")
    assert studio.run(company, REPLIES, without=without).status == status


def test_one_of_the_options_that_a_phase_wrote_passes(studio: Studio) -> None:
    listed = {**NAME, "writes": "options", "solution": {"form": "list"}}
    company = studio.company({"list": listed, "name": NAME},
                             [{"phase": "list"}, {"phase": "name"}, check("name", "options")], success="test.passed")
    done = studio.run(company, {**REPLIES, "list#1/round-1/assistant": "<SOLUTION>\n- Glow\n- Ember"})
    assert done.success, done.reason
