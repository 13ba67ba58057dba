"""A finished program under trial: run it in the sandbox as a user would, and note what it does right."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chatdev.sandbox.base import Binding, Execution, Job, ProcessLimits, Sandbox
from chatdev.tools.base import throwaway_copy
from chatdev.tools.software.installing.supply import Supply
from chatdev.tools.software.interpreter import interpreter
from chatdev.tools.software.python import prepare_program
from chatdev.tools.software.static import syntax_errors
from chatdev.workspace.file_tree import read_tree

NO_PACKAGES = Supply("never")
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
    python: str
    """The interpreter that runs it."""
    shown: Sequence[Binding] = ()
    """What it may read beside its folder: the Python it runs on, and its modules."""

    def start(self, *arguments: str, stdin: str | None = None) -> Execution:
        """Start the program with command line arguments and the lines of `stdin`, wait until it ends (10 s)."""
        return self.run([self.python, self.main, *arguments], stdin=stdin)

    def run(self, argv: Sequence[str], *, stdin: str | None = None, bindings: Sequence[Binding] = (),
            seconds: float = 10.0) -> Execution:
        """Run any command beside the program."""
        return self.sandbox.run(Job(argv, self.folder, ProcessLimits(seconds=seconds), stdin=stdin,
                                    bindings=[*self.shown, *bindings]))


Accept = Callable[[Program], Iterator[Check]]


@contextmanager
def copied(software: Path, sandbox: Sandbox, supply: Supply = NO_PACKAGES,
           run_folder: Path | None = None) -> Iterator[Program]:
    """A copy of `software` to try, with its modules as far as `supply` allows, those of `run_folder` among them; raises
    FileNotFoundError when nothing in it can be started."""
    main, files = main_file(software), read_tree(software)
    with tempfile.TemporaryDirectory(prefix="accept-") as scratch, throwaway_copy(Path(scratch), files) as folder:
        python, shown = _provided(files, run_folder or Path(scratch) / "run", sandbox, supply)
        yield Program(folder, sandbox, main, python, shown)


def _provided(files: Mapping[str, bytes], run_folder: Path, sandbox: Sandbox,
              supply: Supply) -> tuple[str, Sequence[Binding]]:
    """The interpreter for a program, and what must be shown for it."""
    if syntax_errors(files):
        bare = interpreter()
        return str(bare.executable), [Binding(bare.prefix)]
    modules = prepare_program(files, run_folder, sandbox, supply).modules
    return str(modules.python), modules.bindings


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
