"""Constrained decoding for small models, where it helps the format (research: it never helps the judgement)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping

from chatdev.config.json_schema import grammar_can_express
from chatdev.config.phases import Solution
from chatdev.config.profiles import ModelProfile
from chatdev.config.protocol import SOLUTION_MARKER
from chatdev.llm.base import Constraint
from chatdev.replies.languages import program_extensions

_LONGEST_LINE = 200  # characters
_MOST_FILES = 6  # in one delivery
_NAME = '([a-z0-9_]{{1,20}} "/"){{0,2}} [a-z] [a-z0-9_-]{{0,30}} "." ( {extensions} | "md" | "txt" | "json" | "csv" )'
"""Of a file that is not there yet; sentences begin with capitals."""
_WILD = set("*?[")


def constraint_for(solution: Solution, profile: ModelProfile, concludes: bool,
                   paths: Collection[str] = ()) -> Constraint | None:
    """Constraint of a reply to this form, for models whose profile asks for it; None: free. `paths`: existing files;
    without any, the reply may name new ones with a known extension. Files that the solution names take precedence."""
    make = _MAKERS.get(solution.form) if profile.constrained else None
    return make(solution, concludes, paths) if make else None


def _of_choice(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint:
    marker = json.dumps(f"{SOLUTION_MARKER} ") + " " if concludes else ""
    return Constraint(grammar=f"root ::= {marker}( {' | '.join(map(_quote, solution.options))} )")


def _of_list(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint:
    return Constraint(grammar=_list_grammar(solution.longest, concludes=concludes))


def _of_files(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint | None:
    if solution.as_file:
        return None
    has_patterns = any(_WILD & set(pattern) for pattern in solution.only)
    named = paths if has_patterns else solution.only or paths
    return Constraint(grammar=_files_grammar(named, concludes=concludes))


def _of_json(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint | None:
    can_express = bool(solution.schema_) and grammar_can_express(solution.schema_)
    return Constraint(schema=solution.schema_) if can_express else None


_MAKERS: Mapping[str, Callable[[Solution, bool, Collection[str]], Constraint | None]] = {
    "choice": _of_choice, "list": _of_list, "files": _of_files, "json": _of_json}


def _files_grammar(paths: Collection[str], *, concludes: bool) -> str:
    """Files, each a path above a fenced block."""
    marker = f'("{SOLUTION_MARKER}\\n")? ' if concludes else ""
    path = _any_of(paths) if paths else _NAME.format(extensions=_any_of(program_extensions()))
    return (f'root ::= {marker}file ("\\n\\n" file){{0,{_MOST_FILES - 1}}}\n'
            'file ::= path "\\n```" [a-z]* "\\n" line+ "```"\n'
            f'path ::= {path}\nline ::= ([^`\\n] [^\\n]*)? "\\n"')


def _any_of(texts: Collection[str]) -> str:
    return " | ".join(map(_quote, sorted(texts)))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list_grammar(most: int | None, *, concludes: bool) -> str:
    """Lines with bullets; a list of bounded length has lines of bounded length, too."""
    marker = f'("{SOLUTION_MARKER}\\n")? ' if concludes else ""
    more, line = (f"{{0,{most - 1}}}", f"{{1,{_LONGEST_LINE}}}") if most else ("*", "+")
    return f'root ::= {marker}item ("\\n" item){more}\nitem ::= "- " [^\\n]{line}'
