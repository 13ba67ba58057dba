"""The documentation as a site: every link leads somewhere, it can be searched, and asks nobody for anything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)], cwd=ROOT,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there_and_can_be_searched(site: Path) -> None:
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    searched = {one["location"].split("#")[0].rstrip("/") for one in found}
    pages = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.endswith("README")} - searched == set()
    assert any("accessibility" in one["text"] for one in found if one["location"].startswith("tutorial"))


def test_language_models_find_what_there_is_to_read(site: Path) -> None:
    lines = (site / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# chatdev"
    rows = [re.fullmatch(r"- \[(.+?)\]\((.+?)\): (.*)", line) for line in lines if line.startswith("- ")]
    assert len(rows) > 40
    assert all(row and (site / row[2]).exists() for row in rows)
    assert "tutorial/" in "".join(lines)


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="?https?:[^"\s>]+', text)
        linked = re.findall(r'<link[^>]+rel="?(?:stylesheet|preconnect)"?[^>]+href="?https?:[^"\s>]+', text)
        assert loaded + linked == [], page
