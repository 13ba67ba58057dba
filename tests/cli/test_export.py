"""`chatdev export`: the software of a run, and nothing else of it, in a zip file or a folder."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.support.durable import uninterrupted
from tests.support.shop import Shop


@pytest.fixture
def run(workshop: Shop) -> Path:
    folder = uninterrupted(workshop).folder
    assert folder is not None
    return folder


FILES = {"main.py", "GUIDE.md", "README.md"}


def test_a_zip_file_holds_the_software_below_the_name_of_the_run(workshop: Shop, run: Path) -> None:
    archive, again = workshop.folder / "a.zip", workshop.folder / "b.zip"
    done = workshop.command("export", str(run), "--zip", str(archive))
    assert (done.status, done.out) == (0, f"wrote 3 files to {archive}\n")
    with zipfile.ZipFile(archive) as made:
        assert set(made.namelist()) == {f"a-whole/{name}" for name in FILES}
        assert made.read("a-whole/main.py") == (run / "software" / "main.py").read_bytes()
    assert workshop.command("export", str(run), "--zip", str(again)).status == 0
    assert archive.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_holds_the_software_itself(workshop: Shop, run: Path, exists: bool) -> None:
    target = workshop.folder / "mine"
    if exists:
        target.mkdir()
    assert workshop.command("export", str(run), "--dir", str(target)).status == 0
    assert {path.name for path in target.iterdir()} == FILES


def test_the_history_comes_where_it_is_asked_for(workshop: Shop, run: Path) -> None:
    target = workshop.folder / "mine"
    assert workshop.command("export", str(run), "--dir", str(target), "--git").status == 0
    log = subprocess.run(["git", "-C", str(target), "log", "--format=%s"], capture_output=True, text=True, check=True)
    assert "write#1" in log.stdout
    status = subprocess.run(["git", "-C", str(target), "status", "--short"], capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_nothing_is_overwritten(workshop: Shop, run: Path) -> None:
    archive, target = workshop.folder / "a.zip", workshop.folder / "mine"
    archive.write_text("mine")
    target.mkdir()
    (target / "main.py").write_text("mine")
    for option, place, words in (("--zip", archive, "is there already; give another name"),
                                 ("--dir", target, "is no empty folder; give another name"),
                                 ("--dir", archive, "is no empty folder; give another name")):
        done = workshop.command("export", str(run), option, str(place))
        assert done.status == 2
        assert f"{place} is there already" in done.err
        assert words in done.err
    assert archive.read_text() == "mine"
    assert (target / "main.py").read_text() == "mine"


@pytest.mark.parametrize(("arguments", "status", "words"), [
    (["{run}"], 2, "say where the software goes: --zip FILE or --dir FOLDER"),
    (["{run}", "--zip", "{top}/a.zip", "--dir", "{top}/a"], 2, "--zip FILE or --dir FOLDER"),
    (["nowhere", "--zip", "{top}/a.zip"], 2, "there is no run in nowhere"),
    (["{run}/run", "--zip", "{top}/a.zip"], 2, "it has no folder `software`"),
    (["{run}", "--zip", "{top}/no/a.zip"], 2, "there is no folder {top}/no; make it first"),
    (["{run}", "--dir", "{run}/software/copy"], 2, "lies in the run's own folder"),
    (["{run}", "--zip", "/dev/full/a.zip"], 2, "there is no folder /dev/full")])
def test_what_cannot_be_exported_is_told(workshop: Shop, run: Path, arguments: list[str], status: int,
                                         words: str) -> None:
    names = {"run": run, "top": workshop.folder}
    done = workshop.command("export", *(given.format(**names) for given in arguments))
    assert done.status == status, done.out
    assert words.format(**names) in done.err
    assert not list(workshop.folder.glob("a*"))


def test_a_link_instead_of_software_is_refused(workshop: Shop, tmp_path: Path) -> None:
    (tmp_path / "run-1").mkdir()
    (tmp_path / "run-1" / "software").symlink_to("/etc")
    done = workshop.command("export", str(tmp_path / "run-1"), "--zip", str(tmp_path / "a.zip"))
    assert done.status == 5
    assert not (tmp_path / "a.zip").exists()


def test_a_run_without_files_has_nothing_to_export(workshop: Shop, tmp_path: Path) -> None:
    (tmp_path / "run-1" / "software").mkdir(parents=True)
    done = workshop.command("export", str(tmp_path / "run-1"), "--zip", str(tmp_path / "a.zip"))
    assert done.status == 2
    assert "made no files" in done.err
