"""Readers of how software is used, and of pictures: steps and agreed checks, what a driver in the sandbox tells, labels
that a request names, what a display shows, and pictures that are handed in. No window, browser or renderer starts."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from chatdev.departments.software.cases.case import MOST_CASES
from chatdev.departments.software.cases.sentences import named_buttons, named_routes
from chatdev.departments.software.drivers.step import (
    FOLDER,
    MOST_STEPS,
    Step,
    plain_png,
    png_of_display,
    read_driven,
    read_steps,
)
from chatdev.departments.software.drivers.texts import best_label, is_in, is_same
from chatdev.departments.software.trial.agreed import UsedCheck, describe_step, find_faults, read_checks
from chatdev.departments.software.trial.plan import any_command
from chatdev.errors import ConfigError
from chatdev.runner.raster import read_picture, read_svg
from chatdev.sandbox.base import Execution
from tests.fuzz.readers.reader import Reader, is_short, scratch, value_in, write

STEPS = ['{"press": "', '{"type": "', '", "into": "', '{"choose": "', '", "from": "', '{"reads": "', '{"title": "',
         '{"open": "', '{"request": "', "GET /", "POST /items", '", "body": ', '", "form": ', '"status": 201',
         '"shows": [', '"}', "}, ", "[", "]", "{", "}", ", ", ": ", '"', "null", "1e999", "5", "+", "×", "a b", " ",
         "\\ud800", "\n", "/a?b=c", "é"]
TOLD = ['{"problem": "', '", "seen": "', '", "new": ', "true", "false", "}", "]", ", ", "[", "missing", "differs",
        "status 404", "no route", "Uncaught a", '"names": [', '"OK"', '"trouble": "', '"', "\\n", "8"]
LABELS = ["buttons ", "button ", "labelled ", '"Add"', "0-9", "0 to 9", ", ", " and ", "+", "-", "*", "/", "=",
          "GET /a", "POST /a/{id}", ". ", "; ", "with the ", "such as ", "“", "”", "8", "8.0", "1,000", "-", "×", "…",
          ":", "\n", "e9", "\u3000", "\0", "\ud800"]
SHAPES = ["<svg xmlns='http://www.w3.org/2000/svg' ", "width='", "height='", "viewBox='", "0 0 9 9", "9mm", "1e9", "0",
          "-", "'", ">", "</svg>", "<rect width='9' height='9'/>", "<g>", "</g>", "<style>", "</style>", "url(", "#a",
          ")", "@import ", "<use href='", "<image href='", "data:image/png;base64,", "http://x/", "<!DOCTYPE svg [",
          "<!ENTITY a 'b'>", "]>", "&a;", "&#1;", "<!--", "-->", "<![CDATA[", "]]>", "<?xml version='1.0'?>", "\0", "é"]
BYTES = ["\x89PNG\r\n\x1a\n", "\0\0\0\rIHDR", "\0\0\0\x01", "\x08\x02\0\0\0", "\x90wS\xde", "IDAT", "IEND",
         "\xaeB`\x82", "\0\0\0\0", "\xff\xd8\xff", "\xff\xd9", "GIF89a", ";", "RIFF", "WEBP", "\0", "\xff", "\x7f" * 4,
         "\0\0\0\x64", "\0\0\0\x07", "\0\0\0\x20", "abcd"]
ENDED = Execution(0, None, "", "", 0.1)


def steps(text: str) -> None:
    """Steps that a model wrote: each can be told, and is read again from what a driver gets."""
    value = value_in(text)
    found = read_steps(value) or ()
    assert len(found) <= MOST_STEPS
    for step in found:
        assert json.loads(json.dumps(step.to_dict()))["kind"] == step.kind
        is_short(describe_step(step))
    assert len(list(read_checks(value, any_command()))) <= MOST_CASES
    assert len(list(read_checks([{"steps": value}], None))) <= 1


def told(text: str) -> None:
    """What a driver, or the program in its place, left behind."""
    path = write(f"{FOLDER}-told", text)
    folder: Path = scratch() / "driven"
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    path.replace(folder / FOLDER / "told.json")
    wanted = (Step("press", "OK"), Step("reads", "8"), Step("request", "GET /a", status=200))
    driven = read_driven(folder, "n", wanted, ENDED)
    used = UsedCheck(wanted, driven)
    assert len(driven.steps) <= len(wanted)
    assert bool(used.differs) or len(driven.steps) == len(wanted)
    is_short(used.shown())
    find_faults([used], driven, 'buttons "OK" and "No"; GET /a', {"main.py": b"print(1)"})


def labels(text: str) -> None:
    """Labels and paths that a request names, and texts that are looked for in what is shown."""
    for label in named_buttons(text):
        assert is_same(label, label)
        assert best_label([label], label) == [0]
    assert all(" /" in route for route in named_routes(text))
    half = text[:min(len(text) // 2, 2000)].strip()  # the texts of steps are no longer
    is_in(half, text)
    is_in("8", text)


def drawing(text: str) -> None:
    """An SVG that is handed in, before it is rendered."""
    with suppress(ConfigError):
        read, (width, height) = read_svg(text.encode("utf-8", "surrogatepass"))
        assert read
        assert width > 0 < height


def picture(text: str) -> None:
    """A picture that is handed in, one of a browser, and the memory of a display."""
    data = text.encode("latin-1", "replace")
    with suppress(ConfigError):
        if b"<svg" not in data:
            assert read_picture("picture", data).data == data
    if plain := plain_png(data):
        assert plain_png(plain) == plain
        assert len(plain) <= len(data)
    if shown := png_of_display(data):
        assert read_picture("picture", shown).data == shown


READERS = {
    "steps of a user": Reader(steps, STEPS, ("[{}]", "{}", '[{"press": "{}"}]')),
    "what a driver tells": Reader(told, TOLD, (
        '{"nonce": "n", "begun": true, "ended": true, "steps": [{}], "names": [], "seen": "", "trouble": ""}',
        '{"nonce": "n", "begun": true, "ended": false, "steps": [], "names": [], "seen": "", "trouble": "{}"}', "{}")),
    "labels of a request": Reader(labels, LABELS),
    "drawing": Reader(drawing, SHAPES, ("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{}</svg>", "{}")),
    "picture": Reader(picture, BYTES, ("{}", "\x89PNG\r\n\x1a\n{}")),
}
