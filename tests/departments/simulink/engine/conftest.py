"""An engine in this process, with the catalogue that ships."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.engine.program import MatlabEngine
from chatdev.departments.simulink.engine.session import Session


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(catalogue().plain())


@pytest.fixture
def start(library: Library, tmp_path: Path) -> Callable[..., MatlabEngine]:
    """Starts an engine, `strict` or not, which saves into the test's folder."""
    def start_matlab(*, strict: bool = True) -> MatlabEngine:
        return MatlabEngine(Session(library, tmp_path / "saved", strict=strict))

    return start_matlab


@pytest.fixture
def eng(start: Callable[..., MatlabEngine]) -> MatlabEngine:
    """An engine with an empty model `m`."""
    engine = start()
    engine.new_system("m", nargout=0)
    return engine
