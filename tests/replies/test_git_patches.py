"""What git writes of random changes of a folder is read as git reads it: files changed, moved, added and deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.replies import parse_files
from tests.replies.changed_folders import changed_folder


@pytest.mark.parametrize("seed", range(12))
def test_a_diff_of_git_gives_the_folder_that_it_was_made_of(seed: int, tmp_path: Path) -> None:
    made = changed_folder(tmp_path, seed)
    for diff in (made.diff("-M"), made.diff("--no-renames"), made.mail()):
        for reply in (f"`````diff\n{diff}`````\n", f"Here it is:\n\n{diff}\n\nThat is all of it.\n"):
            assert parse_files(reply, made.before).software == made.after
