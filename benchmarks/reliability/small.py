"""The small company of the studies: what its model answers, and what must come of it.

Every reply names the run that it is meant for, so that whatever lands in another run is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

COMPANY = Path(__file__).with_name("company.yaml")
PARTS = ("hello", "bye")
CALLS = 9
"""Model calls of a run that nothing disturbs."""


def name_of(headers: Mapping[str, str]) -> str:
    """The name that a run was given; its folder's name ends with the time."""
    return headers["X-ChatDev-Run"].partition("-")[0]


def answer(headers: Mapping[str, str]) -> str:
    """The model's reply to the call that the headers describe."""
    name, phase, place = name_of(headers), headers["X-ChatDev-Phase"], headers["X-ChatDev-Activity"]
    if place.endswith("instructor"):
        return "<SOLUTION>" if phase == "plan" else f"Write the bodies of the functions of {name}."
    if phase == "plan":
        return "\n".join(f"- {part}" for part in PARTS)
    if phase == "write":
        part = PARTS[0 if "/item-1/" in place else 1]
        return _block(f"{part}.py", _part(name, part, "pass"))
    made = software(name)
    paths = {"join": ["main.py"] if "/round-1/" in place else [f"{part}.py" for part in PARTS],
             "manual": ["manual.md"], "notice": ["notice.md"]}[phase]
    return "\n".join(_block(path, made[path].decode()) for path in paths)


def software(name: str) -> dict[str, bytes]:
    """The software that the run `name` must end with."""
    imports = "".join(f"import {part}\n" for part in PARTS)
    calls = "".join(f"print({part}.{part}())\n" for part in PARTS)
    texts = {f"{part}.py": _part(name, part, f"return '{part} from {name}'") for part in PARTS}
    texts |= {"main.py": f"{imports}\n{calls}", "manual.md": f"# Manual of {name}\n\nStart it.\n",
              "notice.md": f"# Notice of {name}\n\nFree.\n"}
    return {path: text.encode() for path, text in texts.items()}


def _part(name: str, part: str, body: str) -> str:
    return f'def {part}():\n    """For {name}."""\n    {body}\n'


def _block(path: str, content: str) -> str:
    return f"{path}\n```\n{content}```\n"
