"""Readers of what surrounds a block diagram: the program in a reply, the model that a program has saved, scripts,
lists, and values of inputs."""

from __future__ import annotations

from functools import cache

from benchmarks.simulink.exchange import same
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.execute import program_of
from chatdev.departments.simulink.files.lists import parse_list
from chatdev.departments.simulink.files.matlab_script import parse_script
from chatdev.departments.simulink.saved_model import SavedModel, UnreadableModel
from chatdev.departments.simulink.simulation.table import read_inputs
from chatdev.departments.simulink.views import write_script
from chatdev.errors import ConfigError
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


SCRIPT = ["new_system(m);\n", "add_block('built-in/Gain', [m '/a'], 'Gain', '2');\n",
          "add_block('built-in/SubSystem', 'm/s')\n", "add_block('built-in/Inport', 'm/s/u')\n",
          "add_line(m, 'a/1', 's/1');\n", "set_param('m/a', 'Position', ", "[1 2 30 40]", "[", "]", "{", "}", "(",
          ")", "'", '"', "...", "%{\n", "%}\n", "x = ", "x", "-", "+", "*", "/", "1e9", ";", ",", "\n",
          "sprintf('%d', 3)", "char(10)", "if bdIsLoaded(m), close_system(m); end", "for k = 1:3", "end",
          "evalin(w, 'K = 2');", "w = get_param(m, 'ModelWorkspace');\n",
          "Simulink.SubSystem.deleteContents('m/s');\n"]
LIST = ['{"name": "a", "type": "Gain"}', ", ", '"Sum"', '{"name": "s", "type": "Subsystem", "system": {"blocks": [',
        "]}}",
        '{"name": "b", "type": "AND", "parameters": {"Inputs": 3}, "position": [1, 2, 3, 4]}', '], "connections": [',
        '"a/1 -> b/1"', "null", "1e999", "[", "]", "{", "}", '"\\ud835\\udefc"', '"variables": {"K": [1, 2]}']
TABLE = ["time", ",", "u", "v[2]", "v[1]", "\n", "0", "1e9", "-1", "nan", '"', ";", "\ufeff", "[", "]"]


def script(text: str) -> None:
    """A MATLAB script; what it builds is a model that a script builds again."""
    try:
        model = parse_script(text, "build.m")[0]
    except ConfigError as error:
        is_short(error)
        return
    assert same(parse_script(write_script(model), "again.m")[0], model, placed=False)


def block_list(text: str) -> None:
    """A list of blocks and connections; a model comes back from its own."""
    try:
        model = parse_list(text, "list.json")
    except ConfigError as error:
        is_short(error)
        return
    assert Diagram.parse(model.text(), "text") == model


def input_table(text: str) -> None:
    """Values for In1 blocks, in the order of time."""
    model = Diagram("m", {name: DiagramBlock("In1") for name in ("u", "v")})
    try:
        found = read_inputs(text, "in.csv", model)
    except ConfigError as error:
        is_short(error)
        return
    assert all(sorted(table.times) == [*table.times] for table in found.values())
    assert all(len(values) == len(table.times) for table in found.values() for values in table.elements)


READERS = {"script that builds a model": Reader(script, SCRIPT, ("{}", "m = 'm'; new_system(m);\n{}")),
           "list of a model": Reader(block_list, LIST, ("{}", '{"blocks": [{}]}')),
           "values of inputs": Reader(input_table, TABLE, ("{}", "time,u\n0,1\n{}")),
"program that builds a model": Reader(program, REPLY),
           "saved model": Reader(saved_model, SAVED, (FRAME, "{}"))}
