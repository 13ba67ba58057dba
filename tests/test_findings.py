"""findings/: each script is in the table, and `make findings` says which changed. None of them is run here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

FINDINGS = ROOT / "findings"


def test_the_table_lists_every_finding() -> None:
    listed = re.findall(r"^\| `([\w.-]+\.sh)` \|", (FINDINGS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in FINDINGS.glob("*.sh"))


@pytest.mark.parametrize("script", sorted(FINDINGS.glob("*.sh")), ids=lambda path: path.stem)
def test_a_finding_says_its_guess_and_stops_when_it_changed(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert "# Guess: " in text
    assert "# Seen, " in text
    assert "set -euo pipefail" in text


@pytest.mark.parametrize(("codes", "status", "last"), [((0, 0), 0, "0 changed"), ((0, 1), 1, "1 changed")])
def test_the_runner_says_which_changed(tmp_path: Path, codes: tuple[int, ...], status: int, last: str) -> None:
    for folder in ("scripts", "findings"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "scripts" / "findings", tmp_path / "scripts")
    for number, code in enumerate(codes):
        (tmp_path / "findings" / f"{number}.sh").write_text(f"echo seen {number}; exit {code}\n", encoding="utf-8")
    ran = subprocess.run([tmp_path / "scripts" / "findings"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (status, last)
    assert ("changed, or not run: findings/1.sh\nseen 1" in ran.stdout) == bool(status)
