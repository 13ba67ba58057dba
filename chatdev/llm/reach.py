"""Asking an endpoint whether it is there, without paying for anything."""

from __future__ import annotations

import http

from chatdev.llm.endpoint import OPENAI, Endpoint
from chatdev.secrets import scrubbed

SECONDS = 3.0
_REFUSED = (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN)


def unreachable(endpoint: Endpoint, seconds: float = SECONDS) -> str | None:
    """None when the endpoint answers, else why it is of no use. Its list of models is asked for; a server that has
    none, and says so, is there."""
    import httpx2

    try:
        with httpx2.Client(timeout=seconds, trust_env=not endpoint.is_local, auth=endpoint.user) as client:
            status = client.get(_address(endpoint), headers=_key(endpoint)).status_code
    except httpx2.TimeoutException:
        return f"does not answer within {seconds:g} seconds"
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        return scrubbed(f"cannot be reached ({error or type(error).__name__})")
    if status in _REFUSED:
        return f"refuses {'the key' if endpoint.key else 'to answer without a key'} ({status})"
    if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"is in trouble ({status})"
    return None


def _address(endpoint: Endpoint) -> str:
    base = (endpoint.address or OPENAI).rstrip("/")
    return f"{base}/openai/models?api-version={endpoint.api_version}" if endpoint.api_version else f"{base}/models"


def _key(endpoint: Endpoint) -> dict[str, str]:
    if not endpoint.key or endpoint.user:
        return {}
    return {"api-key": endpoint.key} if endpoint.api_version else {"Authorization": f"Bearer {endpoint.key}"}
