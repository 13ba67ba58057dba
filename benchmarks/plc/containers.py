"""Is a program the same in the files of engineering tools? Faults are put into it, as it stands and in containers.

Each mutant (mutants.py) is written as a TwinCAT project, as PLCopen XML, as a CODESYS 2.3 export and as OpenPLC
generates it (with a CONFIGURATION), read from there, and verified with the program's properties: verdicts on
properties and run-time faults have to be those of the plain text. Then a name that is not there is put into a body,
and the message has to stand at that name in the container's file.

    python -m benchmarks.plc.containers [--share 1.0] [--processes 2]
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plc.constructs import constructs
from benchmarks.plc.corpus import Subject, examples, sheets
from benchmarks.plc.mutants import write_mutants
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.export import write_plcopen, write_twincat
from chatdev.departments.plc.project import check_project, read_project
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.source_parts import Part, split_parts
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.reading import read_program
from chatdev.departments.plc.st.tokens import split_tokens

CYCLE_MS = 20
SECONDS = 5.0
MOST = {"example": 4, "sheet": 1, "construct": 2}
"""Mutants of one program."""
MISSPELT = "name_not_there"
_MISSPELLINGS = 3
"""Of one program."""
FORMS = ("TwinCAT project", "PLCopen XML", "CODESYS 2.3 export", "OpenPLC program")
_PROJECT = ('<?xml version="1.0" encoding="utf-8"?>\n'
            '<Project xmlns="http://schemas.microsoft.com/developer/msbuild/2003">\n'
            "  <ItemGroup>\n{}  </ItemGroup>\n</Project>\n")


def write_form(form: str, source: str, entry: str, folder: Path) -> Path | None:
    """The path of the program in such a container; None where its tool has no such language."""
    if form == "TwinCAT project":
        files = write_twincat(source, entry, CYCLE_MS)
        listed = "".join(f'    <Compile Include="{name}" />\n' for name in files)
        files["plc.plcproj"] = _PROJECT.format(listed)
        path = folder / "plc.plcproj"
    elif form == "PLCopen XML":
        files = {"plc.xml": write_plcopen(source, "plc", entry, CYCLE_MS)}
        path = folder / "plc.xml"
    elif form == "CODESYS 2.3 export":
        parts = split_parts(source)
        if any(one.members or one.word == "INTERFACE" or "EXTENDS" in one.head for one in parts):
            return None
        files = {"plc.EXP": "".join(map(_export, parts))}
        path = folder / "plc.EXP"
    else:
        files = {"plc.st": f"{source}\n\nCONFIGURATION Config0\n\n  RESOURCE Res0 ON PLC\n"
                           f"    TASK task0(INTERVAL := T#{CYCLE_MS}ms,PRIORITY := 0);\n"
                           f"    PROGRAM instance0 WITH task0 : {entry};\n  END_RESOURCE\nEND_CONFIGURATION\n"}
        path = folder / "plc.st"
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return path


def _export(part: Part) -> str:
    head = f"\n(* @NESTEDCOMMENTS := 'Yes' *)\n(* @PATH := '' *)\n{part.head}\n"
    if part.word in ("TYPE", "VAR_GLOBAL"):
        return head
    return f"{head}(* @END_DECLARATION := '0' *)\n{part.body}\nEND_{part.word}\n"


def compare(kind: str, subject: Subject) -> list[dict[str, Any]]:
    """A row for each mutant or misspelling, and each container."""
    program = read_program(subject.source).program
    if program is None or "CONFIGURATION" in subject.source:
        return []
    entry, rows = program.entry.written or program.entry.name, list[dict[str, Any]]()
    for mutant in write_mutants(subject.source, MOST[kind], subject.name):
        asked = verify(mutant.source, None, subject.asked, cycle_ms=CYCLE_MS, seconds=SECONDS)
        wanted = [one.verdict for one in asked]
        for form, path in _written(mutant.source, entry):
            project = read_project([path])
            cycle = CYCLE_MS if form == "CODESYS 2.3 export" else project.cycle_ms or _cycle_of(project.text)
            found = [one.verdict for one in verify(project.text, project.entry or entry, subject.asked, cycle_ms=cycle,
                                                   seconds=SECONDS)]
            rows.append({"program": subject.name, "form": form, "what": "mutant", "same": found == wanted,
                         "change": mutant.change, "verdicts": dict(Counter(wanted))})
    for wrong in misspell(subject.source, subject.name):
        for form, path in _written(wrong, entry):
            rows.append({"program": subject.name, "form": form, "what": "misspelling", **_find_place(path)})
    return rows


def _written(source: str, entry: str) -> Iterator[tuple[str, Path]]:
    for form in FORMS:
        with tempfile.TemporaryDirectory() as folder:
            path = write_form(form, source, entry, Path(folder))
            if path is not None:
                yield form, path


def _cycle_of(text: str) -> int | None:
    program = read_program(text).program
    return program.cycle_ms if program else None


def misspell(source: str, seed: str) -> Iterator[str]:
    """The source with a name that is not there in the place of a name that is read."""
    tokens = split_tokens(source, Findings())
    lines = source.splitlines(keepends=True)
    dice, found = random.Random(seed), 0
    places = [one for before, one, behind in zip(tokens, tokens[1:], tokens[2:], strict=False)
              if one.kind == "name" and before.key in (":=", "IF", "AND", "OR", "NOT", "+") and behind.key not in (
                  "(", ".", "[", "#", ":=")]
    dice.shuffle(places)
    for one in places:
        line = lines[one.line - 1]
        changed = line[:one.column - 1] + MISSPELT + line[one.column - 1 + len(one.text):]
        wrong = "".join((*lines[:one.line - 1], changed, *lines[one.line:]))
        if [each.code for each in read_program(wrong).diagnostics if each.severity == "error"] == ["undeclared"]:
            yield wrong
            found += 1
            if found == _MISSPELLINGS:
                return


def _find_place(path: Path) -> dict[str, Any]:
    """Whether the one error of a container stands at the misspelt name, and in its line."""
    said = [(file, one) for file, check in check_project(read_project([path])).items() for one in check.errors]
    if len(said) != 1 or said[0][1].code != "undeclared":
        return {"same": False, "line": False, "column": False}
    file, span = said[0][0], said[0][1].span
    text = file.read_text(encoding="utf-8").splitlines()[span.line - 1]
    return {"same": True, "line": MISSPELT in text, "column": _at(text, span)}


def _at(line: str, span: Span) -> bool:
    return line[span.column - 1:].startswith(MISSPELT)


def study(subjects: Sequence[tuple[str, Subject]], processes: int) -> dict[str, Any]:
    """All rows."""
    with ProcessPoolExecutor(processes) as pool:
        rows = [row for found in pool.map(compare, *zip(*subjects, strict=True)) for row in found]
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": rows}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    table = []
    for form in FORMS:
        rows = [row for row in results["rows"] if row["form"] == form]
        mutants = [row for row in rows if row["what"] == "mutant"]
        wrong = [row for row in rows if row["what"] == "misspelling"]
        table.append((form, len(mutants), sum(sum(row["verdicts"].values()) for row in mutants),
                      sum(row["same"] for row in mutants), len(wrong), sum(row["same"] for row in wrong),
                      sum(row["line"] for row in wrong), sum(row["column"] for row in wrong)))
    head = ("container", "mutants", "verdicts", "mutants with the same verdicts", "misspellings", "told alike",
            "at the line", "at the column")
    return (f"{markdown_table(head, table)}\n\n{len({row['program'] for row in results['rows']})} programs. "
            f"{results['date']}; {results['machine']}.")


def all_subjects() -> list[tuple[str, Subject]]:
    """Every program, with its kind."""
    return [*(("example", one) for one in examples()), *(("sheet", one) for one in sheets()),
            *(("construct", one) for one in constructs())]


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_containers.json", DOCS / "plc.md", marks("containers", "plc.containers"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    subjects = all_subjects()
    results = study(subjects[::max(1, round(1 / arguments.share))], arguments.processes)
    print(TABLE.keep(results) if arguments.share == 1.0 else told(results))


if __name__ == "__main__":
    main()
