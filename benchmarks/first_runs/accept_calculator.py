"""Calculator: its window is opened on a virtual display and its buttons are pressed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chatdev.evaluation.trial import Check, Program, said, tail
from chatdev.sandbox.base import Binding

_DRIVER = Path(__file__).with_name("calculator_driver.py")
_SUMS = {"C 1 2 + 7 =": 19.0, "C 8 / 2 =": 4.0, "C 1 . 5 * 2 =": 3.0, "C 9 - 1 2 =": -3.0, "C 6 0 * 3 =": 180.0}
_BY_ZERO, _CLEARED = "C 5 / 0 =", "C 4 2 C"
# a display of its own, in the sandbox; Xvfb picks the number
_WITH_DISPLAY = ("Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>/tmp/number >/dev/null 2>&1 &\n"
                 "for i in $(seq 100); do [ -s /tmp/number ] && break; sleep 0.1; done\n"
                 'DISPLAY=":$(cat /tmp/number)" exec "$@"')


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    sequences = [*_SUMS, _BY_ZERO, _CLEARED]
    report, seen = _drive(program, sequences)
    yield Check("the window opens", report["started"], seen if not report["started"] else "")
    screens = dict(zip(sequences, report["shown"], strict=False))
    for sequence, result in _SUMS.items():
        texts = screens.get(sequence, [])
        yield Check(f"{sequence.replace(' ', '')[1:]} shows {result:g}", any(_ends_in(t, result) for t in texts),
                    _detail(texts, report))
    texts = screens.get(_BY_ZERO, [])
    yield Check("dividing by zero shows Error", any("error" in t.lower() for t in texts), _detail(texts, report))
    texts = screens.get(_CLEARED, [])
    yield Check("C clears the display", bool(texts) and not any(re.search("[1-9]", t) for t in texts),
                _detail(texts, report))


def _drive(program: Program, sequences: list[str]) -> tuple[dict[str, Any], str]:
    """The driver's report, and the end of the output."""
    run = program.run(["sh", "-c", _WITH_DISPLAY, "sh", program.python, "/tmp/driver.py", program.main, *sequences],
                      bindings=[Binding(_DRIVER, "/tmp/driver.py")], seconds=30)
    try:
        return json.loads(run.stdout.strip().splitlines()[-1]), tail(said(run))
    except (ValueError, IndexError):
        return {"started": False, "shown": [], "errors": []}, tail(said(run))


def _ends_in(text: str, result: float) -> bool:
    """Whether the last number of a display is the result (a display may show `12+7=19`)."""
    found = re.findall(r"(?:(?<=[=\s])|^)-?\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*$", text.strip())
    return bool(found) and abs(float(found[-1]) - result) < 1e-9


def _detail(texts: list[str], report: dict[str, Any]) -> str:
    return tail(f"{texts} {' '.join(report['errors'])}")
