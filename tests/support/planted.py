"""A shop where keys are planted wherever people keep them, and the search for them afterwards."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chatdev
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.chat_server import Received, Scripted
from tests.support.shop import Outcome, Shop

KEY, ROLE_KEY, TOKEN = "sk-planted-0a1b2c3d4e5f", "sk-planted-role-9z8y7x6w", "tok-planted-5t4r3e2w1q"
URL_PASSWORD, PROXY_PASSWORD, INDEX_PASSWORD = "pl4nted-%40-url", "pl4nted-proxy", "pl4nted-index"
BASIC = base64.b64encode(b"ann:pl4nted-@-url").decode()
PLANTED = (KEY, ROLE_KEY, TOKEN, URL_PASSWORD, "pl4nted-@-url", PROXY_PASSWORD, INDEX_PASSWORD, BASIC)
EVERYTHING = " ".join(PLANTED)


@dataclass
class Plantation:
    """A shop in whose environment, `.env`, settings and address keys are planted."""

    shop: Shop
    home: Path
    work: Path = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.work, self.temporary = self.shop.folder / "work", self.shop.folder / "temporary"
        self.work.mkdir()
        self.temporary.mkdir()
        (self.work / ".env").write_text(f"ACME_TOKEN='{TOKEN}'\n", encoding="utf-8")
        settings = self.home / "config" / "chatdev" / "settings.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"base_url: {self.address}\n", encoding="utf-8")
        Studio(self.shop.folder, self.shop.server).company(
            {"write": {**WRITE, "model": {"key_env": "ACME_ROLE", "name": "m"}}, "change": CHANGE},
            success="test.passed")
        del self.shop.environment["OPENAI_BASE_URL"]
        self.shop.environment |= {
            "OPENAI_API_KEY": KEY, "ACME_ROLE": ROLE_KEY, "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(Path(chatdev.__file__).parents[1]),
            "HTTPS_PROXY": f"http://bob:{PROXY_PASSWORD}@127.0.0.1:1",
            "PIP_INDEX_URL": f"https://eve:{INDEX_PASSWORD}@127.0.0.1:1/simple"}

    @property
    def address(self) -> str:
        return self.shop.server.url.replace("://", f"://ann:{URL_PASSWORD}@")

    def run(self, *more: str, debug: bool = False, task: str = "TASK") -> Outcome:
        """`chatdev run` in a process of its own, in the working directory with the `.env`."""
        return self.shop.finish(self.start(*more, debug=debug, task=task))

    def start(self, *more: str, debug: bool = False, task: str = "TASK") -> subprocess.Popen[str]:
        command, _, *options = self.shop.arguments("--trust", *more)  # the company names a key
        return self._start(command, task, *options, debug=debug)

    def command(self, *arguments: str, debug: bool = False) -> Outcome:
        """Any command, likewise."""
        return self.shop.finish(self._start(*arguments, debug=debug))

    def _start(self, *arguments: str, debug: bool) -> subprocess.Popen[str]:
        before = Path.cwd()
        os.chdir(self.work)
        try:
            return self.shop.start(*(["--debug"] if debug else []), *arguments)
        finally:
            os.chdir(before)

    def assert_clean(self, *texts: str) -> None:
        """No planted key is in the texts, nor in any file or git object but those it was planted in."""
        found = [f"{key} in {place}" for place, data in self._everything(texts) for key in PLANTED
                 if key.encode() in data]
        assert not found

    def _everything(self, texts: tuple[str, ...]) -> list[tuple[str, bytes]]:
        planted = {self.work / ".env", self.home / "config" / "chatdev" / "settings.yaml"}
        files = [path for folder in (self.shop.folder, self.home) for path in folder.rglob("*")
                 if path.is_file() and path not in planted]
        repositories = [path.parent for path in self.shop.warehouse.rglob(".git")]
        return [*((f"text {n}", text.encode()) for n, text in enumerate(texts)),
                *((str(path), path.read_bytes() + str(path).encode()) for path in files),
                *((f"git in {path}", git_objects(path)) for path in repositories)]


def git_objects(folder: Path) -> bytes:
    """Everything in a repository, unpacked."""
    return subprocess.run(["git", "cat-file", "--batch-all-objects", "--batch"], cwd=folder, check=True,
                          capture_output=True).stdout


def parroting(request: Received) -> Any:
    """A program, behind all the keys there are and the headers of the request."""
    parrot = f"{EVERYTHING} {json.dumps(request.headers)}"
    text = f"<SOLUTION>\n{parrot}\n\n{program(f'print({parrot!r})')}"
    return Scripted(text, usage=(7, len(text)))  # fewer would not be believed, and to count takes each process long
