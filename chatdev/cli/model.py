"""`chatdev model`: the local model's weights."""

from __future__ import annotations

from pathlib import Path

import click
from tqdm import tqdm

from chatdev.cli.outcome import report_outcome
from chatdev.cli.output import output_is_recorded

_HOW_TO_GET_IT = "get it with `chatdev model pull`"


@click.group("model")
def command() -> None:
    """Download the small local model. It needs no key and, once downloaded, no network."""


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
