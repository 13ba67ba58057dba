"""What a chain costs: an easy task, whose second draft does what the request shows, against a single call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev import Company
from chatdev.paths import settings_file
from tests.support.chat_server import ChatServer

REQUEST = """The kitchen counts what is left of the bread. I type the loaves as arguments, each as a number of slices.

`python main.py 12 8 5` prints `25 slices in 3 loaves`.

A loaf with no slice left is not counted. When something is typed that is no whole number, it prints
`whole numbers only` and ends with status 1. Without any loaf it says `no bread`."""
COUNT = """import sys


def count(words):
    slices = []
    for word in words:
        try:
            number = int(word)
        except ValueError:
            print("whole numbers only")
            sys.exit(1)
        if number > 0:
            slices.append(number)
    return slices


def main():
    slices = count(sys.argv[1:])
    if not slices:
        print("no bread")
    else:
        print(f"{sum(slices)} slices in {len(slices)} loaves")


if __name__ == "__main__":
    main()"""


def spent(server: ChatServer, replies: Mapping[str, str]) -> list[tuple[str, int]]:
    """The phases of the requests, each with the tokens that it and its reply took, roughly."""
    found = []
    for request in server.requests:
        phase, place = (request.headers[f"X-ChatDev-{name}"] for name in ("Phase", "Activity"))
        texts = [message["content"] for message in request.body["messages"]] + [replies.get(place, replies[phase])]
        found.append((phase, sum(map(len, texts)) // 4))
    return found


def make_small() -> None:
    """Let the model `m` have the profile of a small one."""
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("models: [{match: [m], drafts: 4, drafts_at_once: 1, sizes: {program: small}}]",
                               encoding="utf-8")


@pytest.mark.tool
def test_an_easy_task_costs_at_most_six_times_one_call(chat_server: ChatServer, tmp_path: Path) -> None:
    make_small()
    right, wrong = (f"main.py\n```python\n{code}\n```" for code in (COUNT, COUNT.replace("slices in", "slices of")))
    replies = {"coding": right, "coding#1/round-1/assistant": wrong, "manual": "line of text " * 75}
    chat_server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"],
                                                  replies[request.headers["X-ChatDev-Phase"]]))
    for company in ("single", "chatdev"):
        [(_, once)] = spent(chat_server, replies) or [("", 0)]
        chat_server.requests.clear()
        run = Company.load(company).run(REQUEST, model="m", base_url=chat_server.url, warehouse=tmp_path)
    assert run.success, run.reason
    assert [phase for phase, _ in spent(chat_server, replies)] == ["coding"] * 2 + ["manual"]
    assert sum(tokens for _, tokens in spent(chat_server, replies)) <= 6 * once


@pytest.mark.tool
def test_a_small_model_drafts_anew_and_repairs_nothing(chat_server: ChatServer, tmp_path: Path) -> None:
    make_small()
    right, wrong = (f"main.py\n```python\n{code}\n```" for code in (COUNT, COUNT.replace("slices in", "slices of")))
    replies = {"coding": wrong, "redraft": wrong, "redraft#1/round-1/assistant/draft-2": right, "manual": "# Loaves"}
    chat_server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"],
                                                  replies[request.headers["X-ChatDev-Phase"]]))
    run = Company.load("chatdev").run(REQUEST, model="m", base_url=chat_server.url, warehouse=tmp_path)
    assert run.success, run.reason
    assert [phase for phase, _ in spent(chat_server, replies)] == ["coding"] * 4 + ["redraft"] * 2 + ["manual"]
