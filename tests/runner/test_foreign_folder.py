"""A run folder that somebody else has written: its record says what the run was, and consents to nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.config.settings import UserSettings
from chatdev.errors import ConfigError, JournalError
from chatdev.runner.options import RunOptions
from chatdev.runner.recorded import restore_options
from chatdev.runner.resources import sum_past_spending
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.durable import OUTAGE, contents, resume
from tests.support.shop import Outcome, Shop

ELSEWHERE = "http://127.0.0.1:9/v1"


def forge(folder: Path | None, change: Mapping[str, Any]) -> Path:
    """Write something else into the journal's order: a field, or a field of a field (`options.sandbox`)."""
    assert folder is not None
    journal = folder / "run" / "journal.jsonl"
    first, *rest = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    order = json.loads(first)
    for path, value in change.items():
        *parents, name = path.split(".")
        inner = order
        for parent in parents:
            inner = inner[parent]
        inner[name] = value
    journal.write_text("".join([json.dumps(order) + "\n", *rest]), encoding="utf-8")
    return folder


def foreign(shop: Shop, change: Mapping[str, Any], second: str = "") -> Path:
    """The folder of a run that was stopped before its second call, with another order."""
    folder = stopped(shop)
    shop.replies(**({"second": second} if second else {}))
    return forge(folder, change)


def stopped(shop: Shop) -> Path:
    """The folder of a run that was stopped before its second call."""
    shop.replies(second=OUTAGE)
    outcome = shop.run()
    assert outcome.status == 3, outcome.err
    assert outcome.folder is not None
    shop.server.requests.clear()
    return outcome.folder


def assert_refused(shop: Shop, folder: Path, *words: str, more: tuple[str, ...] = ()) -> Outcome:
    """Resuming is refused in words, with nothing asked and nothing changed."""
    before = contents(folder)
    refused = resume(shop, folder, *more)
    assert refused.status in (2, 5), refused.out + refused.err
    for word in words:
        assert word in refused.err
    assert "Traceback" not in refused.err
    assert shop.server.requests == []
    assert contents(folder) == before
    return refused


@pytest.mark.parametrize("way", [(), ("--as-it-was",), ("--from", "write#1"), ("--from-here",)])
def test_an_address_that_only_the_journal_knows_is_refused(shop: Shop, way: tuple[str, ...]) -> None:
    folder = foreign(shop, {"options.base_url": ELSEWHERE})
    way = (*way, "--company", str(shop.company)) if "--from-here" in way else way
    assert_refused(shop, folder, ELSEWHERE, f"--base-url {ELSEWHERE}", "your own settings do not", more=way)


def test_an_address_of_the_users_own_is_as_before(shop: Shop) -> None:
    folder = foreign(shop, {"options.base_url": shop.server.url})
    resume(shop, folder).assert_succeeded()


def test_an_address_that_is_given_again_is_asked(shop: Shop) -> None:
    folder = foreign(shop, {"options.base_url": ELSEWHERE})
    resume(shop, folder, "--base-url", shop.server.url).assert_succeeded()


@pytest.mark.tool
@pytest.mark.parametrize("again", [False, True])
def test_a_record_takes_no_program_out_of_the_sandbox(shop: Shop, again: bool) -> None:
    """Only the user does: by the flag, given anew."""
    outside = shop.folder / "outside"
    Studio(shop.folder, shop.server).company({"write": WRITE, "change": CHANGE}, [
        {"phase": "write"}, {"phase": "change"}, {"tool": "software.run", "writes": "test"}], success="test.passed")
    folder = foreign(shop, {"options.sandbox": "none"},
                     "<SOLUTION>\n" + program(f"open({str(outside)!r}, 'w').write('owned')\nprint('better')"))
    outcome = resume(shop, folder, *(("--sandbox", "none") if again else ()))
    assert outside.exists() == again, outcome.out
    notes = [event["text"] for event in outcome.events("Noted")]
    assert any("a record cannot decide" in note and "--sandbox none" in note for note in notes) == (not again)


@pytest.mark.parametrize(("recorded", "user", "options", "noted"), [
    ({"sandbox": "none"}, {}, {"sandbox": None}, "'bubblewrap'"),
    ({"sandbox": "docker"}, {"sandbox": "bubblewrap"}, {"sandbox": None}, "--sandbox docker again"),
    ({"sandbox": "none"}, {"sandbox": "none"}, {"sandbox": None}, ""),
    ({"install": "auto"}, {"install": "never"}, {"install": "never"}, ""),
    ({"install": "never"}, {"install": "auto"}, {"install": "never"}, ""),
    ({"install": "ask"}, {}, {"install": "ask"}, ""),
    ({"runtime": "top"}, {}, {"runtime": "top"}, ""),
    ({"runtime": "top"}, {"install": "never"}, {"runtime": None}, "--runtime top again"),
    ({"model": "gpt-4o"}, {}, {"model": "gpt-4o"}, ""),
    ({"model": "local"}, {}, {"model": "local"}, ""),
    ({"model": "local:a.gguf"}, {"model": "local:a.gguf"}, {"model": "local:a.gguf"}, ""),
    ({"base_url": ELSEWHERE}, {"base_url": ELSEWHERE}, {"base_url": ELSEWHERE}, ""),
    ({"language": "French"}, {}, {"language": "French"}, ""),
    ({"max_cost": 9, "max_calls": 3}, {}, {"max_cost": 9, "max_calls": 3, "max_tokens": None}, "3 calls, $9.0000"),
    ({"warehouse": "/tmp", "software": "/etc", "name": "x", "api_key": "k", "org": "o"}, {},
     {"warehouse": None, "software": None, "name": None, "api_key": None, "org": None}, ""),
])
def test_what_a_record_decides_and_what_it_does_not(recorded: dict[str, Any], user: dict[str, Any],
                                                    options: dict[str, Any], noted: str) -> None:
    restored = restore_options(recorded, RunOptions(), UserSettings(**user))
    assert {name: getattr(restored.options, name) for name in options} == options
    assert bool(restored.notes) == bool(noted)
    assert noted in "".join(restored.notes)


@pytest.mark.parametrize(("recorded", "words"), [
    ({"model": "local:/home/ann/evil.gguf"}, "--model local:/home/ann/evil.gguf"),
    ({"base_url": ELSEWHERE}, f"--base-url {ELSEWHERE}"),
    ({"base_url": "http://ann:[secret]@host/v1"}, "asked the model at http://host/v1"),
    ({"install": "always"}, "known are: auto, ask, never"),
])
def test_what_only_the_user_can_say_is_asked_for(recorded: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        restore_options(recorded, RunOptions(), UserSettings())
    assert words in str(refused.value)


def test_a_model_of_ones_own_needs_no_address() -> None:
    class Mine:
        name = "mine"

    given = RunOptions(model=Mine())  # type: ignore[arg-type]
    assert restore_options({"model": "mine", "base_url": ELSEWHERE}, given, UserSettings()).options == given


@pytest.mark.parametrize(("change", "words"), [
    ({"software": {"../../escaped.py": "eA=="}}, "'../../escaped.py' leaves the software folder"),
    ({"software": {"/tmp/chatdev-escaped.py": "eA=="}}, "is absolute"),
    ({"software": {".git/hooks/pre-commit": "eA=="}}, "git metadata"),
    ({"software": {"a//b.py": "eA=="}}, "'a//b.py'"),
    ({"source.sandbox": "none"}, "sandbox"),
    ({"source.sets": "model.base_url=x"}, "sets"),
    ({"source.name_or_path": ["chatdev"]}, "name_or_path"),
    ({"options.sandbox": {"none": 1}}, "sandbox"),
    ({"options.base_url": 5}, "base_url"),
    ({"company": "company: \ud800"}, "damaged"),
])
def test_an_order_that_no_chatdev_wrote_is_refused(shop: Shop, change: dict[str, Any], words: str) -> None:
    assert_refused(shop, forge(stopped(shop), change), words, "journal")


@pytest.mark.parametrize(("field", "value"), [("cost", -1000.0), ("prompt_tokens", -10**9), ("seconds", float("nan")),
                                              ("cost", float("inf"))])
def test_nobody_gets_a_budget_back_by_what_a_journal_says(field: str, value: float) -> None:
    call = {"kind": "ModelCalled", "place": "a#1", "model": "m", "replayed": False, "prompt_tokens": 1,
            "completion_tokens": 1, "cost": 0.5, "seconds": 1.0}
    with pytest.raises(JournalError, match="no amount"):
        sum_past_spending([{**call, field: value}])


@pytest.mark.parametrize("name", ["run/journal.jsonl", "run/company.yaml", "run/report.md", "software/.git/info",
                                  "software/.git/refs", "software/.git/HEAD", "software"])
def test_nothing_is_written_through_a_link_in_a_run_folder(shop: Shop, name: str) -> None:
    folder = foreign(shop, {})
    outside = shop.folder / "outside"
    (folder / name).rename(outside)
    (folder / name).symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else contents(outside)
    outcome = resume(shop, folder)
    assert outcome.status in (0, 5), outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.status == 0 or "move it away" in outcome.err
    assert (outside.read_bytes() if outside.is_file() else contents(outside)) == before
    assert outcome.status == (0 if name in ("run/company.yaml", "run/report.md") else 5)


@pytest.mark.parametrize("command", [("resume",), ("replay",), ("resume", "--from", "write#1"),
                                     ("resume", "--task", "more")])
def test_a_pipe_for_a_journal_is_not_waited_for(shop: Shop, command: tuple[str, ...]) -> None:
    folder = stopped(shop)
    (folder / "run" / "journal.jsonl").unlink()
    os.mkfifo(folder / "run" / "journal.jsonl")
    refused = shop.command(command[0], str(folder), *command[1:])
    assert refused.status == 5, refused.err
    assert "it is a pipe" in refused.err


def test_a_giant_beside_the_software_ends_the_session_in_words(shop: Shop) -> None:
    folder = foreign(shop, {})
    with (folder / "software" / "stray.bin").open("wb") as file:
        file.truncate(2 << 30)
    outcome = resume(shop, folder)
    assert outcome.status == 5, outcome.err
    assert "stray.bin is larger than 10 MiB; keep data out of the software" in outcome.err


NAMED = {"source.sets": ["model.base_url=http://host.invalid/v1", "model.key_env=HOME"]}


@pytest.mark.parametrize("more", [(), ("--from", "write#1"), ("--from-here",)])
def test_what_a_journal_says_was_set_is_not_the_users_word(shop: Shop, more: tuple[str, ...]) -> None:
    """`--set model.key_env=…` is; the same in a record would send any variable anywhere."""
    folder = foreign(shop, NAMED)
    del shop.environment["OPENAI_BASE_URL"]
    assert_refused(shop, folder, "host.invalid", "HOME", "consent", more=(*more, "--company", str(shop.company)))


def test_nor_is_the_company_that_it_holds(shop: Shop) -> None:
    folder = foreign(shop, {})
    text = json.loads((folder / "run" / "journal.jsonl").read_text().splitlines()[0])["company"]
    forge(folder, {"company": f"{text}\nmodel: {{base_url: 'http://host.invalid/v1', key_env: HOME}}\n"})
    del shop.environment["OPENAI_BASE_URL"]
    assert_refused(shop, folder, "host.invalid", "HOME", "consent", more=("--as-it-was",))


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_a_company_that_is_no_file_is_not_waited_for(shop: Shop, kind: str) -> None:
    """Where the record names it nobody looks there."""
    place = shop.folder / "company.yaml"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    folder = foreign(shop, {"source.name_or_path": str(place)})
    assert_refused(shop, folder, "there is no company", "--as-it-was", more=("--company", str(place)))
    assert_refused(shop, folder, "a path on record is not followed", "--company", more=("--from-here",))
    resumed = resume(shop, folder)
    resumed.assert_succeeded()
    assert any("a path on record is not followed" in note["text"] for note in resumed.events("Noted"))


@pytest.mark.parametrize("place", ["other", "./other", "other/company.yaml", "../{}/other"])
def test_a_company_that_only_a_record_names_is_not_read(shop: Shop, place: str,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be any file of the user's, whose text would go to the model."""
    monkeypatch.chdir(shop.folder)
    own = shop.company.read_text() if shop.company.is_file() else (shop.company / "company.yaml").read_text()
    (shop.folder / "other").mkdir()
    (shop.folder / "other" / "company.yaml").write_text(f"background: MY OWN WORDS\n{own}")
    folder = foreign(shop, {"source.name_or_path": place.format(shop.folder.name)})
    resume(shop, folder).assert_succeeded()
    assert "MY OWN WORDS" not in str([request.body for request in shop.server.requests])


def test_nothing_of_git_is_started_whatever_the_repository_says(shop: Shop) -> None:
    """Its settings name programs, and files that never end; so do the variables of git."""
    folder, mark = foreign(shop, {}), shop.folder / "mark"
    hook = folder / "software" / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir()
    for file, text in ((hook, f"#!/bin/sh\ntouch {mark}\n"), (hook.parents[1] / "config", f"""[core]
 repositoryformatversion = 0
 fsmonitor = touch {mark}
 hooksPath = hooks
 sshCommand = touch {mark}
 worktree = /nowhere
[include]
 path = /dev/zero
[includeIf "gitdir:**"]
 path = /dev/zero
[filter "x"]
 clean = touch {mark}
 required = true
[diff]
 external = touch {mark}
[gpg]
 program = touch {mark}
[commit]
 gpgSign = true
[extensions]
 worktreeConfig = true
""")):
        file.write_text(text)
        file.chmod(0o755)
    (folder / "software" / ".gitattributes").write_text("* filter=x diff=x\n")
    shop.environment |= {"GIT_DIR": "/nowhere", "GIT_EXTERNAL_DIFF": f"touch {mark}", "GIT_CONFIG_COUNT": "1",
                         "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": f"touch {mark}"}
    resume(shop, folder).assert_succeeded()
    assert not mark.exists()
    assert "fsmonitor" in (hook.parents[1] / "config").read_text(), "what the user set stays"


@pytest.mark.parametrize("name", ["company.yaml", "report.md"])
def test_a_pipe_in_the_record_is_replaced(shop: Shop, name: str) -> None:
    folder = foreign(shop, {})
    (folder / "run" / name).unlink()
    os.mkfifo(folder / "run" / name)
    resume(shop, folder).assert_succeeded()
    assert (folder / "run" / name).is_file()
