"""Which files a Python program opens to write, as far as their names stand in its text; read in the child of this
process."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePosixPath

from chatdev.isolation.isolate import isolate
from chatdev.workspace.python_source import parse

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
