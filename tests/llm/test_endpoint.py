"""Addresses and keys: what can be none is refused at once, and no key shows."""

import pytest

from chatdev.errors import ConfigError
from chatdev.llm.endpoint import Endpoint
from chatdev.llm.openai_model import OpenAIModel
from chatdev.secrets import scrub

KEY = "sk-very-secret-key"


def test_the_key_is_in_no_repr() -> None:
    assert KEY not in repr(Endpoint("http://x/v1", KEY))
    assert KEY not in str(vars(OpenAIModel(Endpoint("http://x/v1", KEY))))


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://x/v1", "http://", "http://[bad/v1", "http://a b/v1",
                                 "http://x:99999/v1", "http://x:port/v1", "http://x\n/v1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="http://localhost:8000/v1"):
        Endpoint(url, KEY)


@pytest.mark.parametrize("key", [f"{KEY} x", f"“{KEY}”", f"{KEY}\n", f"{KEY}\udc80"])
def test_what_can_be_no_key_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="copy the key again") as caught:
        Endpoint(None, key)
    assert KEY not in str(caught.value)


def test_the_user_in_an_address_goes_into_a_header_and_shows_nowhere() -> None:
    endpoint = Endpoint("https://ann:p%40ss-word-7@host:8/v1?v=1", KEY)
    assert endpoint.address == "https://host:8/v1?v=1"
    assert endpoint.user == ("ann", "p@ss-word-7")
    assert Endpoint("https://host/v1", KEY).user is None
    assert scrub(f"{endpoint.url} p@ss-word-7 {KEY}") == "https://[secret]host:8/v1?v=1 [secret] [secret]"


def test_only_this_machine_is_local() -> None:
    assert Endpoint("http://127.0.0.1:1/v1", "").is_local
    assert Endpoint("http://[::1]:1/v1", "").is_local
    assert not Endpoint("https://localhost.example.org/v1", "").is_local
    assert not Endpoint(None, KEY).is_local
