"""Patches in replies: every layout that models send is applied as it is meant, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chatdev.config.phases import Solution
from chatdev.replies import Unreadable, parse_files, tidy_body

TABLE = yaml.safe_load(Path(__file__).with_name("patches.yaml").read_text(encoding="utf-8"))
GIVEN: dict[str, str] = TABLE["given"]
APP = GIVEN["web/app.js"]


def outcome(reply: str, semantics: int = 6, given: dict[str, str] = GIVEN) -> dict[str, str] | str:
    """The files after a reply, or the code of its first problem."""
    try:
        delivery = parse_files(reply, {path: text.encode() for path, text in given.items()}, semantics=semantics)
    except Unreadable as error:
        return error.problems[0].code
    return {path: data.decode() for path, data in delivery.software.items()}


def meant(row: dict[str, Any]) -> dict[str, str]:
    """The files that a row of the table stands for."""
    files = {**GIVEN, **row.get("files", {})}
    for path, changes in row.get("changes", {}).items():
        for old, new in changes.items():
            assert files[path].count(old) == 1
            files[path] = files[path].replace(old, new)
    return {path: text for path, text in files.items() if text is not None}


def refusal(reply: str, software: dict[str, bytes]) -> str:
    with pytest.raises(Unreadable) as error:
        parse_files(reply, software)
    return str(error.value)


def diff(*lines: str, path: str = "web/app.js") -> str:
    return "\n".join(["```diff", f"--- a/{path}", f"+++ b/{path}", *lines, "```"])


@pytest.mark.parametrize("row", TABLE["replies"], ids=lambda row: str(row["name"]))
def test_a_layout_is_applied_or_refused_by_name(row: dict[str, Any]) -> None:
    assert outcome(row["reply"]) == (row.get("problem") or meant(row))


@pytest.mark.parametrize("row", [row for row in TABLE["replies"] if "git" in row["name"] or "begin" in row["name"]],
                         ids=lambda row: str(row["name"]))
def test_runs_of_before_refuse_every_patch(row: dict[str, Any]) -> None:
    assert outcome(row["reply"], semantics=5) in ("patch", "diff", "no_block", "cut_off")


def test_the_nearest_place_is_told_with_the_line_that_differs() -> None:
    reply = diff("@@ -1,4 +1,4 @@", " // counts", " let count = 0;", " function up(step) {", "-  count += 1;",
                 "+  count += step;")
    assert refusal(reply, {"web/app.js": APP.encode()}) == (
        "web/app.js: hunk 1 fits nowhere: its line `function up(step) {` is not what stands in line 3, at the nearest "
        "place:\n1: // counts\n2: let count = 0;\n3: function up() {\n4:   count += 1;\n5: }\n6: function down() {\n"
        "copy the lines that stay or go exactly from the file")


def test_a_line_that_is_like_one_of_the_file_shows_the_place() -> None:
    told = refusal(diff("@@", "-function dawn() {", "+function dusk() {"), {"web/app.js": APP.encode()})
    assert "its line `function dawn() {` is not what stands in line 6" in told


def test_lines_that_nothing_is_like_are_said_to_be_nowhere() -> None:
    told = refusal(diff("@@", "-procedure Zweck is begin", "+x"), {"web/app.js": APP.encode()})
    assert "nothing in the file is like its line `procedure Zweck is begin`" in told


def test_every_hunk_that_fits_nowhere_is_named() -> None:
    told = refusal(diff("@@", "-a", "+b", "@@", "-let count = 0;", "+let count = 1;", "@@", "-c", "+d"),
                   {"web/app.js": APP.encode()})
    assert [line.split(" fits")[0] for line in told.splitlines() if "hunk" in line] == [
        "- web/app.js: hunk 1", "- web/app.js: hunk 3"]


def test_all_places_are_told_where_there_are_several() -> None:
    assert refusal(diff("@@", "-}", "+};"), {"web/app.js": APP.encode()}) == (
        "web/app.js: hunk 1, from `}` on, fits in lines 5, 8: give more lines around the change, or the line of its "
        "function behind @@")


def test_line_ends_of_the_file_are_kept() -> None:
    software = {"web/app.js": b"a\r\nb\r\nc\r\n"}
    assert parse_files(diff("@@", " a", "-b", "+x", "+y"), software).software == {"web/app.js": b"a\r\nx\r\ny\r\nc\r\n"}


@pytest.mark.parametrize(("lines", "new"), [
    (["-b", "+c"], b"a\nc"), (["-b", "\\ No newline at end of file", "+c"], b"a\nc\n"), ([" b", "+c"], b"a\nb\nc"),
    (["-b", "\\ No newline at end of file", "+c", "\\ No newline at end of file"], b"a\nc"),
])
def test_a_final_line_end_is_as_the_patch_says(lines: list[str], new: bytes) -> None:
    assert parse_files(diff("@@", *lines), {"web/app.js": b"a\nb"}).software == {"web/app.js": new}


def test_tabs_in_the_place_of_blanks_are_no_drift() -> None:
    software = {"web/app.js": b"if x:\n\tif y:\n\t\tz()\n"}
    assert "hunk 1 fits nowhere" in refusal(diff("@@", "     if y:", "-        z()", "+        w()"), software)


def test_a_repeated_hunk_does_not_go_to_lines_that_are_only_like_it() -> None:
    """The first takes the lines away that the second is meant for; others stand there, indented otherwise."""
    software = {"web/app.js": b"f();\nx;\n  f();\n"}
    assert "hunk 2 fits nowhere" in refusal(diff("@@", "-f();", "+g();", "@@", "-f();", "+g();"), software)


def test_numbers_decide_nothing_once_one_is_wrong() -> None:
    software = {"web/app.js": b"a\nb\na\nc\n"}
    right = diff("@@ -1 +1 @@", "-a", "+x", "@@ -4 +4 @@", "-c", "+d")
    assert parse_files(right, software).software == {"web/app.js": b"x\nb\na\nd\n"}
    wrong = diff("@@ -1 +1 @@", "-a", "+x", "@@ -3 +3 @@", "-c", "+d")
    assert "hunk 1, from `a` on, fits in lines 1, 3" in refusal(wrong, software)


def test_a_patch_of_what_is_no_text_is_refused() -> None:
    assert refusal(diff("@@", "-a", "+b"), {"web/app.js": b"\xff\xfe"}) == (
        "web/app.js: is no text, so no patch can be applied to it")


def test_only_files_that_may_be_written_are_patched_and_made() -> None:
    software = {"web/app.js": APP.encode()}
    moved = "*** Begin Patch\n*** Update File: web/app.js\n*** Move to: x.py\n*** End Patch"
    with pytest.raises(Unreadable, match="x.py: may not be written here; allowed: web"):
        parse_files(moved, software, only=["web/*"])
    nameless = "```diff\n-let count = 0;\n+let count = 1;\n```"
    assert parse_files(nameless, software, only=["web/app.js"]).written == ("web/app.js",)


def test_a_patch_of_the_only_file_is_not_taken_for_its_source() -> None:
    sole = Solution(form="files", only=["main.py"])
    patch = "*** Begin Patch\n*** Update File: main.py\n-f(1)\n+f(2)\n-g(1)\n+g(2)\n*** End Patch"
    assert tidy_body(sole, patch) == patch
    assert tidy_body(sole, patch, semantics=5) != patch


def test_more_than_300_hunks_of_a_file_are_refused() -> None:
    hunks = [line for n in range(301) for line in ("@@", f"-a{n};", f"+b{n};")]
    software = {"web/app.js": "".join(f"a{n};\n" for n in range(301)).encode()}
    assert refusal(diff(*hunks), software).startswith("web/app.js: 301 hunks; give the whole file instead")
