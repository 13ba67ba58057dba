"""Departments open the data sets that they call by a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.errors import MissingProgram
from chatdev.evaluation.study import open_tasks
from tests.support.face_packages import put_package

TASKS = """
class Pond:
    name = 'pond'

def open_tasks(name):
    return Pond() if name == 'pond:deep' else None
"""


def test_a_department_opens_the_data_set_that_it_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(put_package(tmp_path, "fen", "tasks='fen.gone:open_tasks'"))
    monkeypatch.syspath_prepend(put_package(tmp_path, "pond", "tasks='pond.study:open_tasks'", study=TASKS))
    names = {name: getattr(open_tasks(name), "name", None) for name in ("srdd", "easy:tuning", "pond:deep")}
    assert names == {"srdd": "srdd", "easy:tuning": "srdd-easy-tuning", "pond:deep": "pond"}
    with pytest.raises(MissingProgram, match="the tasks of the department 'fen'"):
        open_tasks("no such tasks")


def test_a_path_is_a_data_set_too(tmp_path: Path) -> None:
    (mine := tmp_path / "mine").mkdir()
    found = open_tasks(str(mine))
    assert found is not None
    assert found.name == "mine"
    assert open_tasks(str(tmp_path / "none")) is None
