"""The modules of a run that somebody else has written: nothing of the user's is written through them or shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.errors import WorkspaceError
from chatdev.packages.imports import Supply
from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import Modules, runtimes_folder
from chatdev.sandbox.kinds import Unconfined

PRECIOUS = "precious\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of the user's, with a file."""
    folder = tmp_path / "home"
    (folder / "bin").mkdir(parents=True)
    (folder / "file").write_text(PRECIOUS)
    return folder


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """Where the modules of a run are."""
    folder = tmp_path / "run" / "modules"
    folder.mkdir(parents=True)
    return folder


def provide(folder: Path) -> Modules:
    found = Modules(folder, interpreter())
    found.provide({}, Supply("never"), Unconfined())
    return found


def site_packages(modules: Path) -> Path:
    major, minor = interpreter().version
    return modules / "lib" / f"python{major}.{minor}" / "site-packages"


def the_whole(modules: Path, victim: Path) -> None:
    modules.rmdir()
    modules.symlink_to(victim)


def a_file(name: str) -> Callable[[Path, Path], None]:
    def put(modules: Path, victim: Path) -> None:
        (modules / name).symlink_to(victim / "file")
    return put


def a_pipe(modules: Path, _victim: Path) -> None:
    os.mkfifo(modules / "lock")


def packages(modules: Path, victim: Path) -> None:
    (modules / "packages").symlink_to(victim)


def one_package(modules: Path, victim: Path) -> None:
    (modules / "packages").mkdir()
    (modules / "packages" / "1").symlink_to(victim)


def paths(modules: Path, victim: Path) -> None:
    site_packages(modules).mkdir(parents=True)
    (site_packages(modules) / "packages.pth").symlink_to(victim / "file")


@pytest.mark.parametrize("put", [the_whole, a_file("lock"), a_file("runtime"), a_file("installed.json"), a_pipe,
                                 packages, one_package, paths])
def test_modules_that_lead_elsewhere_are_refused(modules: Path, victim: Path,
                                                 put: Callable[[Path, Path], None]) -> None:
    put(modules, victim)
    with pytest.raises(WorkspaceError, match="move it away"):
        provide(modules)
    assert (victim / "file").read_text() == PRECIOUS
    assert sorted(path.name for path in victim.iterdir()) == ["bin", "file"]


def test_an_environment_that_is_made_goes_through_no_link(modules: Path, victim: Path) -> None:
    """Python's venv would write its scripts through them."""
    (modules / "bin").mkdir()
    (modules / "bin" / "activate").symlink_to(victim / "file")
    (modules / "include").symlink_to(victim / "bin")
    assert provide(modules).python.exists()
    assert (victim / "file").read_text() == PRECIOUS
    assert list((victim / "bin").iterdir()) == []


@pytest.mark.parametrize("line", ["/etc", "..", "{runtimes}/..", "{runtimes}/../..", "{victim}"])
def test_no_folder_is_shown_to_programs_that_a_run_folder_names(modules: Path, victim: Path, line: str) -> None:
    provide(modules)
    text = line.format(runtimes=runtimes_folder(), victim=victim)
    runtimes_folder().mkdir(parents=True, exist_ok=True)
    (site_packages(modules) / "packages.pth").write_text(f"{text}\n")
    assert Modules(modules, interpreter()).folders == (modules,)


@pytest.mark.parametrize("record", ["[]", "{", "[" * 100_000, '{"six": 5}', "\0"])
def test_a_record_that_says_nothing_is_none(modules: Path, record: str) -> None:
    (modules / "installed.json").write_text(record)
    assert Modules(modules, interpreter()).provide({}, Supply("never"), Unconfined()) == {}
