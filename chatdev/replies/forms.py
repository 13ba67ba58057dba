"""From the text of a response to the solution it means, by the form that its phase asks for; and what speaks against
keeping it, without running anything: never worse (design §3)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from chatdev.config.json_schema import EndlessSchema, schema_validator
from chatdev.config.phases import SOLUTION_MARKER, Form, Solution
from chatdev.isolation.isolate import isolate
from chatdev.replies.blocks import name_on, read_blocks, read_info
from chatdev.replies.fences import NEWEST, FencedBlock, language_on_fence, lines_of, scan
from chatdev.replies.files import FilesDelivery, parse_files
from chatdev.replies.languages import fits, holds_only_commands, is_program, is_python, language_of_file
from chatdev.replies.patch import holds_patch
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable
from chatdev.replies.python.reader import fault
from chatdev.safe_text import load_json
from chatdev.workspace.file_tree import safe_path
from chatdev.workspace.python_facts import definitions, literal_as_json

_MARKDOWN = (".md", ".markdown")
_AROUND = 3  # lines of introduction and farewell around a document in one enclosing block
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`"}


def parse_solution(solution: Solution, text: str, software: Mapping[str, bytes], *, semantics: int = NEWEST) -> Any:
    """The solution `text` means; markers and thoughts are already removed from it.

    `text` and `choice` give a str, `json` any JSON value, `list` a list, `files` a FilesDelivery on top of `software`.
    `semantics`: see `read_blocks`. Raises Unreadable with what is wrong, for the assistant.
    """
    if solution.form == "files":
        return _read_files(solution, text, software, semantics=semantics)
    return _READERS[solution.form](solution, text, software)


def _read_text(_solution: Solution, text: str, _software: Mapping[str, bytes]) -> str:
    block = _enclosing_block(text, 0, lambda info: info in ("", "text", "txt", "plaintext", "markdown", "md"))
    value = (block.content if block else text).strip()
    if len(value) > 1 and _QUOTES.get(value[0]) == value[-1] and not {value[0], value[-1]} & set(value[1:-1]):
        value = value[1:-1].strip()
    if not value:
        raise unreadable("empty_answer")
    return value


def _enclosing_block(text: str, around: int, fits: Callable[[str], bool]) -> FencedBlock | None:
    """The only block of `text` if at most `around` filled lines surround it and `fits` accepts its words."""
    blocks = scan(text, lambda above, info: "markdown" if fits(info.casefold()) else language_on_fence(above, info))
    if len(blocks) != 1 or not fits(blocks[0].info.casefold()):
        return None
    outside = text[:blocks[0].start] + text[blocks[0].end:]
    return blocks[0] if sum(1 for line in outside.split("\n") if line.strip()) <= around else None


def _read_files(solution: Solution, text: str, software: Mapping[str, bytes], *, semantics: int) -> FilesDelivery:
    if solution.as_file is None:
        return parse_files(text, software, only=solution.only, beside=solution.beside, semantics=semantics)
    path = safe_path(solution.as_file)
    if solution.beside and _names_others(path, text, software, semantics=semantics):
        return parse_files(text, software, only=[path], beside=solution.beside, semantics=semantics)
    content = _content_of(path, text, semantics=semantics)
    if not content.strip():
        raise unreadable("empty_file", path=path)
    data = (content if content.endswith("\n") else content + "\n").encode("utf-8", "replace")
    written = () if software.get(path) == data else (path,)
    return FilesDelivery({**software, path: data}, written)


def _names_others(path: str, text: str, software: Mapping[str, bytes], *, semantics: int) -> bool:
    """Whether the blocks of a text have the names of several files, one of them this one, and none without a name may
    be a part of it."""
    try:
        blocks = read_blocks(text, software.keys(), semantics=semantics)
    except Unreadable:
        return False
    names = {block.path for block in blocks if block.path or fits(path, block.language)}
    return len(names) > 1 and path in names and None not in names


def _content_of(path: str, text: str, *, semantics: int) -> str:
    """What `text` gives as the one file `path`: all of it, without an enclosing fence and a line with its name."""
    is_document = path.casefold().endswith(_MARKDOWN)
    block = _document_block(text) if is_document else _data_block(path, text, semantics=semantics)
    if block is None:
        return _strip_name(path, text.strip("\r\n"))
    if not block.closed:
        raise unreadable("cut_off", path=path)
    return block.content


def _document_block(text: str) -> FencedBlock | None:
    """The block that encloses a document; blocks inside it are part of it."""
    return _enclosing_block(text, _AROUND, lambda info: info.split()[:1] in ([], ["md"], ["markdown"], ["text"]))


def _data_block(path: str, text: str, *, semantics: int) -> FencedBlock | None:
    """The block that holds the file, whatever is said around it; None when there is no block."""
    blocks = scan(text, lambda above, info: language_on_fence(above, info) or language_of_file(path),
                  semantics=semantics)
    if len(blocks) <= 1:
        return blocks[0] if blocks else None
    named = [block for block in blocks
             if path in (read_info(block.info).name, name_on(block.above.rstrip().rpartition("\n")[2]))]
    if len(named) != 1:
        raise unreadable("several_blocks", path=path, count=len(blocks))
    return named[0]


def _strip_name(path: str, text: str) -> str:
    first, _, rest = text.partition("\n")
    return rest.lstrip("\r\n") if name_on(first) == path else text


def _read_choice(solution: Solution, text: str, _software: Mapping[str, bytes]) -> str:
    return read_choice(text, solution.options)


def _read_json(solution: Solution, text: str, _software: Mapping[str, bytes]) -> Any:
    return read_json(text, solution.schema_)


def _read_list(solution: Solution, text: str, _software: Mapping[str, bytes]) -> list[Any]:
    return read_list(text)[:solution.longest]


_READERS: dict[Form, Callable[[Solution, str, Mapping[str, bytes]], Any]] = {
    "text": _read_text, "choice": _read_choice, "json": _read_json, "list": _read_list,
}


# Values, written the way models write them: JSON, lists, and the choice of an option.

_STRING_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*[}\]])|\b(?:True|False|None|true|false|null)\b', re.DOTALL)
_TO_JSON = {"True": "true", "False": "false", "None": "null", ",": ""}
_TO_PYTHON = {"true": "True", "false": "False", "null": "None"}
_BRACKET = re.compile(r"[{\[]")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\(?\d{1,4}[.)])[ \t]+(?P<text>.*)")
_SHOWN = 160  # characters of a validation error


def read_json(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON value in `text`: a fenced block, or the bare value.

    Trailing commas, `True`/`None` and single quotes are forgiven. With a schema the first candidate that is valid
    counts. Raises Unreadable: no value was found, or each violation with the path of its field.
    """
    problems: list[ReplyProblem] = []
    for candidate in _candidates(text):
        try:
            value = _read_value(candidate)
        except ValueError as error:
            problems = problems or [ReplyProblem("not_json", {"why": str(error)})]
            continue
        violations = _violations(value, schema)
        if not violations:
            return value
        problems = violations
    raise Unreadable(*problems or [ReplyProblem("no_json")])


def _candidates(text: str) -> Iterator[str]:
    """Texts that may be the value, likeliest first."""
    yield from (block.content for block in scan(text) if block.content.strip())
    stripped = text.strip()
    found = _BRACKET.search(stripped)
    start = found.start() if found else -1
    if stripped and start <= 0:
        yield stripped
    end = stripped.rfind("}" if stripped[start:start + 1] == "{" else "]")
    if end > start >= 0 and stripped[start:end + 1] != stripped:
        yield stripped[start:end + 1]


def _read_value(text: str) -> Any:
    """The value written in `text`. Raises ValueError with the first, strict reading's complaint."""
    try:
        return _read_strictly(text)
    except ValueError as error:
        complaint = error
    try:
        return _read_strictly(_replace_words(text, _TO_JSON))
    except ValueError:
        pass
    try:
        return _read_literal(_replace_words(text, _TO_PYTHON))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise complaint from None


def _read_strictly(text: str) -> Any:
    try:
        return load_json(text, strict=False)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} column {error.colno}: {error.msg}") from None


def _replace_words(text: str, words: Mapping[str, str]) -> str:
    """`text` with words and surplus commas outside double-quoted strings replaced."""
    return _STRING_OR_WORD.sub(lambda found: words.get(found[0], found[0]), text)


def _read_literal(text: str) -> Any:
    """A Python literal as JSON values. Raises SyntaxError and what `json` raises."""
    return load_json(literal_as_json(text))


def _violations(value: Any, schema: Mapping[str, Any]) -> list[ReplyProblem]:
    """How `value` violates the schema, each with the path of the field."""
    if not schema:
        return []
    try:
        found = find_violations(value, schema)
    except EndlessSchema as error:
        found = [("$", f"it cannot be held against the schema: {error}")]
    return [ReplyProblem("not_of_schema", {"field": _field(path), "why": _shorten(message)})
            for path, message in found]


def _field(json_path: str) -> str:
    """The path of a field; empty for the value itself."""
    return json_path.removeprefix("$").removeprefix(".")


def _shorten(message: str) -> str:
    return message if len(message) <= _SHOWN else f"{message[:_SHOWN // 2]} … {message[-_SHOWN // 2:]}"


def read_list(text: str) -> list[Any]:
    """The items of a JSON list, or of lines with bullets or numbers; deeper lines belong to the item above.

    Raises Unreadable when there is neither, or when the list is empty.
    """
    bare = text.lstrip()[:1] not in ("[", "{", "`", "~")
    items = (_bullets(text) if bare else []) or _json_items(text) or _bullets(text)
    items = [item.strip() if isinstance(item, str) else item for item in items]
    items = [item for item in items if item != ""]
    if not items:
        raise unreadable("no_list")
    return items


def _json_items(text: str) -> list[Any]:
    try:
        value = read_json(text, {})
    except Unreadable:
        return []
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, list) else []


def _bullets(text: str) -> list[str]:
    found = [(line, _ITEM.fullmatch(line)) for line in text.replace("\r\n", "\n").split("\n")]
    outermost = min((_indent(match) for _, match in found if match), default=0)
    items: list[list[str]] = []
    for line, match in found:
        if match and _indent(match) == outermost:
            items.append([match["text"]])
        elif items and line.strip() and line[0] in " \t":
            items[-1].append(line.strip())
    return list(map("\n".join, items))


def _indent(item: re.Match[str]) -> int:
    return len(item["indent"].expandtabs(4))


_EDGES = " \t\r\n\"'`*_“”‘’.,;:!?()[]{}<>#-•"
_PAUSE = re.compile(r"[^\S\n]*+(?:[.;:!(–—\n]|(?<=\s)-\s|(?:(?<=\s)|,\s++)(?:because|since|as)\b)", re.IGNORECASE)
_LONGEST = 20_000  # more text than this chooses nothing


def read_choice(text: str, options: Sequence[str]) -> str:
    """The option that `text` chooses, as declared; case, quotes and words around it don't matter.

    In order: the first line is the option; the first line begins with it and pauses; the first line names exactly
    one; the whole text names exactly one. Of options that contain one another the longest named counts. Raises
    Unreadable with the options.
    """
    first = next((line for line in text.split("\n") if line.strip()), "")[:_LONGEST]
    plain = {_normalize(option): option for option in options}
    choice = plain.get(_normalize(first)) or _choice_at_beginning(first.lstrip(_EDGES), options)
    if choice is not None:
        return choice
    for part in (first, text[:_LONGEST]):
        named = {option for option, _ in _mentions(part, options)}
        if len(named) == 1:
            return named.pop()
    raise unreadable("no_choice", options=list(options))


def _choice_at_beginning(text: str, options: Sequence[str]) -> str | None:
    for option, match in _mentions(text, options):
        if match.start() == 0 and _PAUSE.match(text[match.end():].lstrip("\"'`*_”’")):
            return option
    return None


def _normalize(text: str) -> str:
    stripped = text.strip()
    kept = stripped.strip(_EDGES) or stripped
    return " ".join(kept.casefold().split())


def _mentions(text: str, options: Sequence[str]) -> list[tuple[str, re.Match[str]]]:
    """Every mention of an option in `text`, in order; where options overlap, the longest."""
    by_length = sorted(options, key=len, reverse=True)
    if not by_length:
        return []
    words = ("|".join(f"(?P<o{index}>{_pattern(option)})" for index, option in enumerate(by_length)))
    found = re.finditer(rf"(?<![\w+#])(?:{words})(?![\w+#])", text, re.IGNORECASE)
    return [(by_length[int((match.lastgroup or "o0")[1:])], match) for match in found]


def _pattern(option: str) -> str:
    """The option's words, with any blanks, hyphens or underscores between them."""
    return r"[\s_-]*".join(re.escape(word) for word in re.split(r"[\s_-]+", option) if word)


# How a value violates a schema. Patterns and references that may take for ever are tried in the child of
# `chatdev.isolation`.

_MOST = 1000  # violations that are told; a reply may have a million
_LABORIOUS = ("pattern", "patternProperties", "regex", "$ref", "$dynamicRef", "anyOf", "oneOf", "uniqueItems",
              "unevaluatedItems", "unevaluatedProperties")
"""Keywords whose time grows faster than the value and the schema."""


def find_violations(value: Any, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Path and description of what the sound `schema` forbids in `value`, by path; of the first thousand where it is
    more. Raises EndlessSchema."""
    text = json.dumps(schema, default=str)
    if any(f'"{word}"' in text for word in _LABORIOUS):
        return search_violations(json.dumps(value), text)
    return _find_here(value, schema)


@isolate(EndlessSchema)
def search_violations(value: str, schema: str) -> list[tuple[str, str]]:
    """The same of JSON texts, in the child."""
    return _find_here(json.loads(value), json.loads(schema))


def _find_here(value: Any, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    try:
        errors = sorted(islice(schema_validator(schema).iter_errors(value), _MOST), key=lambda error: error.json_path)
    except ArithmeticError:  # an integer without end, and a `multipleOf` that is a fraction
        return [("$", "it holds a number that is too large")]
    return [(str(error.json_path), str(error.message)) for error in errors]


# A reply as its author meant it: small models put markers where none belongs, and forget the code block.

_CLOSING_MARKERS = (SOLUTION_MARKER, SOLUTION_MARKER.replace("<", "</"))
_OF_CODE = re.compile(r"(?:\t| {2,})(?!\s|[-*+•] |\d{1,2}[.)] )|.*[;{}()\[\]]\s*$")
_FEWEST = 3  # lines that can be told from prose


def tidy_body(solution: Solution, body: str, *, semantics: int = NEWEST) -> str:
    """`body`, where the phase writes one file only, without the lines at either end of it or of a code block that are
    nothing but a marker; and within a block, where it is the source of that file without one. From semantics 6 on a
    patch is no such source."""
    sole = solution.only[0] if len(solution.only) == 1 and not set("*?[") & set(solution.only[0]) else None
    if solution.form != "files" or not (solution.as_file or sole):
        return body  # files that have names in the reply are kept byte for byte
    body = _strip_stray_markers(body)
    if solution.as_file or not _is_source(body) or (semantics > 5 and holds_patch(body)):
        return body
    return f"{sole}\n```\n{body.strip(chr(10))}\n```"


def _strip_stray_markers(body: str) -> str:
    kept: list[str] = []
    after = 0
    for block in scan(body):
        lines = lines_of(body[block.start:block.end])
        kept += (body[after:block.start], lines[0], *_without_markers(lines[1:len(lines) - block.closed]),
                 *lines[len(lines) - block.closed:])
        after = block.end
    return "".join((*kept, body[after:]) if kept else _without_markers(lines_of(body)))


def _without_markers(lines: Sequence[str]) -> Sequence[str]:
    """The lines without a marker above or below them."""
    begin = bool(lines) and lines[0].strip() == SOLUTION_MARKER
    end = len(lines) - (len(lines) > begin and lines[-1].strip() in _CLOSING_MARKERS)
    return lines[begin:end]


def _is_source(text: str) -> bool:
    """Whether at least half of the lines have the form of code, and none is a fence."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _FEWEST and 2 * sum(map(bool, map(_OF_CODE.match, lines))) >= len(lines) and not scan(text)


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
