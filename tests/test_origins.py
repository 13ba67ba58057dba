"""Which keys go to which addresses: every combination, as the page on the command line has it."""

from __future__ import annotations

import pytest

from chatdev.origins import Origin, Sourced, is_loopback, may_send, without_user

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
