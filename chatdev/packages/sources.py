"""Where packages come from: what the user set pip to (its files and variables), and nothing beside it;
and reading what lies at an address there, with the user's proxy and passwords."""

from __future__ import annotations

import contextlib
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import url2pathname

from chatdev.errors import MissingProgram, ToolError
from chatdev.paths import expand_home
from chatdev.safe_text import keep_address
from chatdev.workspace.python_facts import literal_as_json

if TYPE_CHECKING:
    import httpx2

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
