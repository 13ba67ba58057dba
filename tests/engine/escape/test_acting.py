"""Files that act when somebody looks at their folder: each reason is real, no reply brings one, and none gets there in
another way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chatdev.config.load import load_company
from chatdev.errors import ConfigError
from chatdev.replies.files import parse_files
from chatdev.replies.problem import Unreadable
from chatdev.workspace.change import bare_repositories, listed_files, reason_to_withhold, withheld_files
from chatdev.workspace.run_folder import SoftwareFolder
from tests.engine.escape.contents import REPOSITORY, entitled
from tests.engine.escape.paths import ACTING
from tests.engine.escape.world import World
from tests.engine.studio import CHANGE, WRITE, program
from tests.support.durable import files
from tests.support.shop import FIRST, HELLO, SECOND

LIST = listed_files()
RETRY = f"{SECOND}/retry-1"


def tool(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


def look(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """What a person's shell or editor starts in a folder."""
    settings = {"HOME": "/nonexistent", "TERM": "dumb", "GIT_CONFIG_GLOBAL": os.devnull, **environment}
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60,
                          env={"PATH": os.environ["PATH"], **settings})


def write(folder: Path, contents: dict[str, str]) -> None:
    for path, text in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.mark.parametrize("path", ACTING, ids=ascii)
def test_no_reply_brings_such_a_file(path: str) -> None:
    with pytest.raises(Unreadable):
        parse_files(f"{path}\n```\nx\n```\n", {})


@pytest.mark.parametrize("entry", LIST["refused"], ids=lambda entry: entry["names"][0])
def test_every_name_of_the_list_has_its_reason(entry: dict[str, object]) -> None:
    names, why = entry["names"], str(entry["why"])
    assert isinstance(names, list)
    for name in names:
        path = name.replace("*", "x") + ("x/y" if name.endswith("/") else "")
        for spelling in (path, f"sub/dir/{path}", path.upper()):
            assert reason_to_withhold(spelling) == why
    assert len(why) > 30


@pytest.mark.parametrize("entry", LIST["allowed"], ids=lambda entry: entry["names"][0])
def test_what_may_be_delivered_is_delivered(entry: dict[str, list[str]]) -> None:
    for name in entry["names"]:
        assert reason_to_withhold(name) is None
        assert name in parse_files(entitled(name, "x"), {}).software


@tool("git")
def test_git_runs_what_a_bare_repository_says(tmp_path: Path) -> None:
    """A prompt that shows the branch asks for it so; git looks into the folder before it looks above it."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    inside, mark = tmp_path / "lib" / "x", tmp_path / "mark"
    acting = {path: text.replace("/tmp/chatdev-escaped.py", str(mark)) for path, text in REPOSITORY.items()}
    write(inside, acting)
    look(inside, "git", "-c", "safe.directory=*", "status")
    assert mark.exists()
    mark.unlink()
    (inside / next(iter(withheld_files(acting)))).unlink()
    look(inside, "git", "-c", "safe.directory=*", "status")
    assert not mark.exists()


@tool("git")
def test_git_takes_what_leads_to_a_repository_for_one(tmp_path: Path) -> None:
    write(tmp_path, {"a/HEAD": "ref: refs/heads/main\n", "a/commondir": "../b\n", "b/objects/x": "", "b/refs/x": ""})
    assert look(tmp_path / "a", "git", "rev-parse", "--git-dir").stdout == b".\n"
    assert bare_repositories(["a/HEAD", "A/Objects/x", "ａ/refs/y"])
    assert bare_repositories(["a/HEAD", "a/commondir", "b/objects/x", "b/refs/x"]) == {"a": ["a/HEAD", "a/commondir"]}


def test_every_spelling_of_what_makes_a_repository_is_withheld() -> None:
    paths = ["a/head", "a/HEAD", "a/Head", "a/objects/x", "a/Objects/x", "a/refs/y", "a/main.py"]
    assert withheld_files(paths).keys() == {"a/head", "a/HEAD", "a/Head"}
    assert bare_repositories(paths) == {"a": ["a/head", "a/objects/x", "a/refs/y"]}


@tool("vim")
@pytest.mark.parametrize("name", [".exrc", ".vimrc"])
def test_vim_runs_its_start_file_where_it_is_set_to(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "mark"
    write(tmp_path, {name: f"call writefile(['x'], '{mark}')\n"})
    look(tmp_path, "vim", "--not-a-term", "-c", "qa!", VIMINIT="set exrc")
    assert mark.exists()


@tool("gdb")
def test_gdb_runs_its_start_file_where_it_may(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    write(tmp_path, {".gdbinit": f"shell touch {mark}\n"})
    look(tmp_path, "gdb", "-iex", "set auto-load safe-path /", "-batch")
    assert mark.exists()


def test_python_imports_nothing_from_the_folder_it_starts_in(tmp_path: Path) -> None:
    """Why `sitecustomize.py` and `.pth` files may be delivered."""
    mark = tmp_path / "mark"
    write(tmp_path, dict.fromkeys(("sitecustomize.py", "usercustomize.py"), f"open({str(mark)!r}, 'w')\n"))
    write(tmp_path, {"x.pth": f"import os; open({str(mark)!r}, 'w')\n", "main.py": "pass\n"})
    for arguments in (["-c", "pass"], ["main.py"], ["-m", "main"]):
        assert look(tmp_path, sys.executable, *arguments).returncode == 0
    assert not mark.exists()


def test_a_repository_is_not_made_in_several_deliveries(world: World) -> None:
    company = world.studio.company({"write": WRITE, "change": CHANGE})
    first = "".join(entitled(f"x/{path}", text) for path, text in REPOSITORY.items() if path != "HEAD")
    run = world.run(company, {FIRST: f"<SOLUTION>\n{first}{program()}", RETRY: "<SOLUTION>\n" + program("print(2)"),
                              SECOND: "<SOLUTION>\n" + entitled("x/HEAD", "ref: refs/heads/main")})
    assert run.success, run.reason
    assert "make the folder x a git repository" in world.studio.said(RETRY)
    assert "x/HEAD" not in run.software


def test_nor_by_branches_put_together(world: World) -> None:
    """Each branch is harmless; what both make together is not written as a whole, and the user is told."""
    branches = {name: {**files(f"x/{name}"), "reads": ["software"]} for name in ("HEAD", "objects/a", "refs/a")}
    named = {name.replace("/", "-").lower(): phase for name, phase in branches.items()}
    company = world.studio.company({"write": WRITE, **named}, [
        {"phase": "write"}, {"parallel": [{"phase": name} for name in named]},
        {"tool": "software.complete", "writes": "test"}])
    replies = {f"parallel#1/branch-{n}/{name}#1/round-1/assistant": "<SOLUTION>\n" + entitled(f"x/{path}", "ref: x")
               for n, (name, path) in enumerate(zip(named, branches, strict=True), start=1)}
    run = world.studio.run(company, {FIRST: HELLO, **replies})
    assert run.success, run.reason
    assert not (run.software_folder / "x" / "HEAD").exists()
    assert (run.software_folder / "x" / "refs" / "a").exists()
    assert any("x/HEAD is not in the folder of the software" in note for note in run.notes)


def test_software_to_start_from_is_written_without_them(world: World) -> None:
    given = world.studio.folder / "given"
    write(given, {"main.py": "print('old')\n", ".envrc": "touch x\n", ".VSCode/tasks.json": "{}",
                  ".gitignore": "*.log\n", **{f"x/{path}": text for path, text in REPOSITORY.items()}})
    run = world.studio.run(world.studio.company({"change": CHANGE}), {
        "change#1/round-1/assistant": HELLO}, software=given)
    assert run.success, run.reason
    on_disk = {str(path.relative_to(run.software_folder)) for path in run.software_folder.rglob("*") if path.is_file()}
    assert {path for path in on_disk if not path.startswith(".git/")} == {
        "main.py", ".gitignore", "x/config", "x/objects/info/x", "x/refs/heads/x"}
    assert sum("is not in the folder of the software" in note for note in run.notes) == 3


def test_what_is_in_a_folder_already_is_taken_out_of_it(tmp_path: Path) -> None:
    """A stranger's run folder, when the run goes on."""
    folder = SoftwareFolder(tmp_path)
    write(tmp_path, {"main.py": "1", ".envrc": "touch x", "x/HEAD": "", "x/objects/x": "", "x/refs/x": ""})
    folder.start_history()
    before = folder.read()
    folder.write(before, before)
    assert sorted(folder.read()) == ["main.py", "x/objects/x", "x/refs/x"]
    assert sorted(folder.withheld) == [".envrc", "x/HEAD"]


def test_a_company_that_asks_for_one_is_refused(world: World) -> None:
    phase = {**WRITE, "solution": {"form": "files", "as_file": ".envrc"}}
    with pytest.raises(ConfigError, match=r"\.envrc' may not be written: tools like direnv"):
        load_company(world.studio.company({"write": phase}))
