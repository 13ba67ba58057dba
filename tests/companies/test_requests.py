"""Requests as people write them, from the command to the report: one that contradicts itself, one whose example has
several lines, one in German and one in Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.paths import settings_file
from tests.engine.studio import program
from tests.support.chat_server import ChatServer
from tests.support.shop import Outcome, Shop

pytestmark = pytest.mark.tool

DOUBLE = program("import sys\nprint(int(sys.argv[1]) * 2)")
SIX, SEVEN = "`python main.py 3` prints `6`.", "`python main.py 3` prints `7`."
TOLD = ["The request contradicts itself, so none of this counts:", "- `python main.py 3` prints '6'",
        "- `python main.py 3` prints '7'"]
SHOWN = "\n  ".join([f"  warning: {TOLD[0]}", *TOLD[1:]]) + "\n"

BIRDS = """A command-line program that counts birds.

```
$ python main.py tit robin tit
robin: 1
tit: 2
birds: 3
```
"""
COUNTED = "for bird in sorted({*sys.argv[1:]}):\n    print(f'{bird}: {sys.argv.count(bird)}')\n"
TOGETHER = "print(f'birds: {len(sys.argv) - 1}')\n"

GERMAN = "Schreibe ein Kommandozeilenprogramm, das Äpfel auf Körbe verteilt. `python main.py 10 3` gibt " \
         "`je 3 Äpfel, übrig: 1` aus."
CHINESE = "写一个命令行程序,计算书的总价。运行 `python main.py 3 12` 输出 `共3本,总价36元`。"
SHARED, PRICED = "je 3 Äpfel, übrig: 1", "共3本,总价36元"


def order(folder: Path, server: ChatServer, task: str, replies: Mapping[str, str]) -> Outcome:
    """`chatdev run` with a task; the replies are found by the activity's place, else by its phase."""
    everything = {"code_review": "<SOLUTION>", "manual": "# The program\nIt works.", **replies}
    shop = Shop(folder, server)
    server.route(lambda request: everything.get(request.headers["X-ChatDev-Activity"],
                                                everything.get(request.headers["X-ChatDev-Phase"])))
    return shop.command("run", task, "--company", "chatdev", "--model", "m", "--warehouse", str(shop.warehouse))


def make_small(drafts: int) -> None:
    """Let the model `m` have the profile of a small one."""
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(f"models: [{{match: [m], drafts: {drafts}, drafts_at_once: 1, sizes: {{program: small}}"
                               "}]", encoding="utf-8")


def test_a_request_that_contradicts_itself_is_told_and_the_rest_counts(tmp_path: Path, chat_server: ChatServer) -> None:
    done = order(tmp_path, chat_server, f"A command-line program. {SIX} {SEVEN} `python main.py 4` prints `8`.", {
        "coding": DOUBLE, "architecture": "main.py", "checks": "[]"})
    done.assert_succeeded()
    assert done.out.count(SHOWN) == 1
    assert f"## Notes\n\n- {' '.join(TOLD)}\n" in done.report
    assert "\n> It starts, and the example that the customer's request gives holds.\n" in done.report


def test_nobody_brings_back_what_a_request_contradicts(tmp_path: Path, chat_server: ChatServer) -> None:
    done = order(tmp_path, chat_server, f"A command-line program that doubles a number. {SIX} {SEVEN}", {
        "coding": DOUBLE, "architecture": "main.py",
        "checks": '[{"about": "three", "starts": [{"command": "python main.py 3", "prints": "7"}]}]'})
    assert done.status == 4, "nothing that was tried confirms it"
    assert done.out.count(SHOWN) == 1
    found = [event["summary"] for event in done.events("ToolCalled") if event["tool"] == "software.examples"]
    assert found == ["[]"] * 3
    assert "Nothing that was tried confirms that it does what the request says" in done.report


def test_lines_in_another_order_are_another_output(tmp_path: Path, chat_server: ChatServer) -> None:
    make_small(drafts=3)
    done = order(tmp_path, chat_server, BIRDS, {
        "coding#1/round-1/assistant": program(f"import sys\n{TOGETHER}{COUNTED}"),
        "coding#1/round-1/assistant/draft-2": program(f"import sys\n{COUNTED}{TOGETHER}")})
    done.assert_succeeded()
    assert done.software.text("main.py").strip() == f"import sys\n{COUNTED}{TOGETHER}".strip()
    assert [(event["number"], event["examples"]) for event in done.events("DraftJudged")] == [(1, [0, 1]), (2, [1, 1])]


@pytest.mark.parametrize(("task", "wanted", "output", "seen"), [
    pytest.param(GERMAN, SHARED, "je {a // b} Äpfel, übrig: {a % b}", SHARED, id="German-right"),
    pytest.param(GERMAN, SHARED, "je {a // b} Äpfel, Rest: {a % b}", "je 3 Äpfel, Rest: 1", id="German-wrong"),
    pytest.param(CHINESE, PRICED, "共{a}本,总价{a * b}元", PRICED, id="Chinese-right"),
    pytest.param(CHINESE, PRICED, "共{a}本,总价{a + b}元", "共3本,总价15元", id="Chinese-wrong")])
def test_a_request_in_another_language_is_tried_by_its_example(tmp_path: Path, chat_server: ChatServer, task: str,
                                                               wanted: str, output: str, seen: str) -> None:
    make_small(drafts=1)
    text = program(f"import sys\na, b = map(int, sys.argv[1:])\nprint(f'{output}')")
    done = order(tmp_path, chat_server, task, {"coding": text, "redraft": text})
    assert "Examples          1 entry\n" in done.out
    if seen == wanted:
        done.assert_succeeded()
        assert "> It starts, and the example that the customer's request gives holds.\n" in done.report
        assert f"> $ {task.split('`')[1]}\n> {seen}\n" in done.report
    else:
        assert done.status == 1
        assert "why       the final test did not pass\n" in done.out
        assert "> It starts, but the example that the customer's request gives does not hold.\n" in done.report
        assert f"> wanted, as the customer's request says:\n>   {wanted}\n> seen:\n>   {seen}\n" in done.report
