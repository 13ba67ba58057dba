"""Starting finished software for a person."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from chatdev.cli.app import command_line
from chatdev.departments.software.play_command import play
from chatdev.errors import ToolError
from chatdev.sandbox.kinds import find_sandbox
from tests.support.copies import run_module

pytestmark = pytest.mark.tool

TODO = """import json, sys
from pathlib import Path
file = Path("todo.json")
entries = json.loads(file.read_text())
if sys.argv[1] == "add":
    file.write_text(json.dumps([*entries, sys.argv[2]]))
else:
    print(entries, sys.argv[1:])
"""

_PLAY = """
import sys
from pathlib import Path
from chatdev.sandbox.kinds import find_sandbox
from chatdev.departments.software.play_command import play
done = play(Path(sys.argv[1]), find_sandbox("bubblewrap"), sys.argv[2:])
print("status", done.exit_status)
"""


def test_finished_software_runs_on_a_copy_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "software").mkdir()
    (tmp_path / "run").mkdir()
    main = tmp_path / "software" / "main.py"
    main.write_text("import sys\nprint(input(), sys.argv[1:])\nopen('made', 'w')\nsys.exit(2)")
    done = subprocess.run([sys.executable, "-c", _PLAY, str(tmp_path), "a", "-b"], input="hello\n", text=True,
                          capture_output=True, check=True, timeout=30)
    assert done.stdout == "hello ['a', '-b']\nstatus 2\n", done.stderr
    assert [path.name for path in (tmp_path / "software").iterdir()] == ["main.py"]


@pytest.mark.parametrize(("files", "text"), [
    ({"main.py": "def ("}, "main.py:1 does not compile"),
    ({"readme.md": "hi"}, "holds no Python program to start"),
    ({"a.py": "x = 1", "b.py": "y = 1"}, "several files could be the start: a.py, b.py"),
    ({"main.py": "import no_such_thing"}, "modules that are not here: no_such_thing"),
])
def test_what_cannot_be_started_is_told(tmp_path: Path, files: dict[str, str], text: str) -> None:
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    with pytest.raises(ToolError, match=text):
        play(tmp_path, find_sandbox("bubblewrap"))


@pytest.mark.parametrize("files", [
    {"main.js": "require('fs').readFile(0, 'utf8', (_, text) => { console.log(text.trim(), process.argv[2]); "
                "process.exitCode = 2 })"},
    {"main.c": '#include <stdio.h>\n'
               'int main(int n, char **v) { char t[9]; scanf("%8s", t); printf("%s %s\\n", t, v[1]); return 2; }'},
    {"Main.java": "public class Main { public static void main(String[] a) { "
                  'System.out.println(new java.util.Scanner(System.in).nextLine() + " " + a[0]); System.exit(2); } }'},
])
def test_software_in_other_languages_is_built_and_started(tmp_path: Path, files: dict[str, str]) -> None:
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    done = subprocess.run([sys.executable, "-c", _PLAY, str(tmp_path), "there"], input="hello\n", text=True,
                          capture_output=True, check=True, timeout=60)
    assert done.stdout == "hello there\nstatus 2\n", done.stderr
    assert {path.name for path in tmp_path.iterdir()} == set(files)


@pytest.mark.parametrize(("files", "text"), [
    ({"main.c": "int main(void) { return x; }"}, "main.c:1:25: error: ‘x’ undeclared"),
    ({"a.js": "", "b.js": ""}, "several files could be the start"),
    ({"index.html": "<p>"}, "is a page: open /.*/index.html in a browser"),
])
def test_what_cannot_be_started_in_other_languages_is_told(tmp_path: Path, files: dict[str, str], text: str) -> None:
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    with pytest.raises(ToolError, match=text):
        play(tmp_path, find_sandbox("bubblewrap"))


def test_a_missing_toolchain_is_told_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.go").write_text("package main\nfunc main() {}")
    sandbox = find_sandbox("bubblewrap")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="Go software needs go: apt-get install golang-go"):
        play(tmp_path, sandbox)


def test_of_a_page_the_address_is_shown(tmp_path: Path) -> None:
    (tmp_path / "software").mkdir()
    (tmp_path / "software" / "index.html").write_text("<p>Hi")
    done = CliRunner().invoke(command_line, ["play", str(tmp_path)])
    assert (done.exit_code, done.stdout) == (0, f"open it in a browser: file://{tmp_path}/software/index.html\n")


@pytest.fixture
def todo_list(tmp_path: Path) -> Path:
    """A run folder whose software keeps its entries in a file that comes with it."""
    for name in ("software", "run"):
        (tmp_path / name).mkdir()
    (tmp_path / "software" / "main.py").write_text(TODO)
    (tmp_path / "software" / "todo.json").write_text("[]")
    return tmp_path


def started(folder: Path, *arguments: str) -> str:
    """What `chatdev play` prints, which must succeed."""
    done = run_module("chatdev", "play", str(folder), *arguments)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_a_to_do_list_keeps_its_entries_between_starts(todo_list: Path) -> None:
    started(todo_list, "add", "milk")
    started(todo_list, "--", "add", "eggs")
    assert started(todo_list, "--", "list") == "['milk', 'eggs'] ['list']\n"
    assert started(todo_list, "list", "--", "x") == "['milk', 'eggs'] ['list', '--', 'x']\n"
    assert (todo_list / "software" / "todo.json").read_text() == "[]"
    assert {path.name for path in (todo_list / "software").iterdir()} == {"main.py", "todo.json"}


def test_a_fresh_start_knows_nothing_and_leaves_nothing(todo_list: Path) -> None:
    started(todo_list, "add", "milk")
    fresh = ["play", "--fresh", str(todo_list)]
    done = run_module("chatdev", *fresh, "list")
    assert done.stdout == "[] ['list']\n"
    assert started(todo_list, "list") == "['milk'] ['list']\n"


def test_a_new_version_of_the_program_works_with_the_old_entries(todo_list: Path) -> None:
    started(todo_list, "add", "milk")
    (todo_list / "software" / "main.py").write_text(TODO.replace("print(", "print('new:', "))
    (todo_list / "software" / "todo.json").write_text('["delivered"]')
    assert started(todo_list, "list") == "new: ['milk'] ['list']\n"


def test_links_in_the_kept_folder_lead_nowhere(todo_list: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    mine = tmp_path_factory.mktemp("mine")
    (mine / "main.py").write_text("print('mine')")
    (todo_list / "play").mkdir()
    (todo_list / "play" / "main.py").symlink_to(mine / "main.py")
    assert started(todo_list, "list") == "[] ['list']\n"
    assert (mine / "main.py").read_text() == "print('mine')"
    (todo_list / "run" / "played.json").write_text("[")
    assert started(todo_list, "list") == "[] ['list']\n", "a record that cannot be read counts as none"
    for path in (todo_list / "play").iterdir():
        path.unlink()
    (todo_list / "play").rmdir()
    (todo_list / "play").symlink_to(mine)
    done = CliRunner().invoke(command_line, ["play", str(todo_list), "list"])
    assert done.exit_code == 5
    assert (mine / "main.py").read_text() == "print('mine')"
