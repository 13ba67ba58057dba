"""Checks of single phases: roles, tools, who speaks, what is written in which form."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.config.json_schema import schema_problem
from chatdev.config.mistakes import Mistake, Tools, is_name, items_of, unknown_tool, write_problem
from chatdev.config.phases import Phase, Solution, bare_name
from chatdev.config.schema import CompanyConfig
from chatdev.config.settled import is_template, unsafe_name
from chatdev.config.validation import name_hint
from chatdev.config.yaml_nodes import KeyPath


def check_phases(company: CompanyConfig, tools: Tools) -> Iterator[Mistake]:
    """Findings in roles and phases, whether the chain runs them or not."""
    for name, role in company.roles.items():
        for n, tool in enumerate(role.tools):
            yield from unknown_tool(tool, tools, ("roles", name, "tools", n))
    items = items_of(company)
    for name, phase in company.phases.items():
        path: KeyPath = ("phases", name)
        yield from _roles(company, phase, path)
        yield from _acting_alone(phase, path)
        yield from _concluding(phase, path)
        yield from _tools(company, phase, tools, path)
        yield from _reads(company, phase, path)
        yield from _writes(company, phase, items, path)
        yield from _form(phase.solution, (*path, "solution"))


def _roles(company: CompanyConfig, phase: Phase, path: KeyPath) -> Iterator[Mistake]:
    for side, role in (("instructor", phase.instructor), ("assistant", phase.assistant)):
        if role is not None and role not in company.roles:
            yield Mistake((*path, side), f"there is no role {role!r}; {name_hint(role, company.roles)}")


def _acting_alone(phase: Phase, path: KeyPath) -> Iterator[Mistake]:
    if phase.instructor is not None:
        return
    needs = {"concludes": phase.concludes == "instructor", "opens": phase.opens == "instructor",
             "dehallucination": phase.dehallucination}
    for key, needed in needs.items():
        if needed:
            yield Mistake((*path, key), "this needs an instructor, and the phase has none; add `instructor: ROLE` or "
                          "leave this key out")


def _concluding(phase: Phase, path: KeyPath) -> Iterator[Mistake]:
    """Warns of phases in which only the assistant may conclude: while their feedback fails, they cannot end by
    consensus."""
    if phase.feedback and phase.concludes == "assistant":
        advice = "let the instructor conclude (`concludes: instructor`, or `either`)" if phase.instructor else \
            "leave this key out"
        yield Mistake((*path, "concludes"), "while the feedback fails, the assistant cannot conclude, and nobody else "
                      "may: such a phase ends when the feedback passes, when two deliveries in a row change nothing, "
                      f"or with the last round; {advice}", warning=True)


def _tools(company: CompanyConfig, phase: Phase, tools: Tools, path: KeyPath) -> Iterator[Mistake]:
    yield from unknown_tool(phase.feedback, tools, (*path, "feedback"))
    yield from unknown_tool(phase.guard, tools, (*path, "guard"))
    yield from _mending(phase, tools, (*path, "mends"))
    if phase.drafts != 1 and not (phase.feedback or phase.guard):
        yield Mistake((*path, "drafts"), "drafts are chosen by the verdict of a tool, and the phase has none; add "
                      "`guard: TOOL` or `feedback: TOOL`, or leave this key out")
    role = company.roles.get(phase.assistant)
    for n, tool in enumerate(phase.tools or ()):
        if role is not None and tool not in role.tools:
            yield Mistake((*path, "tools", n), f"the role {phase.assistant!r} has no tool {tool!r}, and a phase only "
                          f"narrows; {name_hint(tool, role.tools)}")


def _mending(phase: Phase, tools: Tools, path: KeyPath) -> Iterator[Mistake]:
    if phase.mends is None:
        return
    yield from unknown_tool(phase.mends, tools, path)
    facts = tools.get(phase.mends) if tools else None
    if phase.writes != "software":
        yield Mistake(path, "files are mended, and the phase delivers none; leave this key out")
    elif facts and not facts.writes_files:
        yield Mistake(path, f"the tool {phase.mends} makes no files; name one that does")


def _reads(company: CompanyConfig, phase: Phase, path: KeyPath) -> Iterator[Mistake]:
    names = list(map(bare_name, phase.reads))
    hidden = {name for name, declared in company.inputs.items() if declared.hidden}
    for n, name in enumerate(names):
        if name in hidden:
            yield Mistake((*path, "reads", n), f"the input {name!r} is hidden, and only tools may see it; remove it")
        elif name == "feedback":
            yield Mistake((*path, "reads", n), "`feedback` is not read, it is given to a phase with a `feedback` tool; "
                          "remove it")
        elif not is_name(name):
            yield Mistake((*path, "reads", n), f"{phase.reads[n]!r} is not a name; write `name`, or `name?` when it "
                          "may be absent")
        elif name in names[:n]:
            yield Mistake((*path, "reads", n), f"{name!r} is read twice; remove one of them")


def _writes(company: CompanyConfig, phase: Phase, items: set[str], path: KeyPath) -> Iterator[Mistake]:
    files = phase.solution.form == "files"
    if problem := write_problem(company, phase.writes, items):
        yield Mistake((*path, "writes"), problem)
    elif files and phase.writes != "software":
        yield Mistake((*path, "writes"), f"the form `files` writes `software`, not {phase.writes!r}; change one")
    elif not files and phase.writes == "software":
        yield Mistake((*path, "writes"), f"`software` is written in the form `files`, not {phase.solution.form!r}; "
                      "change one of them")
    if phase.on_no_solution == "observed" and phase.solution.form != "text":
        yield Mistake((*path, "on_no_solution"), f"what tools said is a text, not the form {phase.solution.form!r}; "
                      "write `fail`, `keep` or `{value: …}`")


def _form(solution: Solution, path: KeyPath) -> Iterator[Mistake]:
    belongs = {"options": ("choice", solution.options), "schema": ("json", solution.schema_),
               "most": ("list", solution.most), "as_file": ("files", solution.as_file),
               "only": ("files", solution.only)}
    for key, (form, value) in belongs.items():
        if value and solution.form != form:
            yield Mistake((*path, key), f"this belongs to the form `{form}`, not {solution.form!r}; change one of them")
    yield from _options(solution, path)
    if solution.form == "json" and (problem := schema_problem(solution.schema_)):
        yield Mistake((*path, "schema"), problem)
    yield from _file_names(solution, path)


def _file_names(solution: Solution, path: KeyPath) -> Iterator[Mistake]:
    as_file = [] if solution.as_file is None or is_template(solution.as_file) else [solution.as_file]
    for key, names in (("as_file", as_file), ("only", solution.only)):
        for name in names:
            if problem := unsafe_name(name):
                yield Mistake((*path, key), problem)


def _options(solution: Solution, path: KeyPath) -> Iterator[Mistake]:
    options = solution.options
    distinct = {option.strip().casefold() for option in options}
    if solution.form == "choice" and (len(options) < 2 or len(distinct) < len(options) or "" in distinct):
        yield Mistake((*path, "options"), f"a choice needs at least two different options, not {options!r}; write "
                      "`options: [one, another]`")
