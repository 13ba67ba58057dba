"""Other compilers are asked in the sandbox; here they are small programs that speak as those do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chatdev.departments.plc.adapters.verifiers import ask_compiler, strip_line_comments
from chatdev.errors import MissingProgram
from chatdev.sandbox.kinds import find_sandbox

SOURCE = "PROGRAM p // 'one'\nVAR a : INT; END_VAR\na := b; (* // kept *)\nEND_PROGRAM\n"
MATIEC = """grep "'one'" program.st && exit 9
echo "program.st:3-6..3-6: error: Variable not declared in this scope." >&2
echo "program.st:3-1..3-6: warning: Hm." >&2
echo "2 error(s) found. Bailing out!" >&2
exit 1
"""
RUSTY = """grep -q "// 'one'" program.st || exit 9
printf 'error[E048]: Could not resolve reference to b\\n  ┌─ program.st:3:6\\n  │\\n3 │ a := b;\\n'
exit 1
"""
SILENT = "echo 'too many consecutive syntax errors'; exit 1\n"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    program.chmod(0o755)
    folder.chmod(0o755)  # in the sandbox it belongs to somebody else
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize(("name", "script", "told"), [
    ("iec2c", MATIEC, [
        ("error", 3, 6, "iec2c: Variable not declared in this scope."), ("warning", 3, 1, "iec2c: Hm.")]),
    ("plc", RUSTY, [("error", 3, 6, "plc: Could not resolve reference to b")]),
    ("iec2iec", SILENT, [("error", 1, 1, "iec2iec: it ended with 1, names no line, and says: too many consecutive "
                                         "syntax errors")]),
    ("plc", "exit 0\n", [])])
def test_what_a_compiler_says_becomes_diagnostics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str,
                                                  script: str, told: list[tuple[str, int, int, str]]) -> None:
    install(tmp_path, monkeypatch, name, script)
    found = ask_compiler(name, SOURCE, find_sandbox("bubblewrap"))
    assert [(one.severity, one.span.line, one.span.column, one.message) for one in found] == told


def test_one_that_is_not_there_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingProgram, match="iec2c not found.* build matiec"):
        ask_compiler("iec2c", SOURCE, find_sandbox("none"))


@pytest.mark.parametrize(("source", "stripped"), [
    (SOURCE, "PROGRAM p \nVAR a : INT; END_VAR\na := b; (* // kept *)\nEND_PROGRAM\n"),
    ("s := 'http://x'; // y", "s := 'http://x'; "), ("(* a\n// b *) c // d\ne", "(* a\n// b *) c \ne"),
    ("'$'//' // z", "'$'//' "), ("(* // open", "(* // open"), ("/* // */ x // y", "/* // */ x ")])
def test_comments_go_and_lines_stay(source: str, stripped: str) -> None:
    assert strip_line_comments(source) == stripped
