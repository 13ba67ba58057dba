"""The list of models of a server: whether it answers at all, and which models it has. Asking costs nothing."""

from __future__ import annotations

import http
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chatdev.llm.connection import OPENAI, Endpoint, key_header
from chatdev.plain_values import check_depth
from chatdev.safe_text import scrub

if TYPE_CHECKING:
    import httpx2

PROBE_SECONDS = 3.0
_REFUSED = (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN)
_LARGEST_LIST = 8 << 20  # bytes; a gateway's list of a thousand models has one million
_LONGEST_NAME = 200  # characters


def why_unreachable(endpoint: Endpoint, seconds: float = PROBE_SECONDS) -> str | None:
    """None when the endpoint answers, else why it is of no use. What it answers is not read: a server that has no list
    of models, and says so, is there."""
    import httpx2

    from chatdev.llm.guarded_answer import leads_to

    try:
        with _ask(endpoint, seconds) as response:
            status, location = response.status_code, response.headers.get("location")
            elsewhere = leads_to(str(response.url), location) if response.has_redirect_location and location else None
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


def served_models(endpoint: Endpoint, seconds: float = PROBE_SECONDS) -> list[str]:
    """The names of the models that the endpoint lists, in its order; empty where it does not say so in time."""
    import httpx2

    try:
        with _ask(endpoint, seconds) as response:
            if response.status_code != http.HTTPStatus.OK:
                return []
            content, ends = bytearray(), time.monotonic() + seconds
            for piece in response.iter_raw():
                content += piece
                if len(content) > _LARGEST_LIST or time.monotonic() > ends:
                    return []
        data = json.loads(content)
        check_depth(data)
    except (httpx2.RequestError, httpx2.InvalidURL, ValueError, RecursionError):
        return []
    return list(dict.fromkeys(_names(data)))


@contextmanager
def _ask(endpoint: Endpoint, seconds: float) -> Iterator[httpx2.Response]:
    import httpx2

    from chatdev.llm.guarded_answer import PLAIN

    headers = {**PLAIN, **{name: value.replace("{key}", endpoint.key) for name, value in endpoint.list_headers.items()},
               **key_header(endpoint)}
    with (httpx2.Client(timeout=seconds, trust_env=not endpoint.is_local, auth=endpoint.user) as client,
          client.stream("GET", _address(endpoint), headers=headers) as response):
        yield response


def _names(data: Any) -> Iterator[str]:
    """The names in a list of models: OpenAI's form, and those of servers that send a bare list or `models`."""
    entries = data.get("data") or data.get("models") if isinstance(data, Mapping) else data
    for entry in entries if isinstance(entries, list) else []:
        name = entry.get("id") or entry.get("name") if isinstance(entry, Mapping) else entry
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable() and scrub(name) == name:
            yield name


def _address(endpoint: Endpoint) -> str:
    base = (endpoint.address or OPENAI).rstrip("/")
    return f"{base}/openai/models?api-version={endpoint.api_version}" if endpoint.api_version else f"{base}/models"
