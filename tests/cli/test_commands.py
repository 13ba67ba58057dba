"""The commands beside `run`: companies, check, play, model; and the pages that document them all."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pytest
import yaml

from chatdev.cli.app import OWN, command_line
from chatdev.department import load
from tests.support.help_docs import PAGE, REFERENCE, pages
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Shop


def test_the_reference_of_the_commands_is_up_to_date() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in REFERENCE.iterdir()}
    assert written == pages(), "run scripts/help_docs"


def test_the_page_on_the_command_line_names_every_command() -> None:
    page = PAGE.read_text(encoding="utf-8")
    linked = re.findall(r"\]\(reference/([\w.-]+)(?:#chatdev-(\w+))?\)", page)
    named = {command or name.removesuffix(".md") for name, command in linked} - {"README"}
    group = command_line
    assert named == set(group.list_commands(click.Context(group)))


def test_companies_lists_those_here_and_the_bundled_ones(shop: Shop, here: Path) -> None:
    shutil.copytree(shop.company, here / "company_config" / "stage")
    (here / "company_config" / "broken").mkdir()
    (here / "company_config" / "broken" / "company.yaml").write_text("company: broken\n")
    listed = shop.command("companies")
    assert listed.status == 0
    assert listed.out.startswith("chatdev  the default\n")
    assert str(here) not in listed.out
    assert "stage  ./company_config/stage\n" in listed.out
    assert "phases: write → change" in listed.out
    assert "demand_analysis → " in listed.out
    assert "after Qian et al." in listed.out
    assert "cannot be loaded:" in listed.out


def test_check_accepts_the_bundled_company_by_name(shop: Shop) -> None:
    outcome = shop.command("check")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("OK chatdev: 7 roles")


def test_check_draws_the_chain(shop: Shop) -> None:
    outcome = shop.command("check", str(shop.company), "--graph")
    assert "├─ write: Chief ⇄ Maker → software" in outcome.out
    assert "└─ tool software.complete → test" in outcome.out
    assert "success: test.passed" in outcome.out


@pytest.mark.tool
@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_check_draws_the_chain_into_a_picture(shop: Shop, tmp_path: Path, suffix: str, start: bytes) -> None:
    picture = tmp_path / f"chain.{suffix}"
    outcome = shop.command("check", str(shop.company), "--picture", str(picture))
    assert outcome.status == 0, outcome.err
    assert picture.read_bytes().startswith(start)


def test_check_refuses_a_picture_of_another_kind(shop: Shop, tmp_path: Path) -> None:
    outcome = shop.command("check", str(shop.company), "--picture", str(tmp_path / "chain.bmp"))
    assert outcome.status == 2
    assert ".svg" in outcome.err


def test_check_names_every_mistake_with_file_and_field(shop: Shop) -> None:
    file = shop.company / "company.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    content["phases"]["write"]["assistant"] = "makr"
    content["chain"][1]["phase"] = "chnge"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    outcome = shop.command("check", str(shop.company))
    assert outcome.status == 2
    assert "phases.write.assistant" in outcome.err
    assert "chnge" in outcome.err
    assert outcome.err.count("company.yaml:") == 2


def test_check_of_nothing_says_so(shop: Shop) -> None:
    assert shop.command("check", "nowhere/at/all").status == 2


def folder_of(shop: Shop, code: str) -> str:
    """A folder of software that consists of one program."""
    folder = shop.folder / "program"
    folder.mkdir()
    (folder / "main.py").write_text(code, encoding="utf-8")
    return str(folder)


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_play_starts_a_program_in_the_sandbox_and_exits_as_it_does(shop: Shop) -> None:
    code = "import os, sys\nprint('played', sys.argv[1:], os.environ.get('OPENAI_API_KEY'))\nsys.exit(3)\n"
    folder = folder_of(shop, code)
    outcome = shop.finish(shop.start("play", folder, "add", "--count", "2", "--help"))
    assert outcome.out == "played ['add', '--count', '2', '--help'] None\n"
    assert outcome.status == 3


@pytest.mark.tool
def test_play_starts_the_software_of_a_run(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: BETTER})
    run = shop.run()
    run.assert_succeeded()
    outcome = shop.finish(shop.start("play", "--sandbox", "none", str(run.folder)))
    assert outcome.out == "better\n"
    assert outcome.status == 0


def test_play_needs_a_folder_with_a_program(shop: Shop) -> None:
    missing = shop.command("play", "nowhere")
    assert missing.status == 2
    assert "no folder nowhere" in missing.err
    empty = shop.command("play", "--sandbox", "none", str(shop.company))
    assert empty.status == 4
    assert "no Python program" in empty.err


def test_play_does_not_start_what_does_not_compile(shop: Shop) -> None:
    outcome = shop.command("play", "--sandbox", "none", folder_of(shop, "def (:\n"))
    assert outcome.status == 4
    assert "main.py:1 does not compile" in outcome.err


def test_model_status_says_whether_the_local_model_is_here(shop: Shop) -> None:
    outcome = shop.command("model", "status")
    assert outcome.status == 1
    assert "chatdev model pull" in outcome.out


def test_a_missing_gguf_is_refused(shop: Shop) -> None:
    outcome = shop.command("model", "pull", "--file", "nowhere.gguf")
    assert outcome.status in (2, 4)
    assert "nowhere.gguf" in outcome.err
    assert "Traceback" not in outcome.err


def test_a_settings_file_that_is_broken_is_named(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "chatdev").mkdir()
    (tmp_path / "chatdev" / "settings.yaml").write_text("modl: x\n")
    outcome = shop.run()
    assert outcome.status == 2
    assert "settings.yaml:1" in outcome.err


def test_each_command_of_the_core_has_the_name_it_is_called_by() -> None:
    loaded = {name: load(row.path, name) for name, row in OWN.items()}
    assert {name: command.name for name, command in loaded.items()} == {name: name for name in OWN}
    assert all(len(row.about) < 66 and row.about.endswith(".") for row in OWN.values())
