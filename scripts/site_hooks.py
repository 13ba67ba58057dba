"""Hooks of the documentation's site (mkdocs.yml): links that leave docs/, the pages of commands, and llms.txt."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"(\]\()(\.\.[^)\s#]*)(#[^)\s]*)?(\))")
_PAGES: list[tuple[str, str, str]] = []
"""Address, title and first sentence of every page, in the order of the navigation."""


def _address() -> str:
    """The address of the repository's files, which setup.py alone knows."""
    source = (ROOT / "setup.py").read_text(encoding="utf-8")
    found = {name: re.search(rf'^{name} = "(.*?)"', source, re.MULTILINE) for name in ("ADDRESS", "BRANCH")}
    address, branch = (match[1] if match else "" for match in found.values())
    return f"{address}/blob/{branch}"


def on_config(config: Any) -> Any:
    """Put the pages of commands, which a program writes, into the navigation."""
    pages = sorted(path.name for path in (ROOT / "docs" / "reference").glob("*.md") if path.name != "README.md")
    for section in config["nav"]:
        if section.get("Commands") == "reference/":
            section["Commands"] = ["reference/README.md", *(f"reference/{name}" for name in pages)]
    _PAGES.clear()
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with addresses in the place of links to files that are no pages."""
    folder = posixpath.dirname(page.file.src_uri)

    def address(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        if path.startswith("docs/"):
            return match[0]
        return f"{match[1]}{_address()}/{path}{match[3] or ''}{match[4]}"

    return _LINK.sub(address, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Keep what llms.txt says of the page."""
    first = re.search(r"<p>(.*?)</p>", html, re.DOTALL)
    words = " ".join(re.sub(r"<[^>]+>", "", first[1] if first else "").split())
    _PAGES.append((page.url or "index.html", page.title, words.split(". ")[0].rstrip(".:")))
    return html


def on_post_build(config: Any, **_: Any) -> None:
    """Write llms.txt: what there is to read, for language models (llmstxt.org)."""
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}", "", "## Pages", ""]
    lines += [f"- [{title}]({url}): {sentence}" for url, title, sentence in _PAGES]
    (Path(config["site_dir"]) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
