"""Readers of what surrounds a block diagram: the program in a reply, the model that a program has saved, scripts,
lists, values of inputs, expressions in parameters, and files of Simulink."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy

from benchmarks.simulink.exchange import same
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.execute import program_of
from chatdev.departments.simulink.files import read_model, write_model
from chatdev.departments.simulink.files.lists import parse_list
from chatdev.departments.simulink.files.matlab_script import parse_script
from chatdev.departments.simulink.files.package import Package
from chatdev.departments.simulink.saved_model import SavedModel, UnreadableModel
from chatdev.departments.simulink.simulation.arithmetic import FUNCTIONS, code_of
from chatdev.departments.simulink.simulation.expressions import (
    MOST_ELEMENTS,
    ExpressionFault,
    parse_expression,
    value_of,
)
from chatdev.departments.simulink.simulation.table import read_inputs
from chatdev.departments.simulink.views import write_script
from chatdev.errors import ConfigError
from tests.fuzz.readers.reader import Reader, is_short, scratch, write

REPLY = ["```python\n", "```\n", "~~~\n", "import matlab.engine\n", "eng.add_block('a', 'm/a')\n", '"""\n', "    ",
         "text\n"]
SAVED = ['{"name": "a", "type": "Gain", "parameters": {}, "position": null}', ", ", '{"name": "b", "type": "Sum", '
         '"parameters": {"Inputs": "+-"}, "position": [0, 0, 9, 9]}', '{"name": "a -> b/1", "type": "Resistor", '
         '"parameters": {}, "position": null}', '{"name": "a -- b", "type": "Resistor", "parameters": {"R": "1: {#"}, '
         '"position": null}', '], "lines": [', '[["a", "out", "1"], ["b", "in", "1"]]',
         '[["a -> b/1", "", "LConn1"], ["a -- b", "", "RConn1"]]', '[["a", "out", "1"], ["b", "in", "2"]]', "1e9", '"']
VALUE = ["1", "2.5", "1e400", "1d3", "0x", "pi", "inf", "nan", "K", "eye(9)", "zeros(", "ones(100,100)", "poly(",
         "conv(", "inv(", "linspace(0,1,", "1:1e5", "K(2)", "[", "]", "(", ")", ";", ",", " ", "\n", "'", ".'", "^",
         ".^", "^1000", "*", "./", "+", "-", "~", "&&", "<=", ":", "...", "%", "{", "}", "\0", "é", "__import__"]
FCN = ["u", "u(1)", "u[2]", "u(9)", "u(", "1", "1e400", "pi", "+", "-", "*", "/", "^", "&&", "||", "~", "==", "<", "(",
       ")", "sin(", "power(", "atan2(", ",", "[", "]", "'", " ", "\n", ":", "__import__", "v1"]
FRAME = '{"name": "m", "settings": {}, "order": 1, "refused": [], "blocks": [{}]}'

CLASSIC = ["Model {\n", "System {\n", "Block {\n", "}\n", "BlockType Gain\n", "BlockType SubSystem\n", 'Name "a"\n',
           'Name "b№"\n', "Line {\n", "Branch {\n", 'SrcBlock "a"\n', "SrcPort 1\n", 'DstBlock "b1"\n',
           "DstPort trigger\n", 'DstPort "LConn1"\n', "Ports [1, 1]\n", "Position [1, 2, 30, 40]\n", '"', "\\", "[",
           "]", 'SavedCharacterEncoding "Shift_JIS"\n', 'MaskVariables "a=@1;"\n', 'MaskValueString "1|2"\n', "#", "é",
           "\0"]
GAIN = 'Model {\nSystem {\nBlock {\nName "a"\nBlockType Gain\n}\n{}}\n}\n'
PACKAGE = ["<System>", "</System>", '<Block BlockType="Gain" Name="a" SID="1">', "</Block>",
           '<Block BlockType="SubSystem" Name="b№" SID="№">', '<P Name="Position">[1, 2, 30, 40]</P>',
           '<Line LineType="Connection">', "<Line>", "</Line>", "<Branch>", "</Branch>", '<P Name="Src">1#out:1</P>',
           '<P Name="Dst">0#in:1</P>', '<P Name="Dst">1#lconn:1</P>', '<System Ref="s"/>', "<Mask>", "</Mask>",
           '<MaskParameter Name="x" Type="edit"><Value>1</Value></MaskParameter>', "<InstanceData/>",
           '<PortCounts in="1"/>', "&#0;", "&amp;", "<!ENTITY", "é", "1e999"]
MAIN = '<ModelInformation><Model>{}</Model></ModelInformation>'


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


def parameter(text: str) -> None:
    """An expression is a value of bounded size, or refused."""
    try:
        assert value_of(text, {"K": numpy.array([[2.0, 3.0]])}).size <= MOST_ELEMENTS
    except ExpressionFault as error:
        is_short(error)


def function_of_inputs(text: str) -> None:
    """An expression of a Fcn block is code that gives a number, or refused."""
    try:
        code = code_of(parse_expression(text.replace("u[", "u(").replace("]", ")")), ["v1", "v2"])
    except ExpressionFault as error:
        is_short(error)
        return
    names = {**FUNCTIONS, "inf": math.inf, "nan": math.nan, "v1": 0.5, "v2": -2.0}
    assert isinstance(eval(code, {"__builtins__": {"float": float, "bool": bool, "abs": abs}}, names), int | float)


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


def classic_file(text: str) -> None:
    """A file in the classic grammar."""
    _file(write("model.mdl", text).name)


def package_file(text: str) -> None:
    """A package whose main part is the text."""
    package = Package({"simulink/blockdiagram.xml": text.encode("utf-8", "surrogatepass")})
    (scratch() / "model.slx").write_bytes(package.zip())
    _file("model.slx")


def _file(name: str) -> None:
    """A change of a model that was read is written, and read again."""
    path = scratch() / name
    try:
        found = read_model(path)
        assert write_model(found, path) == (), "nothing changed"
        blocks = {**found.diagram.blocks, "new": DiagramBlock("Clock", {}, (1, 2, 30, 40))}
        write_model(replace(found, diagram=replace(found.diagram, blocks=blocks)), path)
        again = read_model(path).diagram
        assert (again.blocks, sorted(again.wires)) == (blocks, sorted(found.diagram.wires))
    except ConfigError as error:
        is_short(error)


READERS = {"script that builds a model": Reader(script, SCRIPT, ("{}", "m = 'm'; new_system(m);\n{}")),
           "list of a model": Reader(block_list, LIST, ("{}", '{"blocks": [{}]}')),
           "values of inputs": Reader(input_table, TABLE, ("{}", "time,u\n0,1\n{}")),
           "program that builds a model": Reader(program, REPLY),
           "saved model": Reader(saved_model, SAVED, (FRAME, "{}")),
           "classic file": Reader(classic_file, CLASSIC, ("{}", "Model {\nSystem {\n{}}\n}\n", GAIN)),
           "package file": Reader(package_file, PACKAGE, ("{}", MAIN, MAIN.format("<System>{}</System>"))),
           "value of a parameter": Reader(parameter, VALUE, ("{}", "[{}]", "sum({})")),
           "expression of inputs": Reader(function_of_inputs, FCN, ("{}", "sin({})"))}
