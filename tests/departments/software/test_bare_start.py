"""A start with nothing: what a right program may do then, and what only a wrong one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.software.toolchains.python import rule_of_lack
from chatdev.sandbox.base import Execution, SandboxJob
from tests.departments.software.conftest import Judge

pytestmark = pytest.mark.tool

TRACE = 'Traceback (most recent call last):\n  File "main.py", line 1, in <module>\n'
ADDS = "import sys\nprint(sum(map(int, sys.argv[1:])))\n"


@pytest.mark.parametrize(("source", "rule"), [
    ("import sys\nprint(int(sys.argv[1]) * 2)", "lacks_input"),
    ("import sys\ndef main(words):\n    name, width = words\n    print(name)\nmain(sys.argv[1:])", "lacks_input"),
    ("import sys\nprint(sum(map(int, sys.argv[1:])) / len(sys.argv[1:]))", "lacks_input"),
    ("import sys\nprint(open(sys.argv[1]).read())", "lacks_input"),
    ("import sys\nprint(max(len(line) for line in sys.stdin))", "lacks_input"),
    ("print(open('prices.txt').read())", "lacks_file"),
    ("with open('hours.txt') as f, open('report.txt', 'w') as g:\n    g.write(f.read())", "lacks_file"),
    ("import os, sys\nif not os.path.exists('stock.txt'):\n    sys.exit('stock.txt is missing')", "refuses_no_input"),
    ("import sys\nif not sys.stdin.read():\n    print('no readings')\n    sys.exit(1)", "refuses_no_input"),
])
def test_a_right_program_may_expect_arguments_input_and_files(judge: Judge, source: str, rule: str) -> None:
    verdict = judge(source)
    assert (verdict.passed, verdict.evidence["rule"]) == (True, rule), verdict.report


def test_a_file_that_cannot_be_read_writes_nothing_that_is_known(tmp_path: Path) -> None:
    trace = f"{TRACE}FileNotFoundError: [Errno 2] No such file or directory: 'hours.txt'\n"
    failed, job = Execution(1, None, "", trace, 0.1, timed_out=False), SandboxJob(["python"], tmp_path)
    assert rule_of_lack(failed, {"main.py": b"def f(:"}, job, lambda _: failed) == "lacks_file"


@pytest.mark.parametrize("source", [
    "print(1 / 0)\n" + ADDS,  # whatever it is given
    "rates = {}\nimport sys\nprint(rates['EUR'], sys.argv[0])",
    "import sys\nwords = []\nprint(words[0], sys.argv[0])",
    "import sys\nx = sys.argv[1]\nprint(x.uper())",  # no input explains this
    "import json\nnotes = json.load(open('notes.json'))\njson.dump(notes, open('notes.json', 'w'))",  # its own file
    "NAME = 'notes.txt'\nprint(open(NAME).read())\nfrom pathlib import Path\nPath(NAME).write_text('')",
    "import sys\nopen(sys.argv[0] + '.log', 'w')\nprint(open('notes.txt').read())",  # perhaps its own file
    "print(open('/etc/no-such-file').read())",
    "import os\nos.symlink('/no-such-file', 'link')\nprint(open('link').read())",
])
def test_a_program_that_crashes_whatever_it_is_given_is_wrong(judge: Judge, source: str) -> None:
    verdict = judge(source)
    assert (verdict.passed, verdict.evidence["rule"]) == (False, "crashed"), verdict.report
