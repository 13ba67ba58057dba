"""Readers of what models write: solutions in every form, markers, tool calls, names of files, parts of Python files."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from chatdev.config.phases import Solution
from chatdev.llm.base import ToolSpec
from chatdev.llm.completions import ReplyWatch
from chatdev.replies import Unreadable, parse_files
from chatdev.replies.blocks import name_on, read_info
from chatdev.replies.fences import LEXES, lines_of, open_span, scan
from chatdev.replies.files import read_around
from chatdev.replies.forms import parse_solution
from chatdev.replies.hunks import apply_changes, apply_hunks, extent_at, read_changes
from chatdev.replies.languages import elided_line, holds_only_commands, is_elision
from chatdev.replies.patch import read_patch
from chatdev.replies.python.merge import merge
from chatdev.replies.python.reader import NotPython, fault, is_part, read, read_part
from chatdev.replies.utterance import (
    counts_on,
    cut_circles,
    ends_with_tool_call,
    goes_in_circles,
    join_continuation,
    never_ends,
    read_tool_call,
)
from chatdev.workspace.python_facts import definitions, functions
from tests.fuzz.properties import PROGRAM, SOFTWARE, TOKENS, files, markers
from tests.fuzz.readers.reader import Reader, is_short

SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["a"], "additionalProperties": False,
    "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "string", "pattern": "^[a-z]+( [a-z]+)*$"}},
                   "b": {"type": "integer", "minimum": 2}, "c": {"enum": ["x", "y"]}}}
LOOK = (ToolSpec("look", "Looks.", {"properties": {"at": {"type": "string"}}}),)
SPANS = ['"""', "'''", "`", "${", "}", "{", "/*", "*/", "//", "#", "--", "(*", "*)", "{-", "-}", "<<EOF", "<<~EOF\n",
         "EOF\n", "[[", "]]", "$$", "'", '"', "\\", "\n", " ", "x", "=", "/", "[", "(", "```\n", "```js\n", "~~~\n",
         "  ", "- ", "a: |\n", "<html", "</html>", "<pre", "</pre>", "<!--", "-->", "<<<<<<< SEARCH\n",
         ">>>>>>> REPLACE\n", "<", 'r#"', '@"', "return"]
VALUES = ["{", "}", "[", "]", '"a"', '"b"', '"c"', "'a'", ":", ",", "1", "-", "1e999", "9" * 30, "true", "True",
          "None", "null", '"', "\\", '\\"', "'", "\n", " ", "\t", "- ", "* ", "1. ", "1) ", "  - ", "yes", "no",
          "red", "green", "dark green", "Yes.", "because", "**", "`", "```\n", "```json\n", "\u2028", "\ud800", "\0",
          "“", "”", "#", "(", ")", "x = ", "\\u12", "NaN", "{'a':", '{"a":[', "!!", "_",
          '{"tool": "look", "arguments": {}}', '{"tool":']
TAGS = ["<tool_call>", "</tool_call>", "<function=look>", "<parameter=at>", "</parameter>", "</function>",
        "[TOOL_CALLS]", "[ARGS]", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", '<invoke name="look">',
        "<function_calls>", "<|python_tag|>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<|tool_call_begin|>",
        "functions.look:0", "look", "<|tool_call_argument_begin|>", '{"name": "look", "arguments": {', "}}",
        "<|channel|>commentary to="]
PYTHON = ["def f(self):\n", "class A:\n", "    ", "\t", "return 1\n", "pass\n", "...\n", "# ...\n",
          "# rest of the code\n", "# ... existing code ...\n", "\n", "\r\n", "\r", "\\", "\\\n", "\\\r\n",
          "import a\n", "from a import b as c\n", "import a.b", ".a", "x = 1\n", "x, y = 1, 2\n", "@property\n",
          "@f.setter\n", '"""', "'''", '"', "'", "f'{", "}'", "f'", "{", "}", "(", ")", "[", "]", ",", ";", ":",
          "if x:\n", "else:\n", "try:\n", "finally:\n", "except E:\n", "async ", "lambda: ", "not ", "-", "~",
          "await ", "1", "0x", "1_0", "é", "\0", "\ufeff", "\f", "\ud800", "if __name__ == '__main__':\n",
          "print(1)\n", "self.f()\n", "def f(", "with a:\n", "match x:\n", "case 1:\n", "global x\n", "del x\n",
          "x: int = 1\n", "a", " if ", " else ", " for x in ", "*", "=", "# -*- coding: rot13 -*-"]
CUT = ["...", "…", "# ", "// ", "/* ", " */", "<!-- ", " -->", "{/* ", "*/}", "(* ", " *)", "-- ", ";", "%", "rest",
       "of", "the", "code", "unchanged", "existing", "[", "]", "(", ")", " ", "\t", "\n", "*", "/", "-", "#", "x",
       "…\n", "...\n", "// ... existing code ...\n", "# rest of the code\n", "[rest of the code]"]
CHANGES = ["<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "f();\n", "  g();\n", "\n", " ", "    ", "x\n", "}\n",
           "<<<<<", "=====", ">>>>>", "\t", "f();"]
PATCHES = ["*** Begin Patch\n", "*** End Patch\n", "*** Update File: app.js\n", "*** Add File: new.js\n",
           "*** Delete File: style.css\n", "*** Move to: b.js\n", "*** End of File\n",
           "diff --git a/app.js b/app.js\n", "--- a/app.js\n", "+++ b/app.js\n", "--- /dev/null\n", "+++ /dev/null\n",
           "+++ b/n№.js\n", "rename from app.js\n", "rename to ../x.js\n", "new file mode 100644\n",
           "deleted file mode 100644\n", "index 0123abc..def\n", "@@\n", "@@ -1,2 +1,2 @@\n", "@@ -3 +3 @@ f\n",
           "@@ f();\n", "@@ ... @@\n", " f();\n", "-f();\n", "+f();\n", "+h№();\n", "-  g();\n", "   g();\n",
           "f();\n", "g();\n", "-x\n", " x\n", " \n", "\n", "+\n", "-\n", "-- \n2.39.2\n",
           "\\ No newline at end of file\n", "apply_patch <<'EOF'\n", "EOF\n", "```\n", "```diff\n", " ```\n",
           "+```\n", "@@ -9999999,1 +1,9999999 @@\n", "+// ...\n", "\r\n", "- a\n", "text\n", " ", "+", "-", "@@ ",
           "patch ", "(", ")", " 2024-01-01", "<<"]


def form(solution: Solution) -> Callable[[str], None]:
    """Reads a solution in one form."""
    def read_form(text: str) -> None:
        try:
            value = parse_solution(solution, text, SOFTWARE)
        except Unreadable as problem:
            is_short(problem)
            return
        assert len(str(value)) <= 12 * len(text) + 10_000
    return read_form


def fences(text: str) -> None:
    """Blocks stand in the text, one after the other."""
    end = 0
    for block in scan(text):
        assert end <= block.start <= block.end <= len(text)
        end = block.end
    assert "".join(lines_of(text)) == text


def spans(text: str) -> None:
    """Where strings, comments and the like begin and end, in every language that is followed."""
    lines = lines_of(text)
    for language in (*LEXES, "yaml", "markdown"):
        line, mark = open_span(language, lines)
        assert bool(line) == bool(mark)
        assert line <= len(lines)


def names(text: str) -> None:
    """Names of files in each line, and in the words behind a fence."""
    for line in text.split("\n"):
        name = name_on(line, SOFTWARE)
        assert name is None or len(name) <= len(line)
        read_info(line)


def elisions(text: str) -> None:
    """A line that stands for code left out is one of the text."""
    number = elided_line("a.js", text)
    assert number is None or is_elision(text.split("\n")[number - 1])


def commands(text: str) -> None:
    """Whether a block is typed at a prompt."""
    holds_only_commands(text)


def changes(text: str) -> None:
    """Search and replace."""
    with suppress(Unreadable):
        if found := read_changes(text):
            apply_changes("f();\n  g();\n" * 50, found, "app.js")
    with suppress(Unreadable):
        parse_files(f"app.js\n`````js\n<<<<<<< SEARCH\nf();\n=======\n{text}\n`````\n", SOFTWARE)


def tool_calls(text: str) -> None:
    """A call of a tool in a text."""
    for tools in ((), LOOK):
        call = read_tool_call(text, tools)
        assert call is None or isinstance(json.loads(call.arguments), dict)
    ends_with_tool_call(text, LOOK)


def continuations(text: str) -> None:
    """A reply in two halves, one that goes in circles, and one that is watched as it comes."""
    half = len(text) // 2
    watch = ReplyWatch(never_ends)
    for at in range(0, len(text), 8):
        watch.add(text[at:at + 8])
    assert len(join_continuation(text[:half], text[half:])) <= len(text)
    if goes_in_circles(text):
        assert len(cut_circles(text)) <= len(text)
    counts_on(text)


def python_part(text: str) -> None:
    """Part of a Python file, merged into one that is there."""
    old = read(PROGRAM)
    try:
        part = read_part(text)
    except NotPython as problem:
        is_short(problem)
        return
    is_part(old, part)
    with suppress(Unreadable):
        merged = merge("main.py", old, part)
        assert len(merged) <= 130 * (len(text) + len(PROGRAM))


def python_file(text: str) -> None:
    """A whole Python file, with broken functions or without."""
    why = fault(text)
    assert why is None or len(why) < 20_000
    if outline := read_around(text):
        assert "".join(outline.lines) == text
    if why is None:
        definitions(text)
        functions(text)


def patches(text: str) -> None:
    """Patches: where each ends that stands in prose, what it does by file, and what becomes of the files."""
    lines = lines_of(text)
    for index in range(min(len(lines), 20)):
        extent = extent_at(lines, index)
        assert extent is None or index < extent.end <= len(lines)
    for patch in read_patch(text, SOFTWARE):
        assert all(hunk.changes for hunk in patch.hunks)
        with suppress(Unreadable):
            changed = apply_hunks("f();\n  g();\n\nx\n" * 50, patch, "app.js")
            assert len(changed) <= 1_000 + 130 * len(text)
    files(text)
    files(f"app.js\n`````diff\n{text}\n`````\n")


READERS = {
    "files": Reader(files, TOKENS),
    "markers": Reader(markers, TOKENS),
    "fences": Reader(fences, TOKENS),
    "fences within files": Reader(fences, SPANS),
    "spans": Reader(spans, SPANS),
    "names of files": Reader(names, TOKENS),
    "elisions": Reader(elisions, CUT),
    "commands": Reader(commands, TOKENS),
    "search and replace": Reader(changes, CHANGES),
    "patches": Reader(patches, PATCHES,
                      ("{}", "*** Begin Patch\n{}\n*** End Patch\n", "--- a/app.js\n+++ b/app.js\n{}",
                       "--- a/app.js {}x\n+++ b/app.js\n@@ {}\n-f();\n+g();\n",
                       "{} <<EOF\n@@ -1 +1 @@\n-x\n+y\nEOF\n")),
    "tool calls": Reader(tool_calls, [*VALUES, *TAGS]),
    "continued replies": Reader(continuations, TOKENS),
    "form text": Reader(form(Solution(form="text")), VALUES),
    "form choice": Reader(form(Solution(form="choice", options=["green", "dark green", "red", "C++"])), VALUES),
    "form json": Reader(form(Solution.model_validate({"form": "json", "schema": SCHEMA})), VALUES),
    "form list": Reader(form(Solution(form="list")), VALUES),
    "form of one file": Reader(form(Solution(form="files", as_file="manual.md")), TOKENS),
    "part of a Python file": Reader(python_part, PYTHON),
    "Python file": Reader(python_file, PYTHON),
    "Python file with elisions": Reader(python_part, [*CUT, "def f():\n", "    pass\n", "'''", "x = 1\n"]),
}
