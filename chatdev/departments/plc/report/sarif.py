"""Diagnostics and verdicts as SARIF 2.1.0, which code hosts and editors show at the lines of a program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome, Verdict
from chatdev.departments.plc.report.listing import (
    describe_contradiction,
    describe_opinion,
    describe_property,
    describe_rule,
    describe_vacuity,
    describe_verdict,
    show_safely,
)
from chatdev.departments.plc.source_check import SourceCheck, SourceProof
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_VERDICTS: Mapping[Verdict, tuple[str, str]] = {  # kind and level
    "PROVED": ("pass", "none"), "VIOLATED": ("fail", "error"), "BOUNDED": ("open", "none"),
    "UNKNOWN": ("open", "none")}


def check_sarif(checks: Mapping[Path, SourceCheck]) -> dict[str, Any]:
    """The diagnostics of several files as one SARIF log, ready for `json.dumps`."""
    return _log(result for file, check in checks.items() for result in _diagnostics(file, check))


def proof_sarif(checks: Mapping[Path, SourceCheck], proof: SourceProof, locate: Callable[[Span], tuple[Path, Span]],
                properties: Path | None = None) -> dict[str, Any]:
    """The diagnostics of files and the verdicts on their program; `locate` says where a place of the program's text
    stands. A property stands at its place in the JSON file of `properties`, else at the program's first line."""
    places = [(properties, span) for span in _item_places(properties)] if properties else []
    given = iter(places)
    return _log([*(result for file, check in checks.items() for result in _diagnostics(file, check)),
                 *(_verdict(one, locate, None if one.asked.pattern == RUN_TIME else next(given, None))
                   for one in proof.outcomes)])


def _item_places(file: Path) -> list[Span]:
    """Where each item of the list in a JSON file begins and ends."""
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    decoder, found = json.JSONDecoder(), list[Span]()
    at = text.find("[") + 1
    while at:
        begin = at + len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
        try:
            _, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            break
        found.append(Span(*_position(text, begin), *_position(text, at - 1)))
    return found


def _position(text: str, place: int) -> tuple[int, int]:
    """Line and column of a place, both from 1."""
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)


def _log(results: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found = list(results)
    rules = [{"id": name, "shortDescription": {"text": describe_rule(name)},
              "help": {"text": "docs/plc.md of chatdev says what is checked and proved, and how."}}
             for name in sorted({one["ruleId"] for one in found})]
    driver = {"name": "chatdev plc", "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}]}


def _diagnostics(file: Path, check: SourceCheck) -> Iterator[dict[str, Any]]:
    for one in check.diagnostics:
        text = f"{one.message} ({one.hint})" if one.hint else one.message
        level = "warning" if one.severity == "gap" else one.severity
        yield _result(one.code, ("fail", level), text, file, one.span) | _fixes(file, one.fix)


def _verdict(outcome: Outcome, locate: Callable[[Span], tuple[Path, Span]],
             given: tuple[Path, Span] | None) -> dict[str, Any]:
    asked, span, rule = outcome.asked, Span(1, 1, 1, 1), outcome.asked.pattern
    if asked.pattern == RUN_TIME:
        rule, place = asked.parameters[:2]
        line, _, column = place.partition(":")
        span = Span(int(line), int(column or 1))
    file, span = given or locate(span)
    parts = [f"{outcome.verdict}: {describe_property(asked)}", asked.description, describe_verdict(outcome),
             outcome.reason, describe_vacuity(outcome), describe_opinion(outcome), describe_contradiction(outcome)]
    kind = ("review", "none") if outcome.is_contradicted else _VERDICTS[outcome.verdict]
    return _result(rule, kind, " – ".join(filter(None, parts)), file, span)


def _result(rule: str, kind: tuple[str, str], text: str, file: Path, span: Span) -> dict[str, Any]:
    region = {"startLine": max(1, span.line), "startColumn": max(1, span.column)}
    if span.end_line >= span.line and span.end_column:  # its end is outside, ours within
        region |= {"endLine": span.end_line, "endColumn": span.end_column + 1}
    place = {"artifactLocation": {"uri": _uri(file)}, "region": region}
    return {"ruleId": rule, "kind": kind[0], "level": kind[1], "message": {"text": show_safely(text)},
            "locations": [{"physicalLocation": place}]}


def _fixes(file: Path, fix: Fix | None) -> dict[str, Any]:
    """What an editor may offer to do; nothing where there is no certain remedy."""
    if fix is None:
        return {}
    region = {"startLine": fix.line, "startColumn": fix.column, "endLine": fix.end_line, "endColumn": fix.end_column}
    change = {"artifactLocation": {"uri": _uri(file)},
              "replacements": [{"deletedRegion": region, "insertedContent": {"text": fix.text}}]}
    return {"fixes": [{"artifactChanges": [change]}]}


def _uri(file: Path) -> str:
    """A relative path stays one, so that code hosts find the file."""
    return file.as_uri() if file.is_absolute() else quote(file.as_posix())
