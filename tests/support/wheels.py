"""Tiny wheels, and a package index on 127.0.0.1 that serves them."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import ssl
import threading
import time
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import pytest

from chatdev.packages.imports import normal_name


def wheel(name: str, source: str = "VALUE = 42", *, needs: tuple[str, ...] = (), more: dict[str, str] | None = None,
          ) -> tuple[str, bytes]:
    """File name and content of a wheel of one module; `more` are further files, which its record leaves out."""
    info = f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + "".join(f"Requires-Dist: {n}\n" for n in needs)
    files = {f"{name}.py": source, f"{info}/METADATA": metadata,
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:-1]},"
                     f"{len(text)}\n" for path, text in files.items()) + f"{info}/RECORD,,\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record, **(more or {})}.items():
            archive.writestr(path, text)
    return f"{name}-1.0-py3-none-any.whl", content.getvalue()


def set_pip(url: str, monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    """Set pip to one index (and to `more`, named as pip's variables), whatever the machine sets it to."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = {"config_file": os.devnull, "index_url": url, **more}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name.upper()}", value)


@dataclass
class PackageIndex:
    """Pages below `/simple/`, files below `/files/`. `user` (`name:password`) is asked for when given; `delay` seconds
    pass before each answer, `drip` before each piece of a file. `elsewhere`: the address that links to files begin with
    instead of this server's. `asked` lists the paths of all requests."""

    user: str = ""
    delay: float = 0.0
    drip: float = 0.0
    elsewhere: str = ""
    certificate: Path | None = None
    """Of a server by TLS: certificate and key in one file."""
    asked: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    """Pages as they are, by path, before any other."""
    moved: dict[str, str] = field(default_factory=dict)
    """Paths that are answered with another address."""
    authorizations: set[str] = field(default_factory=set)
    """What was shown to be let in."""

    def add(self, name: str, source: str = "VALUE = 42", **more: Any) -> None:
        """Offer a wheel."""
        filename, content = wheel(name, source, **more)
        self.files[filename] = content

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What pip is to be set to, with the user."""
        user = f"{quote(self.user, safe=':')}@" if self.user else ""
        return f"{'https' if self.certificate else 'http'}://{user}127.0.0.1:{self.port}/simple"

    def content(self, path: str) -> bytes | None:
        """What lies at a path."""
        if path in self.pages:
            return self.pages[path].encode()
        if path.startswith("/simple/"):
            project = path.split("/")[2]
            names = [name for name in self.files if normal_name(name.split("-")[0]) == project]
            links = "".join(f'<a href="{self.elsewhere}/files/{name}#sha256='
                            f'{hashlib.sha256(self.files[name]).hexdigest()}">{name}</a>\n' for name in names)
            return f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if names else None
        return self.files.get(path.removeprefix("/files/"))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, index: PackageIndex) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if index.certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(index.certificate)
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.index = index

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        index = self.server.index
        index.asked.append(self.path)
        time.sleep(index.delay)
        index.authorizations.add(shown := self.headers.get("Authorization", ""))
        if index.user and shown != f"Basic {base64.b64encode(index.user.encode()).decode()}":
            self.send_error(401)
        elif target := index.moved.get(self.path):
            self.send_response(302)
            self.send_header("Location", target)
            self.end_headers()
        elif (body := index.content(self.path)) is None:
            self.send_error(404)
        else:
            self._answer(body, index.drip if self.path.startswith("/files/") else 0.0)

    def do_CONNECT(self) -> None:
        self.server.index.asked.append(self.path)
        self.send_error(405)

    def _answer(self, body: bytes, drip: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for start in range(0, len(body), step := 64 if drip else len(body) + 1):
            time.sleep(drip)
            self.wfile.write(body[start:start + step])

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""
