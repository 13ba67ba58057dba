"""`chatdev run`: what it takes, what it prints in each way of showing, and how it exits."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from chatdev.events import RunFinished, from_dict
from chatdev.journal import read_journal
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.shop import BETTER, FIRST, HELLO, KEY, SECOND, Shop

ESCAPE = "\x1b"


def test_a_run_shows_a_line_for_each_step_and_where_the_software_is(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run()
    outcome.assert_succeeded()
    for shown in ("at most 2 phases: Write, Change", "● 1/2 Write   main.py 1 ", "Maker · 1 call · ", "● 2/2 Change",
                  "  ✓ Every function has a body.", "✓ Done in ", "start it", "play", "report.md", "2 calls"):
        assert shown in outcome.out
    for hidden in ("OPENING", "print(", "SOLUTION", "consensus", "#1"):
        assert hidden not in outcome.out
    assert outcome.err == ""


def test_the_dialogue_is_shown_where_it_is_asked_for(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--dialogue")
    outcome.assert_succeeded()
    for shown in ("━━ Write  Write the program.", "  Maker\n", "│ print(", "→ main.py", "● 1/2 Write   main.py"):
        assert shown in outcome.out
    for hidden in ("OPENING", "SOLUTION", "```"):
        assert hidden not in outcome.out


def test_what_is_not_there_yet_has_not_failed(shop: Shop) -> None:
    shop.company = Studio(shop.folder, shop.server).company({"write": {**WRITE, "feedback": "software.compiles"}})
    shop.route({FIRST: HELLO})
    outcome = shop.run("--dialogue")
    assert "· software.compiles  There are no files yet." in outcome.out
    assert "✓ software.compiles  Every file can be read." in outcome.out
    short = shop.run()
    assert "There are no files yet." not in short.out
    assert "✓ Every file can be read." in short.out
    assert "✗" not in outcome.out


def test_the_task_may_come_from_argument_option_or_file(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "task.txt").write_text("\ufeffgrüß dich", encoding="utf-8")
    file = f"@{tmp_path / 'task.txt'}"
    ways = [("one", ("to", "do"), "to do"), ("two", ("--task", "to do"), "to do"), ("three", (file,), "grüß dich"),
            ("two-and-three", ("--task", file), "grüß dich")]
    for name, words, task in ways:
        shop.replies()
        outcome = shop.command("run", *words, "--company", str(shop.company), "--warehouse",
                               str(shop.warehouse / name))
        assert outcome.status == 0, outcome.err
        (journal,) = (shop.warehouse / name).glob("*/run/journal.jsonl")
        started = next(record for record in read_journal(journal) if record["kind"] == "RunStarted")
        assert started["inputs"]["task"] == task


def test_name_and_organisation_name_the_folder(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--name", "Todo", "--org", "Lab")
    assert outcome.folder
    assert outcome.folder.name.startswith("Todo_Lab-20")


def test_quiet_prints_only_the_end(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--quiet")
    assert outcome.out.startswith("\n✓ Done in ")
    assert "Maker" not in outcome.out


def test_verbose_cuts_nothing_and_shows_openings(shop: Shop) -> None:
    long = "<SOLUTION>\n" + program("\n".join(f"print({n})" for n in range(60)))
    shop.replies(second=long)
    short, full = shop.run("--dialogue").out, shop.run("--verbose").out
    assert "WRITE TASK" not in short
    assert "print(59)" not in short
    assert "… 52 more lines" in short
    assert "WRITE TASK" in full
    assert "print(59)" in full
    assert "more lines" not in full


def test_json_prints_one_event_a_line_and_nothing_else(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--json")
    assert outcome.status == 0
    events = [from_dict(values.pop("kind"), values) for values in map(json.loads, outcome.out.splitlines())]
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert last.status == "success"
    assert [record["kind"] for record in outcome.records if record["kind"] not in ("Order", "Message", "Activity")] == [
        event.kind for event in events]


def test_json_of_a_failed_run_ends_with_its_status_and_an_error(shop: Shop) -> None:
    shop.route({FIRST: HELLO})
    outcome = shop.run("--json")
    assert outcome.status == 3
    assert json.loads(outcome.out.splitlines()[-1])["status"] == "error"
    assert outcome.err.startswith("error: ")


def test_a_run_that_does_not_hold_its_success_exits_with_one(shop: Shop) -> None:
    shop.replies(second="<SOLUTION>\n" + program("def later():\n    pass"))
    outcome = shop.run()
    assert outcome.status == 1, outcome.out + outcome.err
    assert "✗ Failed after " in outcome.out
    assert "why       the final test did not pass" in outcome.out
    assert "tried     Write, Change\n" in outcome.out
    assert f"resume {outcome.folder} --from 'change#1'" in outcome.out
    assert f"resume {outcome.folder} --from 'write#1' --model NAME" in outcome.out
    assert "**failure**" in outcome.report


def test_the_commands_that_a_failed_run_tells_go_on(shop: Shop) -> None:
    shop.replies(second="<SOLUTION>\n" + program("def later():\n    pass"))
    failed = shop.run()
    commands = [shlex.split(line.partition(" resume ")[2]) for line in failed.out.splitlines()
                if line.startswith(("  go on", "  or  "))]
    assert [command[1:] for command in commands] == [["--from", "change#1"], ["--from", "write#1", "--model", "NAME"]]
    for command in commands:
        shop.replies()
        shop.server.requests.clear()
        again = shop.command("resume", *(word if word != "NAME" else "another-model" for word in command))
        assert again.status == 0, again.out + again.err
        assert "✓ Done in " in again.out
    assert {request.body["model"] for request in shop.server.requests} == {"another-model"}


def test_software_that_cannot_be_judged_here_is_no_success_or_failure(shop: Shop) -> None:
    feedback = {**CHANGE, "feedback": "software.run"}
    shop.company = Studio(shop.folder, shop.server).company(
        {"write": WRITE, "change": feedback}, [{"phase": "write"}, {"phase": "change"},
                                               {"tool": "software.run", "writes": "test"}], success="test.passed")
    shop.route({FIRST: "<SOLUTION>\nmain.rs\n```rust\nfn main() {}\n```\n"})
    outcome = shop.run()
    assert outcome.status == 4, outcome.out + outcome.err
    assert "– Finished, but not judged, after " in outcome.out
    assert "why       Not judged: nothing here can run software in Rust" in outcome.out
    assert "✓" not in outcome.out
    assert "**unjudged**" in outcome.report
    assert len(shop.server.requests) == 1  # nobody mends what may be sound


def test_a_field_can_be_set_and_a_phase_left_out(shop: Shop) -> None:
    shop.replies()
    outcome = shop.run("--set", "phases.write.model.temperature=0.7", "--without", "change", "--without-roles")
    outcome.assert_succeeded()
    (request,) = shop.server.requests
    assert request.body["temperature"] == 0.7
    assert "makes things" not in request.body["messages"][0]["content"]


def test_existing_software_is_where_a_run_starts(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "main.py").write_text("print('old')\n")
    shop.route({SECOND: BETTER})
    outcome = shop.run("--path", str(tmp_path / "old"), "--without", "write")
    outcome.assert_succeeded()
    assert "print('old')" in shop.server.requests[0].body["messages"][1]["content"]
    assert (tmp_path / "old" / "main.py").read_text() == "print('old')\n"


def test_a_dry_run_shows_prompts_and_estimate_and_touches_nothing(shop: Shop) -> None:
    outcome = shop.run("--dry-run", "--verbose")
    assert outcome.status == 0, outcome.err
    for shown in ("── write: maker (assistant)", "SYSTEM for assistant", "WRITE TASK", "a typical run of stage with ",
                  "at most "):
        assert shown in outcome.out
    assert shop.server.requests == []
    assert not shop.warehouse.exists()


def test_a_dry_run_shows_and_counts_the_software_and_the_tools(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "main.py").write_text("print('old')\n" * 2000)
    outcome = shop.command("run", "--dry-run", "--verbose", "--company", "maintain", "--model", "gpt-4o", "--path",
                           str(tmp_path / "old"), "say new")
    assert outcome.status == 0, outcome.err
    assert "main.py" in outcome.out
    assert "Write documents in English." in outcome.out
    assert "software.read: Read a file of the software" in outcome.out
    assert "You may use these tools" not in outcome.out
    counted = re.search(r"a typical run of maintain with gpt-4o: \d+ calls, (\d+) tokens", outcome.out)
    assert counted
    assert int(counted[1]) > 6000
    assert (tmp_path / "old" / "main.py").read_text() == "print('old')\n" * 2000


def test_a_dry_run_of_the_bundled_company_needs_no_model(shop: Shop) -> None:
    del shop.environment["OPENAI_API_KEY"], shop.environment["OPENAI_BASE_URL"]
    outcome = shop.command("run", "--dry-run", "--verbose", "a to-do list")
    assert outcome.status == 0, outcome.err
    assert "a to-do list" in outcome.out


@pytest.mark.parametrize("before", [True, False])
def test_debug_before_or_behind_the_subcommand_shows_a_traceback(shop: Shop, before: bool) -> None:
    shop.route({FIRST: HELLO})
    arguments = shop.arguments()
    outcome = shop.command(*(["--debug", *arguments] if before else [*arguments, "--debug"]))
    assert outcome.status == 3
    assert "Traceback" in outcome.err
    assert "ModelRejected" in outcome.err
    assert KEY not in outcome.err


@pytest.mark.parametrize("way", ["", "--stream", "--verbose", "--quiet"])
def test_a_model_cannot_steer_the_terminal(shop: Shop, way: str) -> None:
    evil = f"{ESCAPE}[2J{ESCAPE}]0;title\x07\r\x9b31m"
    shop.replies(second=f"{evil}\n{BETTER}")
    outcome = shop.run(*filter(None, [way]))
    assert not set(f"{ESCAPE}\x07\r\x9b") & set(outcome.out)


def test_a_reader_that_goes_away_does_not_stop_the_run(shop: Shop) -> None:
    shop.replies()
    with shop.start(*shop.arguments()) as process:
        assert process.stdout
        process.stdout.close()
        assert process.wait(60) == 0
    (folder,) = shop.warehouse.iterdir()
    assert "**success**" in (folder / "run" / "report.md").read_text()


def test_an_output_that_knows_few_characters_shows_question_marks(shop: Shop) -> None:
    shop.replies()
    shop.environment["PYTHONIOENCODING"] = "latin-1"
    outcome = shop.finish(shop.start(*shop.arguments()))
    outcome.assert_succeeded()
    assert "? 1/2 Write" in outcome.out


def test_run_py_is_the_same_command(shop: Shop) -> None:
    shop.replies()
    script = Path(__file__).resolve().parents[2] / "run.py"
    done = subprocess.run([sys.executable, str(script), "--task", "TASK", "--name", "X", "--config", str(shop.company),
                           "--warehouse", str(shop.warehouse)], env={**os.environ, **shop.environment},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "✓ Done in " in done.stdout
    assert ESCAPE not in done.stdout
