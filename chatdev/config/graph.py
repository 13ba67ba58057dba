"""Drawings of a chain: text for the terminal, graphviz for pictures."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from chatdev.config.schema import CompanyConfig, Step
from chatdev.errors import ConfigError, MissingProgram, ToolError

_PICTURES = (".svg", ".png", ".dot")


def chain_text(company: CompanyConfig) -> str:
    """The chain as an indented drawing: who instructs ⇄ whom, what is written, loops, branches, success."""
    lines = [company.company, *_lines(company, company.chain, "")]
    return "\n".join([*lines, f"success: {company.success}"])


def _lines(company: CompanyConfig, steps: Sequence[Step], indent: str) -> Iterator[str]:
    for n, step in enumerate(steps):
        last = n == len(steps) - 1
        yield f"{indent}{'└─' if last else '├─'} {_label(company, step)}"
        yield from _lines(company, step.children, indent + ("   " if last else "│  "))


def _label(company: CompanyConfig, step: Step) -> str:
    notes = [f"when {step.when}"] if step.when is not None else []
    if step.optional:
        notes.append("optional")
    pair = f": {_pair(company, step.phase_named)}" if step.phase_named else ""
    return step.caption + pair + (f"   [{', '.join(notes)}]" if notes else "")


def _pair(company: CompanyConfig, name: str) -> str:
    phase = company.phases[name]
    titles = [company.roles[role].title for role in (phase.instructor, phase.assistant) if role is not None]
    uses = {"mends": phase.mends, "feedback": phase.feedback, "guard": phase.guard}
    tools = ", ".join(f"{use}: {tool}" for use, tool in uses.items() if tool)
    return f"{' ⇄ '.join(titles)} → {phase.solution.as_file or phase.writes}{f'   ({tools})' if tools else ''}"


def chain_dot(company: CompanyConfig) -> str:
    """The chain in graphviz's language."""
    drawing = _Dot(company)
    ends = drawing.steps(company.chain, ["start"], "  ")
    edges = [*drawing.edges, *(f"  {end} -> success;" for end in ends)]
    head = ["digraph chain {", f"  label={_quote(company.company)}; labelloc=t; fontname=Helvetica;",
            "  node [shape=box, style=rounded, fontname=Helvetica]; edge [fontname=Helvetica];",
            "  start [shape=circle, label=\"\"];",
            f"  success [shape=ellipse, peripheries=2, label={_quote(company.success)}];"]
    return "\n".join([*head, *drawing.lines, *edges, "}"]) + "\n"


class _Dot:
    """Collects nodes in clusters, and edges apart (an edge inside a cluster would pull its nodes into it); `steps`
    returns the nodes that the next step follows."""

    def __init__(self, company: CompanyConfig) -> None:
        self.company = company
        self.lines: list[str] = []
        self.edges: list[str] = []
        self._count = 0

    def steps(self, steps: Sequence[Step], before: list[str], indent: str) -> list[str]:
        for step in steps:
            before = self.step(step, before, indent)
        return before

    def step(self, step: Step, before: list[str], indent: str) -> list[str]:
        self._count += 1
        name = f"n{self._count}"
        label = _quote(_label(self.company, step).replace(": ", "\n", 1))
        if not step.children:
            shape = ", shape=component" if step.kind == "tool" else ""
            self.lines.append(f"{indent}{name} [label={label}{shape}];")
            self.edges += [f"  {node} -> {name};" for node in before]
            return [name]
        self.lines.append(f"{indent}subgraph cluster_{name} {{ label={label};")
        after = self._inner_steps(step, before, indent + "  ")
        self.lines.append(f"{indent}}}")
        return after

    def _inner_steps(self, step: Step, before: list[str], indent: str) -> list[str]:
        if step.side_by_side:
            return [end for branch in step.children for end in self.step(branch, before, indent)]
        first = self._count + 1
        after = self.steps(step.children, before, indent)
        if step.loops:
            target = self._leaf(step.children[0], first)
            self.edges += [f"  {end} -> n{target} [style=dashed, constraint=false];" for end in after]
        return after

    def _leaf(self, step: Step, number: int) -> int:
        """Number of the first node drawn for a step; clusters are no nodes."""
        return self._leaf(step.children[0], number + 1) if step.children else number


def chain_picture(company: CompanyConfig, path: Path) -> None:
    """Draw the chain into `path` (.svg, .png, or .dot for the source).

    Raises MissingProgram without graphviz, ConfigError for another ending or a folder that cannot be written.
    """
    if path.suffix not in _PICTURES:
        raise ConfigError(f"{path.name!r} is not a picture this can draw; let the name end in {', '.join(_PICTURES)}")
    source = chain_dot(company)
    try:
        path.write_bytes(source.encode() if path.suffix == ".dot" else _draw(source, path.suffix[1:]))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error


def _draw(source: str, kind: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise MissingProgram("drawing needs graphviz, which is not installed; install it (Debian, Ubuntu: `apt install "
                             "graphviz`), or write a .dot file")
    done = subprocess.run([program, f"-T{kind}"], input=source.encode(), capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise ToolError(f"graphviz failed: {done.stderr.decode('utf-8', 'replace').strip()}; write a .dot file instead")
    return done.stdout


def _quote(text: str) -> str:
    """A graphviz string; JSON's escapes of quotes, backslashes and line ends are graphviz's too."""
    return json.dumps(text, ensure_ascii=False)
