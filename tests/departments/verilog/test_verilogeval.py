"""VerilogEval as a data set: its problems, our verdict, and that of its own script."""

from __future__ import annotations

import io
import random
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verilog.judge import DATA, WEAK, cheats, filled, stub
from chatdev.departments.verilog.simulation import reference_as_answer
from chatdev.departments.verilog.verilogeval import (
    COLUMNS,
    KINDS,
    VerilogEval,
    VerilogProblem,
    letter_of,
    measure_answer,
    official_pass,
)
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, LexicalEmbedder
from chatdev.sandbox.kinds import find_sandbox
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import ChatServer

MENDED, PUBLISHED = VerilogEval(DATA), VerilogEval(DATA, errata=False)
CHOSEN = random.Random(5).sample([problem.name for problem in MENDED.problems()
                                  if problem.kind in ("combinational", "truth_table", "fsm")], 3)


def row(text: str, problem: VerilogProblem) -> dict[str, Any]:
    return measure_answer({"top.sv": text.encode("utf-8")}, problem, find_sandbox())


def test_every_problem_has_one_of_five_kinds() -> None:
    kinds = Counter(task.category for task in MENDED.tasks())
    assert set(kinds) == set(KINDS)
    assert sum(kinds.values()) == len(MENDED.problems()) == 156


def test_hidden_files_are_inputs_and_the_specification_is_the_task() -> None:
    task = next(task for task in MENDED.tasks() if task.name == "Prob050_kmap1")
    assert "Karnaugh map" in task.description
    inputs = MENDED.inputs(task)
    assert b"module tb" in inputs["bench"]
    assert b"module RefModule" in inputs["reference"]


def test_errata_take_the_place_of_three_files() -> None:
    changed = [one.name for one, other in zip(MENDED.problems(), PUBLISHED.problems(), strict=True) if one != other]
    assert [name[:7] for name in changed] == ["Prob099", "Prob151", "Prob156"]


def test_a_folder_is_read_as_an_archive_is(tmp_path: Path) -> None:
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path, filter="data")
    for folder in (tmp_path / "verilogeval_v2", tmp_path / "verilogeval_v2" / "dataset_spec-to-rtl"):
        assert VerilogEval(folder).problems() == MENDED.problems()


@pytest.mark.parametrize(("files", "why"), [
    ({}, "holds no problems of VerilogEval"),
    ({"dataset_spec-to-rtl/Prob1_prompt.txt": b"x"}, "no folder 'errata'"),
    ({"dataset_spec-to-rtl/Prob1_prompt.txt": b"x", "errata/a": b""}, "lacks its file Prob1_test.sv"),
    ({"dataset_spec-to-rtl/Prob1_prompt.txt": b"\xff"}, "is not UTF-8 text"),
])
def test_another_folder_is_refused_in_words(tmp_path: Path, files: dict[str, bytes], why: str) -> None:
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=why):
        VerilogEval(tmp_path).tasks()


def test_what_is_not_there_or_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no"):
        VerilogEval(tmp_path / "nowhere").tasks()
    (tmp_path / "data.tar.gz").write_bytes(b"no archive")
    with pytest.raises(ConfigError, match="no archive that can be read"):
        VerilogEval(tmp_path / "data.tar.gz").tasks()
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(DATA.read_bytes()[:5000])
    with pytest.raises(ConfigError, match="no archive that can be read"):
        VerilogEval(cut).tasks()


def test_links_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    link = tarfile.TarInfo("dataset_spec-to-rtl/Prob1_prompt.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(tmp_path / "data.tar", "w") as archive:
        archive.addfile(link, io.BytesIO())
    with pytest.raises(ConfigError, match="no problems"):
        VerilogEval(tmp_path / "data.tar").tasks()


def test_an_unknown_problem_is_named() -> None:
    with pytest.raises(ConfigError, match="no problem 'Prob999'"):
        MENDED.problem("Prob999")


@pytest.mark.parametrize(("log", "letter"), [
    ("top.sv:1: syntax error\nMismatches: 0 in 9 samples\n", "S"),
    ("top.sv:1: error: This assignment requires an explicit cast.\n", "e"),
    ("top.sv:1: error: Sized numeric constant must have a size greater than zero.\n", "0"),
    ("top.sv:1: warning: always_comb process has no sensitivities.\nMismatches: 0 in 9 samples\n", "n"),
    ("top.sv:1: warning: @* found no sensitivities so it will never trigger.\n", "n"),
    ("top.sv:1:      : q is declared here as wire.\n", "w"),
    ("top.sv:1: error: Unknown module type: adder\n", "m"),
    ("top.sv:1: error: Unable to bind wire/reg/memory `clk' in `tb'\n", "c"),
    ("top.sv:1: error: Unable to bind wire/reg/memory `q' in `tb'\n", "p"),
    ("top.sv:1: sorry: not yet.\n1 error(s) during elaboration.\n", "C"),
    ("TIMEOUT\nMismatches: 0 in 9 samples\n", "T"),
    ("Mismatches: 1 in 9 samples\n", "R"),
    ("Mismatches: 0 in 9 samples\n", "."),
    ("Mismatches: 0 in 100 samples\nMismatches: 3 in 9 samples\n", "."),  # which is why it can be lied to
    ("", "R"),
])
def test_the_script_is_followed_letter_by_letter(log: str, letter: str) -> None:
    assert letter_of(log) == letter
    assert official_pass(log) == (letter == ".")


def test_a_wrong_answer_with_asynchronous_reset_has_its_own_letter() -> None:
    assert letter_of("Mismatches: 1 in 9 samples\n", "always @(posedge clk, posedge reset)") == "r"


@pytest.mark.tool
@pytest.mark.parametrize("name", CHOSEN)
def test_references_are_solved_and_stubs_are_not(name: str) -> None:
    problem = MENDED.problem(name)
    right = row(reference_as_answer(problem.reference), problem)
    assert (right["solved"], right["official"], right["compiled"], right["mismatches"]) == (1, 1, 1, 0)
    assert row(stub(problem), problem)["solved"] == (name in WEAK)


@pytest.mark.tool
def test_a_cheat_may_pass_by_the_script_but_not_by_our_rule() -> None:
    problem = MENDED.problem("Prob010_mt2015_q4a")
    cheated = row(filled(cheats()["instantiates the reference"], problem), problem)
    assert (cheated["solved"], cheated["official"], cheated["letter"]) == (0, 1, ".")


@pytest.mark.tool
@pytest.mark.parametrize(("name", "outcome", "letter"), [
    ("Prob099_m2014_q6c", "bench_broken", "C"),
])
def test_problems_as_published_may_be_unsolvable(name: str, outcome: str, letter: str) -> None:
    problem = PUBLISHED.problem(name)
    found = row(reference_as_answer(problem.reference), problem)
    assert (found["solved"], found["outcome"], found["letter"]) == (0, outcome, letter)
    assert row(reference_as_answer(MENDED.problem(name).reference), MENDED.problem(name))["solved"] == 1


@pytest.mark.tool
def test_a_run_has_a_full_row(tmp_path: Path, chat_server: ChatServer) -> None:
    problem = MENDED.problem("Prob005_notgate")
    task = next(task for task in MENDED.tasks() if task.name == problem.name)
    studio = Studio(tmp_path, chat_server)
    company = studio.company({"write": {key: value for key, value in WRITE.items() if key != "instructor"}})
    reply = program(reference_as_answer(problem.reference), "top.sv")
    folder = studio.run(company, {"write#1/round-1/assistant": reply}).folder
    found = MENDED.verdict(task, folder, Bench(find_sandbox(), LexicalEmbedder()))
    assert (found["measures"], found["kind"], found["solved"], found["outcome"]) == ("verilog", "combinational", 1,
                                                                                   "matches")
    assert set(COLUMNS.all_fields) <= set(found)
