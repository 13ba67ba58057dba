"""The databases that ledgers are tried on: a SQLite file, and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import Postgres, new_database, postgres

ON_POSTGRES = [pytest.mark.tool, pytest.mark.xdist_group("postgres")]  # one worker, one server


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    with postgres() as running:
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=ON_POSTGRES)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database, once of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "studies" / "ledger.sqlite")
    return new_database(request.getfixturevalue("server").url)
