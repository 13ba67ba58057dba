"""Folders of runs in the warehouse."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ConfigError, WorkspaceError
from chatdev.workspace.run_folder import RunFolder, slug

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_run_has_a_place_for_its_software_and_its_record(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "new" / "warehouse", "Todo", NOW)
    assert folder.path.name == "Todo-20260102030405"
    assert folder.software.is_dir()
    assert folder.run.is_dir()
    assert folder.note is None
    assert RunFolder.open(folder.path).software == folder.software


def test_runs_of_one_name_in_one_second_stay_apart(tmp_path: Path) -> None:
    names = [RunFolder.create(tmp_path, "Todo", NOW).path.name for _ in range(3)]
    assert names == ["Todo-20260102030405", "Todo-20260102030405-2", "Todo-20260102030405-3"]


@pytest.mark.parametrize(("name", "safe"), [
    ("A; touch PWNED_$(id -u);B", "A-touch-PWNED_-id--u-B"), ("a/b\\c", "a-b-c"), ("../..", "software"),
    ("", "software"), ("日本語", "日本語"), ("नमस्ते", "नमस्ते"), ("-rf", "rf"), ("a\nb\0c", "a-b-c"), ("x" * 99, "x" * 60),
    ("Ünïcode", "Ünïcode"), ("🙂", "software"),
])
def test_names_become_safe_folder_names(name: str, safe: str) -> None:
    assert slug(name) == safe


def test_a_changed_name_is_noted(tmp_path: Path) -> None:
    note = RunFolder.create(tmp_path, "a/b", NOW).note
    assert note is not None
    assert "'a/b'" in note
    assert "'a-b'" in note


@given(st.text())
def test_no_name_leaves_the_warehouse(name: str) -> None:
    safe = slug(name)
    assert 0 < len(safe) <= 60
    assert not set(safe) & set("/\\\0\n;$`\"'()|&<> ")
    assert not safe.startswith((".", "-"))
    assert Path(safe).name == safe


def test_a_warehouse_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "warehouse").write_text("a file")
    with pytest.raises(WorkspaceError, match="cannot make the warehouse .*/warehouse.*move it away"):
        RunFolder.create(tmp_path / "warehouse", "Todo", NOW)


@pytest.mark.skipif(os.geteuid() != 0, reason="for root only /proc is read-only; others see the next test")
def test_a_read_only_place_is_told_to_root() -> None:
    with pytest.raises(WorkspaceError, match="cannot make the warehouse /proc/warehouse"):
        RunFolder.create(Path("/proc/warehouse"), "Todo", NOW)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_warehouse_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WorkspaceError, match="permission denied; make the folder writable or choose another"):
        RunFolder.create(tmp_path, "Todo", NOW)


def test_a_folder_that_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no run folder: it has no software and no run/ in it; give a folder"):
        RunFolder.open(tmp_path)
