"""The package as users get it: a wheel, an editable install, a plain checkout; each finds its data."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from chatdev.version import __version__
from tests.support.checkout import MODULES, ROOT, imported

SHIPPED = ["setup.py", "pyproject.toml", "README.md", "LICENSE", "run.py", "chatdev", "company_config", "srdd"]
DATA_FOLDERS = ["company_config", "srdd"]

pytestmark = pytest.mark.xdist_group("packaging")  # one worker, so that everything is installed once


@dataclass(frozen=True)
class Install:
    """A virtual environment with chatdev in it."""

    folder: Path

    def pip(self, *arguments: str) -> None:
        """Install something from this machine alone."""
        call([sys.executable, "-m", "pip", "--python", self.python, "install", "-q", "--no-deps", "--no-index",
              *arguments], self.folder)

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def chatdev(self, *arguments: str) -> str:
        """What the installed command prints, run from a folder that has nothing to do with it."""
        return call([str(self.folder / "bin" / "chatdev"), *arguments], self.folder)


def call(argv: Sequence[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it goes before installs
    result = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def new_environment(folder: Path) -> Install:
    """A fresh environment that borrows only the dependencies; chatdev itself is never found through them."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return Install(folder)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, so that nothing is built among ours and nothing built before gets in."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def installed(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """The wheel, built and installed."""
    wheels = tmp_path_factory.mktemp("wheels")
    call([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation",
          "-w", str(wheels), str(checkout)], wheels)
    install = new_environment(tmp_path_factory.mktemp("installed"))
    install.pip(*map(str, wheels.glob("*.whl")))
    return install


def test_an_installed_wheel_works_from_any_folder(installed: Install) -> None:
    assert "phases:" in installed.chatdev("companies")
    assert "OK" in installed.chatdev("check", "chatdev")
    assert __version__ in installed.chatdev("--version")
    assert list(installed.folder.glob(f"lib/python*/site-packages/chatdev_chain-{__version__}.dist-info"))


def test_a_wheel_ships_every_data_file(installed: Install) -> None:
    (package,) = installed.folder.glob("lib/python*/site-packages/chatdev")
    for folder in DATA_FOLDERS:
        assert files_below(package / folder) == files_below(ROOT / folder)
    assert {"py.typed", *data_files(ROOT / "chatdev")} <= files_below(package)


def test_an_editable_install_finds_the_data_of_the_checkout(checkout: Path, tmp_path: Path) -> None:
    install = new_environment(tmp_path)
    install.pip("--no-build-isolation", "-e", str(checkout))
    assert str(checkout) in install.chatdev("companies")
    assert "OK" in install.chatdev("check", "chatdev")


def test_a_plain_checkout_runs_without_being_installed(checkout: Path, tmp_path: Path) -> None:
    run = [sys.executable, str(checkout / "run.py")]
    text = call([*run, "--help"], tmp_path)
    assert all(name in text for name in ("--task", "--name", "--org", "--company", "--config", "--model", "--path"))
    assert call([*run, "--version"], tmp_path) == f"chatdev, version {__version__}\n"
    assert "estimate" in call([*run, "--task", "a clock", "--model", "local", "--dry-run"], tmp_path)


def test_everything_imported_is_declared_as_a_dependency() -> None:
    declared = dependencies()
    distributions = packages_distributions()
    for path in MODULES:
        for name in {name.split(".")[0] for name in imported(ast.parse(path.read_text(encoding="utf-8")))}:
            if name not in {*sys.stdlib_module_names, "chatdev"}:
                assert normal(*distributions.get(name, [name])) & declared, f"{path} imports {name}"


def dependencies() -> set[str]:
    """The base dependencies and those of the extras that the library imports, as setup.py declares them."""
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (base,) = [k.value for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "install_requires"]
    lists = {ast.unparse(a.targets[0]): a.value for a in ast.walk(tree) if isinstance(a, ast.Assign)}
    extras = [name for extra in ("EVAL", "EMBED", "RAY", "VERILOG", "PLC", "REAL", "PROCESS")
              for name in ast.literal_eval(lists[extra])]
    needed = [*ast.literal_eval(base), *extras, "xllamacpp"]
    return normal(*(re.split("[<>=]", requirement)[0] for requirement in needed))


def normal(*names: str) -> set[str]:
    """Names of distributions as the index compares them."""
    return {re.sub("[-_.]+", "-", name).lower() for name in names}


def files_below(folder: Path) -> set[str]:
    """The files below a folder, compiled ones left out."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}


def data_files(folder: Path) -> set[str]:
    return {name for name in files_below(folder) if not name.endswith(".py")}
