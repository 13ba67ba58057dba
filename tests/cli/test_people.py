"""People at a real terminal: they play the reviewer, edit a delivery, think while the process is killed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import chatdev
from chatdev.cli.app import command_line
from chatdev.cli.people import PersonAtTerminal
from chatdev.events import PersonAsked
from chatdev.journal import read_journal
from chatdev.runner.people import PersonAnswer, answer, waiting
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.chat_server import ChatServer
from tests.support.copies import Terminal

YOU = "you> "
DECIDE = r"\[s\]how all.* > "
ADDER = "def add(a, b):\n    return a + b\n\nprint(add(1, 2))"
BUNDLED = {"checks": '[{"about": "tried", "starts": [{"command": "python main.py", "shows": ["3"]}]}]',
           "coding": "<SOLUTION>\n" + program(ADDER), "manual": "<SOLUTION>\n# Adder\nRun it."}
"""Replies by phase for the company of chatdev."""
REVIEW = {**CHANGE, "opens": "instructor", "concludes": "instructor"}
REPLIES = {"write#1/round-1/assistant": "<SOLUTION>\n" + program(),
           "review#1/round-1/assistant": program("print('hello world')"),
           "review#1/round-2/assistant": program("print('hello you')")}


class Desk:
    """A company, a server, and commands at a terminal of 80 columns."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder, self.server = folder, server
        self.route(REPLIES)
        Studio(folder, server).company({"write": {**WRITE, "instructor": None}, "review": REVIEW},
                                       success="test.passed")

    def route(self, replies: Mapping[str, Any]) -> None:
        """Answer by place, else by phase."""
        self.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"],
                                                      replies.get(request.headers["X-ChatDev-Phase"])))

    @property
    def variables(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-for-nobody", "OPENAI_BASE_URL": self.server.url, "NO_COLOR": "1"}

    @property
    def run(self) -> Path:
        """The only run."""
        (found,) = (self.folder / "warehouse").iterdir()
        return found

    @property
    def records(self) -> list[dict[str, Any]]:
        return list(read_journal(self.run / "run" / "journal.jsonl"))

    @property
    def program(self) -> str:
        return (self.run / "software" / "main.py").read_text(encoding="utf-8")

    def arguments(self, *more: str) -> list[str]:
        return ["run", "TASK", "--company", str(self.folder / "stage"), "--model", "m", "--warehouse",
                str(self.folder / "warehouse"), *more]

    @contextmanager
    def at_terminal(self, *arguments: str, columns: int = 80, **variables: str) -> Iterator[pexpect.spawn[str]]:
        """A command at a terminal."""
        terminal = Terminal("chatdev", *arguments, dimensions=(40, columns), timeout=60,
                            env={**os.environ, **self.variables, "TERM": "xterm", **variables})
        try:
            yield terminal
        finally:
            terminal.close(force=True)

    def command(self, *arguments: str, given: str | None = None) -> tuple[int, str]:
        """A command without a terminal: its exit status and output."""
        done = CliRunner(env=self.variables).invoke(command_line, list(arguments), input=given)
        return done.exit_code, done.output


@pytest.fixture
def desk(tmp_path: Path, chat_server: ChatServer) -> Desk:
    return Desk(tmp_path, chat_server)


def end(terminal: pexpect.spawn[str]) -> str:
    """What it says to its end, which is a success."""
    terminal.expect(pexpect.EOF)
    terminal.close()
    said = str(terminal.before)
    assert terminal.exitstatus == 0, said
    return said


def editor(folder: Path, script: str) -> str:
    """An editor that does this to its files ($@)."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


# The reviewer of the bundled company.


@pytest.mark.tool
def test_a_person_reviews_what_the_bundled_company_makes(tmp_path: Path, chat_server: ChatServer) -> None:
    desk = Desk(tmp_path, chat_server)
    first = "code_review#1/round-1/assistant/ask-1"
    desk.route({**BUNDLED, first: program('def add(a, b):\n    """The sum."""\n    return a + b')})
    with desk.at_terminal("run", "Add two numbers: `python main.py` prints `3`.", "--model", "m", "--human", "reviewer",
                          "--warehouse", str(tmp_path / "warehouse")) as terminal:
        terminal.expect("a person \\(reviewer\\)")
        terminal.expect("\a")
        terminal.expect("You play the Code Reviewer; the other side is the Programmer")
        terminal.expect(YOU)
        terminal.sendline("What does add do?\n")
        assert "✓ Done in" in end(terminal)
    asked = [request for request in chat_server.requests if request.headers["X-ChatDev-Activity"] == first]
    assert "What does add do?" in str(asked[0].body["messages"])
    assert "The sum." in desk.program
    before = len(chat_server.requests)
    assert chatdev.replay(desk.run).success
    assert len(chat_server.requests) == before


def test_a_person_says_something_and_then_agrees(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        terminal.sendline("Greet the world.")
        terminal.sendline("")
        terminal.expect(YOU)
        terminal.sendline(":accept")
        end(terminal)
    assert desk.program == "print('hello world')\n"


def test_an_empty_line_in_code_or_in_a_paste_ends_no_answer(desk: Desk) -> None:
    typed = "First.\n\nSecond:\n```python\nprint(1)\n\nprint(2)\n```\n"
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        terminal.send(typed)
        time.sleep(0.3)
        terminal.sendline("")
        terminal.expect(YOU)
        terminal.sendline(":accept")
        end(terminal)
    said = next(r["text"] for r in desk.records if r["kind"] == "PersonAnswered")
    assert said == typed.rstrip("\n")


def test_a_long_answer_is_written_in_the_editor(desk: Desk, tmp_path: Path) -> None:
    written = editor(tmp_path, "sed -i '1i Greet the world.' \"$1\"")
    with desk.at_terminal(*desk.arguments("--human", "chief"), EDITOR=written) as terminal:
        terminal.expect(YOU)
        terminal.sendline(":edit")
        terminal.expect(YOU)
        terminal.sendline(":accept")
        end(terminal)
    answers = [r["text"] for r in desk.records if r["kind"] == "PersonAnswered"]
    assert answers == ["Greet the world.", ""]


def test_ctrl_d_skips_a_turn_with_a_note(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        terminal.sendeof()
        terminal.expect("nobody answers, so this is skipped")
        end(terminal)
    assert desk.program == "print('hello')\n"


def test_ctrl_c_ends_the_run_and_resume_asks_again(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        terminal.sendintr()
        terminal.expect("resume ")
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 130
    with desk.at_terminal("resume", str(desk.run)) as terminal:
        terminal.expect(YOU)
        terminal.sendline(":accept")
        end(terminal)


# Approvals at the terminal.


def test_a_person_edits_a_delivery_in_their_editor(desk: Desk, tmp_path: Path) -> None:
    edited = editor(tmp_path, "sed -i \"s/hello/good day/\" \"$1\"")
    with desk.at_terminal(*desk.arguments("--approve", "deliveries", "--without", "review"), EDITOR=edited) as terminal:
        terminal.expect(r"\+print\('hello'\)")
        terminal.expect(DECIDE)
        terminal.sendline("e")
        terminal.expect("a person edits it")
        end(terminal)
    assert desk.program == "print('good day')\n"


def test_an_edit_that_cannot_be_read_comes_back_with_what_was_written(desk: Desk, tmp_path: Path) -> None:
    twice = editor(tmp_path, f"if [ -e {tmp_path}/once ]; then sed -i 's/[(]$/()/' \"$1\"; cp \"$1\" {tmp_path}/seen\n"
                             f"else echo 'print(' > \"$1\"; touch {tmp_path}/once; fi")
    with desk.at_terminal(*desk.arguments("--approve", "deliveries", "--without", "review"), EDITOR=twice) as terminal:
        terminal.expect(DECIDE)
        terminal.sendline("e")
        terminal.expect("Your edit cannot be used: main.py")
        terminal.expect(DECIDE)
        terminal.sendline("e")
        end(terminal)
    assert desk.program == "print()\n"


@pytest.mark.parametrize(("script", "told"), [
    ("printf '\\377\\376' > \"$1\"", "is not UTF-8 text"), ("exit 3", "ended with status 3"),
    ("true", "Nothing is changed"), ("rm \"$1\"", "cannot read"),
])
def test_an_editor_that_fails_loses_nothing(desk: Desk, tmp_path: Path, script: str, told: str) -> None:
    with desk.at_terminal(*desk.arguments("--approve", "deliveries", "--without", "review"),
                          EDITOR=editor(tmp_path, script)) as terminal:
        terminal.expect(DECIDE)
        terminal.sendline("e")
        terminal.expect(told)
        terminal.expect(DECIDE)
        terminal.sendline("a")
        end(terminal)
    assert desk.program == "print('hello')\n"


def test_there_may_be_no_editor(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--approve", "deliveries", "--without", "review"),
                          EDITOR="/nowhere/at-all") as terminal:
        terminal.expect(DECIDE)
        terminal.sendline("e")
        terminal.expect("does not start")
        terminal.expect(DECIDE)
        terminal.sendline("a")
        end(terminal)


def test_a_refusal_at_the_terminal_reaches_the_assistant(desk: Desk) -> None:
    retried = "write#1/round-1/assistant/retry-1"
    desk.route({**REPLIES, retried: program("print('better')")})
    with desk.at_terminal(*desk.arguments("--approve", "deliveries", "--without", "review")) as terminal:
        terminal.expect(DECIDE)
        terminal.sendline("x")
        terminal.expect("Type a, r, e or s")
        terminal.sendline("r")
        terminal.expect("Why")
        terminal.sendline("Too plain.\n")
        terminal.expect(DECIDE)
        terminal.sendline("a")
        end(terminal)
    assert desk.program == "print('better')\n"
    (asked,) = [one for one in desk.server.requests if one.headers["X-ChatDev-Activity"] == retried]
    assert "Too plain." in str(asked.body["messages"])


# Waiting is a state of the run.


def test_a_run_that_is_killed_while_it_waits_asks_again(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        (before,) = waiting(desk.run)
        terminal.kill(signal.SIGKILL)
        terminal.expect(pexpect.EOF)
    assert waiting(desk.run) == [before]
    with desk.at_terminal("resume", str(desk.run)) as terminal:
        terminal.expect(YOU)
        assert waiting(desk.run) == [before]
        terminal.sendline(":accept")
        end(terminal)
    assert len(desk.server.requests) == 1


def test_an_answer_to_a_dead_run_is_taken_when_it_is_resumed(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        terminal.kill(signal.SIGKILL)
        terminal.expect(pexpect.EOF)
    status, shown = desk.command("answer", str(desk.run))
    assert status == 0
    assert "review#1/round-1/instructor  chief in review" in shown
    assert "You play the Chief" in shown
    assert desk.command("answer", str(desk.run), "--say", "Greet the world.")[0] == 0
    assert desk.command("answer", str(desk.run), "--accept")[0] == 2
    status, out = desk.command("resume", str(desk.run))
    assert status == 0, out
    assert "Greet the world." in str(desk.server.requests[-1].body["messages"])


def test_an_answer_from_elsewhere_ends_the_question(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        terminal.send("half an ans")
        assert desk.command("answer", str(desk.run), "--accept")[0] == 0
        terminal.expect("answered, or no longer asked")
        end(terminal)
    assert desk.program == "print('hello')\n"


def test_a_run_without_a_terminal_skips_people(desk: Desk) -> None:
    status, out = desk.command(*desk.arguments("--human", "chief"))
    assert status == 0, out
    assert "nobody answers, so this is skipped: chief in review" in out


def test_who_leaves_the_terminal_leaves_the_question_to_others(desk: Desk) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief", "--wait"), columns=200) as terminal:
        terminal.expect(YOU)
        terminal.sendeof()
        terminal.expect("waits for a person: chief in review")
        assert desk.command("answer", str(desk.run), "--accept")[0] == 0
        end(terminal)


def test_a_run_without_a_terminal_waits_where_that_is_wanted(desk: Desk) -> None:
    outcome: list[bool] = []

    def answer_all() -> None:
        done = 0
        while done < 2:
            for journal in (desk.folder / "warehouse").glob("*/run/journal.jsonl"):
                if journal.stat().st_size and waiting(journal.parents[1]):
                    (question,) = waiting(journal.parents[1])
                    given = PersonAnswer("accept") if done else PersonAnswer("say", "Greet the world.")
                    outcome.append(answer(journal.parents[1], question.id, given))
                    done += 1
            time.sleep(0.02)

    helper = threading.Thread(target=answer_all, daemon=True)
    helper.start()
    status, out = desk.command(*desk.arguments("--human", "chief", "--wait"))
    assert status == 0, out
    assert f"waits for a person: chief in review (chatdev answer {desk.run})" in out
    helper.join(20)
    assert outcome == [True, True]
    assert desk.program == "print('hello world')\n"


@pytest.mark.parametrize(("options", "told"), [
    (["--accept", "--refuse", "x"], "give one of"), (["--file", "/nowhere"], "cannot read /nowhere"),
    (["--question", "x", "--accept"], "asks nothing now by the name 'x'"), (["--say", "a\x07b"], "U+0007"),
    (["--file", "a", "--file", "b"], "the text of one --file"),
])
def test_a_wrong_answer_says_why(desk: Desk, options: list[str], told: str) -> None:
    with desk.at_terminal(*desk.arguments("--human", "chief")) as terminal:
        terminal.expect(YOU)
        status, out = desk.command("answer", str(desk.run), *options)
        assert status == 2
        assert told in out


def test_a_delivery_is_edited_by_a_file(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "edited.py").write_text("print('by file')\n")
    with desk.at_terminal(*desk.arguments("--approve", "deliveries", "--without", "review")) as terminal:
        terminal.expect(DECIDE)
        assert desk.command("answer", str(desk.run), "--file", f"other.py={tmp_path}/edited.py")[0] == 2
        assert desk.command("answer", str(desk.run), "--file", str(tmp_path / "edited.py"))[0] == 0
        end(terminal)
    assert desk.program == "print('by file')\n"


def test_a_question_fits_eighty_columns_and_twenty(desk: Desk) -> None:
    for columns in (80, 20):
        with desk.at_terminal(*desk.arguments("--human", "chief"), columns=columns) as terminal:
            terminal.expect("your turn")
            terminal.expect(YOU)
            lines = re.sub(r"\x1b\[K|\r", "", str(terminal.before)).splitlines()
            assert columns < 80 or [line for line in lines if len(line) > 80] == []


# Whatever is typed.


@settings(max_examples=40, deadline=None)
@given(typed=st.binary(max_size=300), asks=st.sampled_from(["turn", "approval"]))
def test_whatever_is_typed_ends_in_an_answer_or_none(typed: bytes, asks: Any) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, typed)
    os.close(theirs)
    question = PersonAsked("a#1", "0", asks, text="TEXT", edits={})
    try:
        found = asyncio.run(asyncio.wait_for(PersonAtTerminal(ours).ask(question), 10))
    finally:
        os.close(ours)
    assert found is None or found.action in ("say", "accept", "refuse")
    assert found is None or not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", found.text)
