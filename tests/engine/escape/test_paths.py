"""Paths that would leave the software folder, touch git's own files or deceive a reader: whatever way a reply names
them, nothing is written there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatdev.errors import UnsafePath
from chatdev.replies.files import parse_files
from chatdev.replies.problem import Unreadable
from chatdev.workspace.file_tree import safe_path
from tests.engine.escape.paths import ACTING, DECEIVING, HARMLESS, IMPOSSIBLE, LEAVING, METADATA
from tests.engine.escape.world import World
from tests.engine.studio import WRITE
from tests.support.shop import FIRST, HELLO

HOSTILE = [*LEAVING, *METADATA, *DECEIVING, *IMPOSSIBLE]
CODE = "print('pwned')"
NAMINGS: dict[str, Callable[[str], str]] = {
    "a line": lambda path: f"{path}\n```python\n{CODE}\n```\n",
    "a label": lambda path: f"FILENAME: {path}\n```python\n{CODE}\n```\n",
    "bold": lambda path: f"**{path}**\n```python\n{CODE}\n```\n",
    "quotes": lambda path: f"File: `{path}`\n```python\n{CODE}\n```\n",
    "the fence": lambda path: f"```python title=\"{path}\"\n{CODE}\n```\n",
    "a comment": lambda path: f"```python\n# {path}\n{CODE}\n```\n",
    "a deletion": lambda path: f"{path}\n```delete\n```\n",
    "search and replace": lambda path: f"{path}\n```\n<<<<<<< SEARCH\n[core]\n=======\n[x]\n>>>>>>> REPLACE\n```\n",
}


@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_a_hostile_path_is_refused(path: str) -> None:
    with pytest.raises(UnsafePath):
        safe_path(path)


@pytest.mark.parametrize("naming", NAMINGS)
@given(st.one_of(st.sampled_from(HOSTILE), st.text("./\\~:.gitGIT \u2025\uff0f\0\n-a", max_size=20)))
@example("../escaped.py")
@example(".git/config")
def test_no_way_of_naming_a_file_gets_around_that(naming: str, path: str) -> None:
    """Where a hostile name is not taken for a name at all, the code is `main.py` and the name is only talk."""
    before = {"main.py": b"[core]\n"}
    try:
        delivery = parse_files(NAMINGS[naming](path), before)
    except Unreadable:
        return
    for name in delivery.software:
        assert safe_path(name) == name


@pytest.mark.parametrize("paths", [LEAVING, METADATA, DECEIVING, IMPOSSIBLE, ACTING],
                         ids=["leaving", "metadata", "deceiving", "impossible", "acting"])
@pytest.mark.parametrize("naming", ["a line", "the fence", "a deletion"])
def test_the_assistant_is_told_each_time_and_the_world_stays_the_same(world: World, naming: str,
                                                                               paths: list[str]) -> None:
    """One reply after the other names one of the paths; the last one is as it should be."""
    replies = [f"<SOLUTION>\n{reply}" for reply in map(NAMINGS[naming], paths) if is_refused(reply)]
    assert len(replies) >= (len(paths) / 2 if naming == "the fence" else 4)
    retries = [FIRST, *(f"{FIRST}/retry-{n}" for n in range(1, len(replies) + 1))]
    phase = {**WRITE, "solution": {"form": "files", "retries": len(replies)}}
    run = world.run(world.studio.company({"write": phase}), dict(zip(retries, [*replies, HELLO], strict=True)))
    assert run.success, run.reason
    assert dict(run.software) == {"main.py": b"print('hello')\n"}
    for place in retries[1:]:
        assert "UNREADABLE" in world.studio.said(place)


def is_refused(reply: str) -> bool:
    """Whether it is, as a delivery of its own; a name that is not taken for one makes the code `main.py`."""
    try:
        parse_files(reply, {})
    except Unreadable:
        return True
    return False


@pytest.mark.parametrize("path", HARMLESS)
def test_a_path_that_only_looks_odd_is_a_file_like_any_other(world: World, path: str) -> None:
    run = world.run(world.studio.company({"write": WRITE}), {FIRST: f"<SOLUTION>\n{path}\n```\n*\n```\n{HELLO}"})
    assert dict(run.software) == {path: b"*\n", "main.py": b"print('hello')\n"}


@pytest.mark.parametrize("pair", [("main.py", "MAIN.py"), ("caf\u00e9.py", "cafe\u0301.py"), ("a", "a/b.py"),
                                  ("stra\u00dfe.py", "STRASSE.py")], ids=ascii)
def test_two_names_that_are_one_on_other_machines_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(Unreadable, match="side by side"):
        parse_files("".join(f"```python title={path}\nx = {n}\n```\n" for n, path in enumerate(pair)), {})
