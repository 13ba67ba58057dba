"""Never worse: what speaks against keeping a delivery, without running anything (design §3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from chatdev.replies.languages import is_program, is_python, only_commands
from chatdev.replies.python.reader import definitions, fault

_LONG = 8  # filled lines: shorter files may shrink freely
_FRAGMENT = 0.4  # a file that keeps less than this share of its filled lines is a fragment
_MOVED = 0.5  # ... unless this share of what it lost is found in other files
_CODE = set("(){}[]=;<>")
_PROSE = 0.1  # a text with code characters on fewer lines than this share is prose


def objections(before: Mapping[str, bytes], after: Mapping[str, bytes], *, whole: Collection[str] = ()) -> list[str]:
    """Why the software `after` a delivery must not replace the one `before`; empty when nothing speaks against it.

    A file that parsed must still parse (Python, JSON), and one that is added to a program must parse. A program must
    not turn into shell commands or prose. A program of at least 8 filled lines must not shrink below 40 % of them,
    unless what it lost moved to other files: for Python every lost function and class, for the rest half of the lost
    lines. Files in `whole` may shrink: their author said so. Deleting a file is said openly and never objected to.
    """
    found, changed = [], _Changed({path: _text(after[path]) for path in after if after[path] != before.get(path)})
    added = "" if any(map(is_program, before)) else None
    for path, new in sorted(changed.texts.items()):
        old = _text(before[path]) if path in before else added
        if old is None:
            continue
        reason = _broken(path, old, new) or _no_program(path, old, new)
        if not reason and path not in whole:
            reason = _fragment(path, old, new, changed)
        if reason:
            found.append(f"{path}: {reason}")
    return found


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _broken(path: str, old: str, new: str) -> str | None:
    if is_python(path):
        why, since = fault(new), "parsed before and does not now" if old else "does not parse"
        return f"{since}: {why}" if why and not fault(old) else None
    if path.casefold().endswith(".json"):
        why = _json_fault(new)
        return f"was valid JSON before and is not now: {why}" if why and not _json_fault(old) else None
    return None


def _json_fault(text: str) -> str | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def _no_program(path: str, old: str, new: str) -> str | None:
    if not is_program(path) or not _lines(old):
        return None
    if only_commands(new) and not only_commands(old):
        return "was a program before and holds only shell commands now"
    if not is_python(path) and _is_prose(new) and not _is_prose(old):  # Python prose does not parse
        return "was a program before and holds only prose now"
    return None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _is_prose(text: str) -> bool:
    lines = _lines(text)
    return bool(lines) and sum(1 for line in lines if _CODE & set(line)) < _PROSE * len(lines)


@dataclass(frozen=True)
class _Changed:
    """The files that a delivery changed or brought, as texts: where something lost may be found again."""

    texts: Mapping[str, str]

    @cached_property
    def definitions(self) -> set[str]:
        """All their functions and classes in Python."""
        return {name for path, text in self.texts.items() if is_python(path) for name in definitions(text)}

    @cached_property
    def lines(self) -> Counter[str]:
        """All their lines."""
        return Counter(line for text in self.texts.values() for line in _lines(text))


def _fragment(path: str, old: str, new: str, changed: _Changed) -> str | None:
    was, now = _lines(old), _lines(new)
    if not is_program(path) or len(was) < _LONG or len(now) >= _FRAGMENT * len(was):
        return None
    if is_python(path) and (defined := definitions(old)):
        lost = defined - changed.definitions
        gone = f" and lost {', '.join(sorted(lost)[:8])}"
    else:
        missing = Counter(was) - Counter(now)
        kept = missing & (changed.lines - Counter(now))
        lost = set(missing) if kept.total() < _MOVED * missing.total() else set()
        gone = ""
    if not lost:
        return None
    return f"shrank from {len(was)} to {len(now)} lines{gone}: give it completely, or only the parts that change"
