"""Inputs that name a place: from anybody but the user, a file needs consent, and a server is never asked."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company, ConsentMissing, Run
from chatdev.config.settings import add_trust
from chatdev.departments.process.pool import InstanceOutcome
from chatdev.departments.process.pool_store import InstancePool
from chatdev.departments.process.process_company import DEFAULT_POOL
from chatdev.errors import ConfigError
from tests.departments.process.office import COMPANY, REPLIES, SHORT, TASK
from tests.support.chat_server import ChatServer
from tests.support.shop import Shop

OTHERS = "theirs.sqlite"


@pytest.fixture
def evil(here: Path, chat_server: ChatServer) -> Path:
    """A company of somebody's that names a pool."""
    chat_server.route(lambda request: REPLIES.get(request.headers["X-ChatDev-Phase"]))
    fill(here / OTHERS)
    return name_pool(here, f"{OTHERS}#mine")


def name_pool(here: Path, place: str) -> Path:
    """The company, with a pool that it names."""
    folder = here / "evil"
    folder.mkdir(exist_ok=True)
    inputs = f"inputs: {{pool: {{about: x, default: {json.dumps(place)}, hidden: true}}}}"
    (folder / "company.yaml").write_text(f"company: evil\nabout: x\nextends: top\n{inputs}\n")
    return folder


def fill(file: Path) -> None:
    pool = InstancePool(str(file), "mine", COMPANY.default)
    pool.add([InstanceOutcome(tuple(SHORT.split(" → ")), True)])
    pool.close()


@pytest.fixture
def server() -> Iterator[tuple[str, list[bytes]]]:
    """An address, and what was sent to it by anybody who came."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def answer() -> None:
            with suppress(OSError):
                while True:
                    peer, _ = listening.accept()
                    heard.append(peer.recv(1000))
                    peer.close()

        threading.Thread(target=answer, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}", heard
        listening.shutdown(socket.SHUT_RDWR)


def run(company: Path | str, server: ChatServer, *, sets: tuple[str, ...] = (), **options: Any) -> Run:
    options["inputs"] = {"develop": "no", **options.pop("inputs", {})}
    return Company.load(company, sets=sets).run(TASK, model="m", base_url=server.url, sandbox="none",
                                                warehouse="warehouse", **options)


def origin(run: Run) -> Any:
    return run.values["knowledge"]["origin"]


def test_a_file_that_a_company_names_is_not_opened_unasked(evil: Path, chat_server: ChatServer) -> None:
    before = Path(OTHERS).read_bytes()
    with pytest.raises(ConsentMissing) as refused:
        run(evil, chat_server)
    for word in (f"the file {OTHERS}#mine as the input `pool`", f"chatdev trust {evil / 'company.yaml'}", "--trust"):
        assert word in str(refused.value)
    assert not chat_server.requests
    assert not Path("warehouse").exists()
    assert "the pool 'mine'" in origin(run(evil, chat_server, trust=True))
    with pytest.raises(ConsentMissing):
        run(evil, chat_server)  # that was for one run
    assert Path(OTHERS).read_bytes() == before


def test_consent_to_a_place_holds_until_it_changes(evil: Path, chat_server: ChatServer, here: Path) -> None:
    add_trust(Company.load(evil).word.stranger().trust())
    assert "the pool 'mine'" in origin(run(evil, chat_server))
    name_pool(here, "another.sqlite#mine")
    with pytest.raises(ConsentMissing, match=r"another\.sqlite"):
        run(evil, chat_server)


def test_a_place_that_the_user_names_needs_no_consent(evil: Path, chat_server: ChatServer) -> None:
    assert "the pool 'mine'" in origin(run("top", chat_server, inputs={"pool": f"{OTHERS}#mine"}))
    assert "the pool 'mine'" in origin(run(evil, chat_server, inputs={"pool": f"{OTHERS}#mine"}))
    assert "the pool 'mine'" in origin(run("top", chat_server, sets=(f"inputs.pool.default={OTHERS}#mine",)))
    assert origin(run(evil, chat_server, inputs={"pool": ""})) == "the company's examples"
    loaded = Company.load(evil)
    assert Company(loaded.config).word.places[0].is_strangers is False, "a value of the caller's own"


@pytest.mark.parametrize("form", ["postgresql://{}/name#mine", "postgres://ann:pw-0123456789@{}/name#mine",
                                  "postgresql+psycopg://{}/name?passfile=/etc/passwd#mine", "mysql://{}/name#mine"])
def test_a_server_that_a_company_names_is_never_asked(
        evil: Path, chat_server: ChatServer, here: Path, server: tuple[str, list[bytes]], form: str,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with consent either: the passwords that drivers find by themselves would go there."""
    monkeypatch.setenv("PGPASSWORD", "my-own-pg-password-17")
    (here / ".pgpass").write_text("*:*:*:*:my-own-pgpass-18\n")
    (here / ".pgpass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(here / ".pgpass"))
    address, heard = server
    name_pool(here, form.format(address))
    add_trust(Company.load(evil).word.stranger().trust())
    for trust in (False, True):
        with pytest.raises(ConfigError, match="names the server .* which is not asked unless you name it yourself"):
            run(evil, chat_server, trust=trust)
    done = run("top", chat_server, inputs={"pool": ""})
    forged(done.folder, form.format(address))
    for more in ({}, {"from_here": True}, {"as_it_was": True}):
        with pytest.raises(ConfigError, match="the journal names the server"):
            chatdev.resume(done.folder, trust=True, model="m", base_url=chat_server.url, **more)  # type: ignore[arg-type]
    assert heard == []


def forged(folder: Path, place: str) -> Path:
    """Write a place into the inputs of a record, and forget what was done."""
    journal = folder / "run" / "journal.jsonl"
    first, *rest = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    order = json.loads(first)
    order["inputs"]["pool"] = place
    kept = [line for line in rest if '"Message"' in line]
    journal.write_text("".join((json.dumps(order) + "\n", *kept)), encoding="utf-8")
    return folder


def test_a_place_on_record_needs_consent_too(evil: Path, chat_server: ChatServer) -> None:
    folder = forged(run("top", chat_server).folder, f"{OTHERS}#mine")
    options: dict[str, Any] = {"model": "m", "base_url": chat_server.url, "sandbox": "none"}
    with pytest.raises(ConsentMissing) as refused:
        chatdev.resume(folder, **options)
    assert f"the file {OTHERS}#mine" in str(refused.value)
    assert f"chatdev trust {folder.resolve()}" in str(refused.value)
    add_trust(Company.load("top").word.stranger().trust())
    with pytest.raises(ConsentMissing):
        chatdev.resume(folder, **options)  # consent to the company is none to what a record names
    assert "the pool 'mine'" in origin(chatdev.resume(folder, inputs={"pool": f"{OTHERS}#mine"}, **options))
    again = forged(run("top", chat_server).folder, f"{OTHERS}#mine")
    assert "the pool 'mine'" in origin(chatdev.resume(again, trust=True, **options))


def test_a_run_keeps_all_inputs_but_its_places(evil: Path, chat_server: ChatServer) -> None:
    folder = run("top", chat_server).folder
    with pytest.raises(ConfigError, match="only one that names a place may be given again; its places are: pool"):
        chatdev.resume(folder, inputs={"task": "another"}, model="m", base_url=chat_server.url)


def test_the_commands_show_a_place_and_take_consent(evil: Path, shop: Shop, here: Path) -> None:
    place = f"the file {OTHERS}#mine as the input `pool`"
    shop.environment["OPENAI_BASE_URL"] = shop.server.url
    dry = ("run", TASK, "--company", str(evil), "--dry-run")
    for command in (("check", str(evil)), dry):
        shown = shop.command(*command)
        assert shown.status == 0, shown.err
        assert f"the company names {place}" in shown.out
        assert "needs your consent: chatdev trust" in shown.out
    refused = shop.command("run", TASK, "--company", str(evil))
    assert refused.status == 2
    assert place in refused.err
    trusted = shop.command("trust", str(evil), "--yes")
    assert place in trusted.out
    assert place in shop.command("trust", "--list").out
    assert "needs your consent" not in shop.command("check", str(evil)).out
    folder = forged(run("top", shop.server).folder, "other.sqlite#x")
    refused = shop.command("resume", str(folder), "--model", "m")
    assert (refused.status, "other.sqlite#x" in refused.err) == (2, True)
    assert "other.sqlite#x" in shop.command("trust", str(folder), "--yes").out
    assert shop.command("resume", str(folder), "--model", "m", "--max-calls", "1").status in (0, 1, 6)


@pytest.mark.parametrize(("place", "words"), [
    ("nonsense.sqlite#mine", "not a database"), ("nonsense.sqlite", "write it as FILE#NAME"),
    ("view.sqlite#mine", "acts"), ("sqlite:///view.sqlite?mode=rw#mine", "without options"), (".#mine", "a folder"),
    ("/dev/zero#mine", "a device"), ("http://127.0.0.1:9/x#mine", "address of a database"), ("#", "FILE#NAME")])
def test_a_broken_pool_that_the_user_names_is_an_error(evil: Path, chat_server: ChatServer, shop: Shop, place: str,
                                                       words: str) -> None:
    break_pools()
    with pytest.raises(ConfigError, match=words):
        run("top", chat_server, inputs={"pool": place})
    refused = shop.command("run", TASK, "--company", "top", "--input", f"pool={place}", "--model", "m")
    assert refused.status == 2, refused.out
    assert not chat_server.requests
    assert not Path("warehouse").exists()


def break_pools() -> None:
    Path("nonsense.sqlite").write_text("no database at all, and long enough to be looked at" * 9)
    with closing(sqlite3.connect("view.sqlite")) as file, file:
        file.execute("CREATE VIEW chatdev_pools AS WITH RECURSIVE n(pool, phases) AS (SELECT 1, 1 UNION ALL SELECT * "
                     "FROM n) SELECT * FROM n")


@pytest.mark.parametrize("broken", ["nonsense.sqlite", "view.sqlite", "/dev/zero", "folder"])
def test_a_broken_default_pool_is_no_experience(evil: Path, chat_server: ChatServer, broken: str) -> None:
    break_pools()
    Path("studies").mkdir()
    place = Path(DEFAULT_POOL.partition("#")[0])
    if broken == "folder":
        place.mkdir()
    else:
        place.symlink_to(Path(broken).absolute())
    done = run("top", chat_server, max_minutes=1)
    assert done.values["instance"] == SHORT.split(" → ")
    assert origin(done) == "the pool that the company comes with"
    [note] = done.values["knowledge"]["notes"]
    assert note.startswith(f"nothing is learnt from the pool {DEFAULT_POOL}: ")
    assert note in (done.folder / "run" / "report.md").read_text(encoding="utf-8")
