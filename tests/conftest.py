"""What every test stands on: a home of its own, no keys from outside, a scripted server, and a shop over it."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import durable
from tests.support.chat_server import ChatServer
from tests.support.shop import Shop

settings.register_profile("busy", deadline=None,  # a machine that is busy with other things is slow now and then
                          max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=500)  # that of `make prove`
settings.load_profile("busy")
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background of a script, and those of nohup, are
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # started to ignore these, and programs of the tests would do so too
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # containers set it, and then each of the hundreds of programs that
sys.dont_write_bytecode = False  # the tests start would compile all of chatdev again


gc.disable()  # until all tests are collected: they are there to the end, and need not be looked through again and again


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Empty homes, one for each test; one that a test left empty is the next one's."""
    folder = tmp_path_factory.mktemp("homes")

    def homes() -> Iterator[Path]:
        for number in itertools.count():
            (home := folder / str(number)).mkdir()
            while home.is_dir() and not any(home.iterdir()):
                yield home
    return homes()


@pytest.fixture(autouse=True)
def _own_home(request: pytest.FixtureRequest, _homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's settings, caches and keys out; tests with the real model keep the cache it lies in."""
    for name in [n for n in os.environ if n.startswith(("OPENAI_", "AZURE_OPENAI_", "CHATDEV_"))]:
        if name != "CHATDEV_TEST_MODEL":
            monkeypatch.delenv(name)
    if request.node.get_closest_marker("model"):
        return
    home = next(_homes)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A scripted model server."""
    with ChatServer() as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shop(tmp_path: Path, chat_server: ChatServer) -> Shop:
    """A shop over a fresh server and warehouse."""
    return Shop(tmp_path, chat_server)


@pytest.fixture
def workshop(shop: Shop) -> Shop:
    """The shop with the company of a loop and branches."""
    durable.workshop(shop.folder, shop.server)
    return shop
