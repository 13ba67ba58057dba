"""The tutorial, command by command, against a server that answers as a capable model would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer
from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
PROGRAM = '''main.py
```python
import sys


def count(text):
    return len(text.split())


print(count(" ".join(sys.argv[1:])), "words")
```'''
OPTION = PROGRAM.replace("import sys\n", 'import sys\n\nLINES = "--lines" in sys.argv\n')
REPLIES = {"checks": "[]", "coding": PROGRAM, "code_review": "<SOLUTION>", "manual": "# Words\nCounts words.",
           "accessibility": "<SOLUTION>", "extension": OPTION, "architecture": "main.py"}


def commands() -> list[str]:
    """The blocks of the tutorial, in order: what is typed, and files that are written."""
    return re.findall(r"```(?:sh|yaml)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_every_command_of_the_tutorial_does_what_it_says(here: Path, chat_server: ChatServer) -> None:
    def answer(request: object) -> str:
        headers = request.headers  # type: ignore[attr-defined]
        last = "round-2" in headers["X-ChatDev-Activity"] and headers["X-ChatDev-Role"] != "programmer"
        return "<SOLUTION>" if last else REPLIES[headers["X-ChatDev-Phase"]]

    chat_server.route(answer)
    programs = here / "bin"
    programs.mkdir()
    for name, module in (("chatdev", "chatdev"), ("python", "")):
        arguments = f'-m {module} "$@"' if module else '"$@"'
        (programs / name).write_text(f"#!/bin/sh\nexec {sys.executable} {arguments}\n")
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "OPENAI_BASE_URL": chat_server.url,
                   "OPENAI_API_KEY": "sk-tutorial-0123456789", "PYTHONPATH": str(ROOT)}
    said = {}
    for block in commands():
        if block.startswith("company:"):
            (here / "company_config" / "careful" / "company.yaml").write_text(block, encoding="utf-8")
            continue
        for line in block.splitlines():
            done = subprocess.run(["bash", "-c", line], cwd=here, env=environment, capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            said[line.partition("  #")[0].strip()] = done.stdout + done.stderr
    of = {word: "".join(text for line, text in said.items() if word in line) for word in (
        "--name Words", "chatdev play", "--name Careful", "--name Short", "resume warehouse/Short", "--task", "replay")}
    assert "✓ Done in" in of["--name Words"]
    assert of["chatdev play"].strip().endswith("3 words")
    assert "Accessibility" in of["--name Careful"]
    assert "the budget of 2 calls is used up" in of["--name Short"]
    assert "✓ Done in" in of["resume warehouse/Short"]
    assert "✓ Done in" in of["--task"]
    assert "✓ Done in" in of["replay"]


def test_the_tutorial_names_the_file_that_it_shows() -> None:
    assert [block.startswith("company: careful") for block in commands()].count(True) == 1
