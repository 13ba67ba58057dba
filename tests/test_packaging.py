"""The package as users get it: a wheel, an editable install, a plain checkout; each finds its data."""

from __future__ import annotations

import ast
import csv
import io
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
from tests.support.chat_server import ChatServer
from tests.support.checkout import MODULES, ROOT, imported

SHIPPED = ["setup.py", "pyproject.toml", "README.md", "LICENSE", "run.py", "chatdev_chain.py", "chatdev",
           "company_config", "srdd"]
DATA_FOLDERS = ["company_config", "srdd"]

pytestmark = pytest.mark.xdist_group("packaging")  # one worker, so that everything is installed once


@dataclass(frozen=True)
class Install:
    """A virtual environment with chatdev in it."""

    folder: Path

    def pip(self, *arguments: str) -> None:
        """Install something from this machine alone."""
        call([sys.executable, "-m", "pip", "--python", self.python, "install", "-q", "--no-compile", "--no-deps",
              "--no-index", *arguments], self.folder)

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def chatdev(self, *arguments: str, status: int | None = 0, errors: bool = False) -> str:
        """What the installed command prints, run from a folder that has nothing to do with it."""
        program = self.folder / "bin" / "chatdev"
        command = [str(program)] if program.exists() else [self.python, "-m", "chatdev"]
        return call([*command, *arguments], self.folder, status, errors=errors)

    @property
    def site(self) -> Path:
        """Where packages are installed."""
        (site,) = self.folder.glob("lib/python*/site-packages")
        return site


def call(argv: Sequence[str], folder: Path, status: int | None = 0, *, errors: bool = False) -> str:
    """What a program prints that exits with `status`, or with any for None; with `errors` what stands on standard error
    instead."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it goes before installs
    result = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert status in (None, result.returncode), result.stdout + result.stderr
    return result.stderr if errors else result.stdout


def new_environment(folder: Path, *others: Install) -> Install:
    """A fresh environment that borrows only the dependencies, and what is installed in others; chatdev itself is never
    found through the dependencies."""
    venv.create(folder, with_pip=False, symlinks=True)
    install = Install(folder)
    borrowed = "\n".join([*(str(one.site) for one in others), sysconfig.get_path("purelib")])
    (install.site / "borrowed.pth").write_text(borrowed, encoding="utf-8")
    return install


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


def build_wheel(sources: Path, wheels: Path) -> str:
    """The wheel of a project, built in the folder `wheels`."""
    call([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation",
          "-w", str(wheels), str(sources)], wheels)
    (wheel,) = wheels.glob("*.whl")
    return str(wheel)


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_wheel(checkout, tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def installed(wheel: str, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """The wheel, installed."""
    install = new_environment(tmp_path_factory.mktemp("installed"))
    install.pip(wheel)
    return install


@pytest.fixture(scope="module")
def strangers_wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The package with a department that chatdev/departments/README.md shows."""
    sources = tmp_path_factory.mktemp("acme-plant")
    page = (ROOT / "chatdev" / "departments" / "README.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"```\w+\n# ([\w/.]+)\n(.*?)```", page, re.DOTALL):
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text, encoding="utf-8")
    return build_wheel(sources, tmp_path_factory.mktemp("stranger-wheels"))


@pytest.fixture(scope="module")
def with_stranger(installed: Install, strangers_wheel: str, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """The wheel and that package, installed."""
    install = new_environment(tmp_path_factory.mktemp("with-stranger"), installed)
    install.pip(strangers_wheel)
    return install


def test_an_installed_wheel_works_from_any_folder(installed: Install) -> None:
    assert "phases:" in installed.chatdev("companies")
    assert "OK" in installed.chatdev("check", "chatdev")
    assert __version__ in installed.chatdev("--version")
    assert list(installed.folder.glob(f"lib/python*/site-packages/chatdev_chain-{__version__}.dist-info"))


def test_a_wheel_ships_every_data_file(installed: Install) -> None:
    package = installed.site / "chatdev"
    for folder in DATA_FOLDERS:
        assert files_below(package / folder) == files_below(ROOT / folder)
    assert {"py.typed", *data_files(ROOT / "chatdev")} <= files_below(package)


def test_an_editable_install_finds_the_data_of_the_checkout(checkout: Path, tmp_path: Path) -> None:
    install = new_environment(tmp_path)
    install.pip("--no-build-isolation", "-e", str(checkout))
    where = "from chatdev.config.load import find_company; print(find_company('chatdev'))"
    assert str(checkout) in call([install.python, "-c", where], tmp_path)
    assert "OK" in install.chatdev("check", "chatdev")


def test_a_plain_checkout_runs_without_being_installed(checkout: Path, tmp_path: Path) -> None:
    run = [sys.executable, str(checkout / "run.py")]
    text = call([*run, "--help"], tmp_path)
    assert all(name in text for name in ("--task", "--name", "--org", "--company", "--config", "--model", "--path"))
    assert call([*run, "--version"], tmp_path) == f"chatdev, version {__version__}\n"
    assert "a typical run of" in call([*run, "--task", "a clock", "--model", "local", "--dry-run"], tmp_path)


def test_a_strangers_department_brings_commands_tools_and_rows(with_stranger: Install) -> None:
    assert re.search(r"^  plant +Say what is known of tanks\.$", with_stranger.chatdev("--help"), re.M)
    assert with_stranger.chatdev("plant", "fits", "3") == "yes\n"
    assert with_stranger.chatdev("plant", "fits", "300", status=1) == "no\n"
    assert "acme-plant 1.0: 1 company, 1 tool, 1 data set, 1 command" in with_stranger.chatdev("doctor", status=None)
    assert "all tanks are full" in with_stranger.chatdev("doctor", status=None)
    assert "Says how many litres flow into a tank." in with_stranger.chatdev("companies")
    assert with_stranger.chatdev("check", "tank").startswith("OK tank: 1 roles")


def test_a_strangers_company_runs_and_resumes_by_name(with_stranger: Install, chat_server: ChatServer) -> None:
    chat_server.script("<SOLUTION>\n70", "<SOLUTION>\n700")
    model = ["--model", "scripted", "--base-url", chat_server.url, "--sandbox", "none"]
    assert "✓ Done in" in with_stranger.chatdev("run", "How many?", "--company", "tank", *model, "--name", "right")
    failed = with_stranger.chatdev("run", "How many?", "--company", "tank", *model, "--name", "wrong", status=1)
    assert "a tank holds 0 to 100 litres, not '700'" in failed
    (run,) = (with_stranger.folder / "warehouse").glob("right-*")
    assert '"name_or_path": "tank"' in (run / "run" / "journal.jsonl").read_text(encoding="utf-8").split("\n")[0]


def test_a_study_measures_by_a_strangers_data_set(with_stranger: Install, chat_server: ChatServer) -> None:
    chat_server.route(lambda request: "<SOLUTION>\n" + ("7" if "3 and 4" in str(request.body) else "49"))
    out = with_stranger.chatdev("eval", "tanks", "--model", "scripted", "--base-url", chat_server.url, "--sandbox",
                                "none", "--quiet")
    assert "2 jobs: 2 tasks × tank" in out
    report = with_stranger.chatdev("eval", "report", "--study", "tanks", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(report)))
    assert [(row["task"], row["right"]) for row in rows] == [("tanks/q1", "1.0"), ("tanks/q2", "0.0")]
    table = with_stranger.chatdev("eval", "report", "--study", "tanks")
    assert re.search(r"runs +right\n", table), "the columns are the department's"


def test_a_study_of_a_department_is_checked_on_another_machine(with_stranger: Install, installed: Install,
                                                               tmp_path: Path, strangers_wheel: str) -> None:
    """Where the package lies elsewhere; and where it is not installed."""
    send = ("import pathlib, pickle; from acme_plant.tanks import Tanks; from chatdev.evaluation.study import *; "
            "from chatdev.evaluation.variants import variants; folder = pathlib.Path('study').absolute(); "
            "study = Study(Tanks(), folder, base_url='http://127.0.0.1:9/v1', sandbox='none'); mark = folder / 'mark'; "
            "folder.mkdir(); mark.touch(); specs = [one.spec for one in variants(['tank'], models=['scripted'])]; "
            "(folder / 'check').write_bytes(pickle.dumps(PreflightCheck(study, Tanks().tasks(), specs, mark)))")
    call([with_stranger.python, "-c", send], tmp_path)
    receive = "import pathlib, pickle; pickle.loads(pathlib.Path('study/check').read_bytes())(); print('sound')"
    other = new_environment(tmp_path / "other", installed)
    assert "sound" not in call([other.python, "-c", receive], tmp_path, 1)
    other.pip(strangers_wheel)
    assert call([other.python, "-c", receive], tmp_path) == "sound\n"


WORDS = """
company: words
about: Says a word.
inputs: {task: {about: The question., required: true}}
roles: {writer: {title: Writer}}
phases:
  answer: {about: Say a word., assistant: writer, reads: [task], writes: answer, opening: "{{ task }}"}
chain:
  - phase: answer
  - {tool: value.check, reads: [answer], writes: test}
success: test.passed
"""
IMPORT_ALL = """
import chatdev, importlib, pkgutil
for one in pkgutil.walk_packages(chatdev.__path__, "chatdev."):
    if not one.name.endswith("__main__"):
        importlib.import_module(one.name)
"""


@pytest.fixture(scope="module")
def without_departments(installed: Install, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """What is installed of the wheel, but the folder of departments, though the metadata still name them."""
    install = new_environment(tmp_path_factory.mktemp("without-departments"))
    for part in installed.site.glob("chatdev*"):
        shutil.copytree(part, install.site / part.name, ignore=shutil.ignore_patterns("departments"))
    return install


def test_the_core_works_without_the_folder_of_departments(without_departments: Install) -> None:
    install = without_departments
    call([install.python, "-c", IMPORT_ALL], install.folder)
    assert "Commands:" in install.chatdev("--help")
    assert "phases:" in install.chatdev("companies")
    assert "reinstall, mend or uninstall chatdev-chain" in " ".join(install.chatdev("doctor", status=None).split())


def test_a_company_without_tools_of_departments_runs(without_departments: Install, chat_server: ChatServer) -> None:
    (company := without_departments.folder / "words").mkdir()
    (company / "company.yaml").write_text(WORDS, encoding="utf-8")
    assert without_departments.chatdev("check", "./words").startswith("OK words")
    chat_server.script("<SOLUTION>\nyes")
    assert "yes" in without_departments.chatdev("run", "A word?", "--company", "./words", "--model", "scripted",
                                                "--base-url", chat_server.url, "--sandbox", "none")


def test_a_company_whose_tools_are_missing_says_who_brings_them(without_departments: Install) -> None:
    for arguments in (("check", "chatdev"), ("run", "a clock", "--model", "local", "--dry-run")):
        said = " ".join(without_departments.chatdev(*arguments, status=2, errors=True).split())
        assert "there is no tool 'software." in said
        assert f"it is of the department 'software' of chatdev-chain {__version__}, which cannot be used" in said


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
    extras = [name for extra in ("EVAL", "EMBED", "RAY", "VERILOG", "PLC", "REAL", "PROCESS", "SIMULINK", "MCP",
                                     "OTEL", "WEB")
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
