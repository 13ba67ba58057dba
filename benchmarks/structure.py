"""The shape of the code in figures: modules, names, complexity, and the files that one run goes through.

    scripts/structure [--tree DIR] [--json] [--list]

It reads the sources of any tree and runs nothing of it but the traced call, so that two trees compare.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.structure_names import is_participle

Function = ast.FunctionDef | ast.AsyncFunctionDef
CENTRAL = ("RunContext", "Office", "PhaseRun", "Room", "Dialogue", "Execution", "RunExecution", "RunPlan", "Resources",
           "Staff", "RunOptions", "Session", "State")
MANY_FIELDS, MANY_ARGUMENTS, MANY_LINES, COMPLEX, TOO_COMPLEX = 8, 7, 40, 10, 15


@dataclass(frozen=True, slots=True)
class Module:
    """One file of chatdev/: where it lies, its lines and its tree."""

    path: str
    lines: int
    tree: ast.Module

    @property
    def name(self) -> str:
        """Its dotted name."""
        return f"chatdev.{self.path[:-3].replace('/', '.')}".removesuffix(".__init__")

    def functions(self) -> Iterator[Function]:
        """All functions, methods and nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def classes(self) -> Iterator[ast.ClassDef]:
        """All classes."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))


class Tree:
    """The modules below chatdev/ of a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def modules(self) -> list[Module]:
        """All modules, parsed."""
        code = self.root / "chatdev"
        texts = ((path.relative_to(code).as_posix(), path.read_text(encoding="utf-8"))
                 for path in sorted(code.rglob("*.py")))
        return [Module(path, len(text.splitlines()), ast.parse(text)) for path, text in texts]

    @cached_property
    def imported_by(self) -> dict[str, set[str]]:
        """Path of each module -> paths of the modules that import it."""
        paths = {module.name: module.path for module in self.modules}
        found: dict[str, set[str]] = defaultdict(set)
        for module in self.modules:
            for name in _imported(module.tree):
                path = paths.get(name) or paths.get(name.rpartition(".")[0])
                if path and path != module.path:
                    found[path].add(module.path)
        return found

    def small(self) -> list[str]:
        """Modules under 30 lines, empty packages left out."""
        return [f"{m.path} {m.lines}" for m in self.modules if 3 < m.lines < 30]

    def long(self) -> list[str]:
        """Modules of more than 600 lines."""
        return [f"{m.path} {m.lines}" for m in self.modules if m.lines > 600]

    def imported_once(self) -> list[str]:
        """Modules that exactly one other imports."""
        return [f"{path} by {next(iter(by))}" for path, by in sorted(self.imported_by.items()) if len(by) == 1]

    def repeated_classes(self, *, tools: bool) -> list[str]:
        """Public class names that stand in two modules: of tools/ or departments/, where the two are of one department,
        or outside."""
        places: dict[tuple[str, str], list[str]] = defaultdict(list)
        for module in self.modules:
            if _is_in_department(module.path) == tools:
                for found in module.tree.body:
                    if isinstance(found, ast.ClassDef) and not found.name.startswith("_"):
                        places[_department(module.path), found.name].append(module.path)
        return [f"{name}: {', '.join(paths)}" for (_, name), paths in sorted(places.items()) if len(paths) > 1]

    def repeated_modules(self, *, tools: bool) -> list[str]:
        """Module file names that stand in two folders, `__init__` and `base` aside."""
        places: dict[tuple[str, str], list[str]] = defaultdict(list)
        for module in self.modules:
            name = Path(module.path).name
            if _is_in_department(module.path) == tools and name not in ("__init__.py", "base.py"):
                places[_department(module.path), name].append(module.path)
        return [f"{name}: {', '.join(paths)}" for (_, name), paths in sorted(places.items()) if len(paths) > 1]

    def participles(self, *, top_level: bool) -> list[str]:
        """Functions that a participle or an adverb names."""
        return [f"{module.path}:{function.lineno} {function.name}" for module in self.modules
                for function in module.functions()
                if is_participle(function.name) and (function in module.tree.body or not top_level)]

    def complex_functions(self, above: int) -> list[str]:
        """Functions of a cyclomatic complexity above a bound, the worst first."""
        found = [(complexity(function), f"{module.path}:{function.lineno} {function.name}")
                 for module in self.modules for function in module.functions()]
        return [f"{name} {count}" for count, name in sorted(found, key=lambda f: (-f[0], f[1])) if count > above]

    def long_functions(self) -> list[str]:
        """Functions of more than 40 lines."""
        return [f"{module.path}:{f.lineno} {f.name} {length}" for module in self.modules for f in module.functions()
                if (length := (f.end_lineno or 0) - f.lineno + 1) > MANY_LINES]

    def many_arguments(self) -> list[str]:
        """Functions of more than 7 arguments, `self` and `cls` left out."""
        return [f"{module.path}:{f.lineno} {f.name} {count}" for module in self.modules for f in module.functions()
                if (count := _arguments(f)) > MANY_ARGUMENTS]

    def fields(self) -> list[str]:
        """How many fields each central class holds, and how many positional arguments it takes."""
        return [f"{found.name} ({module.path}): {len(_fields(found))} fields, {_positional(found)} positional"
                for module in self.modules for found in module.classes() if found.name in CENTRAL]

    def traced(self) -> Mapping[str, Any]:
        """What one call goes through (see structure_trace)."""
        script = Path(__file__).with_name("structure_trace.py")
        done = subprocess.run([sys.executable, str(script)], cwd=self.root, stdout=subprocess.PIPE, check=True,
                              env={**os.environ, "PYTHONPATH": str(self.root)})
        found: Mapping[str, Any] = json.loads(done.stdout)
        return found


def complexity(function: Function) -> int:
    """Cyclomatic complexity: 1, and one for each branch, loop, handler, case, ternary, comprehension, condition in it,
    and boolean operator. What nested functions add is theirs as well as their parent's."""
    return 1 + sum(_branches(node) for node in ast.walk(function))


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    branching = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case)
    return int(isinstance(node, branching))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _department(path: str) -> str:
    parts = path.split("/")
    return parts[1] if _is_in_department(path) and len(parts) > 2 else ""


def _is_in_department(path: str) -> bool:
    return path.startswith(("tools/", "departments/"))


def _arguments(function: Function) -> int:
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def _fields(found: ast.ClassDef) -> set[str]:
    """Annotated fields of the body, and what methods set on `self`."""
    fields = {node.target.id for node in found.body if isinstance(node, ast.AnnAssign) and
              isinstance(node.target, ast.Name) and not ast.unparse(node.annotation).startswith("ClassVar")}
    for node in ast.walk(found):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            fields |= {node.attr} if node.value.id == "self" else set()
    return fields


def _positional(found: ast.ClassDef) -> int:
    """How many positional arguments a call may give."""
    for node in found.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return len(node.args.args) - 1
    if any("kw_only=True" in ast.unparse(decorator) for decorator in found.decorator_list):
        return 0
    taken = [node for node in found.body if isinstance(node, ast.AnnAssign)
             and "init=False" not in ast.unparse(node.value or node.target)]
    return len(taken)


def measured(tree: Tree) -> dict[str, Any]:
    """Every row of the table: a list of what was found, or figures."""
    lines = [module.lines for module in tree.modules if module.lines > 3]
    trace = tree.traced()
    return {
        "modules": f"{len(tree.modules)}, median {median(lines):.0f} lines, longest {max(lines)}",
        "modules under 30 lines": tree.small(),
        "modules of more than 600 lines": tree.long(),
        "modules imported exactly once": tree.imported_once(),
        "files from run.py to the first request": _way(trace["to_request"]),
        "files from the loaded company to the first request": _way(trace["to_request"][trace["loaded"]:]),
        "files from the reply to its first write": _way(trace["to_write"]),
        "files in which a function of a one-call run runs": len(set(trace["run"])),
        "files that a one-call run imports": trace["imported"],
        "public class names repeated outside tools/": tree.repeated_classes(tools=False),
        "public class names repeated in a department of tools/": tree.repeated_classes(tools=True),
        "module names repeated outside tools/": tree.repeated_modules(tools=False),
        "module names repeated in a department of tools/": tree.repeated_modules(tools=True),
        "top-level functions": sum(isinstance(node, Function) for m in tree.modules for node in m.tree.body),
        "top-level functions named by a participle or adverb": tree.participles(top_level=True),
        "all functions named by a participle or adverb": tree.participles(top_level=False),
        f"functions above complexity {COMPLEX}": tree.complex_functions(COMPLEX),
        f"functions above complexity {TOO_COMPLEX}": tree.complex_functions(TOO_COMPLEX),
        f"functions longer than {MANY_LINES} lines": tree.long_functions(),
        f"functions with more than {MANY_ARGUMENTS} arguments": tree.many_arguments(),
        "central classes": tree.fields(),
    }


def _way(files: list[str]) -> str:
    return f"{_counted(files)}; without the command line {_counted([f for f in files if not f.startswith('cli/')])}"


def _counted(files: list[str]) -> str:
    changes = sum(a != b for a, b in pairwise(files))
    return f"{len(set(files))} files, {changes} changes"


def main() -> None:
    """Print the table of a tree."""
    parser = argparse.ArgumentParser(prog="scripts/structure", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parent.parent, help="the checkout to measure")
    parser.add_argument("--json", action="store_true", help="print one JSON object with all names")
    parser.add_argument("--list", action="store_true", help="name what was counted")
    given = parser.parse_args()
    table = measured(Tree(given.tree.resolve()))
    if given.json:
        print(json.dumps(table, indent=1))
        return
    for title, found in table.items():
        print(f"{title:<60}{len(found) if isinstance(found, list) else found}")
        if isinstance(found, list) and (given.list or title == "central classes" or title.endswith("complexity 15")):
            print("".join(f"    {name}\n" for name in found), end="")


if __name__ == "__main__":
    main()
