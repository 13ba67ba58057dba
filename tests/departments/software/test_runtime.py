"""A runtime is installed once, whoever wants it, and every program of a run with it finds it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatdev.errors import ConfigError, MissingProgram, ToolError
from chatdev.packages.interpreter import Interpreter
from chatdev.packages.modules import runtime
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry
from tests.support.wheels import PackageIndex, set_pip

pytestmark = pytest.mark.tool

EVERYTHING = "import numpy, matplotlib, pandas, PIL, flask, tkinter\nprint('all', numpy.VALUE, numpy.__file__)"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """An index that has the packages of `top`, in small."""
    with PackageIndex() as server:
        set_pip(server.url, monkeypatch)
        for name in ("numpy", "matplotlib", "pandas"):
            server.add(name)
        server.add("pillow", more={"PIL/__init__.py": ""})
        server.add("Flask", more={"flask/__init__.py": ""})
        yield server


Run = Callable[..., Verdict]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`software.run` on a main.py, in the run folder of the given name."""
    def judge(source: str, name: str = "run", *, prepared: str | None = "top", install: str = "auto") -> Verdict:
        scratch = tmp_path / f"scratch-{name}"
        scratch.mkdir(exist_ok=True)
        sandbox = find_sandbox("bubblewrap")
        context = ToolContext({"main.py": source.encode()}, {}, {}, sandbox, tmp_path / name, scratch,
                              {"install": install, "runtime": prepared})
        verdict = registry()["software.run"].call(context, {})
        assert isinstance(verdict, Verdict)
        return verdict

    return judge


def test_a_program_finds_the_packages_of_the_runtime(index: PackageIndex, run: Run) -> None:
    verdict = run(EVERYTHING, install="never")
    assert verdict.passed, verdict.report
    assert "all 42 <modules>/numpy.py" in verdict.report


def test_two_runs_at_once_install_it_once_and_both_have_it(index: PackageIndex, run: Run) -> None:
    index.delay = 0.2
    with ThreadPoolExecutor() as pool:
        verdicts = list(pool.map(lambda name: run(EVERYTHING, name), ("one", "two")))
    assert [verdict.passed for verdict in verdicts] == [True, True]
    assert sorted(index.asked) == sorted(set(index.asked))
    assert [path.name for path in runtime("top").folder.parent.iterdir() if not path.name.endswith(".lock")] == [
        runtime("top").folder.name]


def test_once_it_is_there_no_index_is_needed(index: PackageIndex, run: Run) -> None:
    run("import numpy")
    index.asked.clear()
    assert run(EVERYTHING, "another").passed
    assert index.asked == []


def test_a_program_cannot_change_it(index: PackageIndex, run: Run) -> None:
    verdict = run("import numpy, pathlib\ntry:\n    pathlib.Path(numpy.__file__).write_text('x')\n"
                  "except OSError as error:\n    print(error.strerror)")
    assert "Read-only file system" in verdict.report
    assert (runtime("top").folder / "numpy.py").read_text() == "VALUE = 42"


def test_what_it_lacks_is_installed_for_the_run(index: PackageIndex, run: Run) -> None:
    index.add("rich")
    assert run("import numpy, rich").passed
    assert not (runtime("top").folder / "rich.py").exists()


def test_a_run_that_had_it_is_played_with_it(index: PackageIndex, run: Run) -> None:
    run("import numpy")
    index.asked.clear()
    assert run(EVERYTHING, prepared=None).passed
    assert index.asked == []


def test_where_it_was_removed_the_packages_are_installed_for_the_run(index: PackageIndex, run: Run) -> None:
    run("import numpy")
    shutil.rmtree(runtime("top").folder)
    verdict = run("import numpy", prepared=None)
    assert verdict.passed, verdict.report
    assert verdict.evidence["installed"] == ["numpy"]


def test_an_index_that_lacks_a_part_is_told_and_leaves_nothing_half(index: PackageIndex) -> None:
    del index.files["pandas-1.0-py3-none-any.whl"]
    with pytest.raises(ToolError, match="No matching distribution found for pandas; fix that"):
        runtime("top").make(find_sandbox("bubblewrap"))
    assert not runtime("top").ready


def test_an_unknown_one_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="there is no runtime 'tip'; there are: top"):
        runtime("tip")


def test_one_with_tkinter_needs_a_python_with_tkinter(tmp_path: Path) -> None:
    with pytest.raises(MissingProgram, match="apt-get install python3-tk"):
        runtime("top", Interpreter(tmp_path, tmp_path, (3, 11), tkinter=False))
