"""The static check of a company: whatever can be known to fail is refused before the first model call (design §3-4).

First inputs, models, servers and texts (each template names only what it is given, and hidden inputs nowhere), then
the chain, then single phases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatdev.config.json_schema import schema_problem
from chatdev.config.phases import Phase, Solution, bare_name, is_template, unsafe_name
from chatdev.config.profiles import ModelSettings, find_provider, unknown_provider_text
from chatdev.config.schema import (
    PROBLEM_VARIABLES,
    PROTOCOL_VARIABLES,
    CompanyConfig,
    ForeachStep,
    McpServer,
    PhaseStep,
    ProcessStep,
    PromptProtocol,
    Step,
    ToolStep,
    files_declared,
    names_written,
    walk,
)
from chatdev.config.templates import compile_expression, entries, variables
from chatdev.config.yaml_nodes import KeyPath, name_hint
from chatdev.connection import has_user
from chatdev.department import explain_absence
from chatdev.errors import ConfigError, ExpressionError


def check_company(company: CompanyConfig, tools: Tools = None) -> list[Mistake]:
    """Everything wrong with a company, and warnings. `tools` are those there are; None leaves tools unchecked."""
    return [
        *_inputs(company),
        *_models(company),
        *check_servers(company, tools),
        *check_phases(company, tools),
        *check_texts(company),
        *check_chain(company, tools),
        *_unused_phases(company),
    ]


def warnings(company: CompanyConfig) -> list[str]:
    """Warnings about a company that runs, one line each."""
    return [".".join(map(str, f.path)) + f": {f.text}" for f in check_company(company) if f.warning]


def _inputs(company: CompanyConfig) -> Iterator[Mistake]:
    for name in company.inputs:
        if not is_name(name) or (name in RESERVED and name != "task"):
            yield Mistake(("inputs", name), f"an input cannot be called {name!r}; use letters, digits and `_`, and "
                          f"none of the reserved names {', '.join(RESERVED[1:])}")
    for name, declared in company.inputs.items():
        if declared.kind != "text" and declared.default is not None:
            yield Mistake(("inputs", name, "default"), "a company cannot say which of the user's files is read; leave "
                          f"the default out, and give the file with --input {name}=PATH")
    if "task" in company.inputs and company.inputs["task"].hidden:
        yield Mistake(("inputs", "task", "hidden"), "the task cannot be hidden; hide another input")


def _models(company: CompanyConfig) -> Iterator[Mistake]:
    places: list[tuple[KeyPath, ModelSettings]] = [
        (("model",), company.model),
        *((("roles", name, "model"), role.model) for name, role in company.roles.items()),
        *((("phases", name, "model"), phase.model) for name, phase in company.phases.items()),
    ]
    for path, model in places:
        # what was given is not repeated: it may be a key or hold one
        if model.key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", model.key_env):
            yield Mistake((*path, "key_env"), "this is not the name of an environment variable; write the variable's "
                          "name, never the key itself")
        if model.base_url is not None and not model.base_url.startswith(("http://", "https://")):
            yield Mistake((*path, "base_url"), "this is not a URL; it begins with http:// or https://")
        if model.provider is not None and find_provider(model.provider) is None:
            yield Mistake((*path, "provider"), unknown_provider_text(model.provider))


def _unused_phases(company: CompanyConfig) -> Iterator[Mistake]:
    used = {name for _, step in walk(company.chain) for name in step.phases_run(company.phases)}
    for name in company.phases:
        if name not in used:
            yield Mistake(("phases", name), f"the chain never runs the phase {name!r}", warning=True)


def check_texts(company: CompanyConfig) -> Iterator[Mistake]:
    """Findings in all templates of a company.

    Background and role prompts may name the visible inputs (each by its name, all as `inputs`); the guidance what the
    phase reads; the opening that too, and `feedback` when the phase has one; all of them `sizes`; protocol texts what
    the engine gives them.
    """
    given = frozenset({"task", "inputs", "sizes", *_visible_inputs(company)})
    yield from _template(company, ("background",), company.background, given, "name an input")
    for name, role in company.roles.items():
        yield from _template(company, ("roles", name, "prompt"), role.prompt, given, "name an input")
    for name, phase in company.phases.items():
        yield from _phase_texts(company, name, phase)
    for field, info in PromptProtocol.model_fields.items():
        if names := PROTOCOL_VARIABLES.get(entry := info.alias or field):
            text = getattr(company.protocol, field)
            yield from _template(company, ("protocol", entry), text, names, "name one of them")
    for code, text in company.protocol.problems.items():
        path: KeyPath = ("protocol", "problems", code)
        if code in PROBLEM_VARIABLES:
            yield from _template(company, path, text, PROBLEM_VARIABLES[code], "name one of them")
        else:
            yield Mistake(path, f"there is no such problem; {name_hint(code, PROBLEM_VARIABLES)}")


def _phase_texts(company: CompanyConfig, name: str, phase: Phase) -> Iterator[Mistake]:
    reads = frozenset({"sizes", *map(bare_name, phase.reads)})
    path: KeyPath = ("phases", name)
    if phase.solution.as_file:
        yield from _template(company, (*path, "solution", "as_file"), phase.solution.as_file, reads - {"sizes"},
                             "add it to `reads` or fix the name")
    for side, text in (("instructor", phase.guidance.instructor), ("assistant", phase.guidance.assistant)):
        yield from _template(company, (*path, "guidance", side), text, reads, "add it to `reads` or fix the name")
    opening = reads | {"feedback"} if phase.feedback else reads
    yield from _template(company, (*path, "opening"), phase.opening, opening, "add it to `reads` or fix the name")


def _template(company: CompanyConfig, path: KeyPath, template: str, given: frozenset[str],
              fix: str) -> Iterator[Mistake]:
    hidden = {name for name, declared in company.inputs.items() if declared.hidden}
    try:
        named, asked = variables(template), entries(template, "inputs")
    except ConfigError as error:
        yield Mistake(path, f"{error}; fix the Jinja2 syntax")
        return
    for name in sorted((named - given | asked) & hidden):
        yield Mistake(path, f"names the hidden input {name!r}, which only tools may see; leave it out")
    for name in sorted(named - given - hidden):
        yield Mistake(path, f"uses {name!r}, which it is not given; {fix} ({name_hint(name, sorted(given))})")
    for name in sorted(asked - set(company.inputs) - {"task"}) if "inputs" in given else ():
        hint = name_hint(name, _visible_inputs(company))
        yield Mistake(path, f"uses inputs.{name}, but there is no such input; {hint}")


def _visible_inputs(company: CompanyConfig) -> list[str]:
    return [name for name, declared in company.inputs.items() if not declared.hidden]


# The chain: names are written before they are read, loops can end, branches do not collide.

Names = frozenset[str]


def check_chain(company: CompanyConfig, tools: Tools) -> list[Mistake]:
    """Findings in the chain and in `success`."""
    walk_ = _Walk(company, tools)
    walk_.steps(company.chain, ("chain",), frozenset({"task", "inputs", "software", *company.inputs}))
    walk_.processes()
    walk_.success()
    return walk_.findings


class _Walk:
    """Follows the chain and collects findings."""

    def __init__(self, company: CompanyConfig, tools: Tools) -> None:
        self.company = company
        self.tools = tools
        self.findings: list[Mistake] = []
        self.items = items_of(company)
        self.absent = {name for name, declared in company.inputs.items()
                       if not (declared.required or declared.hidden or declared.default is not None)} - {"task"}
        self.written = names_written(company.chain, company.phases)
        self.anywhere = self.written | {"task", "inputs", "software", *company.inputs}

    def steps(self, steps: Sequence[Step], path: KeyPath, before: Names) -> Names:
        """The names there may be after the steps."""
        for n, step in enumerate(steps):
            before |= self.step(step, (*path, n), before)
        return before

    def step(self, step: Step, path: KeyPath, before: Names) -> Names:
        """The names there may be after one step."""
        self.conditions(step, path, before)
        if check := _CHECKS.get(type(step)):
            check(self, step, path, before)
        inside = before if step.item is None else before | {step.item}
        if step.until is not None:
            self.loop_condition(step, (*path, step.inner_path[0], "until"), inside)
        if step.side_by_side:
            self.branches(step, path, before)
        else:
            self.steps(step.children, (*path, *step.inner_path), inside)
        return before | names_written([step], self.company.phases)

    def conditions(self, step: Step, path: KeyPath, before: Names) -> None:
        if step.when is not None:
            self.expression(step.when, (*path, "when"), before | {"sizes"} if step.phase_named else before)
        if step.optional and path[-2] != "parallel":
            self.report((*path, "optional"), "`optional` belongs to a branch of `parallel`; use `when`, or remove it")

    def loop_condition(self, step: Step, path: KeyPath, inside: Names) -> None:
        text, changing = step.until or "", names_written(step.children, self.company.phases)
        names = self.expression(text, path, inside)
        if step.item is not None:
            changing |= {step.item}
        if names is not None and not names & changing:
            self.report(path, f"{text!r} names nothing that the loop writes, so it can never become true in it; name "
                       f"one of {', '.join(sorted(changing))}")

    def branches(self, step: Step, path: KeyPath, before: Names) -> None:
        """Each branch sees what was written before the fork, and no two may write one thing."""
        names: dict[str, int] = {}
        phases = self.company.phases
        for n, branch in enumerate(step.children):
            self.step(branch, (*path, *step.inner_path, n), before)
            written = {f"`{name}`" for name in names_written([branch], phases) - {"software"}}
            for what in sorted(written | {f"the file {file}" for file in files_declared([branch], phases)}):
                if what in names:
                    self.report((*path, *step.inner_path, n), f"this branch and branch {names[what]} both write "
                                f"{what}; let one of them write it, or run them one after the other")
                names[what] = n

    def phase(self, step: PhaseStep, path: KeyPath, before: Names) -> None:
        phases = self.company.phases
        phase = phases.get(step.phase)
        if phase is None:
            self.report((*path, "phase"), f"there is no phase {step.phase!r}; {name_hint(step.phase, phases)}")
            return
        if isinstance(step.rounds, str):
            self.expression(step.rounds, (*path, "rounds"), before | {"sizes"})
        if step.fresh and not (phase.guard and phase.writes == "software"):
            self.report((*path, "fresh"), "a phase that writes the software anew needs a `guard`, by which the new one "
                        f"is compared with what was there; give {step.phase!r} one, or leave this key out")
        self.need(phase.reads, ("phases", step.phase, "reads"), before)
        for tool in (phase.feedback, phase.guard, phase.mends):
            if self.tools and tool is not None and tool in self.tools:
                self.need(self.tools[tool].reads, path, before | {phase.writes}, f"its tool {tool} ")

    def tool(self, step: ToolStep, path: KeyPath, before: Names) -> None:
        self.findings += unknown_tool(step.tool, self.tools, (*path, "tool"), self.company.server_tools)
        facts = self.tools.get(step.tool) if self.tools else None
        reads = step.reads if step.reads is not None else facts.reads if facts else ()
        self.need(reads, path if step.reads is None else (*path, "reads"), before, f"the tool {step.tool} ")
        if problem := write_problem(self.company, step.writes, self.items):
            self.report((*path, "writes"), problem)
        elif step.writes == "software" and facts and not facts.writes_files:
            self.report((*path, "writes"), f"the tool {step.tool} makes no files; write another name than `software`")

    def foreach(self, step: ForeachStep, path: KeyPath, before: Names) -> None:
        name = step.item
        if not is_name(name) or name in RESERVED or name in before | self.anywhere:
            self.report((*path, "foreach", "as"), f"an item cannot be called {name!r}; take a name that nothing else "
                       "has")
        if self.expression(step.foreach.over, (*path, "foreach", "over"), before):
            self.need(step.names_read(self.company.phases), (*path, "foreach", "over"), before)

    def process(self, step: ProcessStep, path: KeyPath, before: Names) -> None:
        self.need(step.names_read(self.company.phases), (*path, "process"), before)
        for n, name in enumerate(step.phases):
            if name not in self.company.phases:
                self.report((*path, "phases", n), f"there is no phase {name!r}; {name_hint(name, self.company.phases)}")

    def processes(self) -> None:
        """Phases that a process may run can only be given what something writes."""
        steps = [step for _, step in walk(self.company.chain)]
        may_run = {name for step in steps for name in step.phases_run(self.company.phases)}
        for name, phase in self.company.phases.items():
            if name in may_run - {step.phase_named for step in steps}:
                self.need(phase.reads, ("phases", name, "reads"), self.anywhere | self.items)

    def success(self) -> None:
        """`success` reads what the last step, a tool, writes: leaving phases out never changes what success means."""
        last = self.company.chain[-1]
        if last.kind != "tool":
            self.report(("chain", len(self.company.chain) - 1), "the last step must be a tool that states the verdict, "
                       "e.g. `{tool: software.run, writes: test}`; add one")
            return
        written = last.names_written(self.company.phases)
        names = self.expression(self.company.success, ("success",), written)
        if names is not None and names != written:
            (verdict,) = written
            self.report(("success",), f"{self.company.success!r} must read {verdict!r}, which the last step writes, "
                       f"and nothing else; write e.g. `{verdict}.passed`")

    def expression(self, text: str, path: KeyPath, before: Names) -> Names | None:
        """The names of an expression; None when it is broken or names what there is nowhere."""
        try:
            names = compile_expression(text).names
        except ExpressionError as error:
            self.report(path, str(error))
            return None
        there = before | self.anywhere
        unknown = names - there
        for name in sorted(unknown):
            self.report(path, f"names {name!r}, which nothing writes; {name_hint(name, sorted(there))}")
        return None if unknown else names

    def need(self, reads: Sequence[str], path: KeyPath, before: Names, who: str = "") -> None:
        """Findings for each read that nothing can have written yet."""
        for problem in self.missing_reads(reads, before):
            self.report(path, f"{who}{problem}")

    def missing_reads(self, reads: Sequence[str], before: Names) -> Iterator[str]:
        for read in reads:
            name = bare_name(read)
            if read != name:
                continue
            if name in self.absent:
                yield f"reads the input {name!r}, which may be absent; write `{name}?` or give it a default"
            elif name not in before:
                later = "only a later step writes" if name in self.written else "nothing writes"
                hint = name_hint(name, sorted(before))
                yield f"reads {name!r}, which {later}; write it before, or `{name}?` ({hint})"

    def report(self, path: KeyPath, text: str) -> None:
        finding = Mistake(path, text)
        if finding not in self.findings:
            self.findings.append(finding)


_CHECKS: Mapping[type[Step], Callable[[_Walk, Any, KeyPath, Names], None]] = {
    PhaseStep: _Walk.phase, ToolStep: _Walk.tool, ForeachStep: _Walk.foreach, ProcessStep: _Walk.process,
}
"""Mistakes special to this kind of step."""


# Servers of tools.

_SERVER = re.compile(r"[a-z][a-z0-9_-]{0,23}")
_ADDRESS = re.compile(r"https?://[^/\s][!-~]*")
_SERVERS_TOOL = re.compile(r"[A-Za-z0-9_.-]+")
_LONGEST_TOOL = 62  # characters of a name with its server's: what interfaces of models take, whose dot is two signs


def check_servers(company: CompanyConfig, tools: Tools) -> Iterator[Mistake]:
    """Findings in the servers that a company declares; none of them is asked."""
    offered = {tool for role in company.roles.values() for tool in role.tools}
    for name, server in company.mcp.items():
        path: KeyPath = ("mcp", name)
        if not _SERVER.fullmatch(name):
            yield Mistake(path, f"a server cannot be called {name!r}; take up to 24 letters a-z, digits, `-` and `_`")
        yield from _server_place(server, path)
        for n, tool in enumerate(server.tools):
            yield from _servers_tool(name, tool, server.tools[:n], tools, (*path, "tools", n))
        if offered.isdisjoint(f"{name}.{tool}" for tool in server.tools):
            yield Mistake(path, f"no role has a tool of this server; name one, e.g. roles: ROLE: tools: "
                          f"[{name}.{server.tools[0]}], or leave the server out", warning=True)


def _server_place(server: McpServer, path: KeyPath) -> Iterator[Mistake]:
    if bool(server.command) is bool(server.url):
        yield Mistake(path, "a server is a program or an address; write `command: [program, argument]` or "
                            "`url: https://…/mcp`")
    elif server.url:
        yield from _address(server, server.url, path)
    else:
        if not server.command[0].strip() or "\0" in "".join(server.command):
            yield Mistake((*path, "command"), f"{server.command!r} names no program; write `[program, argument]`")
        if server.key_env:
            yield Mistake((*path, "key_env"), "this goes with `url`; a program gets its variables by `env: [NAME]`")


def _address(server: McpServer, url: str, path: KeyPath) -> Iterator[Mistake]:
    if not _ADDRESS.fullmatch(url):
        yield Mistake((*path, "url"), f"{url!r} is no address; write e.g. `https://host.example/mcp`")
    elif has_user(url):
        yield Mistake((*path, "url"), "a password in an address is read by everybody; name the variable with the key: "
                                      "`key_env: NAME`")
    if server.env:
        yield Mistake((*path, "env"), "this goes with `command`, and an address gets no variables; leave it out")


def _servers_tool(server: str, tool: str, before: Sequence[str], tools: Tools, path: KeyPath) -> Iterator[Mistake]:
    name = f"{server}.{tool}"
    if not _SERVERS_TOOL.fullmatch(tool):
        yield Mistake(path, f"{tool!r} is no name of a tool; these have letters, digits, `_`, `-` and `.`")
    elif len(name) > _LONGEST_TOOL:
        yield Mistake(path, f"{name} is longer than {_LONGEST_TOOL} characters; give the server a shorter name")
    elif tool in before:
        yield Mistake(path, f"{tool!r} is there twice; remove one of them")
    elif tools is not None and name in tools:
        yield Mistake(path, f"there are two tools {name!r}, the other one is installed; give the server another name")


# Single phases: roles, tools, who speaks, what is written in which form.


def check_phases(company: CompanyConfig, tools: Tools) -> Iterator[Mistake]:
    """Findings in roles and phases, whether the chain runs them or not."""
    of_servers = company.server_tools
    for name, role in company.roles.items():
        for n, tool in enumerate(role.tools):
            yield from unknown_tool(tool, tools, ("roles", name, "tools", n), of_servers)
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
    yield from unknown_tool(phase.feedback, tools, (*path, "feedback"), company.server_tools)
    yield from unknown_tool(phase.guard, tools, (*path, "guard"), company.server_tools)
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
               "only": ("files", solution.only), "beside": ("files", solution.beside)}
    for key, (form, value) in belongs.items():
        if value and solution.form != form:
            yield Mistake((*path, key), f"this belongs to the form `{form}`, not {solution.form!r}; change one of them")
    yield from _options(solution, path)
    if solution.form == "json" and (problem := schema_problem(solution.schema_)):
        yield Mistake((*path, "schema"), problem)
    yield from _file_names(solution, path)


def _file_names(solution: Solution, path: KeyPath) -> Iterator[Mistake]:
    as_file = [] if solution.as_file is None or is_template(solution.as_file) else [solution.as_file]
    for key, names in (("as_file", as_file), ("only", solution.only), ("beside", solution.beside)):
        for name in names:
            if problem := unsafe_name(name):
                yield Mistake((*path, key), problem)


def _options(solution: Solution, path: KeyPath) -> Iterator[Mistake]:
    options = solution.options
    distinct = {option.strip().casefold() for option in options}
    if solution.form == "choice" and (len(options) < 2 or len(distinct) < len(options) or "" in distinct):
        yield Mistake((*path, "options"), f"a choice needs at least two different options, not {options!r}; write "
                      "`options: [one, another]`")


# What these checks share: mistakes, facts about tools, names that may be written.

RESERVED = ("task", "inputs", "software", "feedback")
_WORDS = {"and", "else", "false", "if", "in", "is", "none", "not", "or", "true"}


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a company must know of a tool before it runs; `reads` as in YAML (`name` or `name?`)."""

    name: str
    reads: tuple[str, ...] = ()
    writes_files: bool = False


Tools = Mapping[str, ToolFacts] | None
"""The tools there are, by name; None leaves tools unchecked."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something wrong (or, as a warning, odd) at a key path of the company."""

    path: KeyPath
    text: str
    warning: bool = False


def is_name(text: str) -> bool:
    """Whether templates and expressions can speak of `text`."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None and text.lower() not in _WORDS


def items_of(company: CompanyConfig) -> set[str]:
    """The names of the items of all `foreach` in the chain."""
    return {step.item for _, step in walk(company.chain) if step.item is not None}


def unknown_tool(name: str | None, tools: Tools, path: KeyPath, of_servers: Sequence[str] = ()) -> Iterator[Mistake]:
    """A finding when there is no such tool; those of servers are there for roles alone."""
    if name is None or tools is None or name in tools:
        return
    if name in of_servers and path[0] != "roles":
        yield Mistake(path, f"{name} is a tool of a server, which only roles may have; name another one")
    elif name not in of_servers:
        yield Mistake(path, f"there is no tool {name!r}; {name_hint(name, sorted([*tools, *of_servers]))}"
                            f"{explain_absence()}")


def write_problem(company: CompanyConfig, name: str, items: set[str]) -> str | None:
    """Reason why a phase or tool cannot write `name`; None if it can."""
    if not is_name(name):
        return f"{name!r} is not a name that templates and expressions can use; use letters, digits and `_`"
    if name in RESERVED and name != "software":
        return f"{name!r} is reserved; write another name"
    if name in items:
        return f"{name!r} is the item of a `foreach`; write another name"
    if name in company.inputs:
        return f"{name!r} is an input; write another name"
    return None
