"""`chatdev new`: what it writes is sound, and passes its own test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from chatdev import Company
from chatdev.cli.app import command_line
from chatdev.department import installed_companies
from tests.support.copies import run_module


def invoke(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line, arguments)
    return done.exit_code, done.output


def passes_its_test(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
                          capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("arguments", [(), ("--extends", "chatdev"), ("--extends", "top")], ids=str)
def test_a_new_company_is_sound_and_passes_its_test(here: Path, arguments: tuple[str, ...]) -> None:
    status, said = invoke("new", "company", "my-own", *arguments)
    assert status == 0, said
    assert "wrote company_config/my-own/company.yaml" in said
    assert invoke("check", "my-own")[1].startswith("OK my-own")
    assert not Company.load("my-own").warnings
    passes_its_test(here / "company_config" / "my-own")


@pytest.mark.parametrize("base", sorted(installed_companies()))
def test_every_company_can_be_extended_by_a_new_one(here: Path, base: str) -> None:
    assert invoke("new", "company", "own", "--extends", base)[0] == 0
    assert "critique" in Company.load("own").config.phases


def test_a_new_tool_passes_its_test(here: Path) -> None:
    status, said = invoke("new", "tool", "line_length")
    assert status == 0, said
    passes_its_test(here / "line_length")


def test_a_new_tool_is_known_once_its_package_is_installed(here: Path) -> None:
    invoke("new", "tool", "line_length")
    metadata = here / "line_length" / "line_length-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: line-length\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[chatdev.tools]\nline_length.check = line_length:check\n")
    invoke("new", "company", "own")
    file = here / "company_config" / "own" / "company.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("feedback: software.run ", "guard: line_length.check "),
                    encoding="utf-8")
    known = run_module("chatdev", "check", "own", env={**os.environ, "PYTHONPATH": str(here / "line_length")})
    assert known.stdout.startswith("OK own"), known.stderr
    unknown = run_module("chatdev", "check", "own")
    assert "there is no tool 'line_length.check'" in unknown.stderr


@pytest.mark.parametrize(("arguments", "message"), [
    (("company", "chatdev"), "'chatdev' is a company that comes with chatdev; take another name (to change that one: "),
    (("company", "../own"), "'../own' cannot name a company"),
    (("company", ""), "'' cannot name a company"),
    (("company", "own", "--extends", "chatdv"), "--extends chatdv: a new company extends an installed one: "),
    (("company", "full", "--to", "full"), "full is there already, and nothing is overwritten"),
    (("tool", "json"), "there is a module 'json' already"),
    (("tool", "line-length"), "'line-length' cannot name a module of Python"),
    (("tool", "class"), "'class' cannot name a module of Python"),
    (("tool", "full"), "full is there already, and nothing is overwritten"),
])
def test_a_name_that_cannot_be_is_refused(here: Path, arguments: tuple[str, ...], message: str) -> None:
    (here / "full").mkdir()
    (here / "full" / "mine.txt").write_text("mine")
    status, said = invoke("new", *arguments)
    assert status == 2, said
    assert message in said
    assert [path.name for path in here.rglob("*")] == ["full", "mine.txt"]
