"""`chatdev patch` and `chatdev apply`: what a run changed of software that was handed in."""

from __future__ import annotations

from pathlib import Path

import click

from chatdev.cli.outcome import report_outcome
from chatdev.safe_text import sanitize


@click.command("patch")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--stat", is_flag=True, help="Only the files, and in how many lines each differs.")
@report_outcome
def patch(folder: Path, stat: bool) -> int:
    """Print what the run in DIR changed of the software that was handed in, as `git diff --binary` does; `git apply`
    takes it."""
    from chatdev.runner.changes import change_of

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
    from chatdev.runner.changes import apply_run

    done = apply_run(folder, to, branch)
    where = f"branch {branch} of {done.place}, commit {done.commit[:7]}" if done.commit else str(done.place)
    click.echo(sanitize(f"changed {len(done.paths)} file{'s' * (len(done.paths) != 1)} in {where}: "
                        f"{', '.join(done.paths[:10])}{' …' if len(done.paths) > 10 else ''}"))
    return 0
