"""What is said to a model about a reply that cannot be used: codes and facts in Python, the words in the protocol."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import chatdev.replies
from chatdev.config.load import load_company
from chatdev.config.schema import PROBLEM_VARIABLES, bundled_problems
from chatdev.errors import ConfigError
from chatdev.replies import ReplyProblem, Unreadable, describe_problems

SAID: list[tuple[str, Mapping[str, object], str]] = [
    ("too_many_blocks", {"most": 1000}, "the reply has more than 1000 code blocks"),
    ("no_block", {}, "no fenced code block with a file name was found"),
    ("cut_off", {"path": "a.py"}, "the reply ends inside the block of a.py"),
    ("cut_off", {"path": None}, "the reply ends inside a code block"),
    ("shell_commands", {"path": "a.py"}, "a.py: the block holds shell commands, not a program"),
    ("diff", {"path": "a.py"},
     "a.py: a diff cannot be applied: give complete functions or SEARCH/REPLACE blocks"),
    ("patch", {},
     "a diff or patch cannot be applied: give the path of each file, and in a fenced block below it complete "
     "functions or SEARCH/REPLACE blocks"),
    ("span_open", {"path": "a.py", "line": 3, "mark": '"""'},
     'a.py: the `"""` in line 3 of the block is never closed, so it is not clear where the block ends: close it; if '
     "the file holds lines of three backquotes, put it between fences of four: ````"),
    ("span_open", {"path": None, "line": 1, "mark": "/*"},
     "the `/*` in line 1 of the block is never closed, so it is not clear where the block ends: close it; if the "
     "file holds lines of three backquotes, put it between fences of four: ````"),
    ("reading_slow", {"seconds": 60},
     "it takes more than 60 seconds to read it: send less at a time, or smaller files"),
    ("too_much_work", {"path": "a.py", "word": "py"},
     "a.py: too many blocks for files of this length; give fewer changes at a time, or whole files, marked `whole` "
     "behind the fence"),
    ("too_much_work", {"path": None, "word": "py"},
     "a block without a file name (py): too many blocks for files of this length; give fewer changes at a time, or "
     "whole files, marked `whole` behind the fence"),
    ("block_too_large", {"path": "a.py", "word": "py", "most": 1024}, "a.py: larger than 1024 KiB"),
    ("block_too_large", {"path": None, "word": "", "most": 1024}, "a block without a file name: larger than 1024 KiB"),
    ("unsafe_path", {"why": "the path '/a' is absolute"}, "the path '/a' is absolute"),
    ("acts_alone", {"path": ".envrc", "why": "direnv runs it"},
     ".envrc: may not be delivered: direnv runs it; leave this file out"),
    ("makes_repository", {"folder": "a", "files": ["a/HEAD", "a/objects/x", "a/refs/x"]},
     "a/HEAD, a/objects/x, a/refs/x: together they make the folder a a git repository, whose settings start programs; "
     "use other names"),
    ("makes_repository", {"folder": "", "files": ["HEAD", "commondir"]},
     "HEAD, commondir: together they make the folder of the software a git repository, whose settings start programs; "
     "use other names"),
    ("not_allowed", {"path": "a.py", "only": ["b.py", "*.md"]},
     "a.py: may not be written here; allowed: b.py, *.md"),
    ("which_file", {"files": ["a.js", "b.js"]},
     "a code block has no file name: say which file it changes (a.js, b.js)"),
    ("which_file_searched", {"count": 2},
     "SEARCH/REPLACE blocks have no file name, and their lines are in 2 files"),
    ("deletion_not_empty", {"path": "a.py"}, "a.py: a block marked `delete` must be empty"),
    ("nothing_to_delete", {"path": "a.py", "files": ["b.py", "c.py"]},
     "a.py: there is no such file to delete; there are: b.py, c.py"),
    ("nothing_to_delete", {"path": "a.py", "files": []}, "a.py: there is no such file to delete; there are: none"),
    ("empty_block", {"path": "a.py"}, "a.py: the block is empty; to delete the file mark the block `delete`"),
    ("two_nameless", {"path": "a.py"},
     "two code blocks without a file name could both be a.py: put the path above each block"),
    ("given_twice", {"path": "a.py"}, "a.py: given twice with different content: give it once"),
    ("same_spelling", {"one": "A.py", "other": "a.py"},
     "A.py and a.py cannot exist side by side: use one spelling for a path"),
    ("too_many_files", {"count": 401, "most": 400}, "401 files; at most 400 are allowed"),
    ("change_elided", {"path": "a.js", "line": 3},
     "a.js: line 3 leaves code out: give SEARCH/REPLACE blocks or the whole file"),
    ("file_elided", {"path": "a.js", "line": 3}, "a.js: line 3 leaves code out: give the whole file"),
    ("nothing_to_change", {"path": "a.py"}, "a.py: there is no such file to change"),
    ("change_breaks_file", {"path": "a.py", "why": "line 1: invalid syntax"},
     "a.py: does not parse after this change: line 1: invalid syntax"),
    ("block_broken", {"path": "a.py", "why": "line 1: invalid syntax"},
     "a.py: the block does not parse: line 1: invalid syntax"),
    ("file_broken", {"path": "a.py", "why": "line 1: invalid syntax"},
     "a.py: does not parse at the moment (line 1: invalid syntax), so a part cannot be merged: give the whole file or "
     "SEARCH/REPLACE blocks"),
    ("too_many_statements", {"path": "a.py", "count": 1001},
     "a.py: 1001 statements to put into the file; give the whole file instead, marked `whole` behind the fence"),
    ("no_code", {"path": "a.py"}, "a.py: the block holds no code to put into the file"),
    ("unclear_place", {"path": "a.py", "line": "x += {{ 1 }}"},
     "a.py: it is not clear where `x += {{ 1 }}` belongs: put it into a function, use SEARCH/REPLACE, or give the file "
     "as a whole, marked `whole` behind the fence"),
    ("different_count", {"path": "a.py", "name": "f", "in_file": 2, "in_block": 1},
     "a.py: `f` stands 2 times in the file and 1 times in the block: use SEARCH/REPLACE"),
    ("method_of_several", {"path": "a.py", "name": "f", "classes": ["A", "B"]},
     "a.py: `f` is a method of several classes (A, B): give it inside its class"),
    ("method_without_class", {"path": "a.py", "name": "f", "classes": ["A", "B"]},
     "a.py: `f` could belong to several classes (A, B): give it inside its class"),
    ("class_on_one_line", {"path": "a.py", "name": "A"}, "a.py: class `A` stands on one line: give it as a whole"),
    ("definition_elided", {"path": "a.py", "name": "f"}, "a.py: `f` leaves code out: give it completely"),
    ("line_shared", {"path": "a.py", "name": "x"}, "a.py: `x` shares a line with other code: use SEARCH/REPLACE"),
    ("line_shared", {"path": "a.py", "name": ""},
     "a.py: `the main guard` shares a line with other code: use SEARCH/REPLACE"),
    ("too_deep", {"path": "a.py", "columns": 121},
     "a.py: lines are indented by 121 columns; give the whole file, indented less"),
    ("outside_search", {"path": "a.py", "line": "x"},
     "a.py: this line is outside <<<<<<< SEARCH … >>>>>>> REPLACE: `x`"),
    ("search_incomplete", {"path": None, "missing": "======="},
     "a block without a file name: a SEARCH block has no ======= line"),
    ("search_incomplete", {"path": "a.py", "missing": ">>>>>>> REPLACE"},
     "a.py: a SEARCH block has no >>>>>>> REPLACE line"),
    ("too_many_searches", {"path": "a.py", "count": 301}, "a.py: 301 SEARCH blocks; give the whole file instead"),
    ("search_empty", {"path": "a.py"}, "a.py: the SEARCH part is empty; it must hold the lines to replace"),
    ("search_not_found", {"path": "a.py", "line": "x"},
     "a.py: the SEARCH lines that begin with `x` match 0 times; copy the lines exactly from the file"),
    ("search_ambiguous", {"path": "a.py", "line": "x", "count": 2, "more": False},
     "a.py: the SEARCH lines that begin with `x` match 2 times; give more lines around it"),
    ("search_ambiguous", {"path": "a.py", "line": "x", "count": 20, "more": True},
     "a.py: the SEARCH lines that begin with `x` match 20 or more times; give more lines around it"),
    ("patch_cut", {},
     "the reply ends inside a patch: put the patch into a fenced block and close that, or end it with `*** End Patch`"),
    ("patch_torn", {"path": None},
     "a fence within the patch ends its block: begin the lines that stay with a blank, or put the patch between fences "
     "of four: ````"),
    ("patch_empty", {"path": None},
     "a patch without a file name: the patch changes nothing: lines that go begin with -, lines that come with +"),
    ("patch_two_names", {"one": "a.py", "other": "b.py"},
     "a.py and b.py: the patch names two files as one: write the same path behind --- and +++; to move a file, `rename "
     "from` and `rename to`"),
    ("patch_target_exists", {"path": "a.py"},
     "a.py: is there already, so the patch cannot add it or move another file there"),
    ("patch_keeps_lines", {"path": "a.py"},
     "a.py: the patch deletes the file, but not all of its lines: leave the lines out"),
    ("patch_of_binary", {"path": "a.png"}, "a.png: is no text, so no patch can be applied to it"),
    ("which_file_patched", {"count": 2},
     "a patch names no file, and its lines are in 2 files: write --- and +++ with the path above it"),
    ("too_many_hunks", {"path": "a.py", "count": 301},
     "a.py: 301 hunks; give the whole file instead, marked `whole` behind the fence"),
    ("hunk_only_adds", {"path": "a.py", "hunk": 1, "line": "x"},
     "a.py: hunk 1 (`x`) only adds lines: give a line of the file above or below them"),
    ("hunk_not_found", {"path": "a.py", "hunk": 1, "line": "x = 1", "at": 2, "lines": ["1: y", "2: x = 2"]},
     "a.py: hunk 1 fits nowhere: its line `x = 1` is not what stands in line 2, at the nearest place:\n1: y\n"
     "2: x = 2\ncopy the lines that stay or go exactly from the file"),
    ("hunk_not_found", {"path": "a.py", "hunk": 2, "line": "x", "at": 0, "lines": []},
     "a.py: hunk 2 fits nowhere: nothing in the file is like its line `x`: copy the lines that stay or go exactly from "
     "the file"),
    ("hunk_ambiguous", {"path": "a.py", "hunk": 1, "line": "x", "places": [3, 7], "more": False},
     "a.py: hunk 1, from `x` on, fits in lines 3, 7: give more lines around the change, or the line of its function "
     "behind @@"),
    ("hunk_ambiguous", {"path": "a.py", "hunk": 1, "line": "x", "places": [3, 7], "more": True},
     "a.py: hunk 1, from `x` on, fits in lines 3, 7 and more: give more lines around the change, or the line of its "
     "function behind @@"),
    ("hunk_elided", {"path": "a.py", "hunk": 1, "line": "# ..."},
     "a.py: hunk 1 leaves code out (`# ...`): write the lines themselves"),
    ("empty_answer", {}, "the answer is empty"),
    ("empty_file", {"path": "a.md"}, "the content of a.md is empty"),
    ("several_blocks", {"path": "a.csv", "count": 2},
     "2 code blocks were given for the one file a.csv: give its content in one block"),
    ("no_choice", {"options": ["CLI", "GUI"]}, "the answer must name exactly one of: CLI, GUI"),
    ("no_json", {}, "no JSON value was found"),
    ("not_json", {"why": "line 1 column 2: Expecting value"},
     "the answer is not valid JSON: line 1 column 2: Expecting value"),
    ("not_of_schema", {"field": "a.b", "why": "1 is not of type 'string'"}, "a.b: 1 is not of type 'string'"),
    ("not_of_schema", {"field": "", "why": "1 is not of type 'string'"}, "the value: 1 is not of type 'string'"),
    ("no_list", {}, "no list was found: give one item per line, each beginning with '- '"),
    ("broke_python", {"path": "a.py", "why": "line 1: invalid syntax"},
     "a.py: parsed before and does not now: line 1: invalid syntax"),
    ("new_file_broken", {"path": "a.py", "why": "line 1: invalid syntax"},
     "a.py: does not parse: line 1: invalid syntax"),
    ("broke_json", {"path": "a.json", "why": "line 1: Expecting value"},
     "a.json: was valid JSON before and is not now: line 1: Expecting value"),
    ("only_commands_left", {"path": "a.js"}, "a.js: was a program before and holds only shell commands now"),
    ("only_prose_left", {"path": "a.js"}, "a.js: was a program before and holds only prose now"),
    ("shrank", {"path": "a.py", "before": 16, "after": 1, "lost": ["f", "g"]},
     "a.py: shrank from 16 to 1 lines and lost f, g: give it completely, or only the parts that change"),
    ("shrank", {"path": "a.js", "before": 16, "after": 1, "lost": []},
     "a.js: shrank from 16 to 1 lines: give it completely, or only the parts that change"),
    ("lost_file", {"path": "a.py", "emptied": False},
     "a.py: would be gone after this change, and nobody asked for that: leave the file as it is"),
    ("unwanted", {}, "a person does not want this change"),
    ("several", {"problems": ["x", "y"], "more": 0}, "- x\n- y"),
    ("several", {"problems": ["x", "y"], "more": 3}, "- x\n- y\n- and 3 more problems"),
    ("question", {}, "a question, where the solution was due"),
    ("unknown_tool", {"tool": "'x'", "tools": ["a.b", "c.d"]}, "There is no tool 'x' for you. You may use: a.b, c.d."),
    ("arguments_not_json", {"why": "no value (line 1)"}, "The arguments are not a JSON object: no value (line 1)."),
    ("arguments_no_object", {}, "The arguments must be a JSON object."),
    ("unwanted_call", {"tool": "plc.check", "why": "not now"},
     "plc.check is not called: a person did not allow it, and says: not now"),
    ("tool_failed", {"why": "no iverilog"}, "The tool failed: no iverilog"),
]


@pytest.mark.parametrize(("code", "facts", "text"), SAID)
def test_the_words_stay_byte_for_byte(code: str, facts: Mapping[str, object], text: str) -> None:
    """They are part of requests, whose digests a replay compares."""
    assert ReplyProblem(code, facts).words(bundled_problems()) == text


def test_every_code_has_words_facts_and_a_case() -> None:
    assert {code: frozenset(facts) for code, facts, _ in SAID} == PROBLEM_VARIABLES
    assert bundled_problems().keys() == PROBLEM_VARIABLES.keys()


def raised() -> Iterator[tuple[str, frozenset[str]]]:
    """Code and facts of every problem that replies and engine name; `path` is added where a problem is placed."""
    replies = Path(chatdev.replies.__file__).parent
    for path in [*replies.rglob("*.py"), *replies.with_name("engine").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name("unreadable") | ast.Attribute(attr="add_problem" | "say_problem"),
                              args=[code]):
                    names = {word.arg for word in node.keywords if word.arg}
                case ast.Call(func=ast.Name("ReplyProblem"), args=[code, ast.Dict(keys=keys)]):
                    names = {str(key.value) for key in keys if isinstance(key, ast.Constant)}
                case ast.Call(func=ast.Name("ReplyProblem"), args=[code]):
                    names = set()
                case _:
                    continue
            for value in ast.walk(code):
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value, frozenset(names)


def test_what_the_package_raises_is_what_the_protocol_knows() -> None:
    found = list(raised())
    assert {code for code, _ in found} == PROBLEM_VARIABLES.keys()
    for code, names in found:
        assert names - PROBLEM_VARIABLES[code] == set(), code


def test_of_many_problems_twelve_are_listed_and_the_rest_counted() -> None:
    problems = [ReplyProblem("empty_block", {"path": f"{number}.py"}) for number in range(15)]
    lines = str(Unreadable(*problems)).splitlines()
    assert len(lines) == 13
    assert lines[0] == "- 0.py: the block is empty; to delete the file mark the block `delete`"
    assert lines[-1] == "- and 3 more problems"


def test_a_company_says_it_in_its_own_words(tmp_path: Path) -> None:
    company = load_company(written(tmp_path, "no_block: 'Kein Block.'"))
    problem = ReplyProblem("no_block")
    assert describe_problems([problem], company.protocol.problems) == "Kein Block."
    assert describe_problems([ReplyProblem("empty_answer")], company.protocol.problems) == "the answer is empty"


@pytest.mark.parametrize(("entry", "message"), [
    ("no_blok: x", "protocol.problems.no_blok: there is no such problem; did you mean 'no_block'?"),
    ("no_block: '{{ file }}'", "protocol.problems.no_block: uses 'file', which it is not given"),
    ("no_block: '{{'", "protocol.problems.no_block: the template is broken in its line 1"),
])
def test_a_mistake_in_the_words_is_found_at_loading(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_company(written(tmp_path, entry))
    assert message in str(error.value)


def test_a_company_kept_by_an_earlier_version_has_the_bundled_words(tmp_path: Path) -> None:
    """A journal keeps the whole company; those made before hold a protocol without `problems`."""
    recording = Path(__file__).parents[1] / "companies" / "journals" / "todo_before_drafts.jsonl"
    order = json.loads(recording.read_text(encoding="utf-8").partition("\n")[0])
    assert "go_on:" in order["company"]
    assert "problems:" not in order["company"]
    (file := tmp_path / "company.yaml").write_text(order["company"], encoding="utf-8")
    assert load_company(file).protocol.problems == bundled_problems()


def written(folder: Path, entry: str) -> Path:
    """A company with an entry of its own among the problems."""
    file = folder / "company.yaml"
    file.write_text(f"extends: chatdev\nprotocol:\n  problems:\n    {entry}\n", encoding="utf-8")
    return file
