"""What strangers see first: the page of a package index, the command beside another package of the name, the image."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import setuptools  # type: ignore[import-untyped]  # has none

import chatdev_chain
from tests.support.checkout import ROOT


@pytest.fixture(scope="module")
def metadata() -> dict[str, Any]:
    """What setup.py hands to setuptools."""
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **given: found.update(given))
        runpy.run_path(str(ROOT / "setup.py"))
    return found


def test_links_of_the_long_description_lead_somewhere(metadata: dict[str, Any]) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", metadata["long_description"])
    assert len(links) > 20
    assert [link for link in links if not link.startswith(("http", "#"))] == []
    inside = [link.removeprefix(metadata["url"]).split("#")[0] for link in links if link.startswith(metadata["url"])]
    assert [link for link in inside if not (ROOT / re.sub(r"^/(blob|raw)/main/", "", link)).exists()] == []


def test_the_metadata_say_who_where_and_on_what(metadata: dict[str, Any]) -> None:
    assert metadata["author"] == "The chatdev project"
    assert "Operating System :: POSIX :: Linux" in metadata["classifiers"]
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12)} <= set(metadata["classifiers"])
    assert [name for name in ("dist", "docs", "test") if name not in metadata["extras_require"]] == []
    source = (ROOT / "setup.py").read_text(encoding="utf-8")
    assert source.count(metadata["url"]) == 1  # in one place


def test_the_package_goes_by_one_name_on_every_page() -> None:
    pages = [path for pattern in ("*.md", "docs/**/*.md", "chatdev/**/*.py", "chatdev/**/*.md")
             for path in ROOT.glob(pattern)]
    found = {name for path in pages
             for name in re.findall(r"pip install '?\"?(chatdev[\w-]*)", path.read_text(encoding="utf-8"))}
    assert found == {"chatdev-chain"}


def start(path: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command, as its script starts it, with another path of modules."""
    program = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; import chatdev_chain; sys.path[:0] = {path}; "
    return subprocess.run([sys.executable, "-c", f"{program}chatdev_chain.main()", "--version"], capture_output=True,
                          text=True, check=False, cwd=folder)


def test_the_command_runs_where_nothing_is_in_its_way(tmp_path: Path) -> None:
    assert "chatdev, version" in start("[]", tmp_path).stdout


@pytest.mark.parametrize("is_package", [True, False])
def test_another_package_of_the_name_is_named_in_one_sentence(tmp_path: Path, is_package: bool) -> None:
    if is_package:
        (tmp_path / "chatdev").mkdir()
        (tmp_path / "chatdev" / "__init__.py").touch()
    else:
        (tmp_path / "chatdev.py").touch()
    done = start(f"[{str(tmp_path)!r}]", tmp_path)
    assert done.returncode == 1
    place = tmp_path / ("chatdev" if is_package else "chatdev.py")
    assert done.stderr == (f"another package named 'chatdev' is found first, in {place}, and not the one of "
                           "chatdev-chain; take its folder off PYTHONPATH, or start in another folder\n")


def test_a_package_that_was_put_over_ours_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "chatdev", tmp_path / "chatdev", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(chatdev_chain, "_OURS", tmp_path / "chatdev")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: type("Spec", (), {
        "submodule_search_locations": [str(tmp_path / "chatdev")], "origin": None}))
    assert chatdev_chain.foreign_place() is None
    (tmp_path / "chatdev" / "__init__.py").write_text("# somebody else's\n")
    assert chatdev_chain.foreign_place() == tmp_path / "chatdev"


def test_another_system_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit, match="chatdev runs on Linux only, also in WSL 2 or a container; this is win32"):
        chatdev_chain.main()


def test_the_image_is_made_of_files_that_are_there() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    instructions = [line.split() for line in lines if line and not line.startswith("#")]
    assert {words[0] for words in instructions} <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    copied = [name for words in instructions if words[0] == "COPY" for name in words[1:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{name}" for name in copied} <= set(kept)
    assert ["USER", "chatdev"] in instructions  # what models write runs as nobody in particular


def test_the_install_line_of_the_image_works(tmp_path: Path) -> None:
    """Its COPY and pip lines by hand, without the image: what it copies is enough to install from."""
    for name in re.findall(r"^COPY (.+) /src", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE):
        for source in name.split():
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, tmp_path / source)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w",
                    str(tmp_path / "wheels"), str(tmp_path)], check=True, env={**os.environ, "PIP_NO_INPUT": "1"})
    assert len(list((tmp_path / "wheels").glob("chatdev_chain-*.whl"))) == 1
