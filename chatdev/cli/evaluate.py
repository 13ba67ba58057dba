"""`chatdev eval`: the commands that measure and compare companies."""

from __future__ import annotations

import click

from chatdev.cli import eval_dialogues, eval_judge, eval_report, eval_srdd, eval_verilogeval


@click.group("eval")
def command() -> None:
    """Measure companies on data sets, compare them, and report. Needs the extra `eval`."""


for module in (eval_srdd, eval_verilogeval, eval_report, eval_judge, eval_dialogues):
    command.add_command(module.command)
