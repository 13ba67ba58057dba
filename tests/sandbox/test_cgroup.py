"""Control groups: on folders laid out as the kernel's, and real ones where the machine lets a test make them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from chatdev.sandbox.base import ProcessLimits
from chatdev.sandbox.watch import V1, V2, Group, candidates, group, remove_old


@pytest.fixture
def hierarchy(tmp_path: Path) -> Path:
    """A mounted hierarchy with our group `/user/app/shell`; memory limits are handed down in `app` only."""
    (tmp_path / "fs" / "user" / "app" / "shell").mkdir(parents=True)
    (tmp_path / "fs" / "user" / "app" / "cgroup.subtree_control").write_text("memory pids\n")
    (tmp_path / "fs" / "user" / "app" / "shell" / "cgroup.subtree_control").write_text("\n")
    return tmp_path


def process(folder: Path, group: str, root: str = "/") -> Path:
    """A folder of /proc whose process is in `group`."""
    (folder / "mountinfo").write_text("22 1 0:20 / /proc rw - proc proc rw\n"
                                      f"30 22 0:26 {root} {folder}/fs rw,nosuid shared:4 - cgroup2 cgroup2 rw\n")
    (folder / "cgroup").write_text(f"0::{group}\n")
    return folder


def test_the_group_that_hands_memory_limits_down_is_found(hierarchy: Path) -> None:
    assert candidates(process(hierarchy, "/user/app/shell")) == [Group(hierarchy / "fs" / "user" / "app", V2)]


def test_in_a_container_the_mount_may_begin_below_the_top(hierarchy: Path) -> None:
    (hierarchy / "fs" / "cgroup.subtree_control").write_text("memory\n")
    assert candidates(process(hierarchy, "/docker/1/inner", root="/docker/1")) == [Group(hierarchy / "fs", V2)]


def test_a_group_outside_the_mount_is_of_no_use(hierarchy: Path) -> None:
    assert candidates(process(hierarchy, "/elsewhere", root="/docker/1")) == []


@pytest.mark.parametrize(("mounted", "found"), [
    ("cgroup rw,memory", True), ("cgroup rw,cpu,memory", True), ("cgroup rw,cpu", False),
])
def test_in_the_first_version_it_is_our_own_group_for_memory(hierarchy: Path, mounted: str, found: bool) -> None:
    (hierarchy / "mountinfo").write_text(f"30 22 0:26 / {hierarchy}/cpuset rw - cgroup cgroup rw,cpuset\n"
                                         f"31 22 0:27 / {hierarchy}/fs rw - cgroup {mounted}\n")
    (hierarchy / "cgroup").write_text("8:pids:/\n4:cpu,memory:/user/app\n0::/\n")
    assert candidates(hierarchy) == ([Group(hierarchy / "fs" / "user" / "app", V1)] if found else [])


def test_the_first_version_limits_swap_and_connections_too(tmp_path: Path) -> None:
    with group(Group(tmp_path, V1), ProcessLimits(memory=8000)) as made:
        (made.path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
        assert made.out_of_memory
        assert {file.name: file.read_text() for file in made.path.glob("*limit*")} == {
            "memory.limit_in_bytes": "8000", "memory.memsw.limit_in_bytes": "8000",
            "memory.kmem.tcp.limit_in_bytes": "1000"}


def test_a_program_enters_a_group_with_its_limits_and_the_group_goes(tmp_path: Path) -> None:
    with group(Group(tmp_path), ProcessLimits(memory=1000, processes=10)) as made:
        assert made.path.parent == tmp_path
        assert (made.path / "memory.max").read_text() == "1000"
        done = subprocess.run([*made.enter, "sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
        assert (made.path / "cgroup.procs").read_text() == done.stdout
        for file in made.path.iterdir():  # the kernel's files go with their folder
            file.unlink()
        (made.path / "cgroup.procs").mkdir()
        (made.path / "cgroup.procs").rmdir()
    assert (made.path / "cgroup.kill").exists() or not made.path.exists()


def test_what_the_kernel_ended_for_memory_is_told(tmp_path: Path) -> None:
    with group(Group(tmp_path), ProcessLimits()) as made:
        assert not made.out_of_memory
        (made.path / "memory.events").write_text("low 0\nmax 12\noom 1\noom_kill 2\n")
        assert made.out_of_memory


def test_groups_that_a_killed_chatdev_left_are_removed(tmp_path: Path) -> None:
    for name in ("chatdev-new", "chatdev-old", "chatdev-busy", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "chatdev-busy" / "group").mkdir()  # the kernel refuses to remove a folder with something in it, too
    for name in ("chatdev-old", "chatdev-busy", "other"):
        os.utime(tmp_path / name, (0, 0))
    remove_old(Group(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chatdev-busy", "chatdev-new", "other"]
