"""From the text of a response to the solution it means, by the form that its phase asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chatdev.config.phases import Form, Solution
from chatdev.replies.fences import NEWEST, FencedBlock, language_on_fence, scan
from chatdev.replies.file_names import name_on, read_info
from chatdev.replies.files import FilesDelivery, parse_files
from chatdev.replies.languages import language_of_file
from chatdev.replies.problem import unreadable
from chatdev.replies.values import read_choice, read_json, read_list
from chatdev.workspace.snapshot import safe_path

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
        return parse_files(text, software, only=solution.only, semantics=semantics)
    path = safe_path(solution.as_file)
    content = _content_of(path, text, semantics=semantics)
    if not content.strip():
        raise unreadable("empty_file", path=path)
    data = (content if content.endswith("\n") else content + "\n").encode("utf-8", "replace")
    written = () if software.get(path) == data else (path,)
    return FilesDelivery({**software, path: data}, written)


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
