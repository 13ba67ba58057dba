"""Who may ask this server: pages of its own, in the browser that was given its address.

A name that leads to 127.0.0.1 from elsewhere (DNS rebinding), a page of somebody else's in the same browser and another
user of the machine get nothing. What is shown was written by models: no answer lets a page run or load what is not
ours.
"""

from __future__ import annotations

import hmac
import os
import secrets
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatdev.errors import WorkspaceError
from chatdev.paths import data_dir
from chatdev.plain_file import open_plain

HOST = "127.0.0.1"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
_HEADERS = {"content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
            "x-frame-options": "DENY", "permissions-policy": "camera=(), microphone=(), geolocation=()"}
_SAFE = ("GET", "HEAD")
_REFUSED = 4403  # what a websocket is closed with
_KEY = 32  # bytes


class Guard:
    """Lets through what bears the cookie; `token`, in the address that is printed, is exchanged for it. The cookie
    outlives the server, so that an open page finds the next one."""

    def __init__(self, app: ASGIApp, *, port: int, token: str, key: bytes) -> None:
        self._app = app
        self._hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self._token = token
        self._name = f"chatdev_view_{port}"
        self._cookie = hmac.new(key, f"cookie {port}".encode(), sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] not in ("http", "websocket"):
            return
        request = HTTPConnection(scope)
        refusal = self._refusal(request, scope.get("method", "CONNECT"))
        if refusal and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        await (refusal or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, request: HTTPConnection, method: str) -> Response | None:
        """The answer to a request that is not let through."""
        headers = request.headers
        host = headers.get("host", "")
        if host not in self._hosts:
            return _refuse(f"This server answers at {' and '.join(sorted(self._hosts))} only.", 421)
        if method not in _SAFE and headers.get("origin") != f"http://{host}":
            return _refuse("A page of another origin may change nothing here.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and _is_data(request):
            return _refuse("A page of another origin may read nothing here.")
        if method in _SAFE and "token" in request.query_params:
            return self._exchange(request)
        if not _is_equal(request.cookies.get(self._name, ""), self._cookie):
            return _refuse("Open the address that `chatdev view` printed: it has the token that lets you in.")
        return None

    def _exchange(self, request: HTTPConnection) -> Response:
        if not _is_equal(request.query_params["token"], self._token):
            return _refuse("This token is not valid any more: open the address that `chatdev view` printed last.")
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        answer = RedirectResponse(request.url.path + (f"?{urlencode(rest)}" if rest else ""), 303)
        answer.set_cookie(self._name, self._cookie, httponly=True, samesite="strict", path="/")
        return answer


def _is_data(request: HTTPConnection) -> bool:
    return request.url.path.startswith(("/api/", "/page/"))


def _is_equal(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _refuse(text: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{text}\n", status)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)
    return send_with_headers


def content_length(headers: Headers) -> int:
    """Bytes of a request's body as it says; 0 where it does not."""
    given = headers.get("content-length", "0")
    return int(given) if given.isdecimal() and len(given) < 16 else 0


def own_key() -> bytes:
    """The user's key that cookies are made with, in a file that nobody else can read; made when it is missing. Raises
    WorkspaceError."""
    file = data_dir() / "view.key"
    try:
        if key := _read_key(file):
            return key
        file.parent.mkdir(parents=True, exist_ok=True)
        key, temporary = secrets.token_bytes(_KEY), file.with_name(f"view.key.{os.getpid()}")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as new:
            new.write(key)
        temporary.replace(file)
        return key
    except OSError as error:
        raise WorkspaceError(f"cannot keep the key of the web view in {file}: {error.strerror}") from error


def _read_key(file: Path) -> bytes:
    """The key; empty where there is none, or one that others can read."""
    try:
        descriptor = open_plain(file)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        is_own = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        key = opened.read(_KEY + 1)
    return key if is_own and len(key) == _KEY else b""
