"""Reports and pictures show all of a verification, whatever is written in the program, the requirement or a name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from chatdev.departments.plc.proof.outcomes import RUN_TIME, Cycle, Outcome, Property
from chatdev.departments.plc.report.listing import (
    WIDTH,
    describe_property,
    explain_run,
    list_explanation,
    list_verdicts,
)
from chatdev.departments.plc.report.run_plot import plot_run
from chatdev.departments.plc.report.verification_report import write_report
from chatdev.departments.plc.source_check import ProofOptions, SourceProof, check_source, prove_source
from chatdev.departments.plc.source_run import simulate_source
from chatdev.departments.plc.st.core import Dialect

SOURCE = """FUNCTION_BLOCK Lamp
VAR_INPUT Press : BOOL; Wanted : INT; END_VAR
VAR_OUTPUT Lit : BOOL; Level : REAL; END_VAR
VAR Mode : (Dark, Dim, Bright); Last : R_TRIG; END_VAR
// <script>alert(1)</script> ``` \u202e
Last(CLK := Press);
IF Last.Q THEN
  Mode := Bright;
END_IF;
Lit := Mode = Bright;
Level := 100.0 / INT_TO_REAL(Wanted);
END_FUNCTION_BLOCK
"""
CYCLES = (Cycle(1, 100, (("press", "FALSE"), ("wanted", "3"), ("level", "33.3")), (6, 7, 10, 11)),
          Cycle(2, 250, (("press", "TRUE"), ("lit", "TRUE"), ("last.q", "TRUE")), (6, 7, 8, 10, 11)))
NEVER = Property("pattern-forbidden", ("instance.Lit AND Wanted > 1 | 2",), "<b>Never</b> `lit`.")
OUTCOMES = (Outcome(NEVER, "VIOLATED", 2, 0.25, cycles=CYCLES),
            Outcome(Property("pattern-invariant", ("Lit = Lit",)), "PROVED", vacuous="it holds whatever it does"),
            Outcome(Property(RUN_TIME, ("loop", "7:3", "12")), "UNKNOWN", reason="the check was ended: it took more"),
            Outcome(Property("pattern-reachability", ("Lit",)), "BOUNDED", 30))


@pytest.fixture(scope="module")
def proof() -> SourceProof:
    return SourceProof(SOURCE, check_source(SOURCE), OUTCOMES, ProofOptions(5, 30, 100))


def test_the_page_believes_nobody_and_needs_nothing(proof: SourceProof) -> None:
    picture = plot_run(simulate_source(SOURCE, inputs="Press,Wanted\n0,5\n1,\n")).decode()
    page = write_report(proof, "html", title="<i>lamp", requirement="<img src=x onerror=alert(1)>", picture=picture)
    assert not re.findall(r"<(?:script|img|b|i)\b", page)
    assert "\u202e" not in page
    assert not re.findall(r'(?:src|href)="(?!#)', page.replace(picture[picture.index("<svg"):], ""))
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    for there in ("1 <span class=\"verdict bad\">VIOLATED", "it holds whatever it does",
                  "It is neither proved nor refuted", "does not come about in the first 30 scans",
                  "a scan comes every 100 ms", "5 seconds", "<svg"):
        assert there in page
    ET.fromstring(page[page.index("<html"):].replace("<meta charset=\"utf-8\">", "").replace(
        'scale=1">', 'scale=1"/>').replace("'unsafe-inline'\">", "'unsafe-inline'\"/>").replace("<br>", "<br/>"))


def test_markdown_shows_what_is_written_and_no_more(proof: SourceProof) -> None:
    page = write_report(proof, "md", title="lamp", requirement="```\n# Not a heading\n```")
    assert "````text\n```\n# Not a heading\n```\n````" in page
    assert "| 1 | VIOLATED | `never: Lit AND Wanted > 1 ¦ 2` `` <b>Never</b> `lit`. `` | 2 | 0.25 |" in page
    assert "| `Last.q` | · | `TRUE` |" in page
    assert ".#    8   Mode := Bright;" in page
    assert "- 3: `the check was ended: it took more`" in page
    assert "\n\n\n" not in page


@pytest.mark.parametrize("form", ["html", "md"])
def test_what_was_chosen_of_the_language_is_told(proof: SourceProof, form: Any) -> None:
    chosen = replace(proof, dialect=Dialect("codesys", "zero", ("SIM", "TEST")))
    for there, said in ((proof, False), (chosen, True)):
        page = write_report(there, form, title="lamp")
        assert ("; F_TRIG is that of CODESYS; x MOD 0 is 0; pragmas find defined: SIM, TEST." in page) == said


def test_a_program_with_errors_has_a_report(proof: SourceProof) -> None:
    wrong = SOURCE.replace("Lit :=", "Litt :=")
    broken = SourceProof(wrong, check_source(wrong), ())
    for page in (write_report(broken, "html", title="lamp"), write_report(broken, "md", title="lamp")):
        assert "undeclared variable" in page
        assert "cannot be run" in page


def test_a_run_is_followed_signal_by_signal(proof: SourceProof) -> None:
    run = explain_run(CYCLES, SOURCE, proof.check.variables)
    assert [(one.name, one.section, one.values) for one in run.signals] == [
        ("Press", "input", ("FALSE", "TRUE")), ("Wanted", "input", ("3", "3")), ("Level", "output", ("33.3", "33.3")),
        ("Lit", "output", ("", "TRUE")), ("Last.q", "local", ("", "TRUE"))]
    assert [(line.number, line.ran) for line in run.lines if line.number in (7, 8, 9)] == [
        (7, (True, True)), (8, (False, True)), (9, (False, False))]


def test_a_long_run_is_listed_in_blocks(proof: SourceProof) -> None:
    many = tuple(replace(CYCLES[number % 2], number=number + 1) for number in range(40))
    listed = list_explanation(1, replace(OUTCOMES[0], cycles=many), proof)
    assert listed.count("ms since the one before") > 1
    assert max(map(len, listed.partition("lines that ran")[0].splitlines())) <= WIDTH
    assert "\u202e" not in listed


def test_the_table_says_what_else_is_to_be_known(proof: SourceProof) -> None:
    listed = list_verdicts(proof)
    assert "3  UNKNOWN   0   0.00     line 7: the loop ends, after 12 turns at the most" in listed
    assert "3: is neither proved nor refuted; nothing is known: the check was ended" in listed
    assert "2: The proof says nothing about the program, for it holds whatever it does." in listed


@pytest.mark.parametrize("kind", ["index", "division", "subrange", "loop", "overflow", "assertion", "new"])
def test_every_fault_has_words(kind: str) -> None:
    assert describe_property(Property(RUN_TIME, (kind, "12:3", "text"))).startswith("line 12: ")


def test_a_run_is_drawn() -> None:
    run = simulate_source(SOURCE, inputs="Press,Wanted,Lit\n0,5,0\n1,0,0\n,1,1\n")
    drawing = plot_run(run).decode()
    text = "".join(ET.fromstring(drawing).itertext())
    for there in ("Press", "Wanted", "Lit", "Level", "Mode", "Bright", "seconds"):
        assert there in text
    assert "Last.q" not in text
    assert plot_run(run, "png", ["last.Q"]).startswith(b"\x89PNG")


def test_a_label_of_case_is_marked_only_where_its_arm_ran() -> None:
    """As the interpreter says it, in the run of a proof, in the list and in the reports."""
    source = ("FUNCTION_BLOCK Steps\nVAR_INPUT Go : BOOL; END_VAR\nVAR_OUTPUT Step : INT; END_VAR\nCASE Step OF\n"
              "0: IF Go THEN\nStep := 1;\nEND_IF;\n1:\nStep := 2;\n2:\nStep := 3;\nEND_CASE;\nEND_FUNCTION_BLOCK\n")
    reached = '[{"job_req": "pattern", "pattern_id": "pattern-reachability", "pattern_params": ["Step = 3"]}]'
    proof = prove_source(source, None, reached)
    outcome, = proof.outcomes
    assert [cycle.lines for cycle in outcome.cycles] == [(4, 5, 6), (4, 8, 9), (4, 10, 11)]
    marks = ("### 4 CASE", "#.. 5 0: IF", "#.. 6", "... 7", ".#. 8 1:", ".#. 9", "..# 10 2:", "..# 11")
    for text in (list_explanation(1, outcome, proof), write_report(proof, "md", title="steps")):
        shown = [" ".join(line.split()) for line in text.splitlines()]
        assert [mark for mark in marks if not any(line.startswith(mark) for line in shown)] == []


def test_a_program_that_is_too_large_for_a_proof_is_not_proved() -> None:
    arrays = "\n".join(f"a{number} : ARRAY[0..9999] OF INT;" for number in range(10))
    proof = prove_source(f"PROGRAM Large\nVAR\n{arrays}\nEND_VAR\na0[1] := 2;\nEND_PROGRAM\n", None, "")
    assert proof.verdict == "UNKNOWN"
    assert "no run-time fault" in list_verdicts(proof)
