"""`--json`: one event a line, for machines."""

from __future__ import annotations

import json

import click

from chatdev.events import Event
from chatdev.secrets import scrubbed


def json_lines(event: Event) -> None:
    """Print an event as a JSON object with its `kind`; in ASCII, so that no text steers a terminal."""
    click.echo(scrubbed(json.dumps({"kind": event.kind, **event.to_dict()})))
