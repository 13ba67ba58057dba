"""The company `maintain` by the command line, with a model that answers from a script."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from chatdev.cli.app import command_line
from tests.support.chat_server import ChatServer, Received


def script(server: ChatServer, replies: Mapping[str, Any]) -> None:
    """Answer by place, else by phase; whoever reviews is content."""
    def answer(request: Received) -> Any:
        place, phase = request.headers["X-ChatDev-Activity"], request.headers["X-ChatDev-Phase"]
        return replies.get(place, "<SOLUTION>" if place.endswith("instructor") else replies.get(phase, "<SOLUTION>"))

    server.route(answer)


def chatdev(server: ChatServer, tmp_path: Path, *words: str, model: str = "gpt-4o") -> tuple[int, str]:
    env = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": server.url, "CHATDEV_RETRY_SECONDS": "0"}
    more = ["--warehouse", str(tmp_path / "runs"), "--model", model] if words[0] in ("run", "resume") else []
    done = CliRunner(env=env).invoke(command_line, [*words, *more])
    return done.exit_code, done.output


def newest(tmp_path: Path) -> Path:
    return max((tmp_path / "runs").glob("*"), key=lambda folder: folder.stat().st_mtime_ns)
