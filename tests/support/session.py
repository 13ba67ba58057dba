"""A run of `chatdev` on a terminal of its own, drawn as an SVG picture."""

from __future__ import annotations

import errno
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.support.processes import running_program

COLUMNS = 100
LONGEST = 70  # lines; of a longer session the beginning and the end are drawn
_ENDING = 12  # lines of it that are the end


def record(arguments: Sequence[str]) -> tuple[int, str]:
    """Run chatdev with a terminal as standard output; its exit status and what it wrote, colours included. Errors and
    the progress line go where ours go."""
    command = [sys.executable, "-m", "chatdev", *arguments]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with running_program(command, stdin=subprocess.DEVNULL, stdout=theirs, env=environment) as process:
        os.close(theirs)
        output = b"".join(iter(lambda: read_terminal(ours), b""))
    os.close(ours)
    return process.returncode, output.decode("utf-8", "replace").replace("\r\n", "\n")


def read_terminal(terminal: int) -> bytes:
    """What the program wrote next; nothing when it is gone."""
    try:
        return os.read(terminal, 65536)
    except OSError as error:
        if error.errno != errno.EIO:  # what Linux says when nobody has the terminal open any more
            raise
        return b""


def draw(arguments: Sequence[str], output: str) -> str:
    """The session as an SVG picture; this machine's home and working directory are left out of it."""
    text = re.sub(re.escape(f"{Path.cwd()}/"), "", output).replace(str(Path.home()), "~")
    lines = text.rstrip("\n").split("\n")
    if len(lines) > LONGEST:
        lines = [*lines[:LONGEST - _ENDING], "", "    ⋮", "", *lines[-_ENDING:]]
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="256")
        console.print(Text.from_ansi("\n".join([f"$ chatdev {shlex.join(arguments)}", *lines])))
        picture = console.export_svg(title="chatdev", unique_id="session")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # a picture that fetches nothing


def main() -> int:
    """Record what the command line says."""
    if len(sys.argv) < 3:
        print("usage: scripts/record_session OUTPUT.svg ARGUMENTS…", file=sys.stderr)
        return 2
    picture, *arguments = sys.argv[1:]
    status, output = record(arguments)
    Path(picture).write_text(draw(arguments, output), encoding="utf-8")
    print(f"drawn: {picture} (chatdev ended with exit status {status})")
    return status


if __name__ == "__main__":
    sys.exit(main())
