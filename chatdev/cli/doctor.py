"""What this machine can do: `chatdev doctor`; and `chatdev model`: the local model's weights, and which models
providers have."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Container, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from chatdev.cli.outcome import output_is_recorded, report_outcome
from chatdev.cli.screen import width
from chatdev.cli.shared_options import provider_option, trust_option
from chatdev.department import Table
from chatdev.safe_text import sanitize, scrub
from chatdev.version import __version__

if TYPE_CHECKING:
    from chatdev.config.profiles import ModelProfile
    from chatdev.doctor.diagnosis import Diagnosis, ProbeResult


_MARGIN = 18  # columns before what a check found
_LOOKS = {"works": ("✓", "+", "green"), "absent": ("–", "-", "yellow"), "broken": ("✗", "x", "red")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@report_outcome
def command(as_json: bool) -> int:
    """Show what works on this machine, and how to install the rest. Nothing is changed, no model is called. Exits with
    0 if a run is possible (it needs a sandbox, a model and a warehouse), else with 1."""
    from chatdev.cli import app, evaluate
    from chatdev.doctor.checks import all_probes
    from chatdev.doctor.diagnosis import diagnose

    core: Mapping[Table, Container[str]] = {"commands": app.OWN, "data_sets": evaluate.command.commands}
    diagnosis = diagnose(all_probes(sys.stdout.encoding, core))
    click.echo(_json(diagnosis) if as_json else "\n".join(_page(diagnosis)))
    return 1 if diagnosis.unmet_needs else 0


def _json(diagnosis: Diagnosis) -> str:
    findings = [{"group": probe.group, "name": probe.name, "state": result.state, "detail": result.detail,
                 "mend": result.fix, "packages": result.packages} for probe, result in diagnosis.results]
    return scrub(json.dumps({"version": __version__, "possible": not diagnosis.unmet_needs,
                                "lacking": diagnosis.unmet_needs, "packages": diagnosis.packages, "findings": findings},
                               indent=1))


def _page(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"{click.style('chatdev', bold=True)} {__version__}"
    for group, results in groupby(diagnosis.results, lambda one: one[0].group):
        yield f"\n{click.style(group, fg='blue', bold=True)}"
        for probe, result in results:
            yield from _lines(probe.name, result, bad=diagnosis.stops_runs(probe, result))
    if unmet := diagnosis.unmet_needs:
        text, colour = f"No run is possible yet, for want of: {', '.join(unmet)}.", "red"
    else:
        text, colour = "A run is possible.", "green"
    yield f"\n{click.style(text, fg=colour, bold=True)}"
    if diagnosis.packages:
        sudo = "" if os.geteuid() == 0 else "sudo "
        yield f"To get what is not installed: {sudo}apt-get install {' '.join(diagnosis.packages)}"


def _lines(name: str, result: ProbeResult, *, bad: bool) -> Iterator[str]:
    """A result: its sign, its name and what was found; the fix behind it, or below where there is no room."""
    sign, plain, colour = _LOOKS["broken" if bad else result.state]
    lines = textwrap.wrap(sanitize(result.detail), max(30, width() - _MARGIN), break_on_hyphens=False,
                          break_long_words=False) or [""]
    if result.fix:
        fix = sanitize(f"{'→' if _can_show('→') else '>'} {result.fix}")
        has_room = len(lines) == 1 and _MARGIN + len(lines[0]) + 2 + len(fix) <= width()
        coloured = click.style(fix, fg="cyan")
        lines = [f"{lines[0]}  {coloured}"] if has_room else [*lines, coloured]
    yield f"  {click.style(sign if _can_show(sign) else plain, fg=colour)} {name:<14}{lines[0]}"
    yield from (f"{'':{_MARGIN}}{line}" for line in lines[1:])


def _can_show(sign: str) -> bool:
    """Whether the output knows the sign; one that does not would show ? for all of them."""
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


# `chatdev model`: the local model's weights, and which models providers have.

_HOW_TO_GET_IT = "get it with `chatdev model pull`"


@click.group("model")
def model_command() -> None:
    """Download the small local model, which needs no key and, once downloaded, no network; list providers and their
    models."""


@model_command.command("pull")
@click.option("--file", type=click.Path(path_type=Path), help="Use this GGUF file instead of downloading one.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@report_outcome
def pull(file: Path | None, quiet: bool) -> int:
    """Download the local model (1.1 GB, once). An interrupted download continues where it stopped."""
    from chatdev.llm.local import weights

    output_is_recorded()
    if file:
        path = weights.adopt(file)
        click.echo(f"{path} can be used as --model local:{path}")
        return 0
    with tqdm(unit="B", unit_scale=True, desc="local model", disable=quiet or None) as bar:
        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        path = weights.pull(progress, lambda text: tqdm.write(text))
    click.echo(f"the local model is ready: {path}")
    return 0


@model_command.command("status")
@report_outcome
def status() -> int:
    """Say whether the local model is here."""
    from chatdev.llm.local import weights

    path = weights.installed_file()
    click.echo(f"installed: {path}" if path else f"not installed; {_HOW_TO_GET_IT}")
    return 0 if path else 1


@model_command.command("path")
@report_outcome
def path() -> int:
    """Print where the local model is or will be kept; exits with 1 if it is not there."""
    from chatdev.llm.local import weights

    click.echo(str(weights.QWEN.path))
    if weights.installed_file():
        return 0
    click.echo(f"not there yet; {_HOW_TO_GET_IT}", err=True)
    return 1


@model_command.command("providers")
@report_outcome
def providers() -> int:
    """List the providers that --provider takes: name, variable of the key, address. Nobody is asked."""
    from chatdev.config.profiles import known_providers
    from chatdev.config.settings import environ
    from chatdev.connection import AZURE_URL_VARIABLE

    variables = environ()
    for provider in known_providers():
        known = next((key for key in provider.keys if variables.get(key)), None)
        missing = " or ".join(provider.keys) + ("" if provider.needs_key else " (may be unset)")
        key = f"{known} is set" if known else missing if provider.keys else "no key"
        click.echo(f"{provider.name:<12} {key:<44} {provider.url or f'the address in {AZURE_URL_VARIABLE}'}")
    return 0


@model_command.command("list")
@provider_option
@click.option("--base-url", help="An OpenAI-compatible endpoint.")
@trust_option
@report_outcome
def list_models(provider: str | None, base_url: str | None, trust: bool) -> int:
    """List the models that a server has, with what is known of each: context window, price. Exits with 1 if it lists
    none."""
    from chatdev.config.settings import choose_default, find_default_model, profile_of_settings, user_settings
    from chatdev.llm.registry import DEFAULT_NAME, served_models, why_unreachable
    from chatdev.runner.consent import allow_strangers, open_models

    user, models = user_settings(), open_models()
    choice = choose_default(find_default_model(None, base_url, provider, user=user))
    allow_strangers(models, [models.connect(DEFAULT_NAME, choice.address, None, choice.provider)], trust)
    endpoint = models.endpoint(choice.address, None, choice.provider)
    names = served_models(endpoint)
    for name in names:
        settings = choice.settings.model_copy(update={"name": name, "base_url": endpoint.url})
        click.echo(sanitize(f"{name:<40} {_describe(profile_of_settings(settings, user.models))}"))
    if not names:
        click.echo(f"{endpoint.shown_address} {why_unreachable(endpoint) or 'lists no models'}", err=True)
    return 0 if names else 1


def _describe(profile: ModelProfile) -> str:
    window = f"{profile.context:,} tokens" if profile.context else "window unknown"
    if profile.price is None:
        return f"{window}, price unknown"
    return f"{window}, ${profile.price.prompt:g} in, ${profile.price.completion:g} out"
