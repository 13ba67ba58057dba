"""What a description promises of single starts of a program: cases that an acceptance script tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chatdev.errors import WorkspaceError
from chatdev.evaluation.trial import Check, Program, crashed, said, tail
from chatdev.sandbox.base import Execution
from chatdev.workspace.file_tree import read_tree, write_file


@dataclass(frozen=True, slots=True)
class Case:
    """One start of the program, and what must come of it."""

    arguments: Sequence[str]
    prints: str | None
    """Every line it prints, blanks at line ends and empty lines at the end aside. What comes with a status other than 0
    may stand on either stream, all else must stand on standard output. None: left open."""
    status: int | None = 0
    """Its exit status; None: left open."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts that lie beside the program before it starts."""
    stdin: str | None = None


def tried(program: Program, name: str, *cases: Case) -> Check:
    """The check that all `cases` come out; `detail` describes the first that does not."""
    for case in cases:
        if wrong := _mismatch(program, case):
            return Check(name, passed=False, detail=wrong)
    return Check(name, passed=True)


def written(program: Program, name: str) -> bytes | None:
    """The content of a file that the program wrote; None when there is none, or when it is no plain, small file."""
    try:
        return read_tree(program.folder).get(name)
    except WorkspaceError:
        return None


def _mismatch(program: Program, case: Case) -> str:
    """What is not as it should be; empty when all is."""
    try:
        for name, text in case.files.items():
            write_file(program.folder, name, text.encode())
    except WorkspaceError as error:  # the program left something of its own in the way
        return str(error)
    execution = program.start(*case.arguments, stdin=case.stdin)
    if _matches_case(case, execution):
        return ""
    return (f"{' '.join(case.arguments)}: wanted {tail(case.prints or '') or 'an end'!r} with status {case.status}, "
            f"saw {tail(said(execution))!r} with status {execution.exit_status}")


def _matches_case(case: Case, execution: Execution) -> bool:
    if crashed(execution) or case.status not in (None, execution.exit_status):
        return False
    printed = _lines(execution.stdout) if case.status == 0 else _lines(execution.stdout) + _lines(execution.stderr)
    return case.prints is None or printed == _lines(case.prints)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
