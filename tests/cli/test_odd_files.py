"""Whatever a user types where a file belongs, no command hangs, swells or shows a traceback."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.odd_files import make
from tests.support.shop import Shop

COMMANDS = [("run", "--task", "@{}", "--company", "single"),
            ("run", "x", "--company", "planner1", "--input", "bench=@{}"), ("run", "x", "--company", "{}"),
            ("check", "{}"),
            ("replay", "{}"), ("resume", "{}"), ("play", "{}"), ("plc", "check", "{}"),
            ("process", "import", "{}"),
            ("process", "filter", "--ledger", "{}"), ("eval", "report", "--ledger", "{}"),
            ("trust", "{}"),
            ("eval", "srdd", "--data", "{}"), ("process", "develop", "--tasks", "srdd:1", "--from", "{}"),
            ("run", "x", "--company", "planner1", "--input", "given={}"), ("run", "x", "--path", "{}/x"),
            ("eval", "judge", "{}", "{}", "--model", "m", "--record", "{}")]


@pytest.mark.parametrize("kind", ["pipe", "folder", "/dev/zero", "half\udcff", "long"], ids=ascii)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_them_in_words(shop: Shop, here: Path, command: tuple[str, ...], kind: str) -> None:
    place, began = str(make(here, kind)), time.monotonic()
    shop.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    shop.environment["CHATDEV_MODEL"] = "m"
    done = shop.command(*(word.replace("{}", place) for word in command))
    assert done.status not in (0, 70), done.out + done.err
    assert "Traceback" not in done.out + done.err
    assert not shop.server.requests
    assert time.monotonic() - began < 60


def test_a_warehouse_that_is_no_text_is_refused_before_anything_is_paid(shop: Shop) -> None:
    refused = shop.command("run", "TASK", "--company", str(shop.company), "--warehouse", "caf\udce9")
    assert refused.status == 2
    assert "bytes that are no UTF-8" in refused.err
    assert not shop.server.requests
