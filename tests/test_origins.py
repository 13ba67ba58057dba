"""Which keys go to which addresses: every combination, as the page on the command line has it."""

from __future__ import annotations

import pytest

from chatdev.connection import Origin, Sourced, is_loopback, may_send, without_user
from tests.support.help_docs import PAGE

FLAG, SET, ENVIRONMENT, SETTINGS, DEFAULT = Origin.FLAG, Origin.SET, Origin.ENVIRONMENT, Origin.SETTINGS, Origin.DEFAULT
DOTENV, COMPANY, RECORD = Origin.DOTENV, Origin.COMPANY, Origin.RECORD
USERS = {FLAG, SET, ENVIRONMENT, SETTINGS, DEFAULT}
ALLOWED = {
    FLAG: USERS,
    ENVIRONMENT: USERS,
    DOTENV: {DOTENV, DEFAULT, FLAG, SET},
}
NAMED = {
    ENVIRONMENT: USERS | {COMPANY},
    DOTENV: USERS | {COMPANY, DOTENV},
}


@pytest.mark.parametrize("address", Origin)
@pytest.mark.parametrize("key", Origin)
def test_a_key_goes_only_to_the_address_that_it_belongs_to(key: Origin, address: Origin) -> None:
    assert may_send(key, address) == (address in ALLOWED.get(key, ()))
    if key in NAMED:
        assert may_send(key, address, named=True) == (address in NAMED[key])


ROWS = {"`--base-url`, `--set`": {FLAG, SET}, "the environment, the settings file": {ENVIRONMENT, SETTINGS},
        "`.env`": {DOTENV}, "a company (`model: {base_url: …}`)": {COMPANY}, "the journal of an earlier run": {RECORD},
        "none is named, or OpenAI's own": {DEFAULT}}


def test_the_page_on_the_command_line_has_the_same_table() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## Which key goes where")[1].split("\\* With")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line][2:]
    assert [row[0] for row in rows] == list(ROWS)
    for name, *cells in rows:
        for address in ROWS[name]:
            usual = [may_send(key, address) for key in (FLAG, ENVIRONMENT, DOTENV)]
            assert [cell == "yes" for cell in cells[:3]] == usual
            named = (may_send(ENVIRONMENT, address, named=True), may_send(DOTENV, address, named=True))
            assert cells[3].partition(" ")[0] == {(True, True): "yes", (False, True): "only"}.get(named, "no")


def test_what_a_stranger_may_have_written_is_not_the_users_word() -> None:
    assert {origin for origin in Origin if not origin.is_users} == {DOTENV, COMPANY, RECORD}
    assert Sourced("http://x", DOTENV) != Sourced("http://x", FLAG)


@pytest.mark.parametrize(("address", "here"), [
    ("http://127.0.0.1:1/v1", True), ("http://localhost/v1", True), ("http://[::1]:8/v1", True),
    ("http://u:p@127.0.0.1/v1", True), ("http://127.0.0.1@evil.example/v1", False),
    ("http://127.0.0.1.evil.example/v1", False), ("http://localhost.evil.example", False),
    ("http://[::1", False), ("127.0.0.1", False), ("http://evil.example/127.0.0.1", False),
    ("http://evil.example#@localhost/", False), ("http://evil.example?@localhost/", False)])
def test_only_this_machine_is_this_machine(address: str, here: bool) -> None:
    assert is_loopback(address) == here


def test_an_address_is_shown_without_its_secrets() -> None:
    assert without_user("https://ann:pw@host.example:8/v1?key=abc") == "https://host.example:8/v1"
    assert "pw" not in without_user("http://ann:pw@[::1")


def test_a_host_that_looks_like_another_is_shown_as_what_it_is() -> None:
    assert without_user("https://api.\u043epenai.com:8/v1") == "https://api.\\u043epenai.com:8/v1"
