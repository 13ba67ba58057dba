"""The cases of a request, as tests compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, registry


def cases(request: str, folder: Path = Path("unused")) -> list[dict[str, Any]]:
    context = ToolContext({}, {}, {"task": request}, find_sandbox(), folder, folder)
    found = registry()["software.examples"].call(context, {})
    assert isinstance(found, list)
    assert all(case["from"] == "request" for case in found)
    return found


def only(request: str) -> dict[str, Any]:
    [case] = cases(request)
    return {name: value for name, value in case.items() if name != "from"}


def prints(words: str, printed: str) -> dict[str, Any]:
    return {"arguments": words.split(), "prints": printed}
