"""Readers of what surrounds a block diagram: the program in a reply, and the model that a program has saved."""

from __future__ import annotations

from functools import cache

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.execute import program_of
from chatdev.departments.simulink.saved_model import SavedModel, UnreadableModel
from tests.fuzz.readers.reader import Reader, is_short

REPLY = ["```python\n", "```\n", "~~~\n", "import matlab.engine\n", "eng.add_block('a', 'm/a')\n", '"""\n', "    ",
         "text\n"]
SAVED = ['{"name": "a", "type": "Gain", "parameters": {}, "position": null}', ", ", '{"name": "b", "type": "Sum", '
         '"parameters": {"Inputs": "+-"}, "position": [0, 0, 9, 9]}', '{"name": "a -> b/1", "type": "Resistor", '
         '"parameters": {}, "position": null}', '{"name": "a -- b", "type": "Resistor", "parameters": {"R": "1: {#"}, '
         '"position": null}', '], "lines": [', '[["a", "out", "1"], ["b", "in", "1"]]',
         '[["a -> b/1", "", "LConn1"], ["a -- b", "", "RConn1"]]', '[["a", "out", "1"], ["b", "in", "2"]]', "1e9", '"']
FRAME = '{"name": "m", "settings": {}, "order": 1, "refused": [], "blocks": [{}]}'


@cache
def library() -> Library:
    """All blocks."""
    return Library(catalogue().plain())


def program(text: str) -> None:
    """A reply, of which the program is a part."""
    assert len(program_of(text)) <= len(text)


def saved_model(text: str) -> None:
    """A model that was saved; one that can be built is the same after it was written as a text."""
    try:
        diagram = SavedModel.read(text.encode("utf-8", "surrogatepass")).rebuild(library(), strict=True)
    except UnreadableModel as error:
        is_short(error)
        return
    assert Diagram.parse(diagram.text(), "text") == diagram


READERS = {"program that builds a model": Reader(program, REPLY),
           "saved model": Reader(saved_model, SAVED, (FRAME, "{}"))}
