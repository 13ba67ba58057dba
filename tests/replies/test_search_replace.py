"""Search/replace blocks for files of any language."""

from __future__ import annotations

import pytest

from chatdev.replies import Unreadable, parse_files

PAGE = b"<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>\n<p>\n  <li>two</li>\n"


def change(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def page(*changes: str, software: bytes = PAGE) -> str:
    text = f"page.html\n```html\n{''.join(changes)}```"
    return parse_files(text, {"page.html": software}).software["page.html"].decode()


def refusal(*changes: str, software: bytes = PAGE) -> str:
    with pytest.raises(Unreadable) as problem:
        page(*changes, software=software)
    return str(problem.value)


def test_old_lines_are_replaced_by_new_ones() -> None:
    assert page(change("  <li>one</li>\n", "  <li>1</li>\n  <li>1.5</li>\n")) == PAGE.decode().replace(
        "one</li>", "1</li>\n  <li>1.5</li>")


def test_several_changes_are_made_in_order() -> None:
    new = page(change("<ul>\n", "<ol>\n"), change("</ul>\n", "</ol>\n"), change("<ol>\n", "<ol start=2>\n"))
    assert new == PAGE.decode().replace("<ul>", "<ol start=2>").replace("</ul>", "</ol>")


def test_lines_can_be_removed() -> None:
    assert page(change("<p>\n", "")) == PAGE.decode().replace("<p>\n", "")


def test_blanks_at_line_ends_do_not_matter() -> None:
    assert page(change("<ul>  \n", "<ol>\n")).startswith("<ol>\n")


def test_another_indentation_is_found_and_the_new_lines_are_moved() -> None:
    new = page(change("\n<li>one</li>\n<li>two</li>\n", "<li>1</li>\n  <b>\n"))
    assert new.startswith("<ul>\n  <li>1</li>\n    <b>\n</ul>\n")


def test_line_ends_of_the_file_are_kept() -> None:
    assert page(change("b\n", "c\nd\n"), software=b"a\r\nb\r\n") == "a\r\nc\r\nd\r\n"


def test_a_missing_final_newline_stays_missing() -> None:
    assert page(change("b\n", "c\n"), software=b"a\nb") == "a\nc"


def test_a_new_file_can_be_given_with_an_empty_search() -> None:
    text = "new.py\n```python\n" + change("", "x = 1\n") + "```"
    assert parse_files(text, {}).software == {"new.py": b"x = 1\n"}


def test_a_file_named_without_its_folder_is_found() -> None:
    text = "page.html\n```\n" + change("a\n", "b\n") + "```"
    assert parse_files(text, {"web/page.html": b"a\n"}).software == {"web/page.html": b"b\n"}


def test_the_only_file_with_the_lines_is_meant_when_none_is_named() -> None:
    text = "```\n" + change("a = 1\n", "a = 2\n") + "```"
    assert parse_files(text, {"x.py": b"a = 1\n", "y.py": b"b = 1\n"}).written == ("x.py",)


@pytest.mark.parametrize(("changes", "why"), [
    ([change("<table>\n", "")],
     "page.html: the SEARCH lines that begin with `<table>` match 0 times; copy the lines exactly from the file"),
    ([change("  <li>two</li>\n", "")],
     "page.html: the SEARCH lines that begin with `<li>two</li>` match 2 times; give more lines around it"),
    ([change("", "x\n")], "page.html: the SEARCH part is empty"),
    (["<<<<<<< SEARCH\n<ul>\n"], "page.html: a SEARCH block has no ======= line"),
    (["<<<<<<< SEARCH\n<ul>\n=======\n"], "page.html: a SEARCH block has no >>>>>>> REPLACE line"),
    ([change("<ul>\n", "<ol>\n"), "stray\n"],
     "page.html: this line is outside <<<<<<< SEARCH … >>>>>>> REPLACE: `stray`"),
])
def test_a_change_that_is_not_clear_is_refused(changes: list[str], why: str) -> None:
    assert refusal(*changes).startswith(why)


def test_all_changes_that_fail_are_named() -> None:
    assert len(refusal(change("x\n", ""), change("y\n", "")).splitlines()) == 2


def test_many_matches_are_counted_up_to_a_limit_and_in_time() -> None:
    assert "match 20 or more times" in refusal(change("a\n" * 1000, ""), software=b"a\n" * 300_000)


def test_python_must_still_parse() -> None:
    text = "a.py\n```python\n" + change("    return 1\n", "return 2\n") + "```"
    with pytest.raises(Unreadable, match=r"a.py: does not parse after this change: line 2: expected an indented block"):
        parse_files(text, {"a.py": b"def f():\n    return 1\n"})


def test_python_that_did_not_parse_may_be_changed_step_by_step() -> None:
    text = "a.py\n```python\n" + change("x = (\n", "x = 1\n") + "```"
    assert parse_files(text, {"a.py": b"x = (\ny = [\n"}).software == {"a.py": b"x = 1\ny = [\n"}
