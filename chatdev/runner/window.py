"""Whether software that is handed in fits the windows of the models that are shown all of it: said before the first
call."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chatdev.config.schema import CompanyConfig, walk
from chatdev.config.templates import listing
from chatdev.errors import ConfigError
from chatdev.llm.tokens import count_tokens
from chatdev.runner.resources import RoleModels

_ALL_OF_IT = re.compile(r"\bsoftware\s*\|\s*listing\b")
_FEWEST = 12  # characters of a token, on the side of what fits


def refuse_oversize(company: CompanyConfig, software: Mapping[str, bytes], role_models: RoleModels) -> None:
    """Raise ConfigError, with the figures, where a phase of the chain shows all of the software to a model whose window
    it does not fit."""
    phases = company.phases
    for name in dict.fromkeys(name for _, step in walk(company.chain) for name in step.phases_run(phases)):
        phase = phases[name]
        context = role_models(name, phase.assistant).profile.context
        if "software" not in phase.reads or context is None or not _ALL_OF_IT.search(phase.opening):
            continue
        if sum(map(len, software.values())) <= context:
            return  # no token is shorter than a byte
        shown = listing(software)
        model = role_models(name, phase.assistant).sampling.model
        tokens = len(shown) // _FEWEST if len(shown) > context * _FEWEST else count_tokens(shown, model)
        if tokens > context:
            raise ConfigError(
                f"the software that was handed in has {len(software)} files and more than {tokens:,} tokens; the phase "
                f"{name!r} of company {company.company!r} shows all of it, and {model} takes {context:,}. Take "
                "--company maintain, which shows a map and lets the model read, or give a part: --path FOLDER")
