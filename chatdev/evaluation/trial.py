"""A finished program under trial, in the sandbox, as a user would run it; and the hidden tests that try it."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from chatdev.errors import ChatDevError, ConfigError
from chatdev.evaluation.tasks import Task
from chatdev.packages.imports import Supply
from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import prepare_program
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.tools.base import throwaway_copy
from chatdev.workspace.file_tree import read_tree
from chatdev.workspace.python_errors import syntax_errors

NO_PACKAGES = Supply("never")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a user would look at; `detail` is what was seen."""

    name: str
    passed: bool
    detail: str = ""
    refusal: bool = False
    """Whether a program may pass it that does nothing but refuse what it is given."""


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
        return self.sandbox.run(SandboxJob(argv, self.folder, ProcessLimits(seconds=seconds), stdin=stdin,
                                    bindings=[*self.shown, *bindings]))


Accept = Callable[[Program], Iterator[Check]]


@contextmanager
def program_copy(software: Path, sandbox: Sandbox, supply: Supply = NO_PACKAGES,
           run_folder: Path | None = None) -> Iterator[Program]:
    """A copy of `software` to try, with its modules as far as `supply` allows, those of `run_folder` among them; raises
    FileNotFoundError when nothing in it can be started."""
    main, files = main_file(software), read_tree(software)
    with tempfile.TemporaryDirectory(prefix="accept-") as scratch, throwaway_copy(Path(scratch), files) as folder:
        python, shown = _interpreter_of(files, run_folder or Path(scratch) / "run", sandbox, supply)
        yield Program(folder, sandbox, main, python, shown)


def _interpreter_of(files: Mapping[str, bytes], run_folder: Path, sandbox: Sandbox,
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


def find_hidden_test(task: Task, data: Path) -> Path | None:
    """The hidden test of a task, in the folder `acceptance` in or beside that of the data; None when the task has none.
    Raises ConfigError when it names one that is not there."""
    if not task.acceptance:
        return None
    folder = data if data.is_dir() else data.parent
    places = [place / "acceptance" / f"{task.acceptance}.py" for place in (folder, folder.parent)]
    for place in places:
        if place.is_file():
            return place
    raise ConfigError(f"the task {task.id!r} names the hidden test {task.acceptance!r}, and there is none; looked for: "
                      f"{' and '.join(map(str, places))}. Write it, or take `acceptance` out of the task")


def load_hidden_test(script: Path) -> Accept:
    """The function `accept(program)` of a script, whose checks come in the order a user would make them. It runs with
    our rights: use scripts that you trust. Raises ConfigError when it cannot be loaded."""
    spec = importlib.util.spec_from_file_location(f"chatdev_acceptance_{script.stem.replace('-', '_')}", script)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{script} is no acceptance test: it must be a file of Python, NAME.py")
    module: Any = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return cast(Accept, module.accept)
    except Exception as error:
        raise ConfigError(f"{script} is no acceptance test: {type(error).__name__}: {error}; it needs a function "
                          "accept(program) that yields `chatdev.evaluation.trial.Check`s") from error


def run_hidden_test(accept: Accept, software: Path, sandbox: Sandbox, supply: Supply, run_folder: Path) -> list[Check]:
    """The checks that a script makes of a copy of `software`. Raises what the sandbox raises; where the program makes
    the script itself stumble, that is a failed check and the last one."""
    try:
        with program_copy(software, sandbox, supply, run_folder) as program:
            return _collect_checks(accept, program)
    except FileNotFoundError as error:
        return [Check("there is a program to start", passed=False, detail=str(error))]


def count_refusals(checks: Sequence[Check]) -> list[Check]:
    """The checks as they count: a refusal only where the example passes, which is the first check that is none."""
    example = next((check for check in checks if not check.refusal), None)
    if example is None or example.passed:
        return list(checks)
    return [replace(check, passed=False, detail="a refusal counts only where the example passes")
            if check.refusal and check.passed else check for check in checks]


def _collect_checks(accept: Accept, program: Program) -> list[Check]:
    checks: list[Check] = []
    try:
        checks.extend(accept(program))
    except ChatDevError:
        raise
    except Exception as error:  # noqa: BLE001 - what a script raises depends on what a model wrote
        checks.append(Check("the test came to its end", passed=False, detail=f"{type(error).__name__}: {error}"))
    return checks
