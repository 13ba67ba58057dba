"""The static check of a company: whatever can be known to fail is refused before the first model call (design §3-4).

Three parts: the texts (`check_texts`: what templates may name), the phases (`check_phases`: roles, tools, forms) and
the chain (`check_chain`: what is written before it is read, loops, branches, success).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chatdev.config.check_chain import check_chain
from chatdev.config.check_phases import check_phases
from chatdev.config.check_texts import check_texts
from chatdev.config.facts import RESERVED, Finding, ToolFacts, is_name
from chatdev.config.profiles import ModelSettings
from chatdev.config.schema import CompanyConfig
from chatdev.config.source import KeyPath
from chatdev.config.walk import walk

__all__ = ["Finding", "ToolFacts", "check", "warnings"]


def check(company: CompanyConfig, tools: Mapping[str, ToolFacts] | None = None) -> list[Finding]:
    """Everything wrong with a company, and warnings. `tools` are those there are; None leaves tools unchecked."""
    return [
        *_inputs(company),
        *_models(company),
        *check_phases(company, tools),
        *check_texts(company),
        *check_chain(company, tools),
        *_unused(company),
    ]


def warnings(company: CompanyConfig) -> list[str]:
    """What is odd about a company but runs, one line each."""
    return [".".join(map(str, f.path)) + f": {f.text}" for f in check(company) if f.warning]


def _inputs(company: CompanyConfig) -> Iterator[Finding]:
    for name in company.inputs:
        if not is_name(name) or (name in RESERVED and name != "task"):
            yield Finding(("inputs", name), f"an input cannot be called {name!r}; use letters, digits and `_`, and "
                          f"none of the reserved names {', '.join(RESERVED[1:])}")
    if "task" in company.inputs and company.inputs["task"].hidden:
        yield Finding(("inputs", "task", "hidden"), "the task cannot be hidden; hide another input")


def _models(company: CompanyConfig) -> Iterator[Finding]:
    places: list[tuple[KeyPath, ModelSettings]] = [
        (("model",), company.model),
        *((("roles", name, "model"), role.model) for name, role in company.roles.items()),
        *((("phases", name, "model"), phase.model) for name, phase in company.phases.items()),
    ]
    for path, model in places:
        # what was given is not repeated: it may be a key or hold one
        if model.key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", model.key_env):
            yield Finding((*path, "key_env"), "this is not the name of an environment variable; write the variable's "
                          "name, never the key itself")
        if model.base_url is not None and not model.base_url.startswith(("http://", "https://")):
            yield Finding((*path, "base_url"), "this is not a URL; it begins with http:// or https://")


def _unused(company: CompanyConfig) -> Iterator[Finding]:
    used = {name for _, step in walk(company.chain) for name in step.phases_run(company.phases)}
    for name in company.phases:
        if name not in used:
            yield Finding(("phases", name), f"the chain never runs the phase {name!r}", warning=True)
