"""What departments show of a run, runs beside each other, and studies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from chatdev.batch.ledger import Job, Ledger
from chatdev.events import RunFinished, RunStarted
from chatdev.web.views import RunView, run_views
from tests.support.pages import open_at, violations
from tests.support.viewer import Viewer, running_viewer, write_journal

pytestmark = pytest.mark.xdist_group("web_views")  # one server and one browser for all of them

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>top.document.title="taken"</script></svg>'
UNSAFE = """FUNCTION_BLOCK Pump
VAR_INPUT Low : BOOL; High : BOOL; END_VAR
VAR_OUTPUT Run : BOOL; END_VAR
Run := Low;
END_FUNCTION_BLOCK
"""


def run_of(folder: Path, tools: Mapping[str, Any], software: Mapping[str, str] | None = None) -> Path:
    """A run folder in whose journal these tools gave these values."""
    write_journal(folder, [RunStarted("", "acme", folder.name, str(folder), {"task": "Something to look at"})])
    with (folder / "run" / "journal.jsonl").open("a", encoding="utf-8") as file:
        for tool, value in tools.items():
            file.write(json.dumps({"v": 1, "kind": "Activity", "place": f"{tool}#1", "digest": "x",
                                   "request": {"tool": tool, "arguments": {}, "values": {}, "software": ""},
                                   "result": {"value": value, "seconds": 0.1}}) + "\n")
    write_journal(folder, [RunFinished("", "success", "done", 1.0)])
    for path, text in (software or {}).items():
        (folder / "software" / path).write_text(text, encoding="utf-8")
    return folder


def titles(views: list[RunView]) -> list[str]:
    return [view.title for view in views]


def test_verilog_shows_its_waveform_and_the_wrong_outputs(tmp_path: Path) -> None:
    outputs = {"q": {"count": 3, "first_time": 40}}
    pictures = {"Waveforms up to the first mismatch": "waves-1.svg"}
    folder = run_of(tmp_path / "V", {"verilog.draw": {"pictures": pictures},
                                     "verilog.judge": {"outputs": outputs, "mismatches": 3, "samples": 9}})
    (folder / "run" / "waves-1.svg").write_bytes(SVG)
    first, second = run_views(folder)
    assert (first.title, first.picture) == ("Waveforms up to the first mismatch", SVG)
    assert second.table == [("output", "mismatches", "first at time"), ("q", "3", "40")]


def test_plc_shows_the_counterexample_scan_by_scan(tmp_path: Path) -> None:
    asked = {"pattern": "pattern-invariant", "parameters": ["NOT (High AND Run)"], "description": "never over High"}
    outcome = {"asked": asked, "verdict": "VIOLATED", "reason": "", "vacuous": ""}
    folder = run_of(tmp_path / "P", {"plc.judge": {"outcomes": [outcome]}, "plc.interface": {"entry": "Pump"}},
                    {"main.st": UNSAFE})
    views = run_views(folder)
    assert titles(views) == ["Properties", "Counterexample"], views
    assert views[0].table[1][:2] == ("never over High", "VIOLATED")
    rows = {row[0]: row[1:] for row in views[1].table}
    assert {"Low", "High", "Run"} <= rows.keys()
    assert rows["Run"][-1] == "TRUE"
    assert rows["High"][-1] == "TRUE"


def test_plc_shows_properties_alone_where_all_are_proved(tmp_path: Path) -> None:
    asked = {"pattern": "pattern-invariant", "parameters": ["Run = Low"], "description": ""}
    outcome = {"asked": asked, "verdict": "PROVED", "reason": "", "vacuous": ""}
    folder = run_of(tmp_path / "P", {"plc.judge": {"outcomes": [outcome]}}, {"main.st": UNSAFE})
    assert titles(run_views(folder)) == ["Properties"]


def test_simulink_draws_the_model_that_was_delivered(tmp_path: Path) -> None:
    model = ("model: m\nblocks:\n  One: {type: Constant}\n  Two: {type: Gain}\nlines:\n- One/1 -> Two/1\n")
    folder = run_of(tmp_path / "S", {"simulink.deliver": {"files": {"model.yaml": model}}})
    (view,) = run_views(folder)
    assert view.about == "2 blocks, 1 connections"
    assert b"<svg" in view.picture
    assert b"Gain" in view.picture or b"Two" in view.picture


def test_process_draws_the_process_that_was_chosen(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "T", {"process.choose": ["design", "coding"],
                                     "process.recall": {"instances": ["design → coding"], "text": "first design"}})
    views = run_views(folder)
    assert titles(views) == ["The process of this run", "Processes that the agents were shown",
                             "The process model that the agents were shown"]
    assert b"coding" in views[0].picture


def test_a_department_that_fails_is_told_and_spoils_nothing(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "F", {"simulink.deliver": {"files": {"model.yaml": "[1, 2"}}, "plc.judge": "odd",
                                     "verilog.judge": {"outputs": {"q": {"count": 1, "first_time": 2}}}})
    assert titles(run_views(folder)).count("What simulink shows") == 1
    assert titles(run_views(folder)).count("What plc shows") == 1


def test_a_picture_is_served_so_that_nothing_in_it_runs(browser: Browser, tmp_path: Path) -> None:
    folder = run_of(tmp_path / "runs" / "V", {"verilog.draw": {"pictures": {"Waves": "waves-1.svg"}}})
    (folder / "run" / "waves-1.svg").write_bytes(SVG)
    (folder / "run" / "secret.svg").symlink_to("/etc/hostname")
    with running_viewer(tmp_path / "runs", tmp_path / "home") as viewer:
        assert len(viewer.get("/api/views", {"run": "V"}).value) == 1
        answer = viewer.get("/api/view", {"run": "V", "number": "0"})
        assert "sandbox" in answer.headers["content-security-policy"]
        assert "script-src" not in answer.headers["content-security-policy"]
        page = browser.new_context(bypass_csp=False).new_page()
        page.goto(viewer.address)
        page.goto(f"http://127.0.0.1:{viewer.port}/api/view?run=V&number=0")
        assert page.title() == ""
        open_at(page, viewer, "/run/V")
        page.get_by_role("tab", name="Results").click()
        expect(page.get_by_role("img", name="Waves")).to_be_visible()
        assert page.title() == "V · chatdev"
        page.context.close()


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """A study of two variants on two tasks, with its ledger, and an empty warehouse."""
    folder = tmp_path_factory.mktemp("studied")
    (folder / "runs").mkdir()
    ledger = Ledger(str(folder / "studies" / "ledger.sqlite"), "trial")
    for variant, solved in (("single-m", 0.0), ("chatdev-m", 1.0)):
        for task in ("Ships", "Post"):
            run_of(folder / "studies" / "trial" / variant / f"{task}-0a1b2c", {})
            spec = {"variant": {"name": variant, "company": variant, "model": None}, "task": {"name": task}}
            ledger.add([Job(f"{variant}/{task}", spec)])
            claim = ledger.claim("w")
            assert claim
            row = {"variant": variant, "task": task, "area": "a", "solved": solved, "acceptance": solved, "tokens": 10,
                   "prompt_tokens": 5, "completion_tokens": 5, "seconds": 2.0, "cost": 0.5, "status": "success"}
            ledger.finish(claim, row, 1.0)
    ledger.close()
    with running_viewer(folder / "runs", tmp_path_factory.mktemp("home"), options=(
            "--studies", str(folder / "studies"))) as viewer:
        yield viewer


def test_a_study_shows_means_and_the_run_behind_each(browser: Browser, studies: Viewer) -> None:
    page = browser.new_context(bypass_csp=True).new_page()
    page.goto(studies.address)
    page.get_by_role("link", name="Studies").click()
    assert violations(page) == []
    page.get_by_role("link", name="trial").click()
    expect(page.locator(".matrix tbody tr")).to_have_count(2)
    expect(page.locator(".figures")).to_contain_text("Solved")
    assert violations(page) == []
    page.get_by_role("link", name="Compare").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two runs side by side")
    expect(page.locator(".compared thead a")).to_have_count(2)
    assert violations(page) == []
    page.locator(".compared thead a").first.click()
    expect(page.locator(".end h2")).to_have_text("The run succeeded")
    page.context.close()


@pytest.mark.parametrize("name", ["none", "..", "trial/single-m", ""])
def test_a_study_that_is_not_there_is_a_sentence(studies: Viewer, name: str) -> None:
    answer = studies.get("/api/study", {"name": name})
    assert (answer.status, "there is no study" in answer.value["error"]) == (400, True)


def test_two_runs_of_the_list_are_compared(page: Page, viewer: Viewer) -> None:
    open_at(page, viewer, "/")
    page.get_by_label("Compare Made").check()
    page.get_by_label("Compare Long").check()
    page.get_by_role("button", name="Compare the two").click()
    expect(page.locator(".compared")).to_contain_text("Model calls")
    expect(page.locator(".diff .row")).to_have_count(1)
    expect(page.locator(".diff")).to_contain_text("print('better')")


def test_the_pool_and_its_model_are_shown(page: Page, viewer: Viewer) -> None:
    open_at(page, viewer, "/experience")
    expect(page.get_by_role("heading", name="The pool 'starter' of processes")).to_be_visible()
    expect(page.get_by_role("img")).to_have_count(1)
    assert page.evaluate("document.querySelector('.view img').naturalWidth") > 100
