"""`chatdev run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli.budget import budget_options
from chatdev.cli.dry_run import show_plan
from chatdev.cli.outcome import reported
from chatdev.cli.packages import package_options
from chatdev.cli.showing import show_options, taken
from chatdev.cli.texts import text_of
from chatdev.errors import ConfigError
from chatdev.sandbox.choose import NAMES
from chatdev.version import __version__


@click.command("run")
@click.argument("words", metavar="[TASK]", nargs=-1)
@click.option("--task", help="What to build; @FILE reads it from a file.")
@click.option("--name", help="Name of the run's folder; default: the first words of the task.")
@click.option("--org", help="Organisation, put behind the name.")
@click.option("--company", "--config", default="chatdev", show_default=True, help="Name or path of the company.")
@click.option("--model", help="Model of every role that has none of its own: a name, `local`, or `local:FILE.gguf`.")
@click.option("--base-url", help="An OpenAI-compatible endpoint.")
@click.option("--path", type=click.Path(path_type=Path), help="Folder of existing software to start from.")
@click.option("--warehouse", type=click.Path(path_type=Path), help="Where runs are written. [default: warehouse]")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An input; NAME=@FILE reads a file.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a field of the company's YAML.")
@click.option("--without", multiple=True, metavar="PHASE", help="Leave a phase out.")
@click.option("--without-roles", is_flag=True, help="Leave the role prompts out.")
@click.option("--sandbox", type=click.Choice(NAMES), help="Where programs run. [default: bubblewrap]")
@package_options
@budget_options
@click.option("--language", default="English", show_default=True, help="Language that documents are written in.")
@click.option("--stream", is_flag=True, help="Show text as it is written.")
@show_options
@click.option("--dry-run", is_flag=True, help="Show the prompts and an estimate; call nothing, make nothing.")
@click.version_option(__version__, prog_name="chatdev", hidden=True)  # `run.py --version`
@reported
def command(words: tuple[str, ...], **given: Any) -> int:
    """Let a company build TASK. The result is a folder of the warehouse."""
    from chatdev.runner.company import Company

    task = _task(words, given.pop("task"))
    inputs = dict(map(_input, given.pop("inputs")))
    software = given.pop("path")
    company = Company.load(given.pop("company"), sets=given.pop("sets"), without=given.pop("without"),
                           without_roles=given.pop("without_roles"))
    show = taken(given)
    if given.pop("dry_run"):
        show_plan(company, task, inputs, model=given["model"], base_url=given["base_url"])
        return 0
    return show.follow(lambda **seen: company.run(task, inputs=inputs, software=software, **seen, **given))


def _task(words: tuple[str, ...], option: str | None) -> str:
    if words and option:
        raise ConfigError("the task is given twice: once as argument, once as --task; leave one out")
    text = option or " ".join(words)
    return text_of(text, "the task")


def _input(given: str) -> tuple[str, str | Path]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise ConfigError(f"--input {given}: write it as NAME=VALUE or NAME=@FILE")
    return name, Path(value[1:]) if value.startswith("@") else value
