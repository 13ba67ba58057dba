"""Mend what is certainly meant otherwise than it is written: a missing `assign`, `;` or `endcase`, a port that lacks
`logic`.

The parser says where something is wrong; what its message suggests is tried there, and stays where the parser then
finds fewer errors. So nothing of a text without errors is touched, and the meaning of a module is never guessed at.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.records import Source, import_pyslang
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate

_MOST_READINGS, _MOST_ERRORS, _MOST_USES = 60, 6, 20
_LONGEST, _LONGEST_DECLARATION, _LONGEST_NUMBER = 50_000, 2000, 80  # bytes
_ASSIGNMENT = re.compile(rb"[ \t]*(?=(?:\w+(?:[ \t]*\[[^\]\n;]*\])*|\{[^{}\n;]*\})[ \t]*=(?!=))")
_KEYWORD = re.compile(rb"\s*(?:assign|wire|reg|logic|localparam|parameter|input|output|inout|integer|genvar|typedef)\b")
_MEMBER = re.compile(rb"[ \t]*(?:assign|always\w*|initial|function|endmodule)\b")
_CASE = re.compile(rb"\bcase[xz]?\s*\(([^()\n]*,[^()\n]*)\)")
_NUMBER = re.compile(rb"\b0(?:b([01_]+)|x([0-9a-fA-F_]+))\b")
_DECLARED = re.compile(rb"\b(output|wire|tri)\b(?![^;]*\b(?:input|inout|output|wire|tri|reg|logic)\b)[^;=]*\Z")
_VALUE = re.compile(rb"<?=\s*([^;\n]+?)\s*;")
_BEGINS = re.compile(rb"^[ \t]*(?:`|module\b|macromodule\b|package\b|interface\b|import\b|typedef\b|//|/\*|\(\*)", re.M)
_ENDS = re.compile(rb"\bend(?:module|package|interface)\b[^\n]*\n?")
_MARKED = re.compile(rb"`(?:module|endmodule)\b")
_HEAD = re.compile(rb"\b(module\s+\w+)\s*;")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PORTS = re.compile(rb"\b(?:input|output|inout)\b([^;]*);")
_DECLARATION = re.compile(rb"(?:input|output|inout)\b[^;()]*;[ \t]*")
_RANGE = re.compile(rb"\[[^\]]*\]")
_NAMES = re.compile(rb"\w+")
_TYPES = {b"wire", b"reg", b"logic", b"signed", b"unsigned", b"bit", b"integer"}
_MODULE = re.compile(rb"\bmodule\s+\w+\s*[#(;]")
_TOLERATED = ((re.compile(rb"\bendmodule[ \t]*(;)"), "`endmodule` has no `;`"),
              (re.compile(rb"(,)\s*\)\s*;\s*(?=\n)"), "the last port has no `,`"))
"""What the parser lets pass, and simulators do not."""
_ELSE_IF = {b"elif", b"elsif", b"elseif"}
_BLANKS = re.compile(rb"\s*")
_WORD = re.compile(rb"\w*")


class Edit(NamedTuple):
    """What stands between two bytes of a text is to be something else; `says` why, for agents."""

    start: int
    end: int
    text: bytes
    says: str


@dataclass(frozen=True, slots=True)
class MendedText:
    """A text in which is mended what could be, and line and words for each of the slips."""

    text: str
    slips: tuple[tuple[int, str], ...] = ()


class Error(NamedTuple):
    """What the parser finds: its code, the byte at which it found it, and what its message names."""

    code: str
    place: int
    names: tuple[str, ...]


@isolate(DesignError, MissingProgram)
def mend_text(text: str, target: Target = USUAL) -> MendedText:
    """The text without the slips that could be mended. Raises DesignError for a text that cannot be looked through, and
    MissingProgram."""
    data, slips, left = text.encode("utf-8", "replace"), list[tuple[int, str]](), _MOST_READINGS
    errors = _find_errors(data, target) if len(data) < _LONGEST else []
    while errors:
        for edit in itertools.islice(_edits(data, errors[:_MOST_ERRORS]), left):
            edited, left = data[:edit.start] + edit.text + data[edit.end:], left - 1
            if len(fewer := _find_errors(edited, target)) < len(errors):
                slips.append((data.count(b"\n", 0, edit.start) + 1, edit.says))
                data, errors = edited, fewer
                break
        else:
            break
    for pattern, says in _TOLERATED:
        for found in reversed(list(pattern.finditer(data)) if len(data) < _LONGEST else []):
            slips.append((data.count(b"\n", 0, found.start(1)) + 1, says))
            data = data[:found.start(1)] + data[found.end(1):]
    return MendedText(data.decode("utf-8", "replace"), tuple(slips))


def _find_errors(data: bytes, target: Target) -> list[Error]:
    """The errors in the text itself, in its order."""
    slang: Any = import_pyslang()
    options = slang.ast.CompilationOptions()
    options.flags = slang.ast.CompilationFlags.AllowUseBeforeDeclare
    source = Source(data.decode("utf-8", "replace"), target, options)
    compilation = slang.ast.Compilation(source.bag)
    for tree in source.trees():
        compilation.addSyntaxTree(tree)
    found = [one for one in compilation.getAllDiagnostics() if one.isError() and not source.is_given(one.location)
             and source.manager.isFileLoc(one.location)]
    return sorted((Error(str(one.code).removeprefix("DiagCode(").removesuffix(")"), one.location.offset,
                         tuple(str(name) for name in one.args)) for one in found), key=lambda error: error.place)


def _edits(data: bytes, errors: Sequence[Error]) -> Iterator[Edit]:
    """What may mend the first of the errors, the most likely first."""
    for error in errors:
        for find in (_cut_prose, *_FINDERS.get(error.code, ())):
            yield from find(data, error)


def _cut_prose(data: bytes, error: Error) -> Iterator[Edit]:
    """What stands before the first module or behind the last one, and is no Verilog."""
    first, ends = _BEGINS.search(data), list(_ENDS.finditer(data))
    if first and error.place < first.start():
        yield Edit(0, first.start(), b"", "the text before the module was left out")
    if ends and error.place >= ends[-1].end() and not _MODULE.search(data, ends[-1].end()):
        yield Edit(ends[-1].end(), len(data), b"", "the text behind the module was left out")


def _add_assign(data: bytes, error: Error) -> Iterator[Edit]:
    """`x = a;` among the declarations of a module."""
    begin = data.rfind(b"\n", 0, error.place) + 1
    found = _ASSIGNMENT.match(data, begin)
    if found and not _KEYWORD.match(data, begin):
        yield Edit(found.end(), found.end(), b"assign ", "outside of `always` an assignment begins with `assign`")


def _add_token(data: bytes, error: Error) -> Iterator[Edit]:
    """What the parser misses, where it misses it."""
    missing, word = error.names[0].encode(), _word_behind(data, error.place)
    if missing == b"endcase" and data[word.start():word.end()] == b"end":
        yield Edit(*word.span(), b"endcase", "`case` ends with `endcase`")
    if missing == b")" and data[error.place:error.place + 1] == b";":
        yield Edit(error.place, error.place + 1, b",", "ports are separated by commas")
    if missing in _CLOSING:
        sign = missing if missing in b";)]}" else b"\n" + missing + b"\n"
        yield Edit(error.place, error.place, sign, f"`{missing.decode()}` was missing")


def _join_selector(data: bytes, error: Error) -> Iterator[Edit]:
    """`case (a, b)`."""
    begin = data.rfind(b"\n", 0, error.place) + 1
    found = _CASE.search(data, begin, data.find(b"\n", error.place) % (len(data) + 1))
    if found and found.start() <= error.place <= found.end():
        yield Edit(*found.span(1), b"{" + found[1] + b"}", "`case` looks at one value: several are joined by `{a, b}`")


def _write_number(data: bytes, error: Error) -> Iterator[Edit]:
    """`0b101` and `0x1F` of other languages."""
    found = _NUMBER.search(data, max(0, error.place - 1), error.place + _LONGEST_NUMBER)
    if found and found.start() <= error.place <= found.end():
        digits, base, bits = (found[1], b"b", 1) if found[1] else (found[2], b"h", 4)
        width = str(bits * len(digits.replace(b"_", b""))).encode()
        yield Edit(*found.span(), width + b"'" + base + digits, "a number is written `4'b1010` or `8'h1F`")


def _end_block(data: bytes, error: Error) -> Iterator[Edit]:
    """What belongs to the module, in a block that has no `end`."""
    begin = data.rfind(b"\n", 0, error.place) + 1
    if _MEMBER.match(data, begin):
        yield Edit(begin, begin, b"end\n", "`end` was missing")


def _drop_word(data: bytes, error: Error) -> Iterator[Edit]:
    """An `end` that ends nothing."""
    word = _word_behind(data, error.place)
    yield Edit(*word.span(), b"", f"`{data[word.start():word.end()].decode('utf-8', 'replace')}` ended nothing")


def _declare_variable(data: bytes, error: Error) -> Iterator[Edit]:
    """A wire that an `always` block assigns."""
    name = _word_behind(data, error.place)[0]
    uses = re.finditer(rb"\b" + re.escape(name) + rb"\b", data) if name else ()
    for use in itertools.islice(uses, _MOST_USES):
        begin = max(data.rfind(b";", 0, use.start()) + 1, use.start() - _LONGEST_DECLARATION)
        if declared := _DECLARED.search(data, begin, use.start()):
            is_output = declared[1] == b"output"
            start, end = (declared.end(1), declared.end(1)) if is_output else declared.span(1)
            yield Edit(start, end, b" logic" if is_output else b"logic",
                       f"`{name.decode('utf-8', 'replace')}` is assigned in a block, so it is a `logic` and no wire")


def _part_words(data: bytes, error: Error) -> Iterator[Edit]:
    """`elif` of other languages."""
    word = _word_behind(data, error.place)
    if data[word.start():word.end()] in _ELSE_IF:
        yield Edit(*word.span(), b"else if", "`else if` is two words")


def _cast_value(data: bytes, error: Error) -> Iterator[Edit]:
    """A plain value for a variable of an enumeration."""
    found = _VALUE.match(data, error.place)
    if found and len(error.names) > 1 and (kind := error.names[1].rpartition(".")[2]).isidentifier():
        says = f"a plain value becomes a `{kind}` by a cast"
        yield Edit(*found.span(1), kind.encode() + b"'(" + found[1] + b")", says)


def _drop_declaration(data: bytes, error: Error) -> Iterator[Edit]:
    """A port of the header that is declared once more in the body."""
    if found := _DECLARATION.match(data, error.place):
        yield Edit(*found.span(), b"", "a port that stands in the header is not declared again")


def _drop_backtick(data: bytes, error: Error) -> Iterator[Edit]:
    """`module where the code began with a mark of running text."""
    if _MARKED.match(data, error.place):
        yield Edit(error.place, error.place + 1, b"", "a mark of running text was left out")


def _list_ports(data: bytes, error: Error) -> Iterator[Edit]:
    """`module top;` with ports that are declared below."""
    heads = list(_HEAD.finditer(data, 0, error.place))
    if not heads:
        return
    body = _COMMENT.sub(b" ", data[heads[-1].end():]).partition(b"endmodule")[0]
    names = [name for declared in _PORTS.findall(body) for name in _NAMES.findall(_RANGE.sub(b" ", declared))
             if name not in _TYPES]
    end = heads[-1].end(1)
    yield Edit(end, end, b"(" + b", ".join(names) + b")", "the ports are listed behind the name of the module")


def _word_behind(data: bytes, place: int) -> re.Match[bytes]:
    """The next word, behind blanks; it may be empty."""
    blanks = _BLANKS.match(data, place)
    word = _WORD.match(data, blanks.end() if blanks else place)
    assert word
    return word


_CLOSING = {b";", b")", b"]", b"}", b"end", b"endcase", b"endmodule", b"endfunction", b"endtask", b"endgenerate"}
_FINDERS: dict[str, Sequence[Callable[[bytes, Error], Iterator[Edit]]]] = {
    "ExpectedDeclarator": (_add_assign, _write_number), "ExpectedMember": (_add_assign,),
    "ExpectedToken": (_join_selector, _write_number, _add_token), "UnexpectedEndDelim": (_drop_word,),
    "ExpectedStatement": (_end_block,), "BadProceduralAssign": (_end_block,),
    "AssignToNet": (_declare_variable,), "UndeclaredIdentifier": (_part_words,), "UnknownModule": (_part_words,),
    "NoImplicitConversion": (_cast_value,), "UnknownDirective": (_drop_backtick,), "UnusedPortDecl": (_list_ports,),
    "PortDeclInANSIModule": (_drop_declaration,),
}
