"""Starting finished software for a person."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chatdev.errors import ToolError
from chatdev.sandbox.choose import choose
from chatdev.tools.software.play import play

pytestmark = pytest.mark.tool

_PLAY = """
import sys
from pathlib import Path
from chatdev.sandbox.choose import choose
from chatdev.tools.software.play import play
done = play(Path(sys.argv[1]), choose("bubblewrap"), sys.argv[2:])
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
    ({"main.py": "import no_such_thing"}, "modules that cannot be installed: no_such_thing"),
])
def test_what_cannot_be_started_is_told(tmp_path: Path, files: dict[str, str], text: str) -> None:
    for name, source in files.items():
        (tmp_path / name).write_text(source)
    with pytest.raises(ToolError, match=text):
        play(tmp_path, choose("bubblewrap"))
