"""What a description promises of single starts of a program: cases that a hidden test tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chatdev.errors import WorkspaceError
from chatdev.evaluation.trial import Check, Program, crashed, said, tail
from chatdev.sandbox.base import Execution, lines_of, printed_lines
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
    writes: Mapping[str, str] = field(default_factory=dict)
    """Texts that lie beside the program afterwards, compared as what it prints."""

    @property
    def is_refusal(self) -> bool:
        """Whether it must end with a status other than 0."""
        return self.status not in (0, None)


def tried(program: Program, name: str, *cases: Case, refusal: bool = False) -> Check:
    """The check that all `cases` come out; `detail` describes the first that does not. It is one of a `refusal` when
    the script says so, and when all cases are refusals."""
    refusal = refusal or all(case.is_refusal for case in cases)
    wrong = next(filter(None, (_mismatch(program, case) for case in cases)), "")
    return Check(name, not wrong, wrong, refusal)


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
        return next(filter(None, (_wrong_file(program, name, text) for name, text in case.writes.items())), "")
    return (f"{' '.join(case.arguments)}: wanted {tail(case.prints or '') or 'an end'!r} with status {case.status}, "
            f"saw {tail(said(execution))!r} with status {execution.exit_status}")


def _matches_case(case: Case, execution: Execution) -> bool:
    if crashed(execution) or case.status not in (None, execution.exit_status):
        return False
    printed = printed_lines(execution.stdout, execution.stderr, case.status)
    return case.prints is None or printed == lines_of(case.prints)


def _wrong_file(program: Program, name: str, text: str) -> str:
    """What is wrong with a file that the program must have written; empty when nothing is."""
    found = written(program, name)
    if found is not None and lines_of(found.decode("utf-8", "replace")) == lines_of(text):
        return ""
    seen = "no such file" if found is None else repr(tail(found.decode("utf-8", "replace")))
    return f"{name}: wanted {tail(text)!r}, saw {seen}"
