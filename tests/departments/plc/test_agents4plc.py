"""Tasks for controllers as a data set: how they are read, and what is said of programs that are written for them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.plc.agents4plc import (
    COLUMNS,
    OWN,
    Agents4Plc,
    PlcTask,
    judge_skeleton,
    judge_software,
    read_plc_tasks,
)
from chatdev.errors import ChatDevError
from chatdev.evaluation.measure import Bench, LexicalEmbedder
from chatdev.sandbox.kinds import find_sandbox
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.chat_server import ChatServer

SIMPLE = Path(__file__).parents[3] / "benchmarks" / "data" / "plc_simple"
HEAD = """FUNCTION_BLOCK Press
VAR_INPUT
    Left : BOOL;
    Right : BOOL;
END_VAR
VAR_OUTPUT
    Run : BOOL;
END_VAR
"""
SKELETON = f"{HEAD}END_FUNCTION_BLOCK"
RIGHT = f"{HEAD}Run := Left AND Right;\nEND_FUNCTION_BLOCK"
WRONG = f"{HEAD}Run := Left OR Right;\nEND_FUNCTION_BLOCK"
FAULTY = RIGHT.replace("AND Right;", "AND Rihgt;")
BOTH = {"job_req": "pattern", "pattern_id": "pattern-invariant",
        "pattern_params": {"1": "instance.Run = (instance.Left AND instance.Right)"}}
NEVER_ALONE = {"job_req": "pattern", "pattern_id": "pattern-implication",
               "pattern_params": {"1": "NOT instance.Left", "2": "NOT instance.Run"}}
ASSERTIONS = {"job_req": "assertion"}


def entry(*properties: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A task as the benchmark writes it."""
    return {"id": "t-1", "instruction": f"Run a press while both buttons are pressed.\n\n{SKELETON}",
            "properties_to_be_validated": [{"property_description": "A rule.", "property": one}
                                           for one in properties or (BOTH, NEVER_ALONE)], **changes}


def write(folder: Path, *entries: Any) -> Path:
    """A file of the benchmark, in which objects stand one after another; another one for each content, as each is read
    once."""
    text = "\n".join(json.dumps(one, indent=4) for one in entries)
    file = folder / hashlib.sha256(text.encode()).hexdigest()[:8] / "easy.jsonl"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    return file


def task_of(folder: Path, *properties: dict[str, Any]) -> PlcTask:
    (found,) = read_plc_tasks((write(folder, entry(*properties)),)).values()
    return found


def judged(folder: Path, source: str, *properties: dict[str, Any]) -> dict[str, Any]:
    return judge_software({"main.st": source.encode()}, task_of(folder, *properties))


def test_a_file_holds_objects_one_after_another_and_names_their_kind(tmp_path: Path) -> None:
    without = entry(id="t-2")
    del without["properties_to_be_validated"]
    found = read_plc_tasks((write(tmp_path, entry(), without, entry(id="t-3")),))
    assert list(found) == ["t-1", "t-3"]  # the second has nothing that could judge it
    assert (found["t-1"].kind, found["t-1"].interface) == ("easy", SKELETON)
    assert [one.pattern for one in found["t-1"].properties] == ["pattern-invariant", "pattern-implication"]


def test_a_folder_of_ones_own_shows_its_interface_and_hides_its_solution() -> None:
    found = read_plc_tasks((SIMPLE,))
    task = found["room_heater"]
    assert task.kind == OWN
    assert "stays as it is" in task.requirement
    assert "Temperature : INT;" in task.requirement
    assert "Heat := TRUE" not in task.requirement


@pytest.mark.parametrize(("text", "says"), [
    ("", "holds no tasks"),
    ("no JSON", r"easy.jsonl: .*line 1.*one after another"),
    ("[1]", "stands where a task is expected"),
    ('{"id": 3}', "`id` of the task number 1 is missing or no text"),
    (json.dumps(entry(instruction=" ")), "task t-1: `instruction` is missing"),
    (json.dumps(entry(instruction="\ud800")), "half of a character"),
    (json.dumps(entry({"job_req": "pattern", "pattern_id": "always"})),
     "task t-1, properties_to_be_validated: property 1: there is no pattern_id 'always'"),
    (json.dumps(entry()) * 2, "there are two tasks 't-1'"),
    ("\ufeff" + json.dumps(entry(properties_to_be_validated={"a": 1})), "are a list of objects"),
])
def test_a_file_of_another_shape_is_refused_in_words(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "easy.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ChatDevError, match=says):
        read_plc_tasks((tmp_path / "easy.jsonl",))


@pytest.mark.parametrize(("files", "says"), [
    ({"requirement.md": b"Do."}, "cannot read .*properties.json"),
    ({"requirement.md": b" ", "properties.json": b"[]"}, "is empty; write down"),
    ({"requirement.md": b"Do.", "properties.json": b"[]"}, "holds no properties"),
    ({"requirement.md": b"\xff", "properties.json": b"[]"}, "is not UTF-8 text"),
    ({"other.md": b"Do."}, "holds no tasks"),
])
def test_a_folder_of_another_shape_is_refused_in_words(tmp_path: Path, files: dict[str, bytes], says: str) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ChatDevError, match=says):
        read_plc_tasks((tmp_path,))


def test_a_program_with_all_properties_is_solved(tmp_path: Path) -> None:
    row = judged(tmp_path, RIGHT)
    assert [row[name] for name in ("compiled", "verifiable", "passed", "solved", "interface")] == [1.0] * 5
    assert (row["outcome"], row["verdicts"]) == ("solved", "PP")


def test_a_program_that_violates_one_is_not(tmp_path: Path) -> None:
    row = judged(tmp_path, WRONG)
    assert [row[name] for name in ("compiled", "verifiable", "passed", "solved")] == [1.0, 1.0, 0.0, 0.0]
    assert (row["outcome"], row["verdicts"], row["violated"]) == ("violated", "VV", 2)


@pytest.mark.parametrize(("software", "outcome", "detail"), [
    ({"main.st": FAULTY.encode()}, "does_not_compile", "Rihgt"),
    ({"main.st": b"\xff"}, "no_program", ""),
    ({"main.py": b"print()"}, "no_program", ""),
    ({"a.st": RIGHT.encode(), "b.st": RIGHT.encode()}, "no_program", ""),  # which one is meant?
    ({}, "no_program", ""),
])
def test_what_is_no_program_has_no_verdicts(tmp_path: Path, software: dict[str, bytes], outcome: str,
                                            detail: str) -> None:
    row = judge_software(software, task_of(tmp_path))
    assert (row["compiled"], row["verifiable"], row["solved"], row["outcome"]) == (0.0, 0.0, 0.0, outcome)
    assert detail in row["detail"]


def test_the_only_file_may_have_any_name(tmp_path: Path) -> None:
    row = judge_software({"src/Press.ST": RIGHT.encode(), "README.md": b""}, task_of(tmp_path, BOTH))
    assert row["solved"] == 1.0


def test_assertions_that_are_not_there_count_nowhere(tmp_path: Path) -> None:
    row = judged(tmp_path, RIGHT, ASSERTIONS, BOTH)
    assert (row["trivial"], row["properties"], row["verdicts"], row["solved"]) == (1, 1, "tP", 1.0)
    alone = judged(tmp_path, RIGHT, ASSERTIONS)
    assert [alone[name] for name in ("verifiable", "passed", "solved")] == [0.0] * 3
    assert alone["outcome"] == "nothing_proved"


def test_a_programs_own_assertions_do_not_solve_its_task(tmp_path: Path) -> None:
    asserting = RIGHT.replace("Run :=", "//#ASSERT TRUE : fine\nRun :=")
    row = judged(tmp_path, asserting, ASSERTIONS)
    assert (row["verdicts"], row["solved"], row["outcome"]) == ("P", 0.0, "nothing_proved")


def test_what_holds_for_some_scans_only_is_no_proof(tmp_path: Path) -> None:
    counting = HEAD.replace("END_VAR\nVAR_OUTPUT", "END_VAR\nVAR\n    n : DINT;\nEND_VAR\nVAR_OUTPUT")
    source = f"{counting}n := (n + 7) MOD 1000;\nRun := n = 3;\nEND_FUNCTION_BLOCK"
    reached = {"job_req": "pattern", "pattern_id": "pattern-reachability", "pattern_params": {"1": "instance.Run"}}
    row = judged(tmp_path, source, reached)
    assert (row["verdicts"], row["bounded"], row["verifiable"], row["passed"], row["outcome"]) == (
        "B", 1, 1.0, 0.0, "undecided")


def test_an_unknown_variable_is_not_decided(tmp_path: Path) -> None:
    unknown = {**NEVER_ALONE, "pattern_params": {"1": "instance.Stop", "2": "NOT instance.Run"}}
    row = judged(tmp_path, RIGHT, BOTH, unknown)
    assert (row["verdicts"], row["verifiable"], row["outcome"]) == ("PU", 0.0, "undecided")


@pytest.mark.parametrize(("source", "outcome", "detail"), [
    (RIGHT.replace("Run :=", "Left := FALSE;\nRun :="), "interface_changed", "the input Left is written"),
    (SKELETON.replace("VAR_INPUT", "VAR"), "interface_changed", "Left is no input of type BOOL"),
    (RIGHT.replace("END_VAR\nVAR_OUT", "    d : INT;\nEND_VAR\nVAR_OUT").replace("Run :=", "d := 1 / d;\nRun :="),
     "run_time_fault", ""),
])
def test_a_program_that_evades_its_properties_is_not_solved(tmp_path: Path, source: str, outcome: str,
                                                           detail: str) -> None:
    row = judged(tmp_path, source)
    assert (row["passed"], row["solved"], row["outcome"]) == (1.0, 0.0, outcome)
    assert detail in row["detail"]


def test_a_task_that_a_program_solves_which_does_nothing_is_marked(tmp_path: Path) -> None:
    assert judge_skeleton(task_of(tmp_path, NEVER_ALONE)) == "solves"
    assert judge_skeleton(task_of(tmp_path, BOTH)) == "fails"


def test_a_main_program_beside_the_block_is_not_what_is_judged(tmp_path: Path) -> None:
    row = judged(tmp_path, f"{RIGHT}\nPROGRAM Main\nVAR p : Press; END_VAR\np(Left := TRUE);\nEND_PROGRAM")
    assert row["solved"] == 1.0


@pytest.mark.parametrize("name", sorted(task.name for task in Agents4Plc((SIMPLE,)).tasks()))
def test_the_simple_tasks_have_a_solution(name: str) -> None:
    task = read_plc_tasks((SIMPLE,))[name]
    assert judge_software({"main.st": (SIMPLE / name / "solution.st").read_bytes()}, task)["solved"] == 1.0


def test_companies_are_given_the_properties_only_where_that_is_asked_for() -> None:
    data = Agents4Plc((SIMPLE,))
    task = data.tasks()[0]
    assert data.inputs(task) == {"cases": b"no"}
    given = Agents4Plc((SIMPLE,), gives_properties=True).inputs(task)
    assert json.loads(given["properties"])[0]["property"]["job_req"] == "pattern"


def test_a_run_has_a_full_row_with_its_attempts(tmp_path: Path, chat_server: ChatServer) -> None:
    data = Agents4Plc((write(tmp_path, entry()),))
    alone = {key: value for key, value in WRITE.items() if key != "instructor"}
    again = {key: value for key, value in CHANGE.items() if key != "instructor"}
    studio = Studio(tmp_path, chat_server)
    company = studio.company({"write": alone, "change": again, "improve": again})
    change = "<<<<<<< SEARCH\nRun := Left AND Rihgt;\n=======\nRun := Left AND Right;\n>>>>>>> REPLACE"
    folder = studio.run(company, {"write#1/round-1/assistant": program(FAULTY, "main.st"),
                                  "change#1/round-1/assistant": f"main.st\n```\n{change}\n```",
                                  "improve#1/round-1/assistant": program(RIGHT + "\n// done", "main.st")}).folder
    row = data.verdict(data.tasks()[0], folder, Bench(find_sandbox(), LexicalEmbedder()))
    assert (row["measures"], row["kind"], row["skeleton"], row["attempts"]) == ("plc", "easy", "fails", 2)
    assert set(COLUMNS.all_fields) <= set(row)


def test_a_run_that_never_compiles_has_no_number_of_attempts(tmp_path: Path, chat_server: ChatServer) -> None:
    data = Agents4Plc((write(tmp_path, entry()),))
    studio = Studio(tmp_path, chat_server)
    company = studio.company({"write": {key: value for key, value in WRITE.items() if key != "instructor"}})
    folder = studio.run(company, {"write#1/round-1/assistant": program(FAULTY, "main.st")}).folder
    row = data.verdict(data.tasks()[0], folder, Bench(find_sandbox(), LexicalEmbedder()))
    assert (row["attempts"], row["outcome"]) == (None, "does_not_compile")


def test_a_program_that_is_mended_compiles_at_the_first_attempt(tmp_path: Path, chat_server: ChatServer) -> None:
    data = Agents4Plc((write(tmp_path, entry()),))
    studio = Studio(tmp_path, chat_server)
    alone = {key: value for key, value in WRITE.items() if key != "instructor"}
    company = studio.company({"write": {**alone, "mends": "plc.mend"}})
    slip = RIGHT.replace("Run := Left AND Right;", "Run = Left AND Right")
    folder = studio.run(company, {"write#1/round-1/assistant": program(slip, "main.st")}).folder
    row = data.verdict(data.tasks()[0], folder, Bench(find_sandbox(), LexicalEmbedder()))
    assert (row["attempts"], row["solved"]) == (1, 1.0)
