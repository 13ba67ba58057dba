"""TEST blocks and tables: what passes, what fails at its place, what cannot be run, and JUnit's file."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.plc.containers import read_container
from chatdev.departments.plc.project import read_project
from chatdev.departments.plc.unit_tests import blocks_of, run_block
from tests.departments.plc.latch import LATCH, plc

TESTS = """
TEST 'the lamp follows the button'
VAR lamp : Latch; late : TON; END_VAR
late(IN := TRUE, PT := T#90ms);
lamp(Set := TRUE);
ASSERT_TRUE(lamp.Out);
WAIT(T#100ms);
late(); ASSERT_TRUE(late.Q);
lamp(Set := FALSE, Clear := TRUE);
ASSERT_FALSE(lamp.Out); // ASSERT_TRUE(FALSE);
(* WAIT(T#1s); *)
END_TEST

TEST 'numbers'
VAR x : REAL := 1.5; s : INT; END_VAR
FOR s := 1 TO 3 DO ASSERT_GE(s, 1); ASSERT_LE(
  s, 3); END_FOR;
ASSERT_NEAR(x, 1.45, 0.1); ASSERT_NE(MAX(s, 2), 2); ASSERT_LT(x, 2.0); ASSERT_GT(x, 1.0); ASSERT_EQ(s, 4);
END_TEST
"""


@pytest.fixture
def latch(tmp_path: Path) -> Path:
    file = tmp_path / "latch.st"
    file.write_text(LATCH + TESTS, encoding="utf-8")
    return file


def test_blocks_of_a_right_program_pass(latch: Path) -> None:
    done = plc("test", latch)
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "2 of 2 tests passed")
    assert plc("check", latch).exit_code == 0
    assert plc("verify", latch).exit_code == 0


@pytest.mark.parametrize(("right", "wrong", "line"), [
    ("Out := TRUE", "Out := FALSE", 17), ("Out := FALSE", "Out := TRUE", 21), ("PT := T#90ms", "PT := T#101ms", 19),
    ("WAIT(T#100ms)", "WAIT(T#80ms)", 19), (":= 1.5", ":= 1.7", 29), ("1 TO 3", "0 TO 3", 27),
    ("1 TO 3", "1 TO 4", 27)])
def test_a_fault_fails_the_test_at_its_line(latch: Path, right: str, wrong: str, line: int) -> None:
    latch.write_text(latch.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    done = plc("test", latch)
    assert done.exit_code == 1
    assert f"   {latch}:{line}:" in done.output
    assert "1 of 2 tests passed" in done.output


@pytest.mark.parametrize(("body", "message"), [
    ("ASSERT_SAME(1, 1);", "latch.st:14:13: there is no ASSERT_SAME; there are ASSERT_TRUE"),
    ("ASSERT_EQ(1);", "latch.st:14:11: ASSERT_EQ takes 2 values and ends with `);`"),
    ("ASSERT_EQ(1, 1)", "latch.st:14:11: ASSERT_EQ takes 2 values and ends with `);`"),
    ("WAIT(5);", "latch.st:14:1: WAIT takes a time as T#100ms, not '5'"),
    ("lamp(Set := TRUE);", "latch.st:14:1: error: unknown function 'lamp'"),
    ("IF TRUE THEN WAIT(T#1s); END_IF;", "latch.st:14:"), ("WAIT(T#1s);" * 1001, "a test has at most 1000 scans")])
def test_a_test_that_cannot_be_run_is_an_error(tmp_path: Path, body: str, message: str) -> None:
    (tmp_path / "latch.st").write_text(f"{LATCH}\nTEST it\n{body}\nEND_TEST\n", encoding="utf-8")
    done = plc("test", tmp_path / "latch.st")
    assert (done.exit_code, message in done.output) == (2, True), done.output
    checked = plc("check", tmp_path / "latch.st")
    assert checked.exit_code == 1


def test_a_table_is_a_test(tmp_path: Path) -> None:
    (tmp_path / "latch.st").write_text(LATCH, encoding="utf-8")
    for name, out in (("good", 1), ("bad", 0)):
        (tmp_path / f"{name}.csv").write_text(f"Set;Out\n0;0\n1;{out}\n", encoding="utf-8")
    tables = ("--table", tmp_path / "good.csv", "--table", tmp_path / "bad.csv")
    done = plc("test", tmp_path / "latch.st", *tables, "--json")
    assert done.exit_code == 1
    told = json.loads(done.output)["tests"]
    assert [(one["name"], one["passed"]) for one in told] == [("good", True), ("bad", False)]
    assert "scan 2: Out is TRUE, not FALSE" in told[1]["failures"][0]
    done = plc("test", tmp_path / "latch.st")
    assert (done.exit_code, "no test; write `TEST 'name' … END_TEST`" in done.output) == (2, True)


def test_junit_has_each_test_with_its_place(latch: Path, tmp_path: Path) -> None:
    latch.write_text(latch.read_text(encoding="utf-8").replace("Out := TRUE", "Out := FALSE"), encoding="utf-8")
    plc("test", latch, "--junit", tmp_path / "out.xml")
    root = ElementTree.parse(tmp_path / "out.xml").getroot()
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [(one.get("name"), one.get("line"), len(one)) for one in suite] == [
        ("the lamp follows the button", "13", 1), ("numbers", "25", 0)]


def test_blocks_of_one_file_test_units_of_another(tmp_path: Path) -> None:
    (tmp_path / "latch.st").write_text(LATCH, encoding="utf-8")
    (tmp_path / "latch_tests.st").write_text(TESTS, encoding="utf-8")
    assert plc("test", tmp_path).exit_code == 0
    assert plc("run", tmp_path, "--cycles", 2).exit_code == 0


@given(st.lists(st.sampled_from(["TEST 'a'", "END_TEST", "\n", "VAR x : INT; END_VAR", "ASSERT_EQ(", "1", ",", ")", ";",
                                 "WAIT(T#1s);", "'", "(*", "*)", "//", "x := 1;"]), max_size=14))
def test_no_text_of_tests_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    file = tmp_path_factory.getbasetemp() / "spoilt.st"
    file.write_text("TEST 'a'" + " ".join(parts) + "\nEND_TEST\n", encoding="utf-8")
    project = read_project([file])
    text = file.read_text(encoding="utf-8")
    assert project.text.count("\n") == text.count("\n")
    for number, block in enumerate(blocks_of(project)):
        assert block.piece.text in text
        run_block(block, number, project)


def test_a_comment_that_speaks_of_tests_is_none() -> None:
    assert not read_container(b"(*\nTEST 'a'\nEND_TEST\n*)\n", "a.st").tests
