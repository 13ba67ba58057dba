"""Nothing that a model wrote is parsed in the process that holds the run."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.support.checkout import MODULES, imported, named

READERS = {  # every function there that is called from elsewhere is isolated
    "chatdev/replies/python/reader.py", "chatdev/workspace/python_facts.py",
    "chatdev/departments/software/reading/python_reader.py",
    "chatdev/departments/verilog/design/facts.py", "chatdev/departments/verilog/design/slips.py",
    "chatdev/departments/verilog/design/lint.py",
    "chatdev/departments/verilog/slang.py", "chatdev/departments/verilog/tracing/search.py",
    "chatdev/departments/plc/source_check.py", "chatdev/departments/plc/source_run.py",
    "chatdev/departments/plc/proof/checks.py",
}
BELOW = {  # what readers stand on: called in the child alone
    "chatdev/departments/plc/proof/properties.py", "chatdev/departments/plc/st/slips.py",
    *(f"chatdev/departments/verilog/{name}.py" for name in (
        "design/elaborate", "design/records", "design/statements", "design/design",
        "tracing/trace", "tracing/drivers")),
}
BY_CONSENT = {"chatdev/departments/verilog/__init__.py"}  # `trace_drivers`, a library for texts of one's own
GENERATORS = {  # compile what they generated themselves, of bounded depth
    "chatdev/departments/plc/simulation/machine.py",
    # counted names, numbers, and in subsystems conditions of at most 500 characters
    *(f"chatdev/departments/simulink/simulation/{name}.py" for name in ("compile", "steps", "subsystems")),
}
DESIGN = "chatdev.departments.verilog.design"
PARSERS = {"ast", "tokenize", "symtable", "codeop", "pyflakes", "pyslang",
           *(f"chatdev.workspace.python_facts.{name}" for name in ("parse", "literal", "check")),
           "chatdev.departments.plc.st.reading", "chatdev.departments.plc.source_check.readable_program",
           f"{DESIGN}.records.import_pyslang", f"{DESIGN}.elaborate.elaborate", f"{DESIGN}.design.Design"}


def parsers_in(tree: ast.Module) -> set[str]:
    found = {parser for name in imported(tree) for parser in PARSERS if f"{name}.".startswith(f"{parser}.")}
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return found | calls & {"compile", "eval", "exec"}


def test_only_the_readers_use_a_parser() -> None:
    found = {named(path) for path in MODULES if parsers_in(ast.parse(path.read_text(encoding="utf-8")))}
    assert found == READERS | BELOW | BY_CONSENT | GENERATORS


def test_a_reader_imports_nothing_that_takes_long() -> None:
    names = ", ".join(module.removesuffix(".py").replace("/", ".") for module in sorted(READERS))
    program = f"import sys, {names}; print(*({{'pydantic', 'jinja2', 'yaml', 'openai'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
