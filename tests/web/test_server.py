"""The web view's server: who is let in, what it tells, and what it makes of journals that are odd."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import time
from pathlib import Path

import pytest

from chatdev.events import ModelCalled, RunFinished, RunStarted, Uttered
from chatdev.journal import Journal
from chatdev.web.record import TEXT, RunRecord
from chatdev.web.warehouse import Warehouse
from tests.support.copies import run_module
from tests.support.viewer import Viewer, long_run, running_viewer, write_journal

pytestmark = pytest.mark.xdist_group("web_server")  # one server and one browser for all of them

STARTED = RunStarted("", "acme", "One", "warehouse/One", {"task": "Count the ships."})


def test_without_token_or_cookie_nothing_is_shown(viewer: Viewer) -> None:
    for path in ("/", "/api/runs", "/page/app.js", "/api/live?run=Made", "/?token=wrong", "/?token="):
        answer = viewer.get(path, cookie="")
        assert answer.status == 403, path
        assert b"chatdev view" in answer.body
    assert viewer.get("/", cookie=viewer.cookie[:-1] + "x").status == 403


def test_the_token_is_exchanged_for_a_strict_cookie(viewer: Viewer) -> None:
    path = viewer.address.partition(f":{viewer.port}")[2]
    answer = viewer.get(path, cookie="")
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert viewer.get("/", cookie=cookie.partition(";")[0]).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_name_of_this_machine_is_refused(viewer: Viewer, host: str) -> None:
    assert viewer.get("/api/runs", headers={"Host": host}).status in (400, 421)


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Origin": "null"},
                                     {"Origin": "http://127.0.0.1:1"}])
def test_a_page_of_another_origin_changes_nothing(viewer: Viewer, headers: dict[str, str]) -> None:
    assert viewer.get("/api/start", method="POST", headers=headers, body=b"x").status == 403


def test_a_page_of_another_origin_reads_nothing(viewer: Viewer) -> None:
    for site in ("cross-site", "same-site"):
        assert viewer.get("/api/runs", headers={"Sec-Fetch-Site": site}).status == 403
    assert viewer.get("/api/runs", headers={"Sec-Fetch-Site": "same-origin"}).status == 200


def test_every_answer_has_the_policy_that_lets_no_script_in(viewer: Viewer) -> None:
    for path in ("/", "/api/runs", "/page/app.js", "/api/nothing", "/run/Made"):
        headers = viewer.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_only_this_machine_can_reach_it(viewer: Viewer) -> None:
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", viewer.port), timeout=2):
        pass


def test_the_key_of_cookies_is_the_users_alone(root: Path, tmp_path: Path) -> None:
    with running_viewer(root, tmp_path) as first:
        key = tmp_path / "chatdev" / "view.key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        before = key.read_bytes()
        cookie = first.cookie
        assert first.stop() == 130
        first.start()
        assert first.get("/api/runs", cookie=cookie).status == 200, "an open page finds the next server"
        assert key.read_bytes() == before


def test_a_port_in_use_is_a_clear_error(viewer: Viewer, root: Path) -> None:
    done = run_module("chatdev", "view", str(root), "--port", str(viewer.port))
    assert done.returncode == 2
    assert f"--port {viewer.port}: nothing can listen there" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    done = run_module("chatdev", "view", str(tmp_path / "none"))
    assert (done.returncode, "there is no folder" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "Made/..", "Made/run", "", "a//b", "Link", "\0", "Made\n"])
def test_only_run_folders_of_the_warehouse_are_shown(viewer: Viewer, root: Path, name: str) -> None:
    (root / "Link").unlink(missing_ok=True)
    (root / "Link").symlink_to(root / "Made")
    for path in ("run", "events", "versions", "live"):
        answer = viewer.get(f"/api/{path}", {"run": name})
        assert answer.status in (400, 404), (path, answer.body)
        assert "there is no run" in answer.value["error"]


def test_a_run_is_told_with_its_plan_and_versions(viewer: Viewer) -> None:
    run = viewer.get("/api/run", {"run": "Made"}).value
    assert (run["status"], run["calls"], run["company"]) == ("success", 2, "stage")
    assert [step["name"] for step in run["plan"]] == ["write", "change", "software.complete"]
    events = viewer.get("/api/events", {"run": "Made"}).value
    assert events["next"] == len(events["events"])
    assert {"Order", "PhaseStarted", "Uttered", "Activity", "RunFinished"} <= {e["kind"] for e in events["events"]}
    versions = viewer.get("/api/versions", {"run": "Made"}).value
    last = viewer.get("/api/version", {"run": "Made", "id": versions[-1]["id"]}).value
    assert "main.py" in [file["path"] for file in last["files"]]
    changes = [viewer.get("/api/version", {"run": "Made", "id": one["id"]}).value["diffs"] for one in versions]
    assert [[*row] for diff in changes for file in diff for hunk in file["hunks"] for row in hunk][-2:] == [
        ["-", 1, None, "print('hello')"], ["+", None, 1, "print('better')"]]


def test_what_an_agent_was_shown_is_told_whole(viewer: Viewer) -> None:
    events = viewer.get("/api/events", {"run": "Made"}).value["events"]
    call = next(e for e in events if e["kind"] == "Activity" and "messages" in e["request"])
    shown = viewer.get("/api/shown", {"run": "Made", "line": call["n"]}).value
    assert [one["message"]["role"] for one in shown["messages"]][:2] == ["system", "user"]
    assert shown["sampling"]["model"] == "a-model"


@pytest.mark.parametrize("query", [{"line": "0"}, {"line": "99999"}, {"line": "-1"}, {"line": "x"},
                                   {"line": "2", "path": "no.such"}, {"line": "9" * 30}])
def test_a_line_that_is_not_there_is_a_sentence(viewer: Viewer, query: dict[str, str]) -> None:
    answer = viewer.get("/api/text", {"run": "Made", **query})
    assert answer.status == 400
    assert answer.value["error"]


def test_a_torn_journal_is_shown_as_far_as_it_goes(viewer: Viewer, root: Path) -> None:
    folder = write_journal(root / "Torn", [STARTED, Uttered("a#1", "response", "assistant", "Programmer", "Hi", 1)])
    with (folder / "run" / "journal.jsonl").open("ab") as file:
        file.write(b'{"v": 1, "kind": "Uttered", "text": "half a li')
    told = viewer.get("/api/events", {"run": "Torn"}).value
    assert (len(told["events"]), told["problem"]) == (2, "")
    assert viewer.get("/api/run", {"run": "Torn"}).value["status"] == "interrupted"


@pytest.mark.parametrize(("line", "says"), [
    (b'{"v": 7, "kind": "Uttered"}', "version 7"), (b"not json", "damaged"), (b"[1]", "damaged"),
    (b'{"v": 1}', "damaged"), (b"[" * 3000, "damaged"), (b"\xff\xfe", "damaged")])
def test_a_journal_that_cannot_be_read_says_so(viewer: Viewer, root: Path, line: bytes, says: str) -> None:
    shutil.rmtree(root / "Odd", ignore_errors=True)
    folder = write_journal(root / "Odd", [STARTED])
    with (folder / "run" / "journal.jsonl").open("ab") as file:
        file.write(line + b"\n")
    told = viewer.get("/api/events", {"run": "Odd"})
    assert told.status == 200
    assert says in told.value["problem"]
    assert len(told.value["events"]) == 1
    time.sleep(1.1)  # a look at the folder holds so long
    listed = {one["id"]: one for one in viewer.get("/api/runs").value["runs"]}
    assert listed["Odd"]["status"] == "unreadable"
    assert listed["Made"]["status"] == "success"


def test_a_journal_that_is_a_link_or_a_pipe_is_not_followed(root: Path, viewer: Viewer) -> None:
    shutil.rmtree(root / "Pipe", ignore_errors=True)
    (root / "Pipe" / "run").mkdir(parents=True)
    os.mkfifo(root / "Pipe" / "run" / "journal.jsonl")
    assert "pipe" in viewer.get("/api/events", {"run": "Pipe"}).value["problem"]


def test_a_long_text_is_cut_and_given_on_demand(viewer: Viewer, root: Path) -> None:
    text = "x" * 1_000_000 + "the end"
    write_journal(root / "Huge", [STARTED, Uttered("a#1/round-1/assistant", "response", "assistant", "P", text, 1)])
    answer = viewer.get("/api/events", {"run": "Huge"})
    said = answer.value["events"][-1]
    assert len(said["text"]) == TEXT
    assert said["cut"] == {"text": len(text)}
    assert len(answer.body) < 3 * TEXT
    assert viewer.get("/api/text", {"run": "Huge", "line": said["n"], "path": "text"}).value["text"] == text


def test_events_come_as_they_are_written(viewer: Viewer, root: Path) -> None:
    folder = write_journal(root / "Live", [STARTED])
    stream = socket.create_connection(("127.0.0.1", viewer.port), timeout=10)
    stream.sendall(f"GET /api/live?run=Live HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nCookie: {viewer.cookie}\r\n"
                   "Last-Event-ID: 1\r\n\r\n".encode())
    journal = Journal(folder / "run" / "journal.jsonl")
    journal.append("Noted", "", {"text": "a ship", "level": "info"})
    seen = b""
    while b"a ship" not in seen or b'"running"' not in seen:
        seen += stream.recv(65536)
    assert b"id: 2" in seen
    assert b"RunStarted" not in seen
    journal.close()
    stream.close()


def test_a_record_reads_on_and_starts_anew_for_another_file(tmp_path: Path) -> None:
    folder = write_journal(tmp_path / "run-1", [STARTED])
    record = RunRecord(folder)
    record.refresh()
    assert len(record.events) == 1
    time.sleep(0.25)
    write_journal(folder, [RunFinished("", "success", "done", 1.0)])
    assert not record.refresh()
    assert [json.loads(event)["kind"] for event in record.events] == ["RunStarted", "RunFinished"]
    time.sleep(0.25)
    (folder / "run" / "journal.jsonl").unlink()
    write_journal(folder, [STARTED])
    assert record.refresh()
    assert len(record.events) == 1


def test_a_run_under_way_is_seen_without_taking_its_lock(tmp_path: Path) -> None:
    folder = write_journal(tmp_path / "Going", [STARTED])
    journal = Journal(folder / "run" / "journal.jsonl")
    assert Warehouse(tmp_path).status("Going") == "running"
    journal.close()
    assert Warehouse(tmp_path).status("Going") == "interrupted"


def test_a_list_sums_up_what_its_journals_say(tmp_path: Path) -> None:
    calls = [ModelCalled("a#1", "programmer", "m-1", 100, 10, 1.0, cost=0.25),
             ModelCalled("a#1", "programmer", "m-2", 200, 20, 1.0, cost=0.5)]
    folder = write_journal(tmp_path / "Sum", [STARTED, *calls])
    warehouse = Warehouse(tmp_path)
    one = warehouse.summary("Sum")
    assert (one.task, one.calls, one.prompt_tokens, one.cost, one.models) == ("Count the ships.", 2, 300, 0.75,
                                                                               ["m-1", "m-2"])
    write_journal(folder, [ModelCalled("a#1", "programmer", "m-2", 1, 1, 1.0, cost=None),
                           RunFinished("", "failure", "no", 3.5)])
    one = warehouse.summary("Sum")
    assert (one.calls, one.cost, one.status, one.seconds) == (3, None, "failure", 3.5)


def test_ten_thousand_runs_are_listed_in_half_a_second(tmp_path: Path) -> None:
    made = write_journal(tmp_path / "model", [STARTED, RunFinished("", "success", "yes", 1.0)]) / "run/journal.jsonl"
    for number in range(10_000):
        run = tmp_path / f"Run-{number:05}" / "run"
        run.mkdir(parents=True)
        os.link(made, run / "journal.jsonl")
    warehouse = Warehouse(tmp_path)
    begun = time.perf_counter()
    page = warehouse.page()
    seconds = time.perf_counter() - begun
    assert (len(page["runs"]), page["all"]) == (50, 10_001)
    assert seconds < 1.5, "half a second, on a machine that is not busy"
    while (page := warehouse.page(text="ships", number=3))["looked"] < page["all"]:
        pass
    assert (page["found"], len(page["runs"])) == (10_001, 50)


def test_a_filter_finds_by_words_status_and_company(tmp_path: Path) -> None:
    write_journal(tmp_path / "Ships", [STARTED, RunFinished("", "success", "yes", 1.0)])
    write_journal(tmp_path / "Other", long_run(100, "Sort the post"))
    warehouse = Warehouse(tmp_path)
    assert [one["id"] for one in warehouse.page(text="POST sort")["runs"]] == ["Other"]
    assert [one["id"] for one in warehouse.page(company="acme")["runs"]] == ["Ships"]
    assert warehouse.page(status="failure")["runs"] == []
    assert warehouse.page()["companies"] == ["acme", "long"]
