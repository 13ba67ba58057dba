"""What sources say of themselves, by the table of languages."""

from __future__ import annotations

import pytest

from chatdev.workspace.languages import languages

ENTRIES = [
    ("JavaScript", "first.mjs", "import x from './x.mjs';", "x.mjs"),
    ("JavaScript", "first.mjs", "await import( './x.mjs' );", "x.mjs"),
    ("JavaScript", "first.js", "const x = require ( '../a/x.js' )", "x.js"),
    ("JavaScript", "first.js", "import './x.js';", "x.js"),
    ("JavaScript", "first.js", "export * from './x.js';", "x.js"),
    ("Shell", "first.sh", '  . "$(dirname "$0")/lib/x.sh"', "x.sh"),
    ("Shell", "first.sh", "\tsource lib/x.sh", "x.sh"),
]


@pytest.mark.parametrize(("language", "start", "source", "taken"), ENTRIES)
def test_a_source_that_another_takes_in_is_no_start(language: str, start: str, source: str, taken: str) -> None:
    [about] = [one for one in languages() if one.name == language]
    assert about.entry({start: source.encode(), taken: b"echo 1\n"}).path == start
