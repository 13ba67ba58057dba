"""The easy tasks: how they are read, their rules, and that their reference programs pass. Of a task of ours
that is wrong a failure says the name and no more."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.departments.software.evaluation.srdd import SETS, EasyTask, EasyTier, folder_digest, load_easy_tasks
from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import load_tasks
from chatdev.evaluation.trial import count_refusals, program_copy
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.bubblewrap import Bubblewrap, why_not
from tests.departments.software.evaluation.easy_rules import TASKS, easy_findings
from tests.departments.software.evaluation.quick_trial import try_programs

EASY = bundled_folder("srdd") / "easy"
COUNTER = """
name: Step Counter
area: Life
category: Home and Household
layout: session
description: |
  Count steps.

  $ python main.py 2
  2 steps
checks:
- name: the example
  starts: [{arguments: [2], prints: 2 steps}]
- name: a list is kept
  files: {steps.txt: "1\\n"}
  starts:
  - {arguments: [add, 3], prints: "4", writes: {steps.txt: "4\\n"}}
  - {arguments: [add, 3], prints: "7", writes: {steps.txt: "7\\n"}}
- name: words are refused
  starts: [{arguments: [many], prints: a number please, status: 1}]
reference: |
  import sys, pathlib
  file = pathlib.Path("steps.txt")
  word = sys.argv[1]
  if word == "add":
      total = int(file.read_text() if file.exists() else 0) + int(sys.argv[2])
      file.write_text(f"{total}\\n")
      print(total)
  elif word.isdigit():
      print(word, "steps")
  else:
      sys.exit("a number please")
"""


@pytest.fixture
def counter(tmp_path: Path) -> EasyTask:
    return read(tmp_path, COUNTER)


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    if reason := why_not():
        pytest.skip(reason)
    return Bubblewrap()


def read(folder: Path, text: str, name: str = "step-counter") -> EasyTask:
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    [task] = load_easy_tasks(folder)
    return task


def test_a_task_is_read_with_its_line_breaks_and_checks(counter: EasyTask) -> None:
    assert counter.description == "Count steps.\n\n$ python main.py 2\n2 steps"
    assert (counter.way, counter.shape, counter.slug) == ("state", "session", "step-counter")
    assert (counter.task.id, counter.task.acceptance) == ("Home and Household/Step Counter", "step-counter")
    [first, second] = counter.checks[1].cases
    assert (first.arguments, first.files, first.writes) == (["add", "3"], {"steps.txt": "1\n"}, {"steps.txt": "4\n"})
    assert (second.files, second.status) == ({}, 0)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("name: Step Counter", "name: Step Count", "belongs into step-count.yaml"),
    ("status: 1", "status: one", r"step-counter\.yaml:20: checks\.2\.starts\.0\.status"),
    ("arguments: [2]", "arguments: [2.5]", r"checks\.0\.starts\.0\.arguments"),
    ("layout: session", "layuot: session", "did you mean 'layout'"),
])
def test_a_task_that_cannot_be_read_is_refused_in_words(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, COUNTER.replace(old, new))


def test_a_folder_without_tasks_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no easy tasks in .*one YAML file a task"):
        EasyTier(tmp_path / "none", "mine").tasks()


@pytest.mark.parametrize(("description", "shape"), [
    ("Type `python main.py 2` and see `2 steps`.", "code marks"),
    ("So:\n\n    python main.py 2\n    2 steps", "indented"), ("```\n2 steps\n```", "block of code"),
    ("python main.py 2 => 2 steps", "arrows"), ("| 2 | 2 steps |", "table"), ("- python main.py 2: 2 steps", "list"),
    ("Input: 2\nOutput: 2 steps", "labels"), ("I say 2, it says 2 steps.", "text"),
])
def test_the_form_of_an_example_is_told_by_its_marks(counter: EasyTask, description: str, shape: str) -> None:
    assert replace(counter, description=description).shape == shape
    assert replace(counter, description=description, layout="none").shape == "none"


@pytest.mark.tool
@pytest.mark.parametrize(("old", "new", "passed"), [
    ("", "", [True, True, True]),
    ('sys.exit("a number please")', "pass", [True, True, False]),
    ("file.write_text", "str", [True, False, True]),
    ('print(word, "steps")', "print(word)", [False, True, False]),  # a refusal counts only where the example passes
])
def test_each_check_has_a_fresh_copy(counter: EasyTask, sandbox: Sandbox, tmp_path: Path, old: str, new: str,
                                     passed: list[bool]) -> None:
    (software := tmp_path / "software").mkdir()
    (software / "main.py").write_text(counter.reference.replace(old, new) if old else counter.reference)
    with program_copy(software, sandbox) as program:
        checks = count_refusals(list(counter.accept(program)))
        assert [check.passed for check in checks] == passed
        assert [check.refusal for check in checks] == [False, False, True]
        assert sorted(path.name for path in program.folder.iterdir()) == ["main.py"]


@pytest.mark.tool
@pytest.mark.parametrize("name", SETS)
def test_every_reference_program_passes_and_one_that_refuses_gets_nothing(name: str, sandbox: Sandbox,
                                                                          tmp_path: Path) -> None:
    tasks = load_easy_tasks(EASY / name)
    found = try_programs(tasks, lambda task: task.reference, sandbox, tmp_path)
    assert [slug for slug, checks in found.items() if not all(check.passed for check in checks)] == []
    (again := tmp_path / "again").mkdir()
    refused = try_programs(tasks, refuser, sandbox, again)
    assert sum(any(check.passed for check in checks) for checks in refused.values()) > TASKS / 5
    assert [slug for slug, checks in refused.items() if any(check.passed for check in count_refusals(checks))] == []


def refuser(task: EasyTask) -> str:
    """A program that refuses everything as the task wants something refused."""
    ends = [(case.prints, case.status) for check in task.checks for case in check.cases if case.status]
    text, status = ends[0] if ends else ("no", 1)
    return f"import sys\nprint({text!r})\nsys.exit({status})"


def test_our_sets_keep_to_their_rules() -> None:
    assert easy_findings({name: load_easy_tasks(EASY / name) for name in SETS}, load_tasks()) == []


def test_our_sets_are_those_whose_digests_were_written_down_before() -> None:
    readme = (EASY / "README.md").read_text(encoding="utf-8")
    written = dict(re.findall(r"^\| `([\w-]+)` \| `([0-9a-f]{64})` \|$", readme, re.MULTILINE))
    assert written == {name: folder_digest(EASY / name) for name in SETS}


def test_what_breaks_a_rule_is_found(counter: EasyTask) -> None:
    tasks = load_easy_tasks(EASY / "tuning")
    broken = [counter, replace(counter, name="Egyptian Fractions", description="short", checks=[counter.checks[2]] * 7,
                               category="Mathematics"), *tasks[:10]]
    found = "\n".join(easy_findings({"mine": broken}, load_tasks()))
    for said in ("mine has 12 tasks instead of 48", "tasks by stdin; 7 are the fewest", "one in 6 has none",
                 "fewer than 15 or more than 150 words", "egyptian-fractions: another task has this name",
                 "egyptian-fractions: its category is none of its area", "egyptian-fractions: its first check is a",
                 "fewer than 3 or more than 6 checks", "more than one refusal, or fewer than 3"):
        assert said in found
    other = replace(tasks[4], description=" ".join(["word"] * 30))
    assert "does not stand in the description" in "\n".join(easy_findings({"mine": [other]}, load_tasks()))
