"""Wrong input is refused with a clear text before anything is paid or made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chatdev import Company, ScriptedModel
from chatdev.errors import ConfigError
from tests.support.shop import Shop


def refused(shop: Shop, *arguments: str) -> str:
    """What is said about arguments that must cost nothing."""
    outcome = shop.command(*arguments)
    assert outcome.status == 2, outcome.out + outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.folder is None
    assert shop.server.requests == []
    return outcome.err


def test_without_key_and_model_the_three_ways_to_go_on_are_named(shop: Shop) -> None:
    del shop.environment["OPENAI_API_KEY"], shop.environment["OPENAI_BASE_URL"]
    said = refused(shop, *shop.arguments())
    for way in ("OPENAI_API_KEY", "--base-url", "chatdev model pull"):
        assert way in said


def test_an_unknown_company_is_named_with_those_there_are(shop: Shop) -> None:
    said = refused(shop, "run", "TASK", "--company", "chatdeb")
    assert "chatdeb" in said
    assert "chatdev" in said


@pytest.mark.parametrize("arguments", [("--without", "chnge"), ("--set", "phases.chnge.rounds=3")])
def test_an_unknown_phase_is_named_with_the_nearest(shop: Shop, arguments: tuple[str, ...]) -> None:
    said = refused(shop, *shop.arguments(*arguments))
    assert "chnge" in said
    assert "change" in said


@pytest.mark.parametrize("task", ["", "  \n\t"])
def test_an_empty_task_asks_for_one(shop: Shop, task: str) -> None:
    said = refused(shop, "run", task, "--company", str(shop.company))
    assert "the task is empty" in said


def test_an_empty_task_file_asks_for_one(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "task.txt").write_text("\n")
    assert "the task is empty" in refused(shop, "run", f"@{tmp_path / 'task.txt'}", "--company", str(shop.company))


def test_a_task_file_that_is_not_utf8_is_refused_with_the_place(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "task.txt").write_bytes("gr\u00fc\u00df dich".encode("latin-1"))
    said = refused(shop, "run", "--task", f"@{tmp_path / 'task.txt'}", "--company", str(shop.company))
    assert "not UTF-8 text (its byte 2)" in said


def test_a_task_with_half_a_character_is_refused() -> None:
    with pytest.raises(ConfigError, match="'task' is not UTF-8 text .its characters are cut in half."):
        Company.load("single").run("a clock \ud83d", model=ScriptedModel({}))


def test_a_task_file_that_is_missing_is_named(shop: Shop) -> None:
    assert "nowhere.txt" in refused(shop, "run", "@nowhere.txt", "--company", str(shop.company))


def test_a_task_on_the_command_line_that_is_no_text_is_refused(shop: Shop) -> None:
    command = [sys.executable, "-m", "chatdev", "run", "--company", str(shop.company)]
    done = subprocess.run([*map(os.fsencode, command), b"gr\xfc\xdf dich"], env={**os.environ, **shop.environment},
                          capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert b"not UTF-8" in done.stderr


def test_a_task_given_twice_is_refused(shop: Shop) -> None:
    assert "twice" in refused(shop, "run", "one", "--task", "two")


@pytest.mark.parametrize("given", ["bench", "=x"])
def test_an_input_without_name_or_value_shows_how_to_write_it(shop: Shop, given: str) -> None:
    assert "NAME=VALUE" in refused(shop, *shop.arguments("--input", given))


def test_an_unknown_input_is_named_with_those_there_are(shop: Shop) -> None:
    said = refused(shop, *shop.arguments("--input", "tsk=x"))
    assert "unknown input 'tsk'" in said
    assert "did you mean 'task'" in said


def test_software_to_start_from_must_be_a_folder(shop: Shop) -> None:
    assert "no folder nowhere" in refused(shop, *shop.arguments("--path", "nowhere"))


def test_unknown_options_and_commands_are_clicks_business(shop: Shop) -> None:
    assert "No such option" in refused(shop, *shop.arguments("--nonsense"))
    assert "No such command" in refused(shop, "rnu")
