"""Which key goes to which address: through the real client, for every combination that can occur."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatdev.connection import Endpoint, Origin, Sourced, is_loopback, is_official
from chatdev.errors import ConfigError, ConsentMissing, MissingModel
from chatdev.llm.registry import Models
from chatdev.llm.transport import completions_address
from tests.llm.asking import ASK, complete
from tests.support.chat_server import ChatServer

FLAG, SET, ENVIRONMENT, SETTINGS = Origin.FLAG, Origin.SET, Origin.ENVIRONMENT, Origin.SETTINGS
DOTENV, COMPANY, RECORD = Origin.DOTENV, Origin.COMPANY, Origin.RECORD
USERS = (FLAG, SET, ENVIRONMENT, SETTINGS)
EXPORTED, OF_FILE, GIVEN, OTHER = "sk-exported-0123", "sk-of-the-file-0123", "sk-given-012345", "sk-other-0123456"
HOST = "https://host.example/v1"
AZURE = "https://x.openai.azure.com"


def models(process: Mapping[str, str] | None = None, folder: Mapping[str, str] | None = None, *,
           api_key: str | None = None) -> Models:
    """Models whose strangers are all trusted: what is withheld then is withheld for ever."""
    made = Models(process or {}, folder=folder or {}, api_key=api_key)
    made.allow((DOTENV, COMPANY))
    return made


PROCESS, FOLDER = {"OPENAI_API_KEY": EXPORTED}, {"OPENAI_API_KEY": OF_FILE}
BOTH = (PROCESS, FOLDER)


@pytest.mark.parametrize(("process", "folder", "address", "key"), [
    *((PROCESS, {}, origin, EXPORTED) for origin in USERS), (PROCESS, {}, None, EXPORTED),
    (PROCESS, {}, DOTENV, ""), (PROCESS, {}, COMPANY, ""),
    *((*BOTH, origin, EXPORTED) for origin in USERS), (*BOTH, None, EXPORTED), (*BOTH, DOTENV, OF_FILE),
    (*BOTH, COMPANY, ""),
    *(({}, FOLDER, origin, OF_FILE) for origin in (FLAG, SET, DOTENV)), ({}, FOLDER, None, OF_FILE),
    *(({}, FOLDER, origin, "") for origin in (ENVIRONMENT, SETTINGS, COMPANY)),
])
def test_the_usual_key_goes_where_it_belongs(process: Mapping[str, str], folder: Mapping[str, str],
                                             address: Origin | None, key: str) -> None:
    assert models(process, folder).endpoint(address and Sourced(HOST, address)).key == key


@pytest.mark.parametrize(("address", "key"), [*((origin, GIVEN) for origin in USERS), (None, GIVEN), (DOTENV, OF_FILE),
                                              (COMPANY, "")])
def test_a_key_that_is_given_goes_to_the_users_addresses(address: Origin | None, key: str) -> None:
    assert models(*BOTH, api_key=GIVEN).endpoint(address and Sourced(HOST, address)).key == key


@pytest.mark.parametrize(("place", "address", "goes"), [
    *((ENVIRONMENT, origin, True) for origin in (*USERS, COMPANY)), (ENVIRONMENT, DOTENV, False),
    *((DOTENV, origin, True) for origin in (*USERS, COMPANY, DOTENV))])
def test_a_key_that_is_named_goes_where_its_namer_says(place: Origin, address: Origin, goes: bool) -> None:
    variables = {"OTHER": OTHER, "OPENAI_API_KEY": EXPORTED}
    found = models(variables) if place is ENVIRONMENT else models(folder=variables)
    named = Sourced("OTHER", COMPANY)
    if goes:
        assert found.endpoint(Sourced(HOST, address), named).key == OTHER
    else:
        with pytest.raises(MissingModel, match=r"OTHER of the environment does not go to https://host\.example/v1"):
            found.endpoint(Sourced(HOST, address), named)


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "https://API.openai.com/v1/"])
def test_openais_own_address_is_the_default_whoever_says_it(address: str) -> None:
    for origin in (DOTENV, COMPANY):
        assert models(PROCESS).endpoint(Sourced(address, origin)).key == EXPORTED
    assert Models(PROCESS, folder={"OPENAI_BASE_URL": address}).endpoint(None).key == EXPORTED  # what is usual anyway
    with pytest.raises(ConsentMissing):
        Models(PROCESS).endpoint(Sourced(address, COMPANY))  # this user may have a model of his own


@pytest.mark.parametrize("address", ["http://api.openai.com/v1", "https://api.openai.com:444/v1", "https://[",
                                     "https://a@api.openai.com/v1", "https://api.openai.com.evil.example/v1"])
def test_what_only_looks_like_openai_is_not(address: str) -> None:
    with pytest.raises(ConsentMissing):
        Models(PROCESS, folder={"OPENAI_BASE_URL": address}).endpoint(None)


def test_azure_of_dotenv_gets_no_exported_key() -> None:
    folder = {"AZURE_OPENAI_ENDPOINT": AZURE}
    for name in ("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"):
        with pytest.raises(MissingModel, match=f"{name} of the environment does not go to {AZURE}, which .env names"):
            models({name: EXPORTED}, folder).endpoint(None)
        assert models({name: EXPORTED}, {**folder, name: OF_FILE}).endpoint(None).key == OF_FILE
    with pytest.raises(ConsentMissing, match="with your consent"):
        Models({}, folder={**folder, "AZURE_OPENAI_API_KEY": OF_FILE}).endpoint(None)


def test_the_users_own_azure_goes_before_an_address_of_dotenv() -> None:
    process = {"AZURE_OPENAI_ENDPOINT": AZURE, "AZURE_OPENAI_API_KEY": EXPORTED}
    found = Models(process, folder={"OPENAI_BASE_URL": HOST})
    assert found.endpoint(Sourced(HOST, DOTENV)) == found.endpoint(None)
    assert found.endpoint(None).url == AZURE


@pytest.mark.parametrize(("origin", "address", "named", "asks"), [
    *((origin, HOST, None, False) for origin in USERS), (DOTENV, HOST, None, True), (COMPANY, HOST, None, True),
    (RECORD, HOST, None, True), (DOTENV, "http://127.0.0.1:9/v1", None, False),
    (COMPANY, "http://localhost:9/v1", None, False), (COMPANY, "http://localhost:9/v1", COMPANY, True),
    (FLAG, HOST, COMPANY, True), (FLAG, HOST, SET, False), (COMPANY, HOST, SET, True)])
def test_what_a_stranger_names_needs_consent(origin: Origin, address: str, named: Origin | None, asks: bool) -> None:
    found = Models({"OTHER": OTHER})
    key = named and Sourced("OTHER", named)
    if asks:
        with pytest.raises(ConsentMissing, match="consent"):
            found.get("m", Sourced(address, origin), key)
    found.allow(Origin)
    if origin is not RECORD:
        assert found.get("m", Sourced(address, origin), key)[1] == "m"


def test_no_key_goes_where_only_a_journal_says() -> None:
    found = models({"OPENAI_API_KEY": EXPORTED, "OTHER": OTHER}, {"OPENAI_API_KEY": OF_FILE}, api_key=GIVEN)
    found.allow([RECORD])
    assert found.endpoint(Sourced(HOST, RECORD)).key == ""


@pytest.mark.parametrize("origin", [DOTENV, COMPANY])
def test_a_file_of_a_model_needs_consent_too(origin: Origin) -> None:
    with pytest.raises(ConsentMissing, match=r"local:evil\.gguf"):
        Models({}).get(Sourced("local:evil.gguf", origin))
    with pytest.raises(MissingModel):
        Models({}).get(Sourced("local", origin))  # ours, were it installed
    with pytest.raises(MissingModel, match="cannot read"):
        models().get(Sourced("local:evil.gguf", origin))


def test_what_the_environment_adds_to_requests_stays_out(chat_server: ChatServer,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"OPENAI_CUSTOM_HEADERS": "X-Gateway: tok-of-mine-0123\nAuthorization: Bearer tok-of-mine-0123",
             "OPENAI_ORG_ID": "org-of-mine-0123", "OPENAI_PROJECT_ID": "proj-of-mine-0123",
             "OPENAI_ADMIN_KEY": "adm-of-mine-0123", "AZURE_OPENAI_AD_TOKEN": "ad-of-mine-0123"}
    for name, value in extra.items():
        monkeypatch.setenv(name, value)
    chat_server.route(lambda _: "fine")

    async def ask(version: str | None) -> None:
        found = models({}, {"OPENAI_BASE_URL": chat_server.url, "AZURE_OPENAI_API_KEY": OF_FILE,
                            **({"AZURE_OPENAI_ENDPOINT": chat_server.url} if version else {})})
        try:
            await found.get("m")[0].complete(ASK)
        finally:
            await found.close()

    for version in (None, "2024-10-21"):
        asyncio.run(ask(version))
    assert len(chat_server.requests) == 2
    assert "of-mine" not in str([request.headers for request in chat_server.requests])
    complete(chat_server)
    assert "X-Gateway" in {name.title() for name in chat_server.requests[2].headers}


PIECES = st.sampled_from(["127.0.0.1", "localhost", "evil.example", "@", "/", "\\", "?", "#", ":", "[", "]", "::1", "%",
                          "%40", "%2f", ".", "8", "\u3002", "\uff0e", "\u2100", ";", "a"])


@given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
@example("127.0.0.1\\@evil.example").via("a browser would ask the first")
@example("evil.example\\@127.0.0.1/v1")
@example("127.0.0.1%2f@evil.example")
def test_what_counts_as_this_machine_is_what_is_asked(rest: str) -> None:
    """The client reads addresses in its own way; a disagreement would send prompts to somebody unasked."""
    address = f"http://{rest}"
    if is_loopback(address) or is_official(address):
        with suppress(ConfigError):
            asked = completions_address(Endpoint(address, ""), "m")
            assert asked.host in ("127.0.0.1", "localhost", "::1")


def test_a_connection_is_shown_without_secrets() -> None:
    found = models({"OPENAI_API_KEY": EXPORTED}, {"OPENAI_BASE_URL": "https://ann:pw-0123456@host.example/v1"})
    assert str(found.connect("m")) == "https://host.example/v1 (.env), the user and password in the address"
    assert str(models(PROCESS).connect("m")) == "https://api.openai.com/v1, key OPENAI_API_KEY of the environment"
    withheld = models(PROCESS, {"OPENAI_BASE_URL": HOST}).connect("m")
    assert str(withheld) == f"{HOST} (.env), no key (OPENAI_API_KEY of the environment is not for an address of .env)"
    assert EXPORTED not in repr(withheld)
    assert str(models().connect("local")) == "local, on this machine"
