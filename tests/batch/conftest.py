"""The databases that ledgers are tried on: a SQLite file, and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import new_database, postgres

DATABASES = ["sqlite", pytest.param("postgresql", marks=[pytest.mark.tool, pytest.mark.xdist_group("postgres")])]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server."""
    with postgres() as url:
        yield url


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database, once of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "studies" / "ledger.sqlite")
    return new_database(request.getfixturevalue("server"))
