"""Readers of software and of what programs print: plans of sessions, tracebacks, pages and their logs, placeholders,
requirements, indexes of packages."""

from __future__ import annotations

from contextlib import suppress

from chatdev.departments.software.cases.case import MOST_CASES, MOST_STARTS, cases_from_value
from chatdev.departments.software.cases.copied import copied_cases, example_lines, examples, plan_lines, starts_of
from chatdev.departments.software.cases.extract import read_request
from chatdev.departments.software.knowledge import importable
from chatdev.departments.software.reading.python_reader import mend_python, written_names
from chatdev.departments.software.reading.static import data_errors, packages_needed, placeholders, undefined_names
from chatdev.departments.software.request import kind_wanted, language_wanted
from chatdev.departments.software.toolchains.toolchain import insert_preamble, judge_page, missing_files
from chatdev.departments.software.toolchains.verdict import Finding as VerdictFinding
from chatdev.departments.software.toolchains.verdict import facts_of, rule_of, verdict
from chatdev.departments.software.trial.plan import any_command
from chatdev.errors import UnsafePath
from chatdev.packages.gateway import wheels_of
from chatdev.packages.imports import imports, requirements
from chatdev.sandbox.base import Execution
from chatdev.workspace.file_tree import Software, collisions, find_entry, safe_path
from chatdev.workspace.languages import is_startable, language_of, unsupported_languages
from chatdev.workspace.python_errors import excerpt, last_traceback, stable_text, syntax_errors
from tests.fuzz.readers.reader import Reader, value_in
from tests.fuzz.readers.replies import PYTHON

SESSIONS = ["python main.py ", "python ", "main.py", "-m ", "$ ", "> ", "`", "=>", " => ", "'", '"', "\\", "|", "&&",
            ">", "<", ";", "#", " ", "\n", "\t", "3", "add", "\0", "\ud800", "é", "a/", ".", "../", "[", "]", "{",
            "}", ":", ",", '{"command": ', '"python main.py 2 3"', "null", "1", "py3.11 a.py", "\u3000"]
EXAMPLES = ["`python main.py 3 5`", "python main.py add \"a b\"", "python main.py", "main.py x.txt", " prints ", "`6`",
            "\"6\"", " and ", ", ", "or", "if ", "it ", "```\n", "    ", "> ", "$ ", "| ", "|---|---|\n", "- ", "1. ",
            "\n", "\n\n", ".", ":", "a.txt", "a.txt holds ", "two lines ", "Input:\n", "Output: ", "=>", " -> ", "(",
            ")", "status 1", "gibt ", " aus", "输出", "„", "“", "「", "<", "echo 3 | ", "printf '", "\\", "'", "\t",
            " " * 9, "\ud800", "\0", "e" * 99, "then ", "-", "/", "./a", "a-b.py", "\ue000", " because", "lines "]
TRACES = ["Traceback (most recent call last):\n", '  File "main.py", line 3, in f\n', '  File "', '", line ', "3",
          "9" * 40, ", in ", "<module>", "\n", "    x = 1\n", "    ^^^\n", "ValueError: no\n",
          "ModuleNotFoundError: No ", "module named 'x'\n", "'", "EOFError\n", "KeyError", ": ", "usage", "usage: ",
          "/tmp/abc", "0x7fffdeadbeef", "0x", "/tmp/", "During handling", "\r", "\f", "\0", "\ud800", "\u2028",
          "Error: a\n", " ", "a.b.c"]
LOGS = [':CONSOLE:3] "', '", source: ', "main.js (1)\n", "(1)\n", "Uncaught ",
        "Uncaught ReferenceError: x is not defined", "Access to ", " blocked by CORS policy", "asks for input",
        ":CONSOLE:", "9" * 40, '] "', "\n", '"', " ", "%41", "%", "main.js", "[1:2:INFO", "\0", "é"]
HTML = ["<script ", "<script src=", "<link ", "stylesheet", " href=", '"', "'", "a.js", ">", "</script>", "<!--",
        "-->", "<!doctype html", "<style>", "</style>", "<body>", "<body ", "</body>", "<template>", "</noscript >",
        "</", "<", "http://x/", "//", "?", "#", "%41", " ", "\n", "a", "=", "<a href=", "a-1.0-py3-none-any.whl",
        "#sha256=1", "</a>", "<base href=", "&lt;", "&#", "[", "data-yanked", "../", "\0", "<![CDATA[", "<?", "]]>",
        "&"]
REQUESTS = ["python ", "main.py", "in ", "Python", "C++", "C#", "not ", "without ", "command-line", "standard ",
            "input", "its ", "arguments", "node ", "a.js", "用", "命令行", "window", "with ", "Go", "R", " ", "\n", "-",
            ".", "/", "mit ", "program", "\0", "\ud800"]
LOADS = ["import ", "from ", "require(", "'", '"', "x", "./", "@a/", "use ", "mod ", "extern crate ", "::", ";", "\n",
         " ", "{", "}", "(", ")", "package ", "namespace ", ".", "\\", "\t", "export ", "static ", "java.", "*", "/",
         "function ", "pub ", "\0", "é"]
LISTS = ["requests", "==1.0", ">=", "[", "]", ",", "a-b_c.d", "-", ".", "_", " ", "\n", "#", ";", "-r x", "-e ",
         "git+https://", "\t", "\\", "é", "\0", "~=", "(", ")", "@ file:///", "A",
         "[project]\n", "dependencies = [", "'a'", "[options]\n", "install_requires =\n  "]
COMMENTS = ["// TODO", "# FIXME", "/* XXX", "*/", "--", "(*", "<!--", "not implemented", "not ", "yet ",
            "implement ", "your code here", "placeholder", "add ", "goes here", " ", "\n", "x", "#", "//", "-", "/",
            "*", "\f", "\x85"]
PATHS = ["a", "/", "\\", "..", ".", "C:", ".git", "git~1", " ", "~", "con", "nul", "\0", "\n", "é", "e\u0301", "\u200b",
         "İ", "ß", "-", "x" * 60, "\ud800", ":", "*", "?", "%2f", ".GIT", ".gi\u200ct"]
SOURCES = ["int main(", "void ", "package a.b;", "package ", "public static void main(String[] args)", "func main()",
           "fn main()", "import ", "console.log(", "#include <", "SDL.h>", "class A", "extends ", "JFrame", "{", "}",
           "(", ")", " ", "\n", "\t", "a", ".", "//", "/*", "*/", '"', "using ", "require(", "<html>", "pub ",
           "async "]


def plan(text: str) -> None:
    """The sessions of a plan, as a list of lines or as JSON, and the examples of a request."""
    for given in (value_in(text), text.split("\n")):
        assert len(starts_of(plan_lines(given))) <= MOST_STARTS
        assert len(examples(example_lines(given), text)) <= MOST_STARTS


def request(text: str) -> None:
    """What a request wants."""
    kind_wanted(text)
    language_wanted(text, "Command-line application")


def loads(text: str) -> None:
    """What sources of every language load."""
    for suffix in ("js", "ts", "go", "rs", "rb", "java", "kt", "php"):
        file, names = packages_needed({f"a.{suffix}": text.encode("utf-8", "replace")})
        assert bool(file) == bool(names)


def request_cases(text: str) -> None:
    """A request for software, read for examples, and what a Tester copied from it."""
    read_request.cache_clear()
    reading = read_request(text, any_command())
    assert len(reading.cases) <= MOST_CASES
    assert all(0 < len(case.starts) <= MOST_STARTS for case in reading.cases)
    copied = copied_cases(value_in(text), text, any_command())
    assert len(copied) <= MOST_CASES
    again = [case.to_dict() for case in reading.cases]
    assert list(cases_from_value(again, "request", any_command())) == list(reading.cases)


def execution(stdout: str, stderr: str) -> Execution:
    """How a program ended that printed this."""
    return Execution(1, None, stdout, stderr, 0.1)


def trace(text: str) -> None:
    """A program's last words."""
    ended = execution(text, text)
    found = last_traceback(text)
    assert found is None or len(found.exception) <= 500
    stable_text(text, {"/tmp/abc": "here"})
    facts = facts_of(ended, {"main.py": b"x = 1\n"}, {"/tmp/abc": "here"})
    told = verdict(VerdictFinding(rule_of(ended, {"main.py": b"import argparse"}),
                                  {**facts, "lacks": ["x"], "missing": "x"}))
    assert len(told.report) < 200_000


def page_log(text: str) -> None:
    """The log of a browser that opened a page, and the document that it shows."""
    files = {"index.html": b"<script src=main.js></script>", "main.js": b"f();\n" * 5}
    judge_page(execution(text, ""), text, files, "index.html")


def page(text: str) -> None:
    """A page of a software, and the page as the browser shows it."""
    data = text.encode("utf-8", "replace")
    missing_files({"index.html": data}, "index.html")
    assert len(insert_preamble(data, "x")) == len(data) + 1
    judge_page(Execution(0, None, text, "", 0.1), "", {"index.html": data}, "index.html")


def index_page(text: str) -> None:
    """A page of a package index."""
    for wheel in wheels_of(text, "https://pypi.org/simple/a/"):
        assert "/" not in wheel.filename
        assert wheel.url.startswith("https:")


def needed_packages(text: str) -> None:
    """requirements.txt, pyproject.toml and setup.cfg."""
    for path in ("requirements.txt", "pyproject.toml", "setup.cfg"):
        assert all(name == name.lower() for name in requirements({path: text.encode("utf-8", "replace")}))


def work_left(text: str) -> None:
    """Comments that announce work, in a language and in one that does not parse."""
    data = text.encode("utf-8", "replace")
    placeholders({"a.js": data, "b.py": b"x = (\n" + data, "c.html": data})


def paths(text: str) -> None:
    """Paths of files, and those that a disk could take for the same."""
    lines = text.split("\n")
    safe = []
    for line in lines:
        with suppress(UnsafePath):
            safe.append(safe_path(line))
    assert all(not path.startswith("/") and ".." not in path.split("/") for path in safe)
    collisions(safe)


def sources(text: str) -> None:
    """Software in other languages: which one it is, where it starts."""
    data = text.encode("utf-8", "replace")
    files = Software(dict.fromkeys(("a.c", "b.java", "c.go", "d.rs", "e.ts", "f.js", "g.cpp", "h.sh", "i.rb"), data))
    language_of(files)
    is_startable(files)
    unsupported_languages(files)


def json_file(text: str) -> None:
    """A JSON file of a software."""
    assert len(data_errors({"a.json": text.encode("utf-8", "replace")})) <= 1


def python_program(text: str) -> None:
    """A Python program: whether it compiles, what it imports, what it leaves undefined, what is mended in it, what is
    left to do, what stands around a line."""
    files = {"main.py": text.encode("utf-8", "surrogatepass")}
    for line in (1, text.count("\n")):
        assert len(excerpt(files, "main.py", line).split("\n")) <= 33
    find_entry(files)
    if not syntax_errors(files):
        imports(files)
        undefined_names(files)
        assert all("/" not in name for name in written_names(files["main.py"], "main.py"))
        with suppress(SyntaxError, UnicodeDecodeError):  # a file without its first line may be none any more
            mended, slips = mend_python(files["main.py"].decode(), "main.py", importable())
            assert bool(slips) == (mended != text)
    placeholders(files)


READERS = {
    "request": Reader(request, REQUESTS),
    "what sources load": Reader(loads, LOADS),
    "plan of sessions": Reader(plan, SESSIONS, ("{}", '["python main.py {}"]', '[{"command": "{}"}]')),
    "cases of a request": Reader(request_cases, EXAMPLES, ("{}", "```\n$ python main.py 3\n{}\n```\n",
                                                           '[{"command": "python main.py 3", "prints": "{}"}]')),
    "traceback": Reader(trace, TRACES, ("{}", "Traceback (most recent call last):\n{}", "usage: {}")),
    "log of a page": Reader(page_log, LOGS, ("{}", ':CONSOLE:3] "Uncaught {}')),
    "page": Reader(page, HTML, ("{}", "<body>{}</body>", "<script {}")),
    "page of an index": Reader(index_page, HTML),
    "requirements": Reader(needed_packages, LISTS),
    "placeholders": Reader(work_left, COMMENTS),
    "paths": Reader(paths, PATHS),
    "sources": Reader(sources, SOURCES),
    "JSON file": Reader(json_file, [*'{}[]:,1-"\n \r\\', '"a"', "NaN", "9" * 40, "\u2028"]),
    "Python program": Reader(python_program, [*PYTHON, *COMMENTS[:6], "'int'", "x: '", "exec(", "__all__ = [",
                                         "open(", "'w'", "Path(", ".write_text("]),
}
