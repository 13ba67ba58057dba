"""Other verifiers and compilers of Structured Text, asked in the sandbox for a second opinion where they are installed.
Which there are, and how they are asked, is data (`verifiers.yaml`, `compilers.yaml`)."""

from __future__ import annotations

import functools
import math
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chatdev.departments.plc.proof.outcomes import RUN_TIME, UNREADABLE, Opinion, Property
from chatdev.departments.plc.proof.properties import ASSERTION
from chatdev.departments.plc.source_check import SourceProof
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.errors import MissingProgram, WorkspaceError
from chatdev.paths import bundled_table, read_plain
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.workspace.file_tree import files_and_links, write_tree

STARTING = 60.0
"""Seconds that a verifier may take beside those of its backend."""
_SOURCE, _OUTPUT = "program.scl", "output"
_LIMITS = ProcessLimits(memory=4 << 30, address_space=16 << 30, processes=512, open_files=1024)
_LARGEST_REPORT = 1 << 20
_LONGEST = 500  # characters of what is told of one that names no verdict
_NAMES = re.compile(r"'(?:\$.|[^'$])*'?|(?<![\w.#%])(?P<name>[A-Za-z_]\w*)(?![\w#])")


@dataclass(frozen=True, slots=True)
class InstalledVerifier:
    """A verifier that is on this machine, and the model checker that it works with."""

    name: str
    program: Path
    backend: str
    backend_program: Path


def find_verifier(name: str) -> InstalledVerifier:
    """A verifier with the first of its backends that is installed. Raises MissingProgram if it is not on the PATH, or
    none of them."""
    known = _verifiers()[name]
    found = shutil.which(name)
    if found is None:
        raise MissingProgram(f"{name} not found, which is asked for a second opinion; {known['get']}")
    for backend in known["backends"]:
        if there := shutil.which(backend):
            return InstalledVerifier(name, Path(found).resolve(), backend, Path(there).resolve())
    remedies = "; or ".join(backend["get"] for backend in known["backends"].values())
    raise MissingProgram(f"{name} needs {' or '.join(known['backends'])}, and neither is found; {remedies}")


def ask_verifier(verifier: InstalledVerifier, proof: SourceProof, sandbox: Sandbox, starting: float = STARTING
                 ) -> SourceProof:
    """The proof with what a verifier says of each of its properties. It is not asked for what every program owes at run
    time. Its backend may take as long as a proof. Raises SandboxError and WorkspaceError."""
    limits = replace(_LIMITS, seconds=proof.options.seconds + starting)
    opinions = [_ask(verifier, proof, one.asked, sandbox, limits)
                if one.asked.pattern not in (RUN_TIME, UNREADABLE) else None for one in proof.outcomes]
    return replace(proof, outcomes=tuple(replace(one, opinion=opinion)
                                         for one, opinion in zip(proof.outcomes, opinions, strict=True)))


def name_variables(condition: str, names: Sequence[str]) -> str:
    """A condition in which each of these variables is one of PLCverif's `instance`, as it is written or by that."""
    known = {name.lower() for name in names}
    return _NAMES.sub(lambda found: f"instance.{found[0]}" if (found["name"] or "").lower() in known else found[0],
                      condition)


def _ask(verifier: InstalledVerifier, proof: SourceProof, asked: Property, sandbox: Sandbox, limits: ProcessLimits
         ) -> Opinion:
    with tempfile.TemporaryDirectory(prefix="plc-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_tree(folder, {_SOURCE: proof.source.encode("utf-8", "replace")})
        (folder / _OUTPUT).mkdir()
        shown = [path for pattern in _verifiers()[verifier.name]["shows"] for path in Path("/").glob(pattern[1:])]
        places = dict.fromkeys((verifier.program.parent, verifier.backend_program.parent, *shown))
        job = SandboxJob(_command(verifier, proof, asked), folder, limits, bindings=[Binding(path) for path in places])
        execution = sandbox.run(job)
        return _judge(verifier, execution, _reports(folder))


def _command(verifier: InstalledVerifier, proof: SourceProof, asked: Property) -> list[str]:
    known = _verifiers()[verifier.name]
    options = _fill(known["backends"][verifier.backend]["options"], {
        "BACKEND": [str(verifier.backend_program)], "SECONDS": [str(math.ceil(proof.options.seconds))]})
    return [str(verifier.program), *_fill(known["command"][1:], {
        "FILE": [_SOURCE], "OUTPUT": [_OUTPUT], "ENTRY": [proof.check.entry], "OPTIONS": options,
        "REQUIREMENT": _requirement(known, proof, asked)})]


def _requirement(known: Mapping[str, Any], proof: SourceProof, asked: Property) -> list[str]:
    if asked.pattern == ASSERTION:
        return list(known["assertion"])
    names = [variable.name for variable in proof.check.variables]
    parameters = [known["parameter"].format(number=number, condition=name_variables(text, names))
                  for number, text in enumerate(asked.parameters, 1)]
    return [*_fill(known["pattern"], {"PATTERN": [asked.pattern]}), *parameters]


def _fill(words: Sequence[str], places: Mapping[str, Sequence[str]]) -> list[str]:
    return [filled for word in words for filled in places.get(word, [word])]


def _reports(folder: Path) -> Iterator[str]:
    """What a verifier left in its folder, whatever that is; not what is too large for a report."""
    with suppress(WorkspaceError, OSError):
        output = folder / _OUTPUT
        for path in () if output.is_symlink() else files_and_links(output):
            with suppress(OSError):
                yield read_plain(path, _LARGEST_REPORT).decode("utf-8", "replace")


def _judge(verifier: InstalledVerifier, execution: Execution, reports: Iterable[str]) -> Opinion:
    """What it says, if it ended well and does not say two things at once."""
    known = _verifiers()[verifier.name]
    log = f"{execution.stdout}\n{execution.stderr}"
    says = re.compile(known["says"], re.MULTILINE)
    verdicts: set[Any] = {found["verdict"] for text in (log, *reports) for found in says.finditer(text)}
    if execution.exit_status == 0 and len(verdicts) == 1 and "UNKNOWN" not in verdicts:
        return Opinion(known["title"], verdicts.pop(), scans=known["backends"][verifier.backend].get("scans", 0))
    said = " ".join(log.split())[-_LONGEST:] or "nothing"
    return Opinion(known["title"], "UNKNOWN", f"{_describe_end(execution)} and says: {said}")


def _describe_end(execution: Execution) -> str:
    if execution.timed_out:
        return "it took too long"
    if execution.exceeded:
        return f"it took too much ({execution.exceeded})"
    return f"it ended with {execution.signal or execution.exit_status}"


@functools.cache
def _verifiers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = bundled_table(Path(__file__).with_name("verifiers.yaml"))
    return found


# Compilers: what one says becomes diagnostics like ours.

_COMPILED_SOURCE = "program.st"
_COMPILER_LIMITS = ProcessLimits(cpu=20, seconds=120, memory=1 << 30, disk=128 << 20, written=4 << 20)
_COMMENTS = re.compile(r"""(\(\*.*?(?:\*\)|\Z)|/\*.*?(?:\*/|\Z)|'(?:\$.|[^'$\n])*'?|"(?:\$.|[^"$\n])*"?)|//[^\n]*""",
                       re.DOTALL)
_MOST, _LONGEST_LOG = 25, 500  # diagnostics, and characters of what is told of a program that names no line


def ask_compiler(name: str, source: str, sandbox: Sandbox) -> tuple[Diagnostic, ...]:
    """What a compiler says of a source. One that fails and names no line has one error for the whole source.

    Raises MissingProgram if it is not on the PATH, SandboxError and WorkspaceError."""
    compiler = _compilers()[name]
    found = shutil.which(name)
    if found is None:
        raise MissingProgram(f"{name} not found, which checks Structured Text as well; {compiler['get']}")
    text = strip_line_comments(source) if compiler["block_comments"] else source
    with tempfile.TemporaryDirectory(prefix="plc-", ignore_cleanup_errors=True) as folder:
        write_tree(Path(folder), {_COMPILED_SOURCE: text.encode("utf-8", "replace")})
        job = _job(compiler["command"], Path(found).resolve(), Path(folder))
        return _read(name, sandbox.run(job), re.compile(compiler["says"], re.MULTILINE))


def strip_line_comments(source: str) -> str:
    """The source without comments of `//`, every line at its place."""
    return _COMMENTS.sub(lambda found: found[1] or "", source)


def _job(command: list[str], program: Path, folder: Path) -> SandboxJob:
    library = program.parent / "lib"
    places = {"FILE": _COMPILED_SOURCE, "LIBRARY": str(library)}
    argv = [str(program), *(places.get(word, word) for word in command[1:])]
    if not library.is_dir() and "LIBRARY" in command:
        at = command.index("LIBRARY")
        del argv[at - 1:at + 1]
    return SandboxJob(argv, folder, _COMPILER_LIMITS, bindings=[Binding(program.parent)])


def _read(name: str, execution: Execution, says: re.Pattern[str]) -> tuple[Diagnostic, ...]:
    log = f"{execution.stdout}\n{execution.stderr}"
    found = [_diagnostic(name, match) for match in says.finditer(log)][:_MOST]
    if execution.exit_status != 0 and not any(one.severity == "error" for one in found):
        said = " ".join(log.split())[-_LONGEST_LOG:] or "nothing"
        how = "took too long" if execution.timed_out else f"ended with {execution.exit_status or execution.signal}"
        found.append(Diagnostic("error", name, f"{name}: it {how}, names no line, and says: {said}", Span(1, 1, 1, 1)))
    return tuple(dict.fromkeys(found))


def _diagnostic(name: str, match: re.Match[str]) -> Diagnostic:
    told = match.groupdict()
    span = Span(int(told["line"]), int(told["column"]), int(told.get("end_line") or 0),
                int(told.get("end_column") or 0))
    severity: Any = told["severity"]
    return Diagnostic(severity, name, f"{name}: {told['message'].strip()}", span)


@functools.cache
def _compilers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = bundled_table(Path(__file__).with_name("compilers.yaml"))
    return found
