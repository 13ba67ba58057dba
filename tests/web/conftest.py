"""A warehouse with runs of every kind, a server over it, and one browser a module."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.chat_server import ChatServer
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Shop
from tests.support.viewer import Viewer, long_run, running_viewer, write_journal

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse: a run of a scripted company, which is called `Made`, and journals that were written by hand."""
    folder = tmp_path_factory.mktemp("web")
    with ChatServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        shop = Shop(folder, server)
        shop.route({FIRST: HELLO, SECOND: BETTER})
        made = shop.run("--name", "Made", "--model", "a-model")
        assert made.folder is not None, made.err
        made.folder.rename(shop.warehouse / "Made")
    write_journal(shop.warehouse / "Long", long_run(5000))
    return shop.warehouse


@pytest.fixture(scope="module")
def viewer(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """`chatdev view` over that warehouse."""
    with running_viewer(root, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    assert CHROMIUM, "this test needs chromium (apt-get install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, viewer: Viewer) -> Iterator[Page]:
    """A page that was let in; scripts that fail or are refused by the policy fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error"
            and "Failed to load resource" not in message.text and "ERR_" not in message.text else None)
    page.goto(viewer.address)
    yield page
    context.close()
    assert problems == []
