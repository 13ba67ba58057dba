"""Checks of templates: syntax, and that each names only what it is given. Hidden inputs are named nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.config.facts import Finding, bare
from chatdev.config.nearest import known
from chatdev.config.phases import Phase
from chatdev.config.prompts import entries, variables
from chatdev.config.protocol import PROBLEM_VARIABLES, PROTOCOL_VARIABLES, PromptProtocol
from chatdev.config.schema import CompanyConfig
from chatdev.config.source import KeyPath
from chatdev.errors import ConfigError


def check_texts(company: CompanyConfig) -> Iterator[Finding]:
    """Findings in all templates of a company.

    Background and role prompts may name the visible inputs (each by its name, all as `inputs`); the guidance what the
    phase reads; the opening that too, and `feedback` when the phase has one; protocol texts what the engine gives them.
    """
    given = frozenset({"task", "inputs", *_visible(company)})
    yield from _text(company, ("background",), company.background, given, "name an input")
    for name, role in company.roles.items():
        yield from _text(company, ("roles", name, "prompt"), role.prompt, given, "name an input")
    for name, phase in company.phases.items():
        yield from _phase(company, name, phase)
    for field, info in PromptProtocol.model_fields.items():
        if names := PROTOCOL_VARIABLES.get(entry := info.alias or field):
            text = getattr(company.protocol, field)
            yield from _text(company, ("protocol", entry), text, names, "name one of them")
    for code, text in company.protocol.problems.items():
        path: KeyPath = ("protocol", "problems", code)
        if code in PROBLEM_VARIABLES:
            yield from _text(company, path, text, PROBLEM_VARIABLES[code], "name one of them")
        else:
            yield Finding(path, f"there is no such problem; {known(code, PROBLEM_VARIABLES)}")


def _phase(company: CompanyConfig, name: str, phase: Phase) -> Iterator[Finding]:
    reads = frozenset(map(bare, phase.reads))
    path: KeyPath = ("phases", name)
    for side, text in (("instructor", phase.guidance.instructor), ("assistant", phase.guidance.assistant)):
        yield from _text(company, (*path, "guidance", side), text, reads, "add it to `reads` or mend the name")
    opening = reads | {"feedback"} if phase.feedback else reads
    yield from _text(company, (*path, "opening"), phase.opening, opening, "add it to `reads` or mend the name")


def _text(company: CompanyConfig, path: KeyPath, template: str, given: frozenset[str], mend: str) -> Iterator[Finding]:
    hidden = {name for name, declared in company.inputs.items() if declared.hidden}
    try:
        named, asked = variables(template), entries(template, "inputs")
    except ConfigError as error:
        yield Finding(path, f"{error}; mend the Jinja2 syntax")
        return
    for name in sorted((named - given | asked) & hidden):
        yield Finding(path, f"names the hidden input {name!r}, which only tools may see; leave it out")
    for name in sorted(named - given - hidden):
        yield Finding(path, f"uses {name!r}, which it is not given; {mend} ({known(name, sorted(given))})")
    for name in sorted(asked - set(company.inputs) - {"task"}) if "inputs" in given else ():
        yield Finding(path, f"uses inputs.{name}, but there is no such input; {known(name, _visible(company))}")


def _visible(company: CompanyConfig) -> list[str]:
    return [name for name, declared in company.inputs.items() if not declared.hidden]
