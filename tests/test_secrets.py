"""What is known as a secret, and how it is taken out of texts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.settings import Environ, keep_dotenvs
from chatdev.errors import ConfigError
from chatdev.journal import Journal, read_journal
from chatdev.safe_text import (
    PLACEHOLDER,
    StreamScrubber,
    keep_address,
    keep_secret,
    keep_variables,
    scrub,
    scrub_values,
)

KEY = "sk-unit-4f6a9b0c1d2e"
LIMIT = 20e-6  # seconds that a journal line may take longer


@pytest.mark.parametrize("value", ["", "x", "none", "EMPTY", "ollama", "lm-studio", "not-needed", "your-api-key",
                                   "changeme", "1234567890"])
def test_words_that_people_set_where_no_key_is_needed_stay_in_texts(value: str) -> None:
    keep_secret(value)
    assert scrub(f"say {value} twice") == f"say {value} twice"


@pytest.mark.parametrize("name", ["ACME_API_KEY", "acme_token", "DB_PASSWORD", "MY_SECRET", "SMTP_PASS", "API_KEYS",
                                  "MYSQL_PWD", "NPM_AUTH", "AWS_CREDENTIALS", "SESSION_COOKIE"])
def test_variables_named_like_secrets_are_secrets(name: str) -> None:
    value = f"v4lue-of-{name}"
    Environ({name: value})
    assert scrub(f"<{value}>") == f"<{PLACEHOLDER}>"


def test_other_variables_are_none_and_neither_are_paths() -> None:
    others = {"LANG": "en_US.UTF-8-lang", "KEYBOARD": "pc105-board-7", "OLDPWD": "not-a-word-7-9",
              "SSH_KEY": "/home/ann/.ssh/id_ed25519"}
    keep_variables(others)
    for value in others.values():
        assert scrub(value) == value


@pytest.mark.parametrize("line", [
    "API_KEY=v4lue-{n}", "export API_KEY='v4lue-{n}' # mine", 'API_KEY="v4lue-{n}"', "odd\nAPI_KEY = v4lue-{n} # mine",
    "API_KEY='v4lue-{n}' and more", "API_KEY=\"v4lue-{n}", "URL=https://ann:v4lue-{n}@host/x",
])
@pytest.mark.parametrize("path", [".env", "app/.env.local"])
def test_secrets_in_the_dotenvs_of_a_software_are_known(line: str, path: str) -> None:
    value = f"v4lue-{abs(hash((line, path)))}"
    keep_dotenvs({path: line.replace("v4lue-{n}", value).encode(), "main.py": b"API_KEY=1"})
    assert value not in scrub(f"<{value}>")


def test_a_dotenv_full_of_blanks_takes_no_time() -> None:
    started = time.monotonic()
    keep_dotenvs({".env": b"A=x" + b" \t" * 100_000 + b"y\nAPI_KEY=v4lue-behind-blanks"})
    assert time.monotonic() - started < 5
    assert scrub("v4lue-behind-blanks") == PLACEHOLDER


@pytest.mark.parametrize(("address", "shown"), [
    ("http://ann:hunter2@proxy:3128", "http://[secret]proxy:3128"),
    ("https://ann:p%40ss-w0rd-x@host/simple", "https://[secret]host/simple"),
    ("https://pypi-AgEIcHlwaS5vcmc@host/simple", "https://[secret]@host/simple"),
    ("https://host/v1?api-version=2024&api-key=q7w8e9r0t1", "https://host/v1?api-version=2024&api-key=[secret]"),
    ("https://host/plain?page=12345678901234567", "https://host/plain?page=12345678901234567"),
    ("git+ssh://git@host/repository", "git+ssh://git@host/repository"),
])
def test_addresses_lose_what_is_secret_in_them(address: str, shown: str) -> None:
    keep_variables({"ADDRESS": address})
    assert scrub(address) == shown


def test_each_line_of_a_private_key_is_a_secret_and_its_words_are_none() -> None:
    lines = [f"MIIEowIBAAKCAQEA{n}{'x7Q' * 15}" for n in range(3)]
    keep_variables({"APP_PRIVATE_KEY": "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END KEY-----"])})
    for line in lines:
        assert scrub(f"  | {line} |") == f"  | {PLACEHOLDER} |"
    assert scrub("-----BEGIN RSA PRIVATE KEY-----") == "-----BEGIN RSA PRIVATE KEY-----"


def test_a_password_is_known_in_every_form_it_is_written_in() -> None:
    keep_address("https://ann:p%40ss%22w0rd@host")
    for form in ("p%40ss%22w0rd", 'p@ss"w0rd', json.dumps('p@ss"w0rd'), "YW5uOnBAc3MidzByZA=="):
        assert "w0rd" not in scrub(form)
        assert PLACEHOLDER in scrub(form)


def test_a_secret_within_another_does_not_keep_the_longer_one_in_the_text() -> None:
    keep_secret("abc-12345678")
    keep_secret("abc-12345678-and-more")
    assert scrub("abc-12345678-and-more") == PLACEHOLDER


def test_values_keep_their_shape() -> None:
    keep_secret(KEY)
    assert scrub_values({KEY: [1, (f"a {KEY}", None)], "b": 2.5}) == {PLACEHOLDER: [1, (f"a {PLACEHOLDER}", None)],
                                                                        "b": 2.5}


@given(st.lists(st.sampled_from([KEY, KEY[:7], KEY[-5:], "s", "sk", " text ", "\n"]), max_size=12), st.data())
def test_a_text_in_pieces_loses_its_secrets_and_nothing_else(parts: list[str], data: st.DataObject) -> None:
    keep_secret(KEY)
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    shown: list[str] = []
    pieces = StreamScrubber(shown.append)
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        pieces.add(text[start:end])
    pieces.end()
    assert "".join(shown) == scrub(text)


def test_an_error_holds_no_secret_whatever_it_is_made_of() -> None:
    keep_secret(KEY)
    assert KEY not in repr(ConfigError(f"cannot use {KEY}"))


def test_the_journal_is_the_last_resort(tmp_path: Path) -> None:
    keep_secret(KEY)
    keep_secret(quoted := 'sk-"quoted"\\4f6a9b0c')
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append("Odd", f"at {KEY}", {"path": Path(f"/x/{quoted}"), KEY: f"{KEY} {quoted}", "n": 1})
    journal.close()
    (record,) = read_journal(journal.path)
    del record["time"]
    assert record == {"v": 1, "kind": "Odd", "place": f"at {PLACEHOLDER}", "path": f"/x/{PLACEHOLDER}",
                      PLACEHOLDER: f"{PLACEHOLDER} {PLACEHOLDER}", "n": 1}


MEASURE = """
import timeit
from chatdev.safe_text import holds_secret, keep_secret
for n in range(5):
    keep_secret(f"sk-of-many-{n}-4f6a9b0c1d2e")
line = "Nothing secret is said here. " * 100
assert not holds_secret(line)
print(min(timeit.repeat(lambda: holds_secret(line), number=500, repeat=5)) / 500)
"""


def test_looking_for_secrets_costs_a_journal_line_next_to_nothing() -> None:
    """In a process of its own: this one has met many secrets."""
    measured = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    assert float(measured.stdout) < LIMIT
