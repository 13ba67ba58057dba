"""The one opening of the sandbox that pip works in: a package index that has wheels and nothing else.

The program in the sandbox connects to a Unix socket that it is shown, hands over the listening end of a port of its own
loopback, and learns under which path the index is. From then on we answer on that port: a socket belongs to the network
it was made in, whoever holds it. So there is neither a route nor a relay out of the sandbox: what is asked for by name
is looked up and fetched by us, the user's passwords, proxies and certificates stay here, and no other host can even be
named.
"""

from __future__ import annotations

import contextlib
import html
import re
import secrets
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from chatdev.packages.imports import normal_name
from chatdev.packages.index import Index, Wheel
from chatdev.packages.sources import Fetcher, Unavailable
from chatdev.workspace.file_tree import explain_os_errors

_PROJECT = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")  # PEP 508
_PATIENCE = 30.0  # seconds without a request, a byte taken, or the port that was to be handed over


@contextlib.contextmanager
def open_gateway(index: Index, fetcher: Fetcher) -> Iterator[Path]:
    """The Unix socket to show to one program; whatever it asks for is answered until the context ends."""
    with (explain_os_errors("make a socket in", tempfile.gettempdir()),
          tempfile.TemporaryDirectory(prefix="chatdev-") as folder, socket.socket(socket.AF_UNIX) as unix_socket):
        path = Path(folder) / "index"
        unix_socket.bind(str(path))
        path.chmod(0o666)  # the program may be another user; the folder lets nobody else come near
        unix_socket.listen(1)
        over = threading.Event()
        threading.Thread(target=_serve, args=(unix_socket, index, fetcher, over), daemon=True).start()
        try:
            yield path
        finally:
            over.set()
            with contextlib.suppress(OSError):
                unix_socket.shutdown(socket.SHUT_RDWR)  # wakes whoever waits at it


def _serve(unix_socket: socket.socket, index: Index, fetcher: Fetcher, over: threading.Event) -> None:
    """Answer the first program that comes, until it is over."""
    with contextlib.suppress(OSError):
        connection, _ = unix_socket.accept()
        with connection:
            connection.settimeout(_PATIENCE)
            _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
            if descriptors:
                with _Server(socket.socket(fileno=descriptors[0]), index, fetcher) as server:
                    connection.sendall(server.path.encode())
                    while not over.is_set():
                        server.handle_request()


class _Server(HTTPServer):
    """Serves on a listening socket that is already there, one request after the other: whoever asks for much takes no
    more of us than pip does. Its address has a secret part, for where the sandbox shares the network with others
    (`--sandbox none`)."""

    timeout = 0.2  # seconds between two looks whether it is over

    def __init__(self, listener: socket.socket, index: Index, fetcher: Fetcher) -> None:
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.index, self.fetcher = index, fetcher
        self.path = f"/{secrets.token_urlsafe(16)}"
        self.files: dict[str, Wheel] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A program that goes away in the middle of an answer is no error of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers GET for the pages of projects and for the files that those pages named; there is nothing else."""

    server: _Server
    timeout = _PATIENCE
    _begun = False

    def do_GET(self) -> None:
        """One page or file."""
        inside = self.path.removeprefix(self.server.path)
        match inside.split("/") if inside != self.path else ():
            case ["", "simple", project, ""] if _PROJECT.fullmatch(project):
                self._page(normal_name(project))
            case ["", "files", key, name] if wheel := self.server.files.get(key):
                self._file(wheel, unquote(name))
            case _:
                self.send_error(HTTPStatus.NOT_FOUND)

    def _page(self, project: str) -> None:
        wheels = self.server.index.wheels(project)
        if not wheels:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        body = "\n".join(map(self._link, wheels)).encode()
        self._begin(len(body), "text/html; charset=utf-8")
        self.wfile.write(body)

    def _link(self, wheel: Wheel) -> str:
        key = sha256(wheel.url.encode()).hexdigest()
        self.server.files[key] = wheel
        attributes = "".join(f' {name}="{html.escape(value or "")}"' for name, value in wheel.attributes.items())
        address = f"../../files/{key}/{quote(wheel.filename)}#{wheel.fragment}"
        return f'<a href="{html.escape(address)}"{attributes}>{html.escape(wheel.filename)}</a>'

    def _file(self, wheel: Wheel, name: str) -> None:
        url = {wheel.filename: wheel.url}
        if wheel.has_metadata:
            url[f"{wheel.filename}.metadata"] = f"{wheel.url}.metadata"
        if name not in url:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            with self.server.fetcher.open(url[name]) as content:
                self._begin(content.size, "application/octet-stream")
                for piece in content.pieces:
                    self.wfile.write(piece)
        except Unavailable as problem:
            self.server.index.problems.append(str(problem))
            if not self._begun:  # otherwise the file is cut, which pip sees
                self.send_error(HTTPStatus.NOT_FOUND)

    def _begin(self, size: int | None, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        if size is not None:
            self.send_header("Content-Length", str(size))
        self.end_headers()
        self._begun = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was asked for is in the run's `installed.json`."""
