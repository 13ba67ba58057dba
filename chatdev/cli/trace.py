"""`chatdev trace`: the spans of a run, made of its journal."""

from __future__ import annotations

from pathlib import Path

import click

from chatdev.cli.outcome import report_outcome
from chatdev.engine.budget import count_noun
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize
from chatdev.workspace.file_tree import explain_os_errors


@click.command("trace")
@click.argument("path", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.option("--endpoint", metavar="URL",
              help="Address of a collector. [default: OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318]")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write them as lines of OTLP's JSON instead; `-` is standard output.")
@click.option("--content", is_flag=True, help="With prompts, replies, and what tools were given and returned.")
@report_outcome
def command(path: Path, endpoint: str | None, output: Path | None, content: bool) -> int:
    """Send the spans of a run to an OTLP endpoint, or write them to a file, from the run's folder or journal.

    The same journal gives the same trace, so that it may be sent twice.
    """
    from chatdev.runner.telemetry import otlp_lines, send_spans, spans_of

    if endpoint and output:
        raise ConfigError("--endpoint sends the spans and --output writes them; leave one out")
    spans = spans_of(path, content=content)
    if output and str(output) == "-":
        for line in otlp_lines(spans):
            click.echo(line, nl=False)
        return 0
    if output:
        with explain_os_errors("write", output), output.open("w", encoding="utf-8") as file:
            file.writelines(otlp_lines(spans))
        where = f"written to {output}"
    else:
        where = f"sent to {send_spans(spans, endpoint)}"
    trace = format(spans[0].context.trace_id, "032x") if spans else "none"
    click.echo(sanitize(f"{count_noun(len(spans), 'span')} of trace {trace} {where}"))
    return 0
