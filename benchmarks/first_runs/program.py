"""A finished program under trial: run it in the sandbox as a user would, and note what it does right."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chatdev.sandbox.base import Binding, Execution, Job, Limits, Sandbox

PYTHON = "/usr/bin/python3"  # in the sandbox; the system's, because it has tkinter
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a user would look at; `detail` is what was seen."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A throwaway copy of a software folder; what the program writes stays for its next start."""

    folder: Path
    sandbox: Sandbox
    main: str

    def start(self, *arguments: str, stdin: str | None = None) -> Execution:
        """Start the program with command line arguments and the lines of `stdin`, wait until it ends (10 s)."""
        return self.run([PYTHON, self.main, *arguments], stdin=stdin)

    def run(self, argv: Sequence[str], *, stdin: str | None = None, bindings: Sequence[Binding] = (),
            seconds: float = 10.0) -> Execution:
        """Run any command beside the program."""
        return self.sandbox.run(Job(argv, self.folder, Limits(seconds=seconds), stdin=stdin, bindings=bindings))


Accept = Callable[[Program], Iterator[Check]]


@contextmanager
def copied(software: Path, sandbox: Sandbox) -> Iterator[Program]:
    """A copy of `software` to try; raises FileNotFoundError when nothing in it can be started."""
    main = main_file(software)
    with tempfile.TemporaryDirectory(prefix="accept-") as scratch:
        folder = Path(scratch) / "software"
        shutil.copytree(software, folder, ignore=shutil.ignore_patterns(".git"))
        yield Program(folder, sandbox, main)


def main_file(software: Path) -> str:
    """What a user would start: main.py, else the only Python file."""
    if (software / "main.py").is_file():
        return "main.py"
    programs = sorted(software.glob("*.py"))
    if len(programs) != 1:
        raise FileNotFoundError(f"{software} has no main.py")
    return programs[0].name


def crashed(execution: Execution) -> bool:
    """Whether a user would say that the program crashed or hung; Python reports a SyntaxError without a traceback."""
    reported = re.search(r"^(Traceback \(most recent call last\)|\w*Error: )", execution.stderr, re.MULTILINE)
    return bool(reported) or execution.timed_out or execution.exit_status is None


def said(execution: Execution) -> str:
    """All the user reads."""
    return f"{execution.stdout}\n{execution.stderr}".strip()


def numbers(text: str) -> list[float]:
    """The numbers in a text."""
    return [float(number.replace(",", ".")) for number in _NUMBER.findall(text)]


def tail(text: str) -> str:
    """The end of a text, for a detail."""
    return " / ".join(text.strip().splitlines()[-4:])[-240:]
