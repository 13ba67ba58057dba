"""What a person sees of a run on a terminal: a real one, whose screen is read, at several widths."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyte
import pytest
from wcwidth import wcswidth

from chatdev.cli.console import Console, step_line
from chatdev.cli.screen import LiveLine, format_cost, format_seconds, format_tokens, layout_text, width
from chatdev.events import (
    DeliveryApplied,
    Event,
    ModelCalled,
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    ToolCalled,
    Uttered,
)
from chatdev.runner.story import RunStory
from tests.engine.studio import CHANGE, TALK, WRITE, Studio
from tests.support.chat_server import Scripted
from tests.support.copies import start_module
from tests.support.session import draw, read_terminal
from tests.support.shop import BETTER, Shop

MAIN = ("main.py\n```python\nimport sys\nfrom storage import add, wipe\n\nprint('ok')\n```\n\n"
        "storage.py\n```python\ndef add(x):\n    return x\n```\n")
WHOLE = MAIN.replace("def add(x)", "def wipe():\n    return 0\n\n\ndef add(x)")
PLAN = {**TALK, "about": "Plan the commands.", "instructor": None, "writes": "commands", "solution": {"form": "list"}}
CODING = {**WRITE, "instructor": None, "rounds": 1}
TEST = {**CHANGE, "about": "Repair what the test shows.", "feedback": "software.run", "opens": "instructor",
        "rounds": 2}
REPLIES = {
    "plan#1/round-1/assistant": '<SOLUTION> ["add", "wipe", "list"]',
    "coding#1/round-1/assistant": f"<SOLUTION>\n{MAIN}",
    "system_test#1/round-1/instructor": "storage.py has no wipe(), and main.py imports it. Add it.",
    "system_test#1/round-1/assistant": MAIN.replace("return x", "return [x]"),
    "system_test#1/round-2/instructor": "It still cannot import wipe from storage.",
    "system_test#1/round-2/assistant": MAIN.replace("return x", "return [x, x]"),
}


@dataclass
class Terminal:
    """A terminal of so many columns, what was written on it, and what a person sees of that."""

    columns: int
    written: str = ""

    @property
    def lines(self) -> list[str]:
        """What is seen at the end, from the first line on; a line that the terminal broke is two."""
        screen = pyte.Screen(self.columns, 400)
        pyte.Stream(screen).feed(self.written)
        return [line.rstrip() for line in screen.display if line.strip()]

    @property
    def text(self) -> str:
        """The same as one text, in which no line is broken."""
        return "".join(line.ljust(self.columns) if len(line) == self.columns else f"{line}\n" for line in self.lines)


@contextmanager
def terminal_of(columns: int) -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    try:
        yield ours, theirs
    finally:
        os.close(ours)


def on_a_terminal(shop: Shop, *arguments: str, columns: int = 80, interrupt: str = "", status: int = 0,
                  **environment: str) -> Terminal:
    """A command on a terminal; Ctrl-C is pressed when `interrupt` is on the screen."""
    seen = Terminal(columns)
    variables = {**os.environ, **shop.environment, "TERM": "xterm-256color", **environment}
    variables.pop("COLUMNS", None)
    with (terminal_of(columns) as (ours, theirs),
          start_module("chatdev", *arguments, env=variables, stdin=subprocess.DEVNULL, stdout=theirs,
                       stderr=theirs) as process):
        os.close(theirs)
        output = bytearray()
        while piece := read_terminal(ours):
            output += piece
            if interrupt and interrupt in output.decode(errors="replace"):
                interrupt = ""
                process.send_signal(signal.SIGINT)
        seen.written = output.decode()
        assert process.wait(60) == status, seen.written
    return seen


def software_company(shop: Shop, **replies: object) -> list[str]:
    """The arguments of a run by a company that plans, writes, and repairs by what the test shows."""
    roles = {"chief": {"title": "Tester", "prompt": "tests"}, "maker": {"title": "Programmer", "prompt": "writes"}}
    chain = [{"phase": "plan"}, {"phase": "coding"}, {"phase": "system_test"},
             {"tool": "software.run", "writes": "test"}]
    shop.company = Studio(shop.folder, shop.server).company(
        {"plan": PLAN, "coding": CODING, "system_test": TEST}, chain, success="test.passed", roles=roles)
    shop.route({**REPLIES, **replies})
    return shop.arguments("--name", "Expenses")


def figures_hidden(lines: list[str]) -> list[str]:
    """The lines with S for a time, and without the folders of this machine."""
    return [re.sub(r"\d+\.\d s|\d+ s", "S", line) for line in lines]


@pytest.mark.parametrize("columns", [80, 120])
def test_a_good_run_is_a_line_for_each_step(shop: Shop, columns: int) -> None:
    arguments = software_company(shop, **{"coding#1/round-1/assistant": f"<SOLUTION>\n{WHOLE}"})
    seen = on_a_terminal(shop, *arguments, columns=columns)
    lines = seen.lines
    steps = figures_hidden([line for line in lines if line.startswith("●")])
    assert [re.sub(r" {2,}", "  ", line) for line in steps] == [
        "● 1/3 Plan  3 commands  Programmer · 1 call · S · <$0.0001",
        "● 2/3 Coding  main.py 4  storage.py 6  Programmer · 1 call · S" + " · <$0.0001" * (columns > 80),
        "● 3/3 System test  nothing to do: the check passes  Programmer · 0 calls · S"]
    assert {len(line) for line in lines if line.startswith("●")} == {columns}
    assert "  at most 3 phases: Plan, Coding, System test" in lines
    assert "  ✓ It ran to its end (exit status 0)." in lines
    assert re.search(r"\n✓ Done in [\d.]+ s · 2 calls · 24 tokens · <\$0\.0001\n", seen.text)
    assert re.search(r"\n  start it  .*chatdev play ", seen.text)
    assert not re.search("SOLUTION|skipped|#1|⇄|consensus|1 round", seen.text)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_failed_run_ends_with_its_error_and_how_to_go_on(shop: Shop, columns: int) -> None:
    seen = on_a_terminal(shop, *software_company(shop), columns=columns, status=1)
    (folder,) = shop.warehouse.iterdir()
    last = seen.text.partition("✗ Failed after ")[2]
    for shown in ("why       the final test did not pass\n", "            It crashed (exit status 1).\n",
                  "            main.py:2  ImportError: cannot import name 'wipe' from 'storage'",
                  "  tried     Coding, System test (2 rounds)\n", f"resume {folder} --from 'system_test#1'",
                  f"resume {folder} --from 'coding#1' --model NAME", f"report    {folder}/run/report.md"):
        assert "".join(shown.split()) in "".join(last.split()), "long paths break lines anywhere"
    assert "start it" not in last
    for shown in ("  Tester: “storage.py has no wipe(), and main.py imports it. Add it.”",
                  "  the check still fails after 2 rounds", "  ✗ It crashed (exit status 1)."):
        assert shown in seen.lines


@pytest.mark.parametrize("columns", [80, 120])
def test_an_interrupted_run_tells_what_was_under_way(shop: Shop, columns: int) -> None:
    slow = Scripted("too late", delay=60)
    arguments = software_company(shop, **{"system_test#1/round-1/assistant": slow})
    seen = on_a_terminal(shop, *arguments, columns=columns, interrupt="3 calls", status=130)
    assert any(line.startswith("– 3/3 System test  not finished") for line in seen.lines)
    (folder,) = shop.warehouse.iterdir()
    last = seen.text.partition("– Interrupted after ")[2]
    assert "why       stopped before its end; what was made so far is kept\n" in last
    assert "".join(last.split()).endswith(f"resume{folder}")
    assert "⠋" not in seen.text
    assert "\x1b[?25l" not in seen.written, "a killed run leaves no terminal without its cursor"


def test_a_terminal_of_20_columns_is_enough(shop: Shop) -> None:
    seen = on_a_terminal(shop, *software_company(shop), columns=20, status=1)
    assert "● Plan  3 commands" in seen.lines
    assert "● Coding  main.py …" in seen.lines
    assert "✗ Failed after" in seen.text
    assert "cannot import" in seen.text


def test_a_run_in_a_pipe_has_whole_lines_and_no_colours(shop: Shop) -> None:
    outcome = shop.finish(shop.start(*software_company(shop)))
    assert outcome.status == 1
    assert "\x1b" not in outcome.out + outcome.err
    assert "    main.py:2 ImportError: cannot import name 'wipe' from 'storage' (storage.py)\n" in outcome.out
    assert "⠋" not in outcome.out + outcome.err


def test_a_reader_that_goes_away_stops_no_run(shop: Shop) -> None:
    with shop.start(*software_company(shop)) as process:
        assert process.stdout
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1
    (folder,) = shop.warehouse.iterdir()
    assert "**failure**" in (folder / "run" / "report.md").read_text()


def test_a_terminal_gets_colours_and_a_live_line_that_is_cleared(shop: Shop) -> None:
    shop.replies(second=Scripted(BETTER, delay=1.5))
    seen = on_a_terminal(shop, *shop.arguments(), columns=90)
    assert "\x1b[32m● \x1b[0m" in seen.written
    assert re.search(r"Change · Maker · [01] s · 1 call · 12 tokens · <\$0\.0001", seen.written)
    assert "Change · Maker · 1 s" in seen.written, "the clock runs while a model thinks"
    assert " · Maker · 1 s" not in seen.text


def test_no_color_takes_the_colours_away(shop: Shop) -> None:
    shop.replies()
    written = on_a_terminal(shop, *shop.arguments(), NO_COLOR="1", TERM="dumb").written
    assert "\x1b" not in written
    assert "✓ Done in " in written
    shop.replies(second=Scripted(BETTER, delay=1.5))
    written = on_a_terminal(shop, *shop.arguments("--dialogue"), NO_COLOR="1").written
    assert "Change · Maker · 1 s" in written
    assert re.findall(r"\x1b\[[\d;]*m", written) == []


def test_streamed_text_is_not_wiped_by_the_live_line(shop: Shop) -> None:
    shop.replies(second=Scripted(BETTER, drip=0.01))
    seen = on_a_terminal(shop, *shop.arguments("--stream"))
    assert "    print('better')" in seen.lines


def test_code_of_a_dialogue_is_coloured_on_a_terminal(shop: Shop) -> None:
    shop.replies()
    seen = on_a_terminal(shop, *shop.arguments("--dialogue"))
    assert "    │ print('better')" in seen.lines
    assert re.search(r"\x1b\[[\d;]+mprint\x1b", seen.written)


def test_where_nothing_is_a_terminal_a_line_says_what_is_under_way(shop: Shop, monkeypatch: pytest.MonkeyPatch,
                                                                   capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("chatdev.cli.screen._SILENCE", 0.3)
    monkeypatch.setattr("chatdev.cli.screen._TICK", 0.1)
    with Console() as console:
        console(PhaseStarted("coding#1", "coding", "about", None, "Programmer", 3))
        time.sleep(1.1)
        with console.paused():
            time.sleep(0.5)
    told = capfd.readouterr().err.splitlines()
    assert 2 <= len(told) <= 4
    assert set(told) <= {f"  … Coding · Programmer · {n} s" for n in (0, 1)}


def test_an_unknown_price_is_said_to_be_unknown() -> None:
    story = RunStory()
    for event in (PhaseStarted("coding#1", "coding", "about", "Tester", "Programmer", 3),
                  Uttered("coding#1/round-2/instructor", "instruction", "instructor", "Tester", "x", 2),
                  ModelCalled("coding#1/round-2/assistant", "programmer", "m", 10, 5, 1.0)):
        story.add(event)
    assert LiveLine(story).text() == "Coding · Programmer, round 2 · 0 s · 1 call · 15 tokens · cost unknown"


@pytest.mark.parametrize(("seconds", "tokens", "cost", "shown"), [
    (0.04, 1, None, "0.0 s 1 token cost unknown"), (14.4, 999, 0.0, "14 s 999 tokens $0"),
    (125, 6300, 0.0221, "2 min 5 s 6.3k tokens $0.0221"), (3780, 1_234_567, 1.5, "1 h 3 min 1.2M tokens $1.50"),
    (59.9, 0, 0.00001, "1 min 0 s 0 tokens <$0.0001")])
def test_figures_are_said_as_a_person_says_them(seconds: float, tokens: int, cost: float | None, shown: str) -> None:
    assert f"{format_seconds(seconds)} {format_tokens(tokens)} {format_cost(cost)}" == shown


HOSTILE = "a\x1b[2Jb\u202e[bold]x[/bold]:smile: 日本語" * 20


@pytest.mark.parametrize("columns", [8, 20, 49, 50, 80, 120, 400])
def test_no_step_is_wider_than_the_terminal_whatever_is_in_it(columns: int) -> None:
    story = RunStory()
    events: list[Event] = [
        RunStarted("", "c", "n", "f", {}, ("coding", HOSTILE)),
        PhaseStarted("coding#1", "coding", HOSTILE, HOSTILE, HOSTILE, 3),
        Uttered("coding#1/round-1/instructor", "instruction", "instructor", HOSTILE, HOSTILE, 1),
        ModelCalled("coding#1/round-1/assistant", "programmer", "m", 10**9, 5, 1e6, cost=12345.6),
        DeliveryApplied("coding#1/round-1/assistant", (HOSTILE, "b.py"), (HOSTILE,), lines=(1, 2)),
        PhaseFinished("coding#1", "coding", "consensus", 1, 1)]
    steps = [step for event in events if (step := story.add(event))]
    assert [wcswidth(step_line(step, story, columns).plain) <= columns for step in steps] == [True]


def test_what_models_write_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    with Console("dialogue") as console:
        for event in (PhaseStarted("a#1", "a", "[bold]about[/]", None, "[red]Maker[/]", 1),
                      Uttered("a#1/round-1/assistant", "response", "assistant", "[red]Maker[/]", "[u]y[/] :bug:", 1),
                      Noted("", "[blink]", "warning"), PhaseFinished("a#1", "a", "rounds", 1, 1)):
            console(event)
    said = capsys.readouterr().out
    for text in ("[bold]about[/]", "  [red]Maker[/]\n", "    [u]y[/] :bug:", "warning: [blink]"):
        assert text in said


def test_what_a_step_of_a_tool_found_is_said_in_a_few_words(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Event] = []
    for name, found in (("software.language", "Python"), ("software.examples", '[{"a": 1}, {"a": 2}]'),
                        ("verilog.ports", '{"clk": "in", "q": "out"}'), ("software.packages", ""),
                        ("software.examples", "[]")):
        place = f"{name}#{len(events)}"
        events += [StepStarted(place, "tool", name), ToolCalled(place, name, 0.1, None, found),
                   StepFinished(place, "tool")]
    with Console() as console:
        for event in events:
            console(event)
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
        "● Language  Python", "● Examples  2 examples", "● Ports  clk: in, q: out"]


def test_a_finished_console_has_told_of_steps_that_were_not(capsys: pytest.CaptureFixture[str]) -> None:
    with Console() as console:
        for event in (PhaseStarted("a#1", "a", "about", None, "Maker", 1), RunFinished("", "interrupted", "", 1.0)):
            console(event)
    assert capsys.readouterr().out.startswith("– A  not finished")


def test_a_recorded_session_becomes_a_picture(tmp_path: Path) -> None:
    picture = draw(["run", "a to-do list"], f"\x1b[36mMaker\x1b[0m works in {Path.cwd()}/warehouse\n" + "line\n" * 200)
    assert "Maker" in picture
    assert str(Path.cwd()) not in picture
    assert "http" not in picture.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")


def test_an_indentation_wider_than_the_terminal_leaves_room_for_words() -> None:
    lines = list(layout_text("\t" * 5000 + "several words of a model " * 9, everything=True))
    assert len(lines) < 20
    assert max(map(len, lines)) <= width()
