"""What a Python file leaves for later, its certain slips of the pen, and the files that it writes; read without running
it, in the child of this process."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from io import StringIO
from pathlib import PurePosixPath

from chatdev.isolation.isolate import isolate
from chatdev.workspace.python_facts import check, parse, undefined_uses

# `TODO` counts in capitals only, where a comment begins or before a colon: a to-do list may be spoken of
_MARKERS = re.compile(r"^\W*(TODO|FIXME|XXX)\b(?! (list|app|item)s?\b)|\b(TODO|FIXME|XXX):")
_WORDS = re.compile(r"\b(not (yet )?implemented|implement(ation)? (me|here|goes here)|"
                    r"placeholder(?!s? (text|colou?r|image|attribute|styl))|(add )?your code here)\b", re.IGNORECASE)
_HASH = r"(?<!\S)#(?!\{)"
_SLASHES = r"(?<![:\w\"'(=])//|/\*"  # no address: `https://…`, `"//…"`, `url(//…)`
_COMMENT_BEGINS = {".py": _HASH, ".sh": _HASH, ".rb": _HASH, ".php": f"{_HASH}|{_SLASHES}", ".css": r"/\*",
                   ".html": f"<!--|{_SLASHES}", ".st": rf"\(\*|{_SLASHES}"}
"""By the suffix of a file; all others have those of C."""
_ALLOWED_DECORATORS = {"abstractmethod", "abstractproperty", "overload"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@isolate(SyntaxError)
def unfinished_parts(text: str, path: str) -> list[tuple[int, str]]:
    """Line and text of what a Python file leaves for later. Raises SyntaxError."""
    tree = parse(text, path)
    found = [(function.lineno, f"`{function.name}` has no body yet") for function in _empty_functions(tree)]
    try:
        comments = [(token.start[0], token.string.strip())
                    for token in tokenize.generate_tokens(io.StringIO(text).readline)
                    if token.type == tokenize.COMMENT and _announces_work(token.string)]
    except (tokenize.TokenError, SyntaxError):  # it takes less than the compiler does: no `\\` at the end
        comments = unfinished_comments(text, ".py")
    return found + comments


def unfinished_comments(text: str, suffix: str) -> list[tuple[int, str]]:
    """Line and text of comments that announce work, in a file with this suffix."""
    pattern = re.compile(rf"(?:{_COMMENT_BEGINS.get(suffix, _SLASHES)})(?P<text>.*?)(?:\*/|-->|\*\)|$)")
    return [(number, line.strip()[:100]) for number, line in enumerate(text.splitlines(), start=1)
            if (comment := pattern.search(line)) and _announces_work(comment["text"])]


def _empty_functions(tree: ast.Module) -> Iterator[_Function]:
    exempt = {child for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef) and _is_protocol(cls)
              for child in cls.body}
    found = [node for node in ast.walk(tree) if isinstance(node, _Function) and node not in exempt
             and not _may_be_empty(node) and _is_empty(node.body)]
    yield from sorted(found, key=lambda function: function.lineno)


def _is_empty(body: list[ast.stmt]) -> bool:
    rest = body[1:] if _is_constant(body[0], str) else body
    return all(isinstance(s, ast.Pass) or _is_constant(s, type(...)) or _raises_not_implemented(s) for s in rest)


def _is_constant(statement: ast.stmt, kind: type) -> bool:
    return (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, kind))


def _raises_not_implemented(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _may_be_empty(function: _Function) -> bool:
    return any(_name(decorator) in _ALLOWED_DECORATORS for decorator in function.decorator_list)


def _is_protocol(cls: ast.ClassDef) -> bool:
    return any(_name(base) == "Protocol" for base in cls.bases)


def _name(node: ast.expr) -> str:
    """The last part of a dotted or subscripted name."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _announces_work(comment: str) -> bool:
    """Whether a comment announces missing work."""
    return bool(_MARKERS.search(comment) or _WORDS.search(comment))


# Slips of the pen in a Python file that are certain, and the file without them; read in the child of this process.


@isolate(SyntaxError)
def mend_python(text: str, path: str, importable: dict[str, list[str]]) -> tuple[str, list[str]]:
    """The text without its slips, and what was added to it or left out of it, told line by line; the text as it is
    where there are none. Raises SyntaxError for a file that cannot be read.

    A first line that is only the name of the file is left out. A name that is used and defined nowhere is imported
    where the standard library has it, with every attribute that is asked of it; `importable` are the names that may be
    so, each with the modules that have it, "" for a module itself.
    """
    mended, slips = _without_name(text, path)
    if forgotten := _forgotten_imports(mended, path, importable):
        mended = _add_lines(mended, path, forgotten)
        slips += [f"added: {line}" for line in forgotten]
    if slips:
        check(mended.encode(), path)
    return mended, slips


def _without_name(text: str, path: str) -> tuple[str, list[str]]:
    first, _, rest = text.lstrip("\n").partition("\n")
    if first.strip() in (path, PurePosixPath(path).name):
        return rest, [f"left out: {first.strip()}"]
    return text, []


def _forgotten_imports(text: str, path: str, importable: Mapping[str, Sequence[str]]) -> list[str]:
    """The import statements that are missing, in the order of their names."""
    names = sorted(name for name, _ in undefined_uses(text.encode(), path) if name in importable)
    if not names:
        return []
    tree = parse(text, path)
    found = (_import_statement(name, importable[name], _attributes_of(name, tree)) for name in names)
    return [statement for statement in found if statement]


def _attributes_of(name: str, tree: ast.Module) -> list[str | None]:
    """What is asked of a name wherever it stands; None where it stands alone."""
    asked = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return [asked.get(id(node)) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]


def _import_statement(name: str, modules: Iterable[str], attributes: Sequence[str | None]) -> str | None:
    """The statement by which a name has all these attributes; a module is of no use where it stands alone."""
    for module in modules:
        given = getattr(import_module(module), name) if module else import_module(name)
        if all(hasattr(given, one) if one else module for one in attributes):
            return f"from {module} import {name}" if module else f"import {name}"
    return None


def _add_lines(text: str, path: str, lines: Iterable[str]) -> str:
    """The text with these lines before its first statement, behind what has to come first."""
    body = parse(text, path).body
    first = next((node for number, node in enumerate(body) if not _comes_first(node, number)), body[-1])
    around = min(node.lineno for node in (first, *getattr(first, "decorator_list", ())))
    kept = list(StringIO(text, newline=""))  # as Python counts them
    ending = "\r\n" if kept[0].endswith("\r\n") else "\n"
    kept[around - 1:around - 1] = [f"{line}{ending}" for line in lines]
    return "".join(kept)


def _comes_first(node: ast.stmt, number: int) -> bool:
    """Whether it is the docstring, or an import of what is yet to come."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# Which files a Python program opens to write, as far as their names stand in its text; read in the child of this
# process.

_WRITING = set("wax+")
_MAKING = {"os": {"link", "rename", "replace", "symlink"}, "shutil": {"copy", "copy2", "copyfile", "move"}}
"""Functions of modules that make what their second argument names."""
_STEPS = 5  # from a variable to the name that it holds


@isolate(SyntaxError)
def written_names(source: bytes, path: str) -> list[str]:
    """The names of the files, without their folders; an empty one for a file whose name is not plain."""
    tree = parse(source, path)
    constants = {target.id: node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)
                 for target in node.targets if isinstance(target, ast.Name)}
    targets = [_write_target(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [_plain_name(target, constants) for target in targets if target is not None]


def _write_target(call: ast.Call) -> ast.expr | None:
    """What a call writes to: `open(NAME, "w")`, `PATH.open("w")`, `PATH.write_text(…)`, `os.rename(OTHER, NAME)`."""
    function = call.func
    if _makes_second(function) and len(call.args) > 1:
        return call.args[1]
    if isinstance(function, ast.Name) and function.id == "open" and _writes(call, 1):
        return call.args[0] if call.args else function
    if isinstance(function, ast.Attribute) and (
            function.attr in ("write_text", "write_bytes") or (function.attr == "open" and _writes(call, 0))):
        return function.value
    return None


def _makes_second(function: ast.expr) -> bool:
    return (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
            and function.attr in _MAKING.get(function.value.id, ()))


def _writes(call: ast.Call, place: int) -> bool:
    """Whether the mode, an argument at this place or by its name, is one of writing, or cannot be read."""
    modes = [*call.args[place:place + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or bool(_WRITING & set(str(mode.value))) for mode in modes)


def _plain_name(node: ast.expr, constants: Mapping[str, ast.expr]) -> str:
    """The file's name where it stands in the text: as a literal, in a variable, in `Path(…)`."""
    for _ in range(_STEPS):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return PurePosixPath(node.value).name
        if isinstance(node, ast.Name) and node.id in constants:
            node = constants[node.id]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Path" and node.args:
            node = node.args[0]
        else:
            return ""
    return ""
