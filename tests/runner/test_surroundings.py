"""Odd surroundings: one sentence before anything is paid, or a run as ever."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chatdev.config.settings import read_dotenv, user_settings
from chatdev.errors import ConfigError
from chatdev.paths import cache_dir, expand_home
from chatdev.runner.resources import check_file_names, check_highest_limit, check_surroundings
from tests.support.shop import Shop


@contextmanager
def removed_working_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    (folder / "gone").mkdir()
    os.chdir(folder / "gone")
    (folder / "gone").rmdir()
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def few_descriptors(_: Path) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (sum(1 for _ in Path("/proc/self/fd").iterdir()) + 20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def no_temporary_folder(_: Path) -> Iterator[None]:
    before, tempfile.tempdir = tempfile.tempdir, "/proc/there-is-none"
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def full_temporary_folder(_: Path) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # as a disk that is almost full
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def strict_umask(_: Path) -> Iterator[None]:
    before = os.umask(0o777)
    try:
        yield
    finally:
        os.umask(before)


ODD = {
    removed_working_folder: "the working folder is not there any more",
    few_descriptors: "a run takes 64 more: raise the limit (ulimit -n 1024)",
    no_temporary_folder: "set TMPDIR to a folder with room",
    full_temporary_folder: "set TMPDIR to a folder with room",
    strict_umask: "umask 022",
}


@pytest.mark.parametrize("surroundings", ODD, ids=lambda odd: odd.__name__)
def test_where_no_run_can_end_well_none_begins(surroundings: object, shop: Shop, tmp_path: Path) -> None:
    with surroundings(tmp_path):  # type: ignore[operator]
        outcome = shop.run()
    assert outcome.status == 2, outcome.out + outcome.err
    assert ODD[surroundings] in outcome.err  # type: ignore[index]
    assert outcome.err.count("\n") == 1
    assert shop.server.requests == []
    assert not shop.warehouse.exists()


@pytest.mark.parametrize("encoding", ["ascii", "iso8859-1", "cp1252"])
def test_file_names_without_every_character_are_refused(encoding: str) -> None:
    with pytest.raises(ConfigError, match="PYTHONUTF8=1"):
        check_file_names(encoding)


def test_programs_need_descriptors_too() -> None:
    with pytest.raises(ConfigError, match="ulimit -Hn 1024"):
        check_highest_limit(76)


def test_usual_surroundings_are_fine() -> None:
    check_surroundings()
    check_highest_limit(resource.RLIM_INFINITY)
    for encoding in ("utf-8", "UTF-8", "utf8", sys.getfilesystemencoding()):
        check_file_names(encoding)


def test_a_user_without_a_home_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)  # nobody in /etc/passwd
    for needs_one in (user_settings, cache_dir):
        with pytest.raises(ConfigError, match="HOME is not set"):
            needs_one()
    assert expand_home("~/x") == Path("~/x")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    assert user_settings().warehouse is None


def test_a_home_of_nobody_is_no_crash() -> None:
    assert expand_home("~no-such-user-here/x") == Path("~no-such-user-here/x")


def test_a_removed_working_folder_has_no_dotenv_and_says_so(tmp_path: Path) -> None:
    with removed_working_folder(tmp_path), pytest.raises(ConfigError, match="change into one that exists"):
        read_dotenv()


PLACES = ["a:b,c=d", "-rf", "'quoted \"$(x)", "new\nline", "ünï" * 30]


@pytest.mark.parametrize("name", PLACES, ids=range(len(PLACES)))
def test_a_warehouse_may_have_any_name(shop: Shop, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.folder)
    shop.replies()
    outcome = shop.command("run", "TASK", "--company", str(shop.company), f"--warehouse={name}")
    assert outcome.status == 0, outcome.out + outcome.err
    (folder,) = (shop.folder / name).iterdir()
    assert (folder / "software" / "main.py").read_text() == "print('better')\n"
    assert "**success**" in (folder / "run" / "report.md").read_text(encoding="utf-8")
    shop.server.requests.clear()
    for command in (("resume", "--"), ("replay", "--")):
        again = shop.command(*command, f"{name}/{folder.name}")
        assert again.status == 0, again.out + again.err
    assert shop.server.requests == []


@pytest.mark.parametrize("depth", [16, 40])
def test_a_path_that_is_too_long_is_said_before_anything_is_paid(shop: Shop, depth: int) -> None:
    outcome = shop.run("--warehouse", str(shop.folder.joinpath(*["d" * 240] * depth)))
    assert outcome.status == 5
    assert "too long" in outcome.err
    assert shop.server.requests == []
