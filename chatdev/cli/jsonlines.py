"""`--json`: one event a line, for machines."""

from __future__ import annotations

import json

import click

from chatdev.events import Event


def json_lines(event: Event) -> None:
    """Print an event as a JSON object with its `kind`."""
    click.echo(json.dumps({"kind": event.kind, **event.to_dict()}, ensure_ascii=False))
