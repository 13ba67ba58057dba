"""Packages come from the index that pip is set to, as wheels, and from nowhere else."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from chatdev.errors import SandboxError, ToolError
from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import install
from chatdev.sandbox.kinds import find_sandbox
from tests.packages.conftest import Install
from tests.support.wheels import PackageIndex, set_pip

pytestmark = pytest.mark.tool


def test_a_package_comes_with_what_it_needs(index: PackageIndex, installed: Install, folder: Path) -> None:
    index.add("made_up_a", needs=("made-up-b",))
    index.add("made_up_b", "VALUE = 7")
    assert installed("Made.Up-A") is None
    assert (folder / "made_up_a.py").read_text() == "VALUE = 42"
    assert (folder / "made_up_b.py").read_text() == "VALUE = 7"


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_several_packages_come_together(index: PackageIndex, installed: Install, folder: Path, sandbox: str) -> None:
    index.add("made_up_a")
    index.add("made_up_b")
    assert installed("made_up_a", "made_up_b", sandbox=sandbox) is None
    assert {path.name for path in folder.glob("*.py")} == {"made_up_a.py", "made_up_b.py"}


def test_what_the_index_lacks_is_said_so(index: PackageIndex, installed: Install) -> None:
    assert installed("made_up_c") == "No matching distribution found for made_up_c"
    assert index.asked == ["/simple/made-up-c/"]


def test_a_package_that_runs_code_to_be_installed_is_not_even_fetched(index: PackageIndex, installed: Install) -> None:
    index.pages["/simple/made-up-d/"] = '<a href="/files/made_up_d-1.0.tar.gz">made_up_d-1.0.tar.gz</a>'
    assert installed("made_up_d") == "No matching distribution found for made_up_d"
    assert index.asked == ["/simple/made-up-d/"]


def test_a_package_that_needs_a_file_of_another_host_is_not_installed(index: PackageIndex, installed: Install,
                                                                           ) -> None:
    with PackageIndex() as elsewhere:
        elsewhere.add("made_up_f")
        address = f"http://127.0.0.1:{elsewhere.port}/files/{next(iter(elsewhere.files))}"
        index.add("made_up_e", needs=(f"made-up-f @ {address}",))
        assert installed("made_up_e") is not None
        assert elsewhere.asked == []


def test_a_file_that_is_not_what_the_index_says_is_refused(index: PackageIndex, installed: Install) -> None:
    index.add("made_up_g")
    index.pages["/simple/made-up-g/"] = f'<a href="/files/made_up_g-1.0-py3-none-any.whl#sha256={"0" * 64}">x</a>'
    assert "HASHES" in str(installed("made_up_g"))


def test_a_wheel_cannot_leave_its_folder(index: PackageIndex, installed: Install, folder: Path) -> None:
    index.add("made_up_h", more={"../../../../escaped.py": "x", "../../escaped.py": "x"})
    assert installed("made_up_h") is not None
    assert not list(folder.parents[1].rglob("escaped.py"))


def test_the_user_of_the_index_is_shown_to_it_alone(index: PackageIndex, installed: Install,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    index.add("made_up_i")
    name = next(iter(index.files))
    index.user = "eve:pa/ss@-word-1"
    set_pip(index.url, monkeypatch)
    with PackageIndex() as files:
        files.files = index.files
        index.moved[f"/files/{name}"] = f"http://127.0.0.1:{files.port}/files/{name}"
        assert installed("made_up_i") is None
        assert len(index.authorizations) == 1
        assert files.authorizations == {""}


def test_a_wrong_password_is_said_and_not_shown(index: PackageIndex, installed: Install,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    index.user = "eve:right-one-22"
    set_pip(index.url.replace("right", "wrong"), monkeypatch)
    assert installed("made_up_j") == "127.0.0.1 answers 401"


def test_an_index_that_is_down_is_said_to_be_so(installed: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    set_pip("http://127.0.0.1:1/simple", monkeypatch)
    assert installed("made_up_k") == "127.0.0.1 cannot be reached (ConnectError)"


@pytest.mark.parametrize(("delay", "drip"), [(30.0, 0.0), (0.0, 1.0)])
def test_a_slow_index_is_not_waited_for_longer_than_there_is_time(index: PackageIndex, installed: Install, delay: float,
                                                                  drip: float) -> None:
    index.add("made_up_l")
    index.delay, index.drip = delay, drip
    started = time.monotonic()
    assert installed("made_up_l", seconds=2.0) == "it was not installed in time"
    assert time.monotonic() - started < 6


def test_an_installation_is_stopped_with_its_sandbox(index: PackageIndex, folder: Path) -> None:
    index.add("made_up_m")
    index.delay = 30.0
    sandbox = find_sandbox("bubblewrap")

    def stop() -> None:
        while not index.asked:
            time.sleep(0.01)
        sandbox.stop_all()

    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(SandboxError, match="stopped"):
        install(["made_up_m"], folder, interpreter(), sandbox, 60.0)
    assert list(folder.parent.iterdir()) == []


def test_other_users_can_read_what_a_cautious_user_installs(index: PackageIndex, installed: Install, folder: Path,
                                                            ) -> None:
    index.add("made_up_n")
    before = os.umask(0o077)
    try:
        assert installed("made_up_n") is None
    finally:
        os.umask(before)
    assert all(path.stat().st_mode & 0o044 == 0o044 and path.stat().st_uid == os.geteuid()
               for path in (folder, *folder.rglob("*")))


def test_folders_and_files_are_sources_too(index: PackageIndex, installed: Install, folder: Path, tmp_path: Path,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("made_up_o", "made_up_p", "made_up_q"):
        index.add(name)
    wheels = iter(index.files.items())
    places = [tmp_path / "links", tmp_path / "files"]
    for place in places:
        place.mkdir()
        filename, content = next(wheels)
        (place / filename).write_bytes(content)
    page = tmp_path / "simple" / "made-up-p" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<a href="../../files/made_up_p-1.0-py3-none-any.whl">made_up_p</a>')
    set_pip(index.url, monkeypatch, find_links=str(places[0]), extra_index_url=(tmp_path / "simple").as_uri())
    assert installed("made_up_o", "made_up_p", "made_up_q") is None
    assert len(list(folder.glob("*.py"))) == 3


def test_without_any_index_nothing_is_asked_for(index: PackageIndex, installed: Install,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert installed("made_up_r") == "No matching distribution found for made_up_r"
    assert index.asked == []


def test_settings_that_cannot_be_used_are_told_with_the_mend(index: PackageIndex, installed: Install,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CERT", "/nowhere/ca.pem")
    with pytest.raises(ToolError, match="fix them"):
        installed("made_up_s")
