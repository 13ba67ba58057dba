"""The one opening of the sandbox, in which pip works: a package index that has wheels and nothing else.

They come from where the user has set pip to (its files and variables) and from nowhere else, read with the user's proxy
and passwords.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import secrets
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from chatdev.errors import MissingProgram, ToolError
from chatdev.packages.imports import normal_name
from chatdev.paths import expand_home
from chatdev.safe_text import keep_address
from chatdev.workspace.file_tree import explain_os_errors
from chatdev.workspace.python_facts import literal_as_json

if TYPE_CHECKING:
    import httpx2


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


# The wheels of the user's package sources.

_LARGEST_PAGE = 64 << 20
_LONGEST_TAG = 4096
_TAG = re.compile(r"<(?:a|base)(?=\s)", re.IGNORECASE)
_REST_OF_TAG = re.compile(r"""(?:[^<>"']|"[^"]*+"|'[^']*+')*+>""")
"""The parser is given whole tags alone: looking for the end of one that has none takes it ever longer."""
_METADATA = ("data-dist-info-metadata", "data-core-metadata")
_ATTRIBUTES = ("data-requires-python", "data-yanked", *_METADATA)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel as its source lists it: `fragment` is its hash (`sha256=…`), `attributes` what pip must know of it."""

    filename: str
    url: str
    fragment: str = ""
    attributes: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def has_metadata(self) -> bool:
        """Whether its metadata lies as a file beside it."""
        return any(name in self.attributes for name in _METADATA)


class Index:
    """All sources as one. `problems` tells which ones could not be asked, and why."""

    def __init__(self, sources: Sources, fetcher: Fetcher) -> None:
        self._sources = sources
        self._fetcher = fetcher
        self.problems: list[str] = []

    def wheels(self, project: str) -> list[Wheel]:
        """Every wheel of `project` (a normalised name)."""
        pages = [self._page(f"{address.rstrip('/')}/{project}/") for address in self._sources.indexes]
        links = [self._linked_wheels(source) for source in self._sources.find_links]
        return [wheel for wheels in (*pages, *links) for wheel in wheels
                if normal_name(wheel.filename.split("-")[0]) == project]

    def _linked_wheels(self, source: str) -> Iterable[Wheel]:
        folder = expand_home(url2pathname(urlsplit(source).path) if source.startswith("file:") else source)
        if folder.is_dir():
            return [Wheel(path.name, path.absolute().as_uri()) for path in sorted(folder.glob("*.whl"))]
        return self._page(source if "://" in source else folder.absolute().as_uri())

    def _page(self, url: str) -> Iterable[Wheel]:
        try:
            with self._fetcher.open(url) as content:
                text = bytearray()
                for piece in content.pieces:
                    text += piece
                    if len(text) > _LARGEST_PAGE:
                        raise Unavailable(f"a page of {urlsplit(url).hostname} is too large")
        except Unavailable as problem:
            if not problem.absent:
                self.problems.append(str(problem))
            return ()
        return wheels_of(text.decode("utf-8", errors="replace"), content.url)


def wheels_of(page: str, url: str) -> list[Wheel]:
    """The wheels that the page at `url` links to."""
    parser, place = _Links(url), 0
    while start := _TAG.search(page, place):
        tag = _REST_OF_TAG.match(page, start.end(), start.end() + _LONGEST_TAG)
        place = tag.end() if tag else start.end()
        if tag:
            parser.feed(page[start.start():place])
    parser.close()
    return parser.wheels


class _Links(HTMLParser):
    """Gathers links to wheels; a link leads to no less safe a place than its page came from."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._base, self._schemes = url, LEADS_TO[urlsplit(url).scheme]
        self.wheels: list[Wheel] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a link."""
        given = dict(attrs)
        href = given.get("href")
        if not href or tag not in ("a", "base"):
            return
        try:
            url, fragment = urldefrag(urljoin(self._base, href.strip()))
            parts = urlsplit(url)
        except ValueError:  # no address
            return
        if parts.scheme not in self._schemes:
            return
        if tag == "base":
            self._base = url
        elif (name := unquote(parts.path.rpartition("/")[2])).endswith(".whl") and "/" not in name:
            self.wheels.append(Wheel(name, url, fragment, {key: given[key] for key in _ATTRIBUTES if key in given}))


# Where packages come from: what the user set pip to (its files and variables), and nothing beside it; and reading
# what lies at an address there, with the user's proxy and passwords.

_PYPI = "https://pypi.org/simple"
_PIP_SECONDS = 60.0  # for pip to tell its settings, on the slowest of disks
_SECTIONS = ("global.", "install.", ":env:.")  # of pip's settings, the stronger ones last
_SECONDS = 15.0  # without a byte
_PIECE = 1 << 16
_Origin = tuple[str, str | None, int | None]
LEADS_TO = {"file": ("file", "http", "https"), "http": ("http", "https"), "https": ("https",)}
"""Scheme -> schemes of the links and redirects that are followed from there."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The settings of pip that say where packages are and how to get there (their names are pip's).

    Addresses may hold a password, and `client_cert` names a file with a key: no program may see them.
    """

    indexes: tuple[str, ...] = field(default=(_PYPI,), repr=False)
    find_links: tuple[str, ...] = field(default=(), repr=False)
    """Pages with links, or folders of wheels."""
    proxy: str | None = field(default=None, repr=False)
    cert: str | None = None
    client_cert: str | None = None
    trusted_hosts: frozenset[str] = frozenset()
    """Hosts (`name` or `name:port`) whose certificates are not checked."""


def sources() -> Sources:
    """What pip is set to in this process. Raises MissingProgram when there is no pip, ToolError when its settings are
    broken."""
    settings = _settings()
    indexes = [settings.get("index-url", _PYPI), *settings.get("extra-index-url", "").split()]
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t"):
        indexes = []
    found = Sources(tuple(indexes), tuple(settings.get("find-links", "").split()), settings.get("proxy") or None,
                    settings.get("cert") or None, settings.get("client-cert") or None,
                    frozenset(settings.get("trusted-host", "").split()))
    for address in (*found.indexes, *found.find_links, found.proxy or ""):
        keep_address(address)
    return found


def pip_folder() -> Path:
    """The folder of our pip package. Raises MissingProgram when there is none."""
    from importlib.machinery import PathFinder  # setuptools' own finder, which comes first, warns of distutils

    found = PathFinder.find_spec("pip")
    if found is None or not found.submodule_search_locations:
        raise MissingProgram(f"there is no pip in {sys.prefix} to install packages with: {sys.executable} -m ensurepip")
    return Path(found.submodule_search_locations[0])


def _settings() -> dict[str, str]:
    """Option -> value, as pip itself reads them."""
    pip_folder()
    try:
        done = subprocess.run([sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "config", "list"],
                              capture_output=True, text=True, errors="replace", check=True, stdin=subprocess.DEVNULL,
                              env=dict(os.environ), timeout=_PIP_SECONDS)
        pairs = [line.partition("=") for line in done.stdout.splitlines()]
        return {name.removeprefix(section): str(json.loads(literal_as_json(value)))
                for section in _SECTIONS for name, _, value in pairs if name.startswith(section)}
    except (subprocess.SubprocessError, SyntaxError):
        raise ToolError("pip cannot read its settings; `pip config debug` tells where they are") from None


class Unavailable(Exception):
    """Nothing comes from an address. The text names its host only; `absent` says that there is no such thing."""

    def __init__(self, text: str, *, absent: bool = False) -> None:
        super().__init__(text)
        self.absent = absent


@dataclass(frozen=True, slots=True)
class Content:
    """What lies at an address: its own address after redirects, its size where known, and its bytes."""

    url: str
    size: int | None
    pieces: Iterator[bytes]


class Fetcher:
    """Fetches from the user's sources. To be closed."""

    def __init__(self, sources: Sources) -> None:
        """Raises ToolError when the settings cannot be used."""
        import httpx2

        def client(verify: ssl.SSLContext | bool) -> httpx2.Client:
            return httpx2.Client(verify=verify, cert=sources.client_cert, proxy=_proxy(sources.proxy), timeout=_SECONDS,
                                 follow_redirects=True, auth=_netrc())

        self._trusted = sources.trusted_hosts
        self._users = _users_of(sources)
        try:
            self._client = client(_certificates(sources.cert))
            self._unchecked = client(False) if self._trusted else self._client
        except (OSError, ValueError) as error:  # no such file, no certificate in it, no address of a proxy
            raise ToolError(f"the package index cannot be used with the `cert`, `client-cert` and `proxy` that pip is "
                            f"set to ({type(error).__name__}); fix them (`pip config debug`)") from None

    @contextlib.contextmanager
    def open(self, url: str) -> Iterator[Content]:
        """What lies at `url`. Raises Unavailable, also while it is read."""
        parts = _split(url)
        if parts.scheme == "file":
            with _file(parts) as content:
                yield content
        elif parts.scheme in LEADS_TO:
            with self._response(url, parts) as content:
                yield content
        else:
            raise Unavailable(f"{parts.scheme or 'no scheme'} is no way to fetch packages")

    def close(self) -> None:
        """Let go of all connections."""
        self._client.close()
        self._unchecked.close()

    @contextlib.contextmanager
    def _response(self, url: str, parts: SplitResult) -> Iterator[Content]:
        import httpx2

        trusted = not self._trusted.isdisjoint({parts.hostname, f"{parts.hostname}:{parts.port}"})
        client = self._unchecked if trusted else self._client
        user = self._users.get(_origin(parts))
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if user else url
        try:
            with client.stream("GET", address, auth=user or httpx2.USE_CLIENT_DEFAULT,
                               headers={"Accept": "text/html, */*;q=0.1", "Accept-Encoding": "identity"}) as response:
                _refuse(response, parts)
                size = response.headers.get("Content-Length")
                plain = "Content-Encoding" not in response.headers
                yield Content(str(response.url), int(size) if size and plain else None, response.iter_bytes(_PIECE))
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise Unavailable(f"{parts.hostname} cannot be reached ({type(error).__name__})") from None


def _refuse(response: httpx2.Response, asked: SplitResult) -> None:
    if response.url.scheme not in LEADS_TO[asked.scheme]:
        raise Unavailable(f"{asked.hostname} leads to an address that is not safe")
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("", "identity", "gzip"):  # twice packed, a few bytes are more than the memory holds
        raise Unavailable(f"{asked.hostname} packs its answer ({packing[:60]!r}), which was not asked for")
    if response.is_error:
        raise Unavailable(f"{asked.hostname} answers {response.status_code}", absent=response.status_code in (404, 410))


@contextlib.contextmanager
def _file(parts: SplitResult) -> Iterator[Content]:
    path = Path(url2pathname(parts.path))
    path = path / "index.html" if path.is_dir() else path
    try:
        file = path.open("rb")
    except OSError as error:
        raise Unavailable(f"a package source on the disk cannot be read ({error.strerror})",
                          absent=isinstance(error, FileNotFoundError)) from None
    with file:
        yield Content(parts.geturl(), path.stat().st_size, iter(lambda: file.read(_PIECE), b""))


def _split(url: str) -> SplitResult:
    """The parts of an address. Raises Unavailable for what is none."""
    try:
        parts = urlsplit(url)
        _origin(parts)
    except ValueError:
        raise Unavailable("a package lies at an address that is none") from None
    return parts


def _users_of(sources: Sources) -> dict[_Origin, httpx2.BasicAuth]:
    """Whose name and password the user gave for a host. Raises ToolError for an address that is none."""
    import httpx2

    try:
        return {_origin(parts): httpx2.BasicAuth(unquote(parts.username or ""), unquote(parts.password or ""))
                for parts in map(urlsplit, (*sources.indexes, *sources.find_links)) if parts.username}
    except ValueError:
        raise ToolError("the address of a package index that pip is set to is none; fix it (`pip config debug`)"
                        ) from None


def _origin(parts: SplitResult) -> _Origin:
    return parts.scheme, parts.hostname, parts.port


def _proxy(setting: str | None) -> str | None:
    return setting if setting is None or "://" in setting else f"http://{setting}"


def _certificates(cert: str | None) -> ssl.SSLContext:
    import httpx2

    cert = cert or os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")  # as pip does
    if cert is None:
        return httpx2.create_ssl_context()
    return ssl.create_default_context(capath=cert) if Path(cert).is_dir() else ssl.create_default_context(cafile=cert)


def _netrc() -> httpx2.Auth | None:
    import httpx2

    return httpx2.NetRCAuth() if expand_home("~/.netrc").is_file() else None
