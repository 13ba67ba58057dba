"""`chatdev trust`, the question at a terminal, and what `run`, `check` and `companies` say beforehand."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from chatdev.cli import company_commands, people
from chatdev.config.settings import Trust, add_trust, read_trust, remove_trust
from chatdev.errors import ConfigError
from chatdev.paths import trust_file
from tests.engine.studio import WRITE, Studio
from tests.support.shop import HELLO, Shop

KEY = "acme-key-0123456789"


@pytest.fixture
def stage(shop: Shop, here: Path) -> Shop:
    """A shop in the working directory, whose company wants a key for an address that does not count as this machine."""
    shop.environment |= {"ACME_KEY": KEY}
    del shop.environment["OPENAI_BASE_URL"]
    shop.server.route(lambda _: HELLO)
    grasp(shop)
    return shop


def grasp(shop: Shop, **model: str) -> None:
    address = shop.server.url.replace("127.0.0.1", "0.0.0.0")
    Studio(shop.folder, shop.server).company({"write": WRITE}, success="test is defined",
                                             model={"name": "m", "base_url": address, "key_env": "ACME_KEY", **model})


def answer(monkeypatch: pytest.MonkeyPatch, *typed: str) -> list[str]:
    """Somebody at a terminal types these; who was asked about."""
    lines, asked = list(typed), []

    def ask(stranger: Any) -> bool:
        asked.append(stranger.describe())
        return lines.pop(0) == "y"

    for module in (company_commands, people):
        monkeypatch.setattr(module, "can_ask_person", lambda: True)
        monkeypatch.setattr(module, "is_allowed", ask)
    return asked


def test_where_nobody_can_be_asked_the_command_is_given(stage: Shop) -> None:
    outcome = stage.run()
    assert outcome.status == 2
    assert outcome.folder is None
    assert not stage.server.requests
    assert "with the key in your variable ACME_KEY" in outcome.err
    assert f"chatdev trust {stage.company / 'company.yaml'}" in outcome.err
    assert "--trust" in outcome.err
    assert KEY not in outcome.out + outcome.err
    stage.run("--trust", "--sandbox", "none").assert_succeeded()
    assert not trust_file().exists()


def test_trust_is_shown_kept_listed_and_taken_back(stage: Shop) -> None:
    given = stage.command("trust", str(stage.company))
    assert (given.status, given.err) == (0, "")
    assert "ACME_KEY" in given.out
    stage.run("--sandbox", "none").assert_succeeded()
    assert trust_file().stat().st_mode & 0o777 == 0o600
    listed = stage.command("trust", "--list").out
    assert "company stage" in listed
    assert "with the key in your variable ACME_KEY" in listed
    assert "no longer trusted" in stage.command("trust", "--remove", str(stage.company / "company.yaml")).out
    assert stage.command("trust", "--list").out == ""
    assert stage.run().status == 2
    assert "nothing is trusted under 'stage'" in stage.command("trust", "--remove", "stage").err


@pytest.mark.parametrize(("typed", "status"), [("y", 0), ("n", 2), ("", 2)])
def test_a_person_is_asked_once(stage: Shop, monkeypatch: pytest.MonkeyPatch, typed: str, status: int) -> None:
    asked = answer(monkeypatch, typed)
    first = stage.run("--sandbox", "none")
    assert first.status == status, first.err
    assert len(asked) == 1
    assert bool(stage.server.requests) == (status == 0)
    if status == 0:
        stage.run("--sandbox", "none").assert_succeeded()
        assert len(asked) == 1


@pytest.mark.parametrize(("typed", "agreed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False),
                                               ("", False), ("yeah\n", False)])
def test_only_yes_is_yes(stage: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str,
                         agreed: bool) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert people.is_allowed(company_commands.find_stranger(str(stage.company))) == agreed
    assert "Allow this, until it changes? [y/N] " in capsys.readouterr().err


def test_a_dotenv_is_trusted_by_its_folder(stage: Shop, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Studio(stage.folder, stage.server).company({"write": WRITE}, success="test is defined")
    (here / ".env").write_text("OPENAI_BASE_URL=http://127.2/v1\n")
    assert f"chatdev trust {here / '.env'}" in stage.run("--model", "m").err
    asked = answer(monkeypatch, "n", "y")
    assert stage.command("trust").status == 1
    assert stage.command("trust", str(here)).status == 0
    assert asked[0] == asked[1]
    assert "needs your consent" not in stage.command("check", str(stage.company)).out


@pytest.mark.parametrize(("arguments", "said"), [
    (["chatdev"], "names nothing that needs your consent"), (["."], "there is no .env"), (["nobody"], "no company"),
    (["chatdev", "--list"], "give one of"), (["--remove", "x", "--list"], "give one of")])
def test_what_cannot_be_trusted_is_said(stage: Shop, arguments: list[str], said: str) -> None:
    outcome = stage.command("trust", *arguments)
    assert said in outcome.out + outcome.err
    assert not trust_file().exists()


@pytest.mark.parametrize("command", ["check", "run", "dry"])
def test_model_address_and_name_of_the_key_are_shown(stage: Shop, command: str) -> None:
    arguments = {"check": ["check", str(stage.company)], "run": stage.arguments(), "dry": stage.arguments("--dry-run")}
    outcome = stage.command(*arguments[command])
    line = next(line for line in outcome.out.splitlines() if line.startswith("model m at http://0.0.0.0:"))
    assert "(the company), key ACME_KEY of the environment; needs your consent: chatdev trust " in line
    assert KEY not in outcome.out + outcome.err


def test_a_namesake_of_a_bundled_company_is_said_and_not_taken(stage: Shop, here: Path) -> None:
    own = here / "company_config" / "chatdev"
    own.mkdir(parents=True)
    (own / "company.yaml").write_text("company: evil\n")
    note = "company chatdev: the installed one, not ./company_config/chatdev; for that one, give the path"
    for arguments in (["companies"], ["check"], ["run", "x", "--dry-run"]):
        outcome = stage.command(*arguments)
        assert (outcome.status, outcome.err.count(note)) == (0, 1), outcome.err
    assert "evil" not in stage.command("check").out


@pytest.mark.parametrize("text", [
    "{", "[]", '{"trusted": 3}', '{"trusted": [{"kind": "x"}]}', "[" * 100_000, "\xff",
    json.dumps({"trusted": [{"kind": "", "name": "", "place": "", "digest": 3, "names": [], "given": ""}]})])
def test_a_broken_record_trusts_nobody(stage: Shop, text: str) -> None:
    trust_file().parent.mkdir(parents=True)
    trust_file().write_bytes(text.encode("latin-1"))
    trust_file().chmod(0o600)
    outcome = stage.run()
    assert outcome.status == 2
    assert "is broken" in outcome.err
    assert not stage.server.requests
    assert stage.command("trust", str(stage.company)).status == 2


def test_a_record_that_others_may_write_trusts_nobody(stage: Shop) -> None:
    stage.command("trust", str(stage.company))
    trust_file().chmod(0o660)
    assert "can be written by others" in stage.run().err
    trust_file().unlink()
    os.mkfifo(trust_file())
    assert "no plain file" in stage.run().err
    assert not stage.server.requests


def test_a_record_is_replaced_as_a_whole(here: Path) -> None:
    one, two = (Trust("company", name, f"/{name}", name * 40, ("a",), "2026-01-01") for name in "ab")
    add_trust(one)
    add_trust(two)
    add_trust(one)
    assert read_trust() == [two, one]
    assert remove_trust("a" * 12) == [one]
    assert [path.name for path in trust_file().parent.iterdir()] == ["trust.json"]
    trust_file().unlink()
    trust_file().parent.rmdir()
    trust_file().parent.symlink_to(here / "nowhere")
    with pytest.raises(ConfigError, match="cannot be kept in .*--trust"):
        add_trust(one)
