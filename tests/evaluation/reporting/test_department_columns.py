"""The columns of a report are those that the rows' department says."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.software.evaluation.quality import COLUMNS as QUALITY
from chatdev.errors import ConfigError, MissingProgram
from chatdev.evaluation.reporting.study_results import columns_of
from tests.support.face_packages import put_package

COLUMNS = """
from chatdev.evaluation.reporting.study_results import ColumnSet
COLUMNS = ColumnSet(about='Right.', metrics=('right',), main='right', compared=('right',))
"""


def test_rows_name_the_columns_of_an_installed_department(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(put_package(tmp_path, "lake", "columns='lake.study:COLUMNS'", study=COLUMNS))
    monkeypatch.syspath_prepend(put_package(tmp_path, "sea", "columns='sea.study:COLUMNS'", study="COLUMNS = 3"))
    monkeypatch.syspath_prepend(put_package(tmp_path, "mire", "columns='mire.study:COLUMNS'"))
    assert columns_of([{"measures": "lake"}]).metrics == ("right",)
    assert columns_of([{"measures": "verilog"}]).main == "solved"
    assert columns_of([{}, {"measures": "lake"}]) == columns_of([]) == QUALITY
    with pytest.raises(ConfigError, match="sea.study:COLUMNS is no ColumnSet, but int"):
        columns_of([{"measures": "sea"}])
    with pytest.raises(MissingProgram, match="the columns of the department 'mire'.* cannot be imported"):
        columns_of([{"measures": "mire"}])
    with pytest.raises(ConfigError, match="no installed department says which columns .* measures 'desert'"):
        columns_of([{"measures": "desert"}])
