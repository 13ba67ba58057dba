"""Tests of a program: tables of what goes in and what comes out, or blocks in the source:

    TEST 'the lamp follows the button'
    VAR lamp : Latch; END_VAR
    lamp(Set := TRUE);
    ASSERT_TRUE(lamp.Out);
    WAIT(T#100ms);
    lamp(Set := FALSE, Clear := TRUE);
    ASSERT_EQ(lamp.Count, 1);
    END_TEST

What stands between two WAITs is one scan; a WAIT says how long after it the next one comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.cli.junit import JunitCase, junit_text
from chatdev.departments.plc.container_pieces import Piece
from chatdev.departments.plc.project import SourceProject
from chatdev.departments.plc.simulation.trace import CYCLE, WrongTrace
from chatdev.departments.plc.simulation.values import write_text
from chatdev.departments.plc.source_check import SourceRefused, check_source
from chatdev.departments.plc.source_run import SourceRun, simulate_source
from chatdev.departments.plc.st.core import IEC, MOST_TURNS, Dialect, Span
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.departments.plc.st.tokens import BadLiteral, read_time

MOST_STEPS = 1000
"""Scans of one test."""
_STEP = re.compile(r"(?P<wait>\bWAIT\s*\(\s*(?P<time>[^()]*?)\s*\)\s*;)|(?P<assert>\bASSERT_(?P<kind>[A-Z]+)\s*\()"
                   r"|\(\*.*?\*\)|//[^\n]*|'(?:\$.|[^'$\n])*'", re.IGNORECASE | re.DOTALL)
_VARIABLES = re.compile(r"(?:\s|\(\*.*?\*\)|//[^\n]*)*(?:VAR\b.*?\bEND_VAR\s*;?(?:\s|\(\*.*?\*\)|//[^\n]*)*)*",
                        re.IGNORECASE | re.DOTALL)
_CONDITIONS = {"TRUE": ("{0}", 1), "FALSE": ("NOT ({0})", 1), "EQ": ("({0}) = ({1})", 2), "NE": ("({0}) <> ({1})", 2),
               "LT": ("({0}) < ({1})", 2), "LE": ("({0}) <= ({1})", 2), "GT": ("({0}) > ({1})", 2),
               "GE": ("({0}) >= ({1})", 2), "NEAR": ("ABS(({0}) - ({1})) <= ({2})", 3)}


class WrongTest(ValueError):
    """A TEST block cannot be read; `line` and `column` are those of its file."""

    def __init__(self, why: str, line: int, column: int) -> None:
        super().__init__(why)
        self.line, self.column = line, column


@dataclass(frozen=True, slots=True)
class UnitTest:
    """A TEST block as a file has it: its name, the place of its text, and the text."""

    name: str
    file: Path
    piece: Piece


@dataclass(frozen=True, slots=True)
class UnitTestResult:
    """How a test ended: what failed in it, a line each, or why it could not be run."""

    name: str
    file: Path
    line: int
    failures: tuple[str, ...] = ()
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether all was as expected."""
        return not (self.failures or self.error)


def blocks_of(project: SourceProject) -> Iterator[UnitTest]:
    """The TEST blocks of the files that are asked about."""
    for file, container in project.containers.items():
        if file in project.own:
            for name, piece in container.tests:
                yield UnitTest(name, file, piece)


def run_block(block: UnitTest, number: int, project: SourceProject, dialect: Dialect = IEC,
              most_turns: int = MOST_TURNS) -> UnitTestResult:
    """Run one TEST block with the program."""
    try:
        pieces, milliseconds = _program_of(block, f"test_{number}")
    except WrongTest as error:
        return UnitTestResult(block.name, block.file, block.piece.line,
                          error=f"{block.file}:{error.line}:{error.column}: {error}")
    whole = project.with_pieces(block.file, pieces)
    table = "\n".join([CYCLE, *map(str, milliseconds)]) + "\n"
    try:
        seen = simulate_source(whole.text, f"test_{number}", table, dialect=dialect, most_turns=most_turns)
    except (SourceRefused, WrongTrace) as error:
        return UnitTestResult(block.name, block.file, block.piece.line,
                          error=_first_error(whole, f"test_{number}", dialect) or str(error))
    return UnitTestResult(block.name, block.file, block.piece.line, tuple(problems_of(whole, seen)))


def run_table(file: Path, table: str, project: SourceProject, entry: str | None, cycle_ms: int | None,
              dialect: Dialect = IEC, most_turns: int = MOST_TURNS) -> UnitTestResult:
    """Run the program on a table of inputs and expected values, as `chatdev plc run` takes it."""
    try:
        seen = simulate_source(project.text, entry, table, cycle_ms, dialect=dialect, most_turns=most_turns)
    except WrongTrace as error:
        return UnitTestResult(file.stem, file, 1, error=f"{file}: {error}")
    except SourceRefused as error:
        return UnitTestResult(file.stem, file, 1, error=_first_error(project, entry, dialect) or str(error))
    return UnitTestResult(file.stem, file, 1, tuple(problems_of(project, seen)))


def problems_of(project: SourceProject, seen: SourceRun) -> Iterator[str]:
    """A line for each thing that went wrong in a run."""
    file = project.files[0]
    for one in seen.mismatches:
        expected, found = (write_text(value, one.column.type) for value in (one.expected, one.seen))
        yield f"{file}: scan {one.scan}: {one.column.name} is {found}, not {expected}"
    for broken in seen.broken:
        name = broken.name or "without a name"
        yield f"{place_text(project, broken.span)}: error: assertion {name} does not hold in scan {broken.scan}"
    if seen.fault:
        yield f"{place_text(project, seen.fault.span)}: error: {seen.fault.message} in scan {seen.fault.scan}"


def place_text(project: SourceProject, span: Span) -> str:
    """`file:line:column` of a place."""
    file, moved = project.find(span)
    return f"{file}:{moved}"


def check_blocks(project: SourceProject, dialect: Dialect = IEC) -> Iterator[tuple[Path, Diagnostic]]:
    """What the checker says of the TEST blocks of a program without errors, at its place."""
    for number, block in enumerate(blocks_of(project), 1):
        try:
            pieces, _ = _program_of(block, f"test_{number}")
        except WrongTest as error:
            place = Span(error.line, error.column, error.line, error.column)
            yield block.file, Diagnostic("error", "wrong-test", str(error), place)
            continue
        whole = project.with_pieces(block.file, pieces)
        first = whole.places[-len(pieces)].start
        for one in check_source(whole.text, f"test_{number}", dialect, whole.places).diagnostics:
            if one.span.line >= first:
                yield whole.place(one)


def _first_error(project: SourceProject, entry: str | None, dialect: Dialect) -> str:
    for one in check_source(project.text, entry, dialect, project.places).errors:
        file, moved = project.place(one)
        return f"{file}:{moved.span}: error: {moved.message}"
    return ""


def _program_of(block: UnitTest, name: str) -> tuple[list[Piece], list[int]]:
    """A TEST block as a program with a step for each scan, and the milliseconds before each scan. Raises WrongTest."""
    text, start = block.piece.text, block.piece
    head = _VARIABLES.match(text)
    at = head.end() if head else 0
    pieces = [_insert(f"PROGRAM {name}\n", start, text, 0), _excerpt(start, text, 0, at),
              _insert(f"VAR {name}_step : DINT; END_VAR\nCASE {name}_step OF\n0:\n;\n", start, text, at)]
    milliseconds = [1]
    for found in _STEP.finditer(text, at):
        if found["wait"]:
            pieces += [_excerpt(start, text, at, found.start()),
                       _insert(f"{len(milliseconds)}:\n;\n", start, text, found.start())]
            milliseconds.append(_time_of(found["time"], start, text, found.start()))
            at = found.end()
        elif found["assert"]:
            condition, end = _condition(found["kind"], text, found.end(), start)
            pieces += [_excerpt(start, text, at, found.start()),
                       _insert(f"//#ASSERT {condition} : {_title(text[found.start():end])}\n", start, text,
                             found.start())]
            at = end
    if len(milliseconds) > MOST_STEPS:
        raise WrongTest(f"a test has at most {MOST_STEPS} scans", start.line, start.column)
    pieces += [_excerpt(start, text, at, len(text)),
               _insert(f"END_CASE;\n{name}_step := {name}_step + 1;\nEND_PROGRAM\n", start, text, len(text))]
    return [piece for piece in pieces if piece.text.strip()], milliseconds


def _title(text: str) -> str:
    """What an assertion is called: its own text, on one line."""
    return " ".join(text.split()).replace(":", "\N{RATIO}")[:120]


def _condition(kind: str, text: str, at: int, start: Piece) -> tuple[str, int]:
    """The condition of an assertion whose arguments begin at `at`, and where it ends."""
    form = _CONDITIONS.get(kind.upper())
    line, column = _place(start, text, at)
    if form is None:
        known = ", ".join(f"ASSERT_{name}" for name in _CONDITIONS)
        raise WrongTest(f"there is no ASSERT_{kind}; there are {known}", line, column)
    arguments, end = _split_arguments(text, at)
    if end < 0 or len(arguments) != form[1]:
        raise WrongTest(f"ASSERT_{kind} takes {form[1]} value{'s' * (form[1] > 1)} and ends with `);`", line, column)
    return form[0].format(*arguments), end


def _split_arguments(text: str, at: int) -> tuple[list[str], int]:
    """The texts between commas up to the bracket that closes, and the place behind its `;`; -1 where none does."""
    depth, begin, found = 0, at, list[str]()
    for sign in re.compile(r"'(?:\$.|[^'$\n])*'|[()\[\],]").finditer(text, at):
        if sign[0] in "([":
            depth += 1
        elif sign[0] == "," and not depth:
            found.append(text[begin:sign.start()])
            begin = sign.end()
        elif sign[0] in ")]":
            depth -= 1
        if depth < 0:
            found.append(text[begin:sign.start()])
            end = re.compile(r"\s*;").match(text, sign.end())
            return [" ".join(one.split()) for one in found], end.end() if end else -1
    return found, -1


def _time_of(text: str, start: Piece, whole: str, at: int) -> int:
    try:
        type_, count = read_time(text)
        if type_ != "TIME":
            raise BadLiteral("no TIME")
        return max(1, count)
    except (BadLiteral, LookupError, ValueError):
        line, column = _place(start, whole, at)
        raise WrongTest(f"WAIT takes a time as T#100ms, not {text!r:.60}", line, column) from None


def _place(start: Piece, text: str, at: int) -> tuple[int, int]:
    lines = text.count("\n", 0, at)
    return start.line + lines, at - text.rfind("\n", 0, at) if lines else start.column + at


def _excerpt(start: Piece, text: str, begin: int, end: int) -> Piece:
    line, column = _place(start, text, begin)
    return Piece(text[begin:end], line, column)


def _insert(text: str, start: Piece, whole: str, at: int) -> Piece:
    line, column = _place(start, whole, at)
    return Piece(text, line, column, made=True)


def junit_report(results: Sequence[UnitTestResult], suite: str) -> str:
    """The results as JUnit's XML."""
    return junit_text(suite, [JunitCase(one.name, one.file.stem, "\n".join(one.failures), one.error, where=(
        ("file", str(one.file)), ("line", str(one.line)))) for one in results])
