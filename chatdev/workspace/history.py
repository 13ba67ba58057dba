"""A git history that nothing in the software, and nothing in the user's settings, can steer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from chatdev.errors import WorkspaceError
from chatdev.workspace.problems import explained

_SETTINGS = {
    "user.name": "ChatDev", "user.email": "chatdev@localhost", "core.hooksPath": "/dev/null",
    "core.autocrlf": "false", "core.fsmonitor": "false", "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null", "commit.gpgSign": "false", "gc.auto": "0", "maintenance.auto": "false",
    "safe.directory": "*", "init.defaultBranch": "main",
}
_ENVIRONMENT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
                "GIT_OPTIONAL_LOCKS": "0", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
_ATTRIBUTES = "* -text !eol -ident -filter !working-tree-encoding\n"
"""Files are kept as they are; stands above any `.gitattributes` in the software, which may ask for anything else."""
_COMMITTED = re.compile(r"\[[^\]]*?(?P<id>[0-9a-f]+)\]")  # how git begins what it says of a commit
_TIMEOUT = 60.0  # seconds


class History:
    """The git repository of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._git = shutil.which("git")

    def start(self) -> bool:
        """Make the repository when there is none, and clear away what a killed git left; False when git is not
        installed."""
        if self._git is None:
            return False
        metadata = self._folder / ".git"
        if metadata.is_symlink() or metadata.is_file():
            raise WorkspaceError(f"{metadata} leads somewhere else; move it away")
        self._run("init", "--quiet", "--template=")  # mends a half-made one, too
        with explained("write", metadata):
            for lock in (*metadata.glob("*.lock"), *metadata.glob("refs/heads/*.lock")):
                lock.unlink(missing_ok=True)  # nobody else works here: the run's journal is locked
            (metadata / "info").mkdir(exist_ok=True)
            (metadata / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
        return True

    def messages(self) -> list[str]:
        """The messages of all commits, newest first."""
        if self._git is None or not self._started or self._call("rev-parse", "--verify", "HEAD").returncode != 0:
            return []
        *messages, _ = self._run("log", "-z", "--format=%B").split("\0")
        return [message.strip() for message in messages]

    def uncommitted(self) -> list[str]:
        """The paths that are not as in the newest commit; none without a repository."""
        if self._git is None or not self._started:
            return []
        self._run("add", "--all", "--force", "--", ".")
        return [path for path in self._run("diff", "--cached", "--name-only", "--no-renames", "-z").split("\0") if path]

    def commit(self, message: str, *, allow_empty: bool = False, unchanged: bool = False) -> str | None:
        """Commit everything as it is; the short id, or None without a repository or anything new. `unchanged`: nothing
        was written since the last commit, and nobody needs to look."""
        if self._git is None or not self._started:
            return None
        if not unchanged:
            self._run("add", "--all", "--force", "--", ".")
        if not allow_empty and self._call("diff", "--cached", "--quiet").returncode == 0:
            return None
        said = self._run("commit", "--no-verify", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim",
                         f"--message={message}")
        found = _COMMITTED.match(said)
        return found["id"] if found else None

    @property
    def _started(self) -> bool:
        metadata = self._folder / ".git"
        return metadata.is_dir() and not metadata.is_symlink()

    def _run(self, *arguments: str) -> str:
        done = self._call(*arguments)
        if done.returncode != 0:
            reason = done.stderr.strip() or f"exit status {done.returncode}"
            raise WorkspaceError(f"git {arguments[0]} failed in {self._folder}: {reason}; the files themselves are "
                                 "written; mend the cause and go on, or move .git away")
        return done.stdout

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = [self._git or "git", *settings, "--git-dir=.git", "--work-tree=.", *arguments]
        try:
            return subprocess.run(command, cwd=self._folder, env={"PATH": os.environ.get("PATH", os.defpath)}
                                  | _ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=_TIMEOUT, check=False)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise WorkspaceError(f"git {arguments[0]} failed in {self._folder}: {error}") from error
