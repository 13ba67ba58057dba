"""Never worse: what speaks against keeping a delivery, without running anything (design §3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from chatdev.replies.languages import holds_only_commands, is_program, is_python
from chatdev.replies.problem import ReplyProblem
from chatdev.replies.python.reader import fault
from chatdev.workspace.python_facts import definitions

_LONG = 8  # filled lines: shorter files may shrink freely
_FRAGMENT = 0.4  # a file that keeps less than this share of its filled lines is a fragment
_MOVED = 0.5  # ... unless this share of what it lost is found in other files
_NAMED = 8  # lost functions and classes
_CODE = set("(){}[]=;<>")
_PROSE = 0.1  # a text with code characters on fewer lines than this share is prose


def objections(before: Mapping[str, bytes], after: Mapping[str, bytes], *,
               whole: Collection[str] = ()) -> list[ReplyProblem]:
    """Why the software `after` a delivery must not replace the one `before`; empty when nothing speaks against it.

    A file that parsed must still parse (Python, JSON), and one that is added to a program must parse. A program must
    not turn into shell commands or prose. A program of at least 8 filled lines must not shrink below 40 % of them,
    unless what it lost moved to other files: for Python every lost function and class, for the rest half of the lost
    lines. Files in `whole` may shrink: their author said so. Deleting a file is said openly and never objected to.
    """
    new = _NewTexts({path: _text(after[path]) for path in after if after[path] != before.get(path)})
    old = {path: _text(before[path]) for path in new.texts if path in before}
    if any(map(is_program, before)):
        old = dict.fromkeys(new.texts, "") | old
    problems = (_problem(path, old[path], new, may_shrink=path in whole) for path in sorted(old))
    return [problem for problem in problems if problem]


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _problem(path: str, old: str, new: _NewTexts, *, may_shrink: bool) -> ReplyProblem | None:
    text = new.texts[path]
    problem = _syntax_problem(path, old, text) or _no_program(path, old, text)
    return problem if problem or may_shrink else _shrinkage(path, old, new)


def _syntax_problem(path: str, old: str, new: str) -> ReplyProblem | None:
    if is_python(path):
        why = fault(new)
        if why and not fault(old):
            return ReplyProblem("broke_python" if old else "new_file_broken", {"path": path, "why": why})
    elif path.casefold().endswith(".json"):
        why = _json_fault(new)
        if why and not _json_fault(old):
            return ReplyProblem("broke_json", {"path": path, "why": why})
    return None


def _json_fault(text: str) -> str | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def _no_program(path: str, old: str, new: str) -> ReplyProblem | None:
    if not is_program(path) or not _filled_lines(old):
        return None
    if holds_only_commands(new) and not holds_only_commands(old):
        return ReplyProblem("only_commands_left", {"path": path})
    if not is_python(path) and _is_prose(new) and not _is_prose(old):  # Python prose does not parse
        return ReplyProblem("only_prose_left", {"path": path})
    return None


def _filled_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _is_prose(text: str) -> bool:
    lines = _filled_lines(text)
    return bool(lines) and sum(1 for line in lines if _CODE & set(line)) < _PROSE * len(lines)


@dataclass(frozen=True)
class _NewTexts:
    """The files that a delivery changed or brought, as texts: where something lost may be found again."""

    texts: Mapping[str, str]

    @cached_property
    def definitions(self) -> set[str]:
        """All their functions and classes in Python."""
        return {name for path, text in self.texts.items() if is_python(path) for name in definitions(text)}

    @cached_property
    def lines(self) -> Counter[str]:
        """All their lines."""
        return Counter(line for text in self.texts.values() for line in _filled_lines(text))


def _shrinkage(path: str, old: str, new: _NewTexts) -> ReplyProblem | None:
    was, now = _filled_lines(old), _filled_lines(new.texts[path])
    if not is_program(path) or len(was) < _LONG or len(now) >= _FRAGMENT * len(was):
        return None
    facts = {"path": path, "before": len(was), "after": len(now)}
    if is_python(path) and (before := definitions(old)):
        lost = sorted(before - new.definitions)
        return ReplyProblem("shrank", {**facts, "lost": lost[:_NAMED]}) if lost else None
    missing = Counter(was) - Counter(now)
    moved = missing & (new.lines - Counter(now))
    return ReplyProblem("shrank", {**facts, "lost": []}) if moved.total() < _MOVED * missing.total() else None
