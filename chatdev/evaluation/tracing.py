"""The ablation of VerilogCoder (arXiv 2408.08927, table 3): the same company with and without waveform tracing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from chatdev.config.phases import Phase
from chatdev.config.schema import CompanyConfig
from chatdev.evaluation.variants import Variant

TRACE = "verilog.trace"


def with_tracing_ablated(variants: Iterable[Variant]) -> list[Variant]:
    """Each variant, followed by the same one without tracing where its agents have it, and with it where only their
    role has."""
    return [each for variant in variants for each in (variant, *_changed(variant))]


def _changed(variant: Variant) -> Iterator[Variant]:
    company = variant.load().config
    may = {name: phase for name, phase in company.phases.items() if TRACE in company.roles[phase.assistant].tools}
    using = {name: phase for name, phase in may.items() if TRACE in _tools(company, phase)}
    if using:
        yield _with(variant, "without tracing", {name: [tool for tool in _tools(company, phase) if tool != TRACE]
                                                 for name, phase in using.items()})
    elif may := {name: phase for name, phase in may.items() if phase.tools}:
        yield _with(variant, "with tracing", {name: [*_tools(company, phase), TRACE] for name, phase in may.items()})


def _tools(company: CompanyConfig, phase: Phase) -> list[str]:
    """What the assistant of a phase may use."""
    return company.roles[phase.assistant].tools if phase.tools is None else phase.tools


def _with(variant: Variant, what: str, tools: dict[str, list[str]]) -> Variant:
    sets = (f"phases.{phase}.tools={json.dumps(names)}" for phase, names in tools.items())
    return replace(variant, name=f"{variant.name} {what}", sets=(*variant.sets, *sets))
