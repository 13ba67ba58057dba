"""`chatdev run`, `resume` and `replay`; with `--dry-run` a typical run and what it costs, in a screenful; and what a
run leaves: `patch`, `apply` and `export`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click

from chatdev.cli.company_commands import complete_company, show_namesake
from chatdev.cli.outcome import report_outcome
from chatdev.cli.people import ask_for_consent
from chatdev.cli.shared_options import (
    DEFAULT_COMPANY,
    budget_options,
    otel_option,
    package_options,
    provider_option,
    read_text_argument,
    resumed_package_options,
    trust_option,
    wait_option,
)
from chatdev.cli.show import pop_show, show_options
from chatdev.config.phases import ToolDescription
from chatdev.config.preview import Load, PhasePreview, estimate, preview
from chatdev.config.profiles import ModelSettings
from chatdev.config.settings import default_model, user_settings
from chatdev.engine.budget import count_noun, money
from chatdev.errors import ConfigError
from chatdev.llm.base import Request, ToolSpec
from chatdev.runner import api
from chatdev.runner.api import Company
from chatdev.runner.options import InputValue, RunOptions, gather_inputs
from chatdev.runner.plan import software_at
from chatdev.runner.rehearsal import Rehearsal, RehearsedPhase, rehearse
from chatdev.runner.resources import describe_models
from chatdev.runner.toolbox import KnownTools, described_tools
from chatdev.safe_text import sanitize
from chatdev.sandbox.kinds import SANDBOXES
from chatdev.version import __version__

# The commands.


@click.command("run")
@click.argument("words", metavar="[TASK]", nargs=-1)
@click.option("--task", help="What to build; @FILE reads it from a file.")
@click.option("--name", help="Name of the run's folder; default: the first words of the task.")
@click.option("--org", help="Organisation, added after the name.")
@click.option("--company", "--config", default=DEFAULT_COMPANY, show_default=True, shell_complete=complete_company,
              help="Name or path of the company.")
@click.option("--model", help="Model of every role that has none of its own: a name, PROVIDER/NAME, `local`, or "
              "`local:FILE.gguf`.")
@provider_option
@click.option("--base-url", help="An OpenAI-compatible endpoint.")
@trust_option
@click.option("--path", type=click.Path(path_type=Path),
              help="Folder of existing software to start from; `--company maintain` changes it.")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where runs are written. [default: warehouse]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE",
              help="An input; NAME=@FILE reads a file. One of several files is a folder, or given again for each.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a field of the company's YAML.")
@click.option("--without", multiple=True, metavar="PHASE", help="Leave out a phase.")
@click.option("--without-roles", is_flag=True, help="Leave out the role prompts.")
@click.option("--drafts", type=click.IntRange(min=1), metavar="N",
              help="How many drafts a phase draws that draws several.")
@click.option("--mcp", multiple=True, metavar="NAME[:TOOL,TOOL]=COMMAND|ADDRESS",
              help="Give the roles tools of an MCP server, a program or an http(s) address (docs/mcp.md).")
@click.option("--mcp-env", multiple=True, metavar="NAME=VARIABLE",
              help="A variable of yours that the server gets; an address gets it as its key.")
@click.option("--human", multiple=True, metavar="ROLE", help="Play this role yourself (docs/people.md).")
@click.option("--approve", multiple=True, metavar="PHASE|deliveries|tools",
              help="Be asked before this phase, before each change of the software, or before each tool call.")
@wait_option
@click.option("--sandbox", type=click.Choice(SANDBOXES), help="Where programs run. [default: bubblewrap]")
@package_options
@budget_options
@click.option("--language", default="English", show_default=True, help="Language that documents are written in.")
@click.option("--stream", is_flag=True, help="Show text as it is written.")
@otel_option
@show_options
@click.option("--dry-run", is_flag=True,
              help="Show a typical run and its cost (with --verbose its prompts); call no model, write nothing.")
@click.version_option(__version__, prog_name="chatdev", hidden=True)  # `run.py --version`
@report_outcome
def run(words: tuple[str, ...], **given: Any) -> int:
    """Let a company build TASK. The result is a folder of the warehouse."""
    task = _task(words, given.pop("task"))
    inputs = _inputs(given.pop("inputs"))
    software = given.pop("path")
    show_namesake(given["company"])
    company = Company.load(given.pop("company"), sets=given.pop("sets"), without=given.pop("without"),
                           without_roles=given.pop("without_roles"), drafts=given.pop("drafts"))
    company = company.with_servers(given.pop("mcp"), given.pop("mcp_env"))
    company = company.with_people(given.pop("human"), given.pop("approve"))
    show = pop_show(given, waits=given["wait"])
    options = RunOptions(inputs=inputs, model=given["model"], provider=given["provider"], base_url=given["base_url"],
                         trust=given["trust"], software=software, language=given["language"])
    show.announce(describe_models(company.word, options))
    if given.pop("dry_run"):
        return show_rehearsal(company, task, options, quiet=show.detail == "nothing",
                              verbose=show.detail == "everything", as_json=show.json)
    return ask_for_consent(lambda: show.follow(
        lambda **seen: company.run(task, inputs=inputs, software=software, **seen, **given)))


def _task(words: tuple[str, ...], option: str | None) -> str:
    if words and option:
        raise ConfigError("the task is given twice: once as argument, once as --task; leave one out")
    text = option or " ".join(words)
    return read_text_argument(text, "the task")


def _inputs(given: tuple[str, ...]) -> dict[str, InputValue]:
    """The inputs by name; one that is given several times is a list."""
    found: dict[str, list[str | Path]] = {}
    for name, value in map(_input, given):
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _input(given: str) -> tuple[str, str | Path]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise ConfigError(f"--input {given}: write it as NAME=VALUE or NAME=@FILE")
    return name, Path(value[1:]) if value.startswith("@") else value


@click.command("resume")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--task", metavar="TEXT",
              help="A further request (or @FILE) to a finished run; starts a new run from its software.")
@click.option("--from", "since", metavar="ACTIVITY", help="Continue from this activity, in a copy of the run.")
@click.option("--from-here", is_flag=True, help="Continue with the changed company, from the first call that differs.")
@click.option("--as-it-was", is_flag=True, help="Continue with the company as it was when the run began.")
@click.option("--company", metavar="NAME_OR_PATH",
              help="Where the company is now, if it does not come with chatdev. [default: as it was]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE",
              help="An input that names a place (a database), which no record decides.")
@click.option("--name", help="Name of the new run's folder, with --task and --from.")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where a new run is written. [default: beside DIR]")
@click.option("--model", help="Another model from here on.")
@provider_option
@click.option("--base-url", help="Another endpoint from here on.")
@trust_option
@wait_option
@click.option("--sandbox", type=click.Choice(SANDBOXES),
              help="Where programs run. [default: bubblewrap, whatever it was before]")
@resumed_package_options
@budget_options
@click.option("--no-budget", is_flag=True, help="Go on without the budget of before. [default: it is kept]")
@click.option("--language", help="Language that documents are written in. [default: as before]")
@click.option("--stream", is_flag=True, help="Show text as it is written.")
@otel_option
@show_options
@report_outcome
def resume(folder: Path, **given: Any) -> int:
    """Resume the run in DIR where it stopped; calls that are finished are not paid for again.

    An ACTIVITY is a place of the run's journal and report, such as code_review#1 or
    code_review#1/round-2/assistant.
    """
    show = pop_show(given, resumed=given["task"] is None, waits=given["wait"])
    given["inputs"] = _inputs(given["inputs"])
    given["keep_budget"] = not given.pop("no_budget")
    if given["task"] is not None:
        given["task"] = read_text_argument(given["task"], "the further task")
    return ask_for_consent(lambda: show.follow(lambda **seen: api.resume(folder, **seen, **given)))


@click.command("replay")
@click.argument("path", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), metavar="N",
              help="How many times as fast as the run was. [default: without waiting]")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where to keep what it makes. [default: nowhere]")
@show_options
@report_outcome
def replay(path: Path, **given: Any) -> int:
    """Play a run again from its folder or journal, without any model, network or program."""
    show = pop_show(given, kept=given["warehouse"] is not None, replayed=path)
    return show.follow(lambda **seen: api.replay(path, **seen, **given))


# `chatdev patch` and `chatdev apply`: what a run changed of software that was handed in.


@click.command("patch")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--stat", is_flag=True, help="Only the files, and in how many lines each differs.")
@report_outcome
def patch(folder: Path, stat: bool) -> int:
    """Print what the run in DIR changed of the software that was handed in, as `git diff --binary` does; `git apply`
    takes it."""
    from chatdev.runner.api import change_of

    change = change_of(folder)
    if stat:
        click.echo(sanitize(change.statistic or "nothing changed"))
    else:
        click.echo(change.patch, nl=False)
    return 0


@click.command("apply")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path),
              help="The folder to change. [default: the one that was handed in]")
@click.option("--branch", metavar="NAME", help="Commit the change on a new branch; no file of the folder is touched.")
@report_outcome
def apply(folder: Path, to: Path | None, branch: str | None) -> int:
    """Put what the run in DIR changed into the folder that was handed in with --path.

    Every file of the change must be as it was handed in, and committed where the folder is a git repository; else
    nothing is changed, and the file is named.
    """
    from chatdev.runner.api import apply_run

    done = apply_run(folder, to, branch)
    where = f"branch {branch} of {done.place}, commit {done.commit[:7]}" if done.commit else str(done.place)
    click.echo(sanitize(f"changed {len(done.paths)} file{'s' * (len(done.paths) != 1)} in {where}: "
                        f"{', '.join(done.paths[:10])}{' …' if len(done.paths) > 10 else ''}"))
    return 0


@click.command("export")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--zip", "archive", metavar="FILE", type=click.Path(path_type=Path), help="Into a new zip file.")
@click.option("--dir", "target", metavar="FOLDER", type=click.Path(path_type=Path), help="Into a new or empty folder.")
@click.option("--git", is_flag=True, help="With its git history.")
@report_outcome
def export(folder: Path, archive: Path | None, target: Path | None, git: bool) -> int:
    """Write the software of the run in DIR, and nothing else of it, into a zip file or a folder. Nothing is
    overwritten."""
    from chatdev.runner.api import export_software

    count = export_software(folder, archive=archive, target=target, git=git)
    click.echo(sanitize(f"wrote {count_noun(count, 'file')} to {archive or target}"))
    return 0


# `--dry-run`: a typical run and what it costs, in a screenful; its prompts, or everything as JSON.

_STEP, _WHO, _CONDITION = 24, 22, 48  # characters of a column


def show_rehearsal(company: Company, task: str, options: RunOptions, *, quiet: bool, verbose: bool,
                   as_json: bool) -> int:
    """Print the rehearsal of a run. Raises ConfigError for what a run would refuse."""
    found = asyncio.run(rehearse(company, task, options))
    others = _possible_prompts(company, task, options, found)
    most = _most(company, options, found.model)
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
                    described_tools(company.config, KnownTools(company.tools)), default=_default(options, found.model),
                    profiles=user.models, software=software_at(options.software).files,
                    language=options.language or "English")
    names = found.left_out if not found.problem else {
        one.phase for one in shown} - {one.phase for one in found.phases}
    return {name: [one for one in shown if one.phase == name] for name in names}


def _default(options: RunOptions, name: str = "") -> ModelSettings:
    named = str(options.model) if options.model else None
    found = default_model(named, options.base_url, options.provider, user=user_settings())
    return found.model_copy(update={"name": found.name or name})


def _most(company: Company, options: RunOptions, model: str) -> Load | None:
    """What every loop, round and draft together take; None where no number bounds them."""
    user, default = user_settings(), _default(options, model)
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
