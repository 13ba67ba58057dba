"""`--dry-run`: a typical run and what it costs, in a screenful; its prompts, or everything as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

import click

from chatdev.config.inception import ToolDescription
from chatdev.config.preview import Load, PhasePreview, estimate, preview
from chatdev.config.profiles import ModelSettings
from chatdev.config.settings import default_model, user_settings
from chatdev.engine.budget import count_noun, money
from chatdev.llm.base import Request, ToolSpec
from chatdev.runner.api import Company
from chatdev.runner.options import RunOptions, gather_inputs
from chatdev.runner.plan import software_at
from chatdev.runner.rehearsal import Rehearsal, RehearsedPhase, rehearse
from chatdev.runner.toolbox import KnownTools, described_tools
from chatdev.safe_text import sanitize

_STEP, _WHO, _CONDITION = 24, 22, 48  # characters of a column


def show_rehearsal(company: Company, task: str, options: RunOptions, *, quiet: bool, verbose: bool,
                   as_json: bool) -> int:
    """Print the rehearsal of a run. Raises ConfigError for what a run would refuse."""
    found = asyncio.run(rehearse(company, task, options))
    others = _possible_prompts(company, task, options, found)
    most = _most(company, options, others)
    if as_json:
        click.echo(json.dumps(_as_json(found, most, others.values())))
        return 0
    click.echo(sanitize(f"a typical run of {company.config.company} with {found.model}: {_describe(found.load)}"))
    if quiet:
        return 0
    if most:
        click.echo(f"at most {_describe(most)}")
    _show_table(found)
    if verbose:
        for one in found.phases:
            for speaker, request in one.requests.items():
                _show_request(f"{one.phase}: {unquote(request.headers['X-ChatDev-Role'])} ({speaker})", request)
        for shown in others.values():
            for one_side in shown:
                _show_prompt(one_side)
    return 0


def _describe(load: Load) -> str:
    return f"{count_noun(load.calls, 'call')}, {load.prompt_tokens + load.completion_tokens} tokens, {money(load.cost)}"


def _show_table(found: Rehearsal) -> None:
    click.echo(f"\n  {'step':{_STEP}}{'who':{_WHO}}{'calls':>6}{'in':>8}{'out':>7}{'cost':>10}")
    for name, who, times, load in _rows(found):
        step = f"{name} ×{times}" if times > 1 else name
        cost = "unknown" if load.cost is None else money(load.cost)
        click.echo(sanitize(f"  {_cut(step, _STEP - 1):{_STEP}}{_cut(who, _WHO - 1):{_WHO}}{load.calls:6}"
                            f"{load.prompt_tokens:8}{load.completion_tokens:7}{cost:>10}"))
    if found.left_out:
        click.echo("\n  not in it, but possible:")
        for name, condition in found.left_out.items():
            click.echo(sanitize(f"  {name:{_STEP}}{'when ' + _cut(condition, _CONDITION) if condition else ''}"))
    if found.problem:
        click.echo(sanitize(f"\n  from here on it depends on what comes: {_cut(found.problem, 200)}"))
    click.echo("\n  Every check passes at once in it, and no agent calls a tool.\n"
               "  --verbose shows the prompts, --json everything.")


def _rows(found: Rehearsal) -> Iterator[tuple[str, str, int, Load]]:
    """Each phase once: who speaks in it, how often it runs, and what that takes."""
    by_name: dict[str, list[RehearsedPhase]] = {}
    for one in found.phases:
        by_name.setdefault(one.phase, []).append(one)
    for name, times in by_name.items():
        phase = found.company.phases[name]
        speakers = {speaker for one in times for speaker in one.requests}
        pair = [role for role, side in ((phase.instructor, "instructor"), (phase.assistant, "assistant"))
                if role and side in speakers]
        yield name, " ⇄ ".join(pair), len(times), sum((one.load for one in times), Load())


def _cut(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[:width - 1]}…"


# The prompts: of the typical run as they are sent, of other phases as far as they are known.


def _possible_prompts(company: Company, task: str, options: RunOptions,
                      found: Rehearsal) -> Mapping[str, list[PhasePreview]]:
    """The prompts of the phases that are left out, by phase."""
    user = user_settings()
    shown = preview(company.config, gather_inputs(company.config, task, options.inputs).visible,
                    described_tools(company.config, KnownTools(company.tools)), default=_default(options),
                    profiles=user.models, software=software_at(options.software).files,
                    language=options.language or "English")
    names = found.left_out if not found.problem else {
        one.phase for one in shown} - {one.phase for one in found.phases}
    return {name: [one for one in shown if one.phase == name] for name in names}


def _default(options: RunOptions) -> ModelSettings:
    return default_model(str(options.model) if options.model else None, options.base_url, options.provider,
                         user=user_settings())


def _most(company: Company, options: RunOptions, others: Mapping[str, list[PhasePreview]]) -> Load | None:
    """What every loop, round and draft together take; None where no number bounds them."""
    user, default = user_settings(), _default(options)
    shown = preview(company.config, {"task": "", **dict.fromkeys(company.config.inputs)}, default=default,
                    profiles=user.models)
    return estimate(company.config, shown, default, user.models).most


def _show_request(title: str, request: Request) -> None:
    system, *dialogue = request.messages
    _show_side(title, system.content, request.tools)
    for message in dialogue:
        click.echo(f"{_dim(message.role)}\n{sanitize(message.content)}")


def _show_prompt(shown: PhasePreview) -> None:
    _show_side(f"{shown.phase}: {shown.role} ({shown.speaker}), if it comes to it", shown.system, shown.tools)
    rest = "" if shown.known else " (‹…› is not known yet)"
    click.echo(f"{_dim(f'opening{rest}')}\n{sanitize(shown.opening)}")


def _show_side(title: str, system: str, tools: Sequence[ToolSpec | ToolDescription]) -> None:
    click.echo(f"\n{click.style(f'── {sanitize(title)}', bold=True)}\n{_dim('system')}\n{sanitize(system)}")
    if tools:
        click.echo(_dim("tools"))
        for tool in tools:
            click.echo(sanitize(f"{tool.name}: {tool.description} {json.dumps(tool.parameters)}"))


def _dim(word: str) -> str:
    return click.style(f"[{word}]", dim=True)


def _as_json(found: Rehearsal, most: Load | None, others: Any) -> dict[str, Any]:
    return {
        "company": found.company.company, "model": found.model, "typical": asdict(found.load),
        "most": asdict(most) if most else None, "problem": found.problem,
        "phases": [{"place": one.place, "phase": one.phase, **asdict(one.load),
                    "prompts": {speaker: _request_as_json(request) for speaker, request in one.requests.items()}}
                   for one in found.phases],
        "possible": [{"phase": one.phase, "role": one.role, "speaker": one.speaker,
                      "when": found.left_out.get(one.phase, ""), "system": one.system, "opening": one.opening}
                     for sides in others for one in sides]}


def _request_as_json(request: Request) -> dict[str, Any]:
    return {"messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "tools": [tool.name for tool in request.tools]}
