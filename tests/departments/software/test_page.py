"""Reading what a browser says of a page."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.departments.software.toolchains.toolchain import insert_preamble, judge_page, missing_files
from chatdev.sandbox.base import Execution

SHOWN = "<html><head></head><body><p>Hi</p></body></html>"
LOG = '[2:2:1121/092715.857511:INFO:CONSOLE:2] "{}", source: index.html (2)\n'


def browser(stdout: str = SHOWN, status: int | None = 0, **more: Any) -> Execution:
    return Execution(status, None if status is not None else 9, stdout, "", 1.0, **more)


@pytest.mark.parametrize("document", [b"<p>\n2", b"<!DOCTYPE html>\n<html>", b"\xef\xbb\xbf <!doctype\n html><p>", b""])
def test_the_preamble_moves_no_line_and_stays_behind_the_doctype(document: bytes) -> None:
    prepared = insert_preamble(document, "<script>1</script>\n")
    assert prepared.replace(b"<script>1</script>", b"") == document
    assert prepared.lower().find(b"<!doctype") in (-1, document.lower().find(b"<!doctype"))


@pytest.mark.parametrize(("document", "absent"), [
    ("<script src='a.js'></script><link rel='stylesheet' href='../s.css'><link href=n.css rel=stylesheet>", ["n.css"]),
    ("<script src=./a.js?v=2#x></script><script src='//cdn/x.js'></script><script src='data:,1'></script>", []),
    ("<link rel=icon href=no.ico><a href=no.html>", []),
    ("<script defer src = 'b.js' ></script>", ["b.js"]),
    ("<script src='http://[x/a.js'></script>", []),
    ("<script src='../../../etc/passwd'></script>", ["../../../etc/passwd"]),
])
def test_files_that_a_page_loads_and_nobody_wrote_are_found(document: str, absent: list[str]) -> None:
    files = {"web/index.html": document.encode(), "web/a.js": b"", "s.css": b""}
    assert missing_files(files, "web/index.html") == absent


@pytest.mark.parametrize(("execution", "rule"), [
    (browser(), "page_opened"),
    (browser("<html><body>  <!-- x --><script>1</script>\n</body></html>"), "empty_page"),
    (browser("<html><body><script>1", truncated=True), "page_opened"),
    (browser("", status=None, timed_out=True), "never_loaded"),
    (browser("", status=None), "browser_failed"),
    (browser("", status=1), "browser_failed"),
])
def test_how_the_browser_ended_decides_when_the_console_is_quiet(execution: Execution, rule: str) -> None:
    assert judge_page(execution, LOG.format("all is well"), {"index.html": b"<p>"}, "index.html").rule == rule


@pytest.mark.parametrize(("said", "rule"), [
    ("Uncaught TypeError: a\nb is no function", "script_failed"),
    ("Uncaught (in promise) Error: asks for input", "asks_for_input"),
    ("Uncaught Error: the form asks for input", "script_failed"),
    ("Access to fetch at 'data.json' from origin 'null' has been blocked by CORS policy: no", "script_failed"),
    ("Uncaught ReferenceError: Vue is not defined", "missing_module"),
    ("Slow network is detected", "page_opened"),
])
def test_an_uncaught_error_on_the_console_decides_first(said: str, rule: str) -> None:
    files = {"index.html": b"<script src=https://cdn.example/vue.js></script>\n  new Vue()"}
    finding = judge_page(browser(), "noise\n" + LOG.format(said) + "noise", files, "index.html")
    assert finding.rule == rule
    if rule == "script_failed":
        assert finding.facts["errors"][0].source == "new Vue()"


def test_a_line_number_without_end_is_no_error_of_the_page() -> None:
    log = f':CONSOLE:{"9" * 5000}] "Uncaught x", source: index.html (2)\n'
    assert judge_page(browser(), log, {"index.html": b"<p>"}, "index.html").rule == "page_opened"
