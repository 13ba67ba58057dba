"""Departments are found by their entry points; what is wrong with one is said, and breaks nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from chatdev.config.load import companies, find_company, load_company
from chatdev.department import Command, Department, departments, installed_departments, offers
from chatdev.doctor.diagnosis import ProbeResult, department_probes, diagnose
from chatdev.errors import ConfigError, ToolError
from chatdev.runner.api import Company
from chatdev.tools.base import registry
from tests.support.face_packages import TANK, put_company, put_package

COMPANIES = "companies=Path(__file__).parent / 'companies'"
COMMAND = Command("plant.commands:plant", "Say what is known of tanks.")

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package with a department (`put_package`) for the time of a test."""
    def put(name: str, rows: str = "", **more: Any) -> None:
        monkeypatch.syspath_prepend(put_package(tmp_path, name, rows, **more))

    yield put
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def row_of(name: str, core: Sequence[str] = ()) -> ProbeResult:
    """What the doctor says in the row of this name; `core` are commands of chatdev itself."""
    results = diagnose(list(department_probes({"commands": core}))).results
    return next(result for probe, result in results if probe.name == name)


def test_a_department_is_found_by_its_entry_point(install: Install) -> None:
    install("gauges", "tools={'gauges.read': 'gauges.tools:read'}")
    assert departments()["gauges"].tools == {"gauges.read": "gauges.tools:read"}
    assert "gauges.read" in registry()
    assert row_of("gauges") == ProbeResult("works", "acme-gauges 1.0: 1 tool")


def test_our_departments_are_found() -> None:
    (ours,) = [one for one in installed_departments() if one.name == "simulink"]
    assert ours.department is not None, ours.problem


def test_ours_are_found_where_the_metadata_are_older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `git pull` in an editable install."""
    older = tmp_path / "chatdev_chain-0.0.9.dist-info"
    older.mkdir()
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: chatdev-chain\nVersion: 0.0.9\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    (ours,) = [one for one in installed_departments() if one.name == "simulink"]
    assert (ours.department is None, ours.registered) == (False, False)
    row = row_of("simulink")
    assert (row.state, "not by its entry point" in row.detail, row.fix) == (
        "absent", True, "pip install -e .   (in the checkout)")


@pytest.mark.parametrize(("face", "reason"), [
    ("import no_such_package_at_all", "No module named 'no_such_package_at_all'"),
    ("raise SystemExit(3)", "SystemExit: 3"),
    ("department = 1 / 0", "ZeroDivisionError: division by zero"),
    ("department = 'all tanks'", "it is no Department, but str"),
    ("", "has no attribute 'department'"),
    ("from chatdev.department import Department\ndepartment = Department(name='tubs')",
     "it is named 'tubs', but its entry point 'tubes'"),
    ("from chatdev.department import Department\ndepartment = Department(name='tubes', tools={'tubs.x': 'a:b'})",
     r"tools: write \{'tubes.verb': 'package.module:tool', …\}"),
])
def test_one_that_cannot_be_used_breaks_only_itself(install: Install, tmp_path: Path, face: str, reason: str) -> None:
    install("tubes", __init__=face)
    assert "tubes" not in departments()
    assert load_company("chatdev").company == "chatdev"
    explained = f"the department 'tubes' of acme-tubes 1.0, which cannot be used: .*{reason}.*uninstall acme-tubes 1.0"
    with pytest.raises(ConfigError, match=f"there is no company 'tub'.*{explained}"):
        find_company("tub")
    company = put_company(tmp_path, "own", text=TANK.replace("value.check", "tubes.run"))
    with pytest.raises(ConfigError, match=f"there is no tool 'tubes.run'.*{explained}"):
        Company.load(company)
    row = row_of("tubes")
    assert (row.state, row.detail.startswith("acme-tubes 1.0: tubes:department: ")) == ("broken", True)


@pytest.mark.parametrize(("fields", "problem"), [
    ({"name": "Plant"}, "name: write a word"),
    ({"companies": "companies"}, "companies: 'companies' is no folder"),
    ({"companies": Path("/no/such/folder")}, "is no folder; write a Path"),
    ({"tools": {"levels": "plant:levels"}}, "tools: write {'plant.verb'"),
    ({"tools": {"plant.levels": "plant.levels"}}, "tools: write"),
    ({"commands": {"plant": "plant:commands"}}, "commands: write"),
    ({"data_sets": {"No Name": COMMAND}}, "data_sets: write"),
    ({"columns": "plant"}, "columns: write"),
    ({"checks": "plant"}, "checks: write"),
])
def test_a_face_that_is_written_wrongly_says_what_to_write(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        Department(**{"name": "plant", **fields})
    assert problem in str(error.value)


def test_a_company_of_a_department_is_found_by_its_name(install: Install, tmp_path: Path, here: Path) -> None:
    folder = put_company(tmp_path, "tanks")
    install("tanks", COMPANIES)
    put_company(here, "", "tank", "company: evil\n").rename(here / "tank")
    loaded = Company.load("tank")
    assert loaded.config.about == "Says how many litres flow into a tank."
    assert loaded.source["name_or_path"] == "tank", "workers elsewhere find it by its name"
    assert [one.folder for one in companies() if one.name == "tank"] == [folder]
    assert row_of("tanks").detail == "acme-tanks 1.0: 1 company"
    own = here / "bigger"
    own.mkdir()
    (own / "company.yaml").write_text("extends: tank\ncompany: bigger\n", encoding="utf-8")
    assert list(load_company(own).phases) == ["answer"]


def test_two_departments_of_one_name_are_both_refused(install: Install) -> None:
    install("pumps", "tools={'pump.go': 'a:b'}", department="pump")
    install("pistons", department="pump")
    assert "pump" not in departments()
    assert "pump.go" not in registry()
    problem = "it is there 2 times: in acme-pistons 1.0 and acme-pumps 1.0; uninstall one of these packages"
    assert [one.problem for one in installed_departments() if one.name == "pump"] == [problem, problem]
    assert row_of("pump").detail == f"acme-pistons 1.0: {problem}"


def test_a_company_that_two_departments_bring_is_no_one(install: Install, tmp_path: Path) -> None:
    for package in ("east", "west"):
        put_company(tmp_path, package)
        install(package, COMPANIES)
    clash = ("the company 'tank' is there 2 times: in the department 'east' of acme-east 1.0 and in the department "
             "'west' of acme-west 1.0; uninstall one of the packages, or rename it in one")
    with pytest.raises(ConfigError, match=clash):
        find_company("tank")
    assert [one.problem for one in companies() if one.name == "tank"] == [clash]
    assert row_of("east") == row_of("west") == ProbeResult("broken", clash)
    assert find_company("chatdev").is_file()


@pytest.mark.parametrize("table", ["commands", "data_sets"])
def test_a_command_that_two_departments_bring_is_no_one(install: Install, table: Any) -> None:
    for package in (f"left_{table}", f"right_{table}"):
        install(package, f"{table}={{'valve': Command('a:b', 'Turn.'), {package!r}: Command('a:b', 'Turn.')}}")
    found = offers(table)
    assert "'valve' is there 2 times" in found["valve"].problem
    assert (found[f"left_{table}"].value.about, found[f"left_{table}"].problem) == ("Turn.", "")


def test_a_name_of_chatdev_itself_stays_its_own(install: Install, tmp_path: Path) -> None:
    put_company(tmp_path, "greedy", "chatdev")
    install("greedy", f"commands={{'run': Command('a:b', 'Run away.')}}, {COMPANIES}")
    assert load_company("chatdev").company == "chatdev"
    detail = row_of("greedy", ["run"]).detail
    assert "the company 'chatdev' is there 2 times: in chatdev itself and in the department 'greedy'" in detail
    assert "the command 'run' is there 2 times: in chatdev itself" in detail


def test_a_tool_that_chatdev_has_too_is_refused_by_both_names(install: Install) -> None:
    install("find", "tools={'retrieval.search': 'find:run'}", department="retrieval")
    with pytest.raises(ToolError, match="'retrieval.search' is there twice.* in chatdev itself and find:run in the "
                                        "department 'retrieval' of acme-find 1.0; uninstall"):
        registry()
    assert "'retrieval.search' is there twice" in row_of("tools").detail


@pytest.mark.parametrize(("checks", "detail"), [
    ("from chatdev.doctor.diagnosis import Probe, success\ndef probes():\n    return [Probe('flow', 'water', "
     "lambda: success('it flows'), 'model')]", "it flows"),
    ("def probes():\n    raise OSError('no water')", "flow.checks:probes failed: OSError: no water"),
    ("def probes():\n    return ['water']", "flow.checks:probes returns str; return Probes"),
    ("import no_such_water", "(flow.checks:probes) cannot be imported: No module named 'no_such_water'"),
])
def test_rows_of_a_department_stand_in_the_diagnosis(install: Install, checks: str, detail: str) -> None:
    install("flow", "checks='flow.checks:probes'", checks=checks)
    diagnosis = diagnose(list(department_probes({})))
    (found,) = [result for probe, result in diagnosis.results if probe.group == "flow"]
    assert detail in found.detail
    assert "model" in diagnosis.unmet_needs, "no department can say that a run is possible"
