"""The static check of a company: whatever can be known to fail is refused before the first model call (design §3-4).

Here are the inputs, the models and the texts (each template names only what it is given, and hidden inputs nowhere);
in `check_phases` roles, tools and forms; in `check_chain` what is written before it is read, loops, branches, success.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatdev.config.check_chain import check_chain
from chatdev.config.check_phases import check_phases
from chatdev.config.mistakes import RESERVED, Mistake, Tools, is_name
from chatdev.config.phases import Phase, bare_name
from chatdev.config.profiles import ModelSettings
from chatdev.config.protocol import PROBLEM_VARIABLES, PROTOCOL_VARIABLES, PromptProtocol
from chatdev.config.schema import CompanyConfig
from chatdev.config.steps import walk
from chatdev.config.templates import entries, variables
from chatdev.config.validation import name_hint
from chatdev.config.yaml_nodes import KeyPath
from chatdev.errors import ConfigError


def check_company(company: CompanyConfig, tools: Tools = None) -> list[Mistake]:
    """Everything wrong with a company, and warnings. `tools` are those there are; None leaves tools unchecked."""
    return [
        *_inputs(company),
        *_models(company),
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
