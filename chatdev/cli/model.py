"""`chatdev model`: the local model's weights, and which models providers have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from chatdev.cli.outcome import report_outcome
from chatdev.cli.output import output_is_recorded
from chatdev.cli.shared_options import provider_option, trust_option
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.config.profiles import ModelProfile

_HOW_TO_GET_IT = "get it with `chatdev model pull`"


@click.group("model")
def command() -> None:
    """Download the small local model, which needs no key and, once downloaded, no network; list providers and their
    models."""


@command.command("pull")
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


@command.command("status")
@report_outcome
def status() -> int:
    """Say whether the local model is here."""
    from chatdev.llm.local import weights

    path = weights.installed_file()
    click.echo(f"installed: {path}" if path else f"not installed; {_HOW_TO_GET_IT}")
    return 0 if path else 1


@command.command("path")
@report_outcome
def path() -> int:
    """Print where the local model is or will be kept; exits with 1 if it is not there."""
    from chatdev.llm.local import weights

    click.echo(str(weights.QWEN.path))
    if weights.installed_file():
        return 0
    click.echo(f"not there yet; {_HOW_TO_GET_IT}", err=True)
    return 1


@command.command("providers")
@report_outcome
def providers() -> int:
    """List the providers that --provider takes: name, variable of the key, address. Nobody is asked."""
    from chatdev.config.profiles import known_providers
    from chatdev.config.settings import environ
    from chatdev.llm.connection import AZURE_URL_VARIABLE

    variables = environ()
    for provider in known_providers():
        known = next((key for key in provider.keys if variables.get(key)), None)
        missing = " or ".join(provider.keys) + ("" if provider.needs_key else " (may be unset)")
        key = f"{known} is set" if known else missing if provider.keys else "no key"
        click.echo(f"{provider.name:<12} {key:<44} {provider.url or f'the address in {AZURE_URL_VARIABLE}'}")
    return 0


@command.command("list")
@provider_option
@click.option("--base-url", help="An OpenAI-compatible endpoint.")
@trust_option
@report_outcome
def list_models(provider: str | None, base_url: str | None, trust: bool) -> int:
    """List the models that a server has, with what is known of each: context window, price. Exits with 1 if it lists
    none."""
    from chatdev.config.settings import choose_default, find_default_model, profile_of_settings, user_settings
    from chatdev.llm.registry import DEFAULT_NAME
    from chatdev.llm.served_models import served_models, why_unreachable
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
