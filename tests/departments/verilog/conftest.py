"""What tests of the tools on Verilog share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.departments.verilog.small import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """The tools, with an empty folder."""
    return Desk(tmp_path)
