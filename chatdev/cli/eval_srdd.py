"""`chatdev eval srdd`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.study_options import listed
from chatdev.cli.study_running import Planned, carried_out, only, running_options, study_of


@click.command("srdd")
@click.option("--companies", callback=listed, default="single,pipeline,chatdev", show_default=True, metavar="A,B,C",
              help="Names or paths of companies.")
@click.option("--ablations", is_flag=True, help="The paper's ablations of each company whose agents talk, too.")
@click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="CSV_OR_FOLDER",
              help="Tasks of your own: YAML files as in srdd/tasks, or a CSV file as the published SRDD. "
                   "[default: the bundled tasks]")
@click.option("--areas", callback=listed, metavar="A,B", help="Only tasks of these areas.")
@click.option("--categories", callback=listed, metavar="A,B", help="Only tasks of these categories.")
@click.option("--only-with-acceptance", is_flag=True, help="Only tasks that have a hidden acceptance test.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="So many tasks, spread evenly over areas and categories; a greater limit takes the same and more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks a limit takes.")
@click.option("--embedder", default="lexical", show_default=True, metavar="lexical|minilm|endpoint:MODEL",
              help="What consistency is measured with.")
@click.option("--embedder-url", metavar="URL", help="Endpoint of the embedder. [default: OPENAI_BASE_URL]")
@click.option("--install", type=click.Choice(["auto", "never"]), default="auto", show_default=True,
              help="Whether packages that programs import are installed, in the sandbox.")
@click.option("--runtime", metavar="NAME", help="A set of packages that programs always find, e.g. `top`.")
@running_options("srdd")
@report_outcome
def command(study: str, ledger_url: str, folder: Path | None, **given: Any) -> int:
    """Run companies on software requirements and measure what they make.

    Give the same command again to go on after any interruption; finished runs are kept. `chatdev eval report` shows
    the results.
    """
    return carried_out(study, ledger_url, folder, given, _planned)


def _planned(folder: Path, given: dict[str, Any]) -> Planned:
    """The variants, the tasks and the study; everything that can be checked before is."""
    from chatdev.evaluation.selection import Selection
    from chatdev.evaluation.srdd import Srdd
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.variants import variants

    data = Srdd(given["data"].absolute(), given["data"].stem) if given["data"] else Srdd()
    chosen = only(given["only"], variants(given["companies"], models=given["models"], sets=given["sets"],
                                          ablations=given["ablations"]))
    tasks = Selection(given["areas"], given["categories"], given["only_with_acceptance"], given["limit"],
                      given["seed"]).of(data.tasks())
    data.refuse_broken_tests(tasks)
    conditions = Conditions(given["embedder"], given["install"], given["runtime"])
    return Planned(chosen, tasks, study_of(data, folder, conditions, given))
