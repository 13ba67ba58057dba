"""`chatdev doctor` on this machine, on a machine that has nothing, and on a broken one."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.llm.local.weights import QWEN
from chatdev.paths import settings_file
from chatdev.workspace.languages import languages
from tests.support.chat_server import Scripted
from tests.support.shop import KEY, Outcome, Shop


@pytest.fixture
def poor(shop: Shop, here: Path) -> Shop:
    """A shop on a machine without a program, a key or a model, in an empty folder."""
    (here / "bin").mkdir()
    shop.environment = {"PATH": str(here / "bin"), "PYTHONPATH": os.pathsep.join(sys.path), "PIP_NO_INDEX": "1"}
    return shop


def doctor(shop: Shop, *arguments: str) -> Outcome:
    """In a process of its own: what a machine has is looked up once a process."""
    return shop.finish(shop.start("doctor", *arguments))


def findings(outcome: Outcome) -> Mapping[str, Mapping[str, Any]]:
    """By group and name."""
    return {f"{finding['group']}/{finding['name']}": finding for finding in json.loads(outcome.out)["findings"]}


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_here_a_run_is_possible_with_an_endpoint_that_answers(shop: Shop, here: Path) -> None:
    shop.environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    shop.server.lists = None
    shop.server.route(lambda _: Scripted(body={"data": []}))
    outcome = doctor(shop)
    assert outcome.status == 0, outcome.out
    assert "✓ bubblewrap" in outcome.out
    assert f"✓ endpoint      {shop.server.url} answers; model gpt-4o-mini" in outcome.out
    assert "✓ key           OPENAI_API_KEY is set in the environment" in outcome.out
    assert f"{here / 'warehouse'} (a run will make it)" in outcome.out.replace("\n" + " " * 18, " ")
    assert "A run is possible." in outcome.out
    assert not (here / "warehouse").exists()
    assert [request.method for request in shop.server.requests] == ["GET", "GET"], "is it there, and what has it"


def test_a_machine_that_has_nothing_is_told_how_to_get_everything(poor: Shop) -> None:
    outcome = doctor(poor)
    assert (outcome.status, outcome.err) == (1, "")
    assert "✗ bubblewrap" in outcome.out
    assert "– git           not installed" in outcome.out
    assert "✗ local model   not downloaded (1.1 GB, needs no key)  → chatdev model pull" in outcome.out
    assert "– Go            go not installed: not judged  → apt-get install golang-go" in outcome.out
    assert "No run is possible yet, for want of: sandbox, model." in outcome.out
    last = outcome.out.splitlines()[-1]
    assert "apt-get install git bubblewrap util-linux" in last
    for language in languages():
        assert language.install in last


def test_machines_read_the_same_as_json(poor: Shop) -> None:
    outcome = doctor(poor, "--json")
    answer = json.loads(outcome.out)
    assert (outcome.status, answer["possible"], answer["lacking"]) == (1, False, ["sandbox", "model"])
    found = findings(outcome)["this machine/git"]
    assert (found["state"], found["packages"], found["mend"]) == ("absent", ["git"], "apt-get install git")
    assert findings(outcome)["this machine/Python"]["state"] == "works"


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_no_key_and_no_password_is_shown(poor: Shop, here: Path, arguments: tuple[str, ...]) -> None:
    password = "a-pass-word-of-an-address"
    poor.environment |= {"AZURE_OPENAI_API_KEY": KEY, "OPENAI_API_KEY": f"{KEY} with a blank",
                         "OPENAI_BASE_URL": f"http://user:{password}@127.0.0.1:9/v1"}
    (here / ".env").write_text("A line that is no setting: sk-very-secret-indeed\n")
    outcome = doctor(poor, *arguments)
    assert outcome.status == 1
    for secret in (KEY, password, "sk-very-secret-indeed"):
        assert secret not in outcome.out + outcome.err


def test_a_server_that_refuses_the_key_gives_no_model(poor: Shop) -> None:
    poor.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": poor.server.url}
    poor.server.lists = None
    poor.server.script(Scripted(status=401, body={"error": f"{KEY} is no key of mine"}))
    outcome = doctor(poor)
    assert f"✗ endpoint      {poor.server.url} refuses the key (401)" in outcome.out
    assert KEY not in outcome.out


def test_broken_settings_are_findings_and_stop_nothing(poor: Shop) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("modl: x\n")
    outcome = doctor(poor, "--json")
    found = findings(outcome)["this machine/settings"]
    assert found["state"] == "broken"
    assert "settings.yaml:1: modl" in found["detail"]
    assert "settings" in json.loads(outcome.out)["lacking"]


def test_a_warehouse_that_cannot_be_written_is_found(poor: Shop) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("warehouse: /dev/null/runs\n")
    found = findings(doctor(poor, "--json"))["this machine/warehouse"]
    assert (found["state"], found["detail"]) == ("broken", "cannot write /dev/null: Not a directory")
    assert "--warehouse" in found["mend"]


def test_a_model_file_of_other_bytes_is_found(poor: Shop, tmp_path: Path) -> None:
    poor.environment["CHATDEV_CACHE"] = str(tmp_path)
    (tmp_path / "models").mkdir()
    with (tmp_path / "models" / QWEN.file).open("wb") as file:
        file.truncate(QWEN.size)
    found = findings(doctor(poor, "--json"))["models/local model"]
    assert found["state"] in ("broken", "absent")  # absent: without llama.cpp its bytes are not read
    assert "SHA-256 differs" in found["detail"] or "llama.cpp is not installed" in found["detail"]


def test_an_output_that_knows_few_signs_gets_plain_ones(poor: Shop) -> None:
    poor.environment["PYTHONIOENCODING"] = "latin-1"
    outcome = doctor(poor)
    assert "  - git           not installed" in outcome.out
    assert re.search(r"  - terminal      \S+: characters that it lacks are shown as \?", outcome.out)
    assert "?  git" not in outcome.out


def test_a_narrow_terminal_gets_short_lines_and_whole_commands(poor: Shop) -> None:
    poor.environment["COLUMNS"] = "60"
    lines = doctor(poor).out.splitlines()
    assert all(len(line) <= 60 for line in lines if "apt-get" not in line and "/" not in line)
    assert " " * 18 + "→ apt-get install golang-go" in lines
