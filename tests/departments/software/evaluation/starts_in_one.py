"""All starts of many programs in one start of the sandbox, and programs that are played from what was recorded there.

This file is its own driver: it is copied into the sandbox and started there, and forks for every start. So a whole set
of tasks is tried in seconds, by the same comparison as in a study.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

_SECONDS = 5  # of one start


def main(folder: Path) -> None:
    """Run every start in `plan.json`, a list of lists of `{program, files, starts: [{arguments, stdin}]}`, and write
    what came of each to `results.json`."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    found = [[_check(check, folder / f"{number}-{place}") for place, check in enumerate(checks)]
             for number, checks in enumerate(plan)]
    (folder / "results.json").write_text(json.dumps(found), encoding="utf-8")


def _check(check: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    folder.mkdir()
    for name, text in {"main.py": check["program"], **check["files"]}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [_start(start, folder, compile(check["program"], "main.py", "exec")) for start in check["starts"]]


def _start(start: dict[str, Any], folder: Path, code: Any) -> dict[str, Any]:
    streams = [folder.with_suffix(f".{name}") for name in ("in", "out", "err")]
    streams[0].write_text(start["stdin"], encoding="utf-8")
    if not (child := os.fork()):
        _become(folder, streams, ["main.py", *start["arguments"]], code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
             for path in folder.rglob("*") if path.is_file()}
    stdout, stderr = (path.read_text(encoding="utf-8", errors="replace") for path in streams[1:])
    return {"status": status, "stdout": stdout, "stderr": stderr, "files": files}


def _become(folder: Path, streams: list[Path], argv: list[str], code: Any) -> None:
    """Be the program; never returns."""
    signal.alarm(_SECONDS)
    os.chdir(folder)
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY), number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, encoding="utf-8")
                                         for number, mode in enumerate("rww"))
    sys.argv = argv
    status = 0
    try:
        exec(code, {"__name__": "__main__", "__file__": "main.py"})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(Path.cwd())
