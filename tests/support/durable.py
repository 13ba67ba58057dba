"""What tests of resume, fork, follow-up and replay share: a company with a loop and branches, and what runs leave."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chatdev.workspace.file_tree import Software
from tests.engine.studio import CHANGE, CHECK, TALK, WRITE, Studio, program
from tests.support.chat_server import ChatServer, Scripted
from tests.support.shop import Outcome, Shop

PASS_1, PASS_2 = (f"repeat#1/pass-{n}/change#1/round-1/assistant" for n in (1, 2))
TITLE = "parallel#1/branch-1/title#1/round-1/assistant"
SLOGAN = "parallel#1/branch-2/slogan#1/round-1/assistant"
GUIDE = "parallel#1/branch-2/guide#1/round-1/assistant"
PAGE = "page#1/round-1/assistant"
WRITTEN = "write#1/round-1/assistant"

REPLIES: Mapping[str, Any] = {
    WRITTEN: "<SOLUTION>\n" + program("def greet():\n    pass"),
    PASS_1: "<SOLUTION>\n" + program("def greet():\n    pass\n\n\ngreet()"),
    PASS_2: "<SOLUTION>\n" + program("def greet():\n    print('hello')\n\n\ngreet()"),
    TITLE: "<SOLUTION> Greeter",
    SLOGAN: "<SOLUTION> Says hello",
    GUIDE: "<SOLUTION>\n" + program("Start main.py.", "GUIDE.md"),
    PAGE: "<SOLUTION>\n" + program("Greeter says hello.", "README.md"),
}
"""The seven calls of `workshop`, in their order but for the two branches."""

OUTAGE = Scripted(status=500)


def text(name: str, *reads: str) -> dict[str, Any]:
    """A phase that writes the text `name`."""
    shown = " ".join(f"{read}={{{{ {read} }}}}" for read in reads)
    return {**TALK, "reads": list(reads), "writes": name, "opening": f"{name} of {shown}"}


def files(path: str, *reads: str) -> dict[str, Any]:
    """A phase that writes one file."""
    return {**CHANGE, "reads": ["software", *reads], "opening": f"WRITE {path}\n{{{{ software | listing }}}}",
            "solution": {"form": "files", "only": [path]}}


def workshop(folder: Path, server: ChatServer, **fields: Any) -> Path:
    """A company that writes a program, changes it until every function has a body, and documents it in branches."""
    phases = {"write": WRITE, "change": CHANGE, "title": text("title", "task"), "slogan": text("slogan", "task"),
              "guide": files("GUIDE.md", "slogan"), "page": files("README.md", "title", "slogan")}
    chain = [{"phase": "write"},
             {"repeat": {"max": 3, "until": "test.passed", "steps": [{"phase": "change"}, CHECK]}},
             {"parallel": [{"phase": "title"}, {"steps": [{"phase": "slogan"}, {"phase": "guide"}]}]},
             {"phase": "page"}, CHECK]
    return Studio(folder, server).company(phases, chain, **{"success": "test.passed", **fields})


def resume(shop: Shop, folder: Path | None, *more: str) -> Outcome:
    """`chatdev resume` in this process."""
    assert folder is not None
    return shop.command("resume", str(folder), *more)


def asked(server: ChatServer) -> list[str]:
    """The places of all requests so far, once each: a call that was repeated counts once."""
    return list(dict.fromkeys(request.headers["X-ChatDev-Activity"] for request in server.requests))


def answered(shop: Shop, changed: Mapping[str, Any] | None = None) -> None:
    """Answer the calls of `workshop`; `changed` are other replies by place."""
    shop.route({**REPLIES, **(changed or {})})


def uninterrupted(shop: Shop) -> Outcome:
    """A run of `workshop` that nothing stopped, by which others are measured."""
    answered(shop)
    outcome = shop.run("--name", "a-whole")
    outcome.assert_succeeded()
    shop.server.requests.clear()
    return outcome


def stopped_at(shop: Shop, place: str, *more: str) -> Outcome:
    """A run of `workshop` that an outage stopped at a place; from then on everything is answered."""
    shop.route({**REPLIES, place: OUTAGE})
    outcome = shop.run("--name", "stopped", *more)
    assert outcome.status == 3, outcome.out + outcome.err
    shop.server.requests.clear()
    answered(shop)
    return outcome


def contents(folder: Path | None) -> dict[str, bytes]:
    """Every file of a run folder but git's own."""
    assert folder is not None
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts}


def git(folder: Path | None, *arguments: str) -> str:
    """What git says in the software of a run."""
    assert folder is not None
    return subprocess.run(["git", "-C", str(folder / "software"), *arguments], check=True, capture_output=True,
                          text=True).stdout


def versions(folder: Path | None) -> list[str]:
    """The subjects of all commits, oldest first."""
    return git(folder, "log", "--reverse", "--format=%s").splitlines()


def software(folder: Path | None) -> Software:
    """The software of a run."""
    assert folder is not None
    return Software.load(folder / "software")


def activities(outcome: Outcome) -> list[str]:
    """The places of the activities in the journal, in order."""
    return [record["place"] for record in outcome.records if record["kind"] == "Activity"]


def telling(events: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What the events of a session tell, in order, branch by branch: which branch comes first is chance. Folder, time
    and what was on record are left out."""
    told: dict[str, list[str]] = {}
    for event in events:
        branch = re.match("(?:.*/branch-[0-9]+)?", str(event["place"]))
        told.setdefault(branch[0] if branch else "", []).append(_plain(event))
    return told


def _plain(event: Mapping[str, Any]) -> str:
    left_out = {"folder", "name", "seconds", "replayed", "time"}
    return json.dumps({name: value for name, value in event.items() if name not in left_out}, sort_keys=True)
