"""The wheels of the user's package sources.

An index is a set of HTML pages with links (PEP 503, with the attributes of PEP 592 and 658); a source of
`--find-links` is one such page, or a folder of wheels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from chatdev.packages.imports import normal_name
from chatdev.packages.sources import LEADS_TO, Fetcher, Sources, Unavailable
from chatdev.paths import expand_home

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
