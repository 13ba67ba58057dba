"""`--dry-run`: what a run would say and cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from chatdev.config.estimate import Load, estimate
from chatdev.config.preview import preview
from chatdev.config.settings import default_model, user_settings
from chatdev.engine.wording import money
from chatdev.runner.company import Company
from chatdev.runner.inputs import gather
from chatdev.runner.toolbox import described_tools


def show_plan(company: Company, task: str, inputs: Mapping[str, str | Path], *, model: str | None,
              base_url: str | None) -> None:
    """Print every phase's prompts, as far as they are known now, and the estimate."""
    user = user_settings()
    given = gather(company.config, task, inputs).visible
    for shown in preview(company.config, given, described_tools(company.config)):
        click.echo(click.style(f"── {shown.phase}: {shown.role} ({shown.speaker})", bold=True))
        click.echo(f"{click.style('[system]', dim=True)}\n{shown.system}")
        rest = "" if shown.known else " (‹…› is not known yet)"
        click.echo(f"{click.style(f'[opening{rest}]', dim=True)}\n{shown.opening}\n")
    guess = estimate(company.config, given, default_model(model, base_url, user=user), user.models)
    click.echo(click.style("estimate", bold=True))
    click.echo(f"  at least  {_load(guess.least)}")
    click.echo(f"  at most   {_load(guess.most) if guess.most else 'known only when it runs'}")


def _load(load: Load) -> str:
    return (f"{load.calls} calls, {load.prompt_tokens} tokens in, {load.completion_tokens} out, "
            f"{money(load.cost)}")
