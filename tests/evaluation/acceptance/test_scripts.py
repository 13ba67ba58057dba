"""The hidden tests of our tasks: each accepts a good program, and finds out what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.evaluation.acceptance import load
from chatdev.evaluation.tasks import load_tasks
from chatdev.evaluation.trial import copied
from chatdev.paths import bundled
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.bubblewrap import Bubblewrap, available
from tests.evaluation.acceptance.mutants import MUTANTS

SCRIPTS = bundled("srdd") / "acceptance"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))

pytestmark = pytest.mark.tool


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    if reason := available():
        pytest.skip(reason)
    return Bubblewrap()


def test_every_hidden_test_has_its_task() -> None:
    assert set(NAMES) <= {task.acceptance for task in load_tasks()}
    assert sorted(MUTANTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_good_program_is_accepted_and_bad_ones_are_found_out(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    good, accept = _good(name), load(SCRIPTS / f"{name}.py")
    (tmp_path / "main.py").write_text(good)
    with copied(tmp_path, sandbox) as program:
        checks = list(accept(program))
        assert [check for check in checks if not check.passed] == []
        names = [check.name for check in checks]
        assert 4 <= len(names) == len(set(names)) <= 8
        for mutant in MUTANTS[name]:
            assert good.count(mutant.old) == 1, f"{mutant.old!r} must stand once in the good program"
            (program.folder / "main.py").write_text(good.replace(mutant.old, mutant.new))
            first = next((check.name for check in accept(program) if not check.passed), "none")
            assert first == mutant.found_by, f"{mutant.new!r} fails {first!r}"


def _good(name: str) -> str:
    return Path(__file__).with_name(f"{name.replace('-', '_')}_good.py").read_text(encoding="utf-8")
