"""The data of tools is read by a loader that takes the last of two equal names: no file may have a name twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatdev
from chatdev.config.yaml_nodes import read

DATA = sorted(Path(chatdev.__file__).parent.rglob("*.yaml"))


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_no_name_stands_in_a_file_of_data_twice(path: Path) -> None:
    read(path)
