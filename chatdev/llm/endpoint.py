"""Endpoint of a model: its address, its hidden key, and whether a server answers."""

from __future__ import annotations

import http
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from chatdev.errors import ConfigError
from chatdev.origins import is_loopback, without_user
from chatdev.secrets import keep_address, keep_secret, scrub

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

LONGEST_REPLY = 3600.0  # seconds; a small model may write for half an hour
OPENAI = "https://api.openai.com/v1"
PROBE_SECONDS = 3.0
_SERVER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]:\\]+)(?::\d*)?")
_REFUSED = (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask. `api_version` makes it an Azure endpoint. `grammar`: the server is llama.cpp.
    `concurrency`: requests under way at a time. `timeout`: seconds without a byte. `longest`: seconds for a whole
    reply, however it trickles in. Raises ConfigError when the address or the key can be none."""

    url: str | None
    key: str = field(repr=False)
    api_version: str | None = None
    grammar: bool = False
    concurrency: int = 64
    timeout: float = 600.0
    longest: float = LONGEST_REPLY
    foreign: bool = False
    """Whether a stranger names it, with the user's consent: the headers that the user's environment adds to every
    request (OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID) stay out."""

    def __post_init__(self) -> None:
        keep_secret(self.key)
        keep_address(self.url or "")
        if self.url is not None and not _is_address(self.url):
            raise ConfigError(f"{self.url!r} is no address of a model server; it begins with http:// or https:// and "
                              "names a host, e.g. http://localhost:8000/v1")
        if odd := next((n for n, letter in enumerate(self.key, start=1) if not "!" <= letter <= "~"), None):
            raise ConfigError(f"character {odd} of the model's key can be in no key (blanks, line ends, quotes of a "
                              "word processor); copy the key again")

    def __repr__(self) -> str:
        return f"Endpoint({self.shown_address})"

    @property
    def shown_address(self) -> str:
        """The address without what may be secret in it."""
        return without_user(self.url or OPENAI)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(self.url or OPENAI)

    @property
    def address(self) -> str | None:
        """The address as requests and their logs have it: without the user and the password, which `user` gives."""
        if self.url is None or self.user is None:
            return self.url
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def user(self) -> tuple[str, str] | None:
        """User and password of the address, for servers that want them."""
        parts = urlsplit(self.url or "")
        return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (bool(re.fullmatch(r"https?://\S+", url)) and url.isprintable() and port != 0
            and bool(_SERVER.fullmatch(parts.netloc.rpartition("@")[2])) and _is_known_to_the_client(url))


def _is_known_to_the_client(url: str) -> bool:
    """Whether what sends the requests can read the address; of plain letters it reads what we read."""
    if url.isascii():
        return True
    import httpx2

    try:
        return bool(httpx2.URL(url).host)
    except httpx2.InvalidURL:
        return False


def withhold_headers(client: AsyncOpenAI | OpenAI, endpoint: Endpoint) -> None:
    """Keep what the openai package takes from the user's environment for every request away from a foreign address."""
    if endpoint.foreign:
        client.organization = client.project = None
        client._custom_headers = {}  # OPENAI_CUSTOM_HEADERS; there is no public way


def why_unreachable(endpoint: Endpoint, seconds: float = PROBE_SECONDS) -> str | None:
    """None when the endpoint answers, else why it is of no use. Only its list of models is asked for, which costs
    nothing; a server that has none, and says so, is there."""
    import httpx2

    from chatdev.llm.guarded_answer import leads_to

    try:
        with (httpx2.Client(timeout=seconds, trust_env=not endpoint.is_local, auth=endpoint.user) as client,
              client.stream("GET", _models_address(endpoint), headers=_key_header(endpoint)) as response):
            status, elsewhere = response.status_code, leads_to(response)  # what it says is not read
    except httpx2.TimeoutException:
        return f"does not answer within {seconds:g} seconds"
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        return scrub(f"cannot be reached ({error or type(error).__name__})")
    if elsewhere:
        return f"sends its callers on to {elsewhere} ({status})"
    if status in _REFUSED:
        return f"refuses {'the key' if endpoint.key else 'to answer without a key'} ({status})"
    if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"is in trouble ({status})"
    return None


def _models_address(endpoint: Endpoint) -> str:
    base = (endpoint.address or OPENAI).rstrip("/")
    return f"{base}/openai/models?api-version={endpoint.api_version}" if endpoint.api_version else f"{base}/models"


def _key_header(endpoint: Endpoint) -> dict[str, str]:
    if not endpoint.key or endpoint.user:
        return {}
    return {"api-key": endpoint.key} if endpoint.api_version else {"Authorization": f"Bearer {endpoint.key}"}
