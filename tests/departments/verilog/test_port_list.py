"""Ports are read from the layouts in which people list them, and prose is not taken for certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.port_lines import UNKNOWN, ListedPort
from chatdev.departments.verilog.specification import read_ports

LAYOUTS = {
    "bullets": " - input  clk\n - input d (8 bits)\n - output q [7:0]\n\nThe module delays d.\n",
    "numbers": "1. input clk\n2. input [7:0] d\n3. output [7:0] q\n",
    "quotes": "* `input` `clk`\n* `input` `d` [7:0]\n* `output` `q` [7:0]\n",
    "sections": "Module name:\n    delay\n\nInput ports:\n    clk: Clock.\n    d[7:0]: 8-bit data.\n"
                "Output ports:\n    q[7:0]: The data, late.\n\nImplementation:\nProcessing: wait.\nGeneration: none.\n",
    "sections with bullets": "Inputs:\n- clk: a\n- d (8 bits): b\n\nOutputs:\n- q (8-bit): c\n\n"
                             "Notes:\n- x\n",
    "sections in bold": "**Inputs:**\n- `clk` – the clock\n- `d[7:0]` – data\n\n**Outputs:**\n- `q[7:0]` – late\n",
    "sections with bits in words": "Input ports:\n  clk: clock\n  d: an 8-bit value\n"
                                   "Output ports:\n  q: late, 8 bits wide\n",
    "lines": "Inputs: clk, d[7:0]\nOutputs: q[7:0]\n\nIt delays.\n",
    "lines with and": "Input ports: `clk` and `d` (8 bits)\nOutput port: `q` (8 bits).\n",
    "a table": "| Signal | Direction | Width | Description |\n|---|:-:|---|---|\n| `clk` | Input | 1 | clock |\n"
               "| d | in | 8 | data |\n| q | Output | [7:0] | late |\n",
    "a table without widths": "| Port | Dir | Notes |\n|--|--|--|\n| clk | input | – |\n| d[7:0] | input | – |\n"
                              "| q[7:0] | output | – |\n",
    "directions behind": "- clk (input, 1 bit): the clock\n- `d` (input, 8 bits): data\n- q (output, 8-bit): late\n",
    "directions behind colons": "- **clk**: input, clock\n- **d**: input [7:0], data\n- **q**: output [7:0]\n",
    "directions like VHDL": "clk : in\nd : in (8 bits)\nq : out (8 bits)\n",
    "directions behind colons, indented": "    clk : in          -- the clock\n    d   : in  [7:0]   -- data\n"
                                          "    q   : out [7:0]   -- late\n",
    "columns": "  clk        in   the clock\n  d  [7:0]   in   data\n  q  [7:0]   out  late\n",
    "columns with groups": "control   clk  in    clock\ndata      d    in    [7:0]\n"
                           "          q    out   8 bits, late\n",
    "quotes around ranges": "- input `clk`: a\n- input `[7:0] d`: b\n- output `[7:0] q`: c\n",
    "sections with dashes": "Inputs:\nclk - the clock\nd[7:0] - data, late\n\nOutputs:\nq[7:0] - late\n\nIt is late.\n",
    "directions with types": "clk : in std 1 bit  -- clock\nd : in std 8 bit\nq : out std 8 bit -- late\n",
    "directions between commas": "1. `clk`, input, 1 bit: the clock.\n2. `d`, input, 8 bits: data.\n"
                                 "3. `q`, output, 8 bits: late.\n",
    "headings": "## Inputs\n\n- `clk`: a\n- `d[7:0]`: b\n\n## Outputs\n\n- `q[7:0]`: c\n\n## Timing\n\n- x: late\n",
    "headings in bold": "**Inputs**\n\n- clk: a\n- d (8 bits): b\n\n**Output ports**\n\n- q (8 bits): c\n",
    "sections without indent": "Input ports:\nclk: a\nd[7:0]: b\nOutput ports:\nq[7:0]: c\nImplementation: late\n",
    "sections with more lines": "Inputs:\n  clk: a\n    (rising)\n  d (8 bits): b\nOutputs:\n  q (8 bits): c\n"
                                "  Note: late\n",
    "tables under headings": "## Input Ports\n\n| Name | Width | Text |\n|--|--|--|\n| clk | 1 | a |\n| d | 8 | b |\n\n"
                             "## Output Ports\n\n| Name | Width | Text |\n|--|--|--|\n| q | 8 | the port q |\n",
    "a table with letters": "| Port | I/O | Bits |\n|--|--|--|\n| clk | I | 1 |\n| d | I | 8 |\n| q | O | 8 |\n",
    "bits before": "- 1-bit input clk\n- 8-bit input d\n- 8-bit output q: late\n",
    "bits before names": "Input: 1-bit clock clk, 8-bit data d\nOutput: 8-bit data q\n",
    "YAML": "ports:\n  - name: clk\n    direction: input\n  - {name: d, direction: input, width: 8}\n"
            "  - direction: output\n    name: q\n    width: '7:0'\n",
    "JSON": '{"ports": [{"name": "clk", "dir": "in", "width": 1}, {"name": "d", "dir": "in", "width": 8},\n'
            ' {"name": "q", "dir": "out", "width": "[7:0]"}]}\n',
    "a table with types": "| Name | Type | Text |\n|--|--|--|\n| clk | input wire | a |\n"
                          "| d | input logic [7:0] | b |\n| q | Output, 8 bits | c |\n",
    "a table, direction first": "| Direction | Name | Size |\n|--|--|--|\n| input | clk | 1 bit |\n"
                                "| input | **d** | 8 bits |\n| output | q | 8 |\n",
    "a table drawn with lines": "+------+-----+------+\n| Name | Dir | Bits |\n+======+=====+======+\n"
                                "| clk  | in  | 1    |\n+------+-----+------+\n| d    | in  | 8    |\n"
                                "| q    | out | 8    |\n+------+-----+------+\n",
    "columns set by tabs": "clk\tinput\t1\tthe clock\nd\tinput\t8\tdata\nq\toutput\t8\tlate\n",
    "a YAML mapping": "ports:\n  clk: {direction: input, width: 1}\n  d: {direction: input, width: 8}\n"
                      "  q: {direction: output, width: 8}\n",
    "a sentence": "The module has inputs clk, d[7:0] and an output q (8 bits).\n",
    "a head": "```verilog\nmodule TopModule (\n  input clk,\n  input wire [7:0] d,\n  output reg [7:0] q\n);\n```\n",
    "declarations": "The ports are\n\n    input        clk;\n    input  [7:0] d,\n    output [7:0] q   // late\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("around", ["", "Design a module that delays its data.\n\n"])
def test_every_layout_is_read(layout: str, around: str) -> None:
    found = [(port.direction, port.name, port.width) for port in read_ports(around + LAYOUTS[layout] + around)]
    assert found == [("input", "clk", ""), ("input", "d", "[7:0]"), ("output", "q", "[7:0]")]
    assert all(port.certain for port in read_ports(LAYOUTS[layout])) is (
        layout not in {"a head", "a sentence"})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lines_may_end_as_on_windows(layout: str) -> None:
    assert read_ports(LAYOUTS[layout].replace("\n", "\r\n")) == read_ports(LAYOUTS[layout])


@pytest.mark.parametrize("text", [
    "- in (input, 8 bits): a\n- out (output, 8 bits): b\n", "1. `in`, input, 8 bits: a\n2. `out`, output, 8 bits: b\n",
    "- Inputs:\n  - in (8 bits): a\n- Outputs:\n  - out (8 bits): b\n", "Inputs: in[7:0]\nOutputs: out[7:0]\n",
    "Input ports:\n  in[7:0]: a\nOutput ports:\n  out[7:0]: b\n", "in   [7:0]  input   a\nout  [7:0]  output  b\n",
    "- name: in\n  direction: input\n  width: 8\n- name: out\n  direction: output\n  width: 8\n",
    "inputs:\n  in: 8-bit input\noutputs:\n  out: 8-bit output\n",
])
def test_ports_may_be_called_in_and_out(text: str) -> None:
    assert [(port.direction, port.name, port.width) for port in read_ports(text)] == [
        ("input", "in", "[7:0]"), ("output", "out", "[7:0]")]


@pytest.mark.parametrize(("text", "ports"), [
    ("- input a, b2 (8 bits each)\n- output q", {"a": "[7:0]", "b2": "[7:0]", "q": ""}),
    ("- input [3:0] a, b2\n- output `q`, `r`", {"a": "[3:0]", "b2": "[3:0]", "q": "", "r": ""}),
    ("- input a, b2 and c (8 bits)\n- output q", {"a": UNKNOWN, "b2": UNKNOWN, "c": UNKNOWN, "q": ""}),
    ("- input a[3:0], b2\n- output q", {"a": "[3:0]", "b2": UNKNOWN, "q": ""}),
    ("- input a, registered\n- output q, late, glitch-free", {"a": "", "q": ""}),
])
def test_a_line_may_list_several_ports(text: str, ports: dict[str, str]) -> None:
    found = read_ports(text)
    assert {port.name: port.width for port in found} == ports
    assert not any(port.certain for port in found if port.name in {"b2", "c", "r"})


@pytest.mark.parametrize("introduced", ["It may use a submodule `cell`:", "TopModule instantiates `cell`, with",
                                        "The helper has", "The module `cell` has the ports", "## Submodule cell"])
def test_ports_of_a_submodule_in_another_layout_are_none(introduced: str) -> None:
    text = f"Write TopModule.\n\n| Port | Dir | Bits |\n|--|--|--|\n| a | in | 1 |\n| q | out | 1 |\n\n{introduced}\n\n"
    bullets = "- input p0\n- input p1\n- output r0\n"
    assert [port.name for port in read_ports(text + bullets)] == ["a", "q"]
    assert read_ports(f"Write TopModule.\n\n{introduced}\n\n{bullets}") == []
    assert all(port.certain for port in read_ports(f"The submodule TopModule has\n\n{bullets}"))


@pytest.mark.parametrize("introduced", ["The memory `ram` has:", "### Sub-block: crc8", "adder1 has:"])
def test_a_list_of_what_has_another_name_is_not_certain(introduced: str) -> None:
    others = f"{introduced}\n\nInputs:\n- go: start\n\nOutputs:\n- sum[7:0]: result\n"
    assert not any(port.certain for port in read_ports(f"Write TopModule.\n\n{others}"))
    assert all(port.certain for port in read_ports("TopModule\n\nInputs:\n- a1: start\n\nOutputs:\n- q[7:0]: x\n"))
    own = "- input a (1 bit)\n- output q (1 bit)\n"
    assert [port.name for port in read_ports(f"TopModule:\n\n{own}\n{others}") if port.certain] == ["a", "q"]


def test_where_two_layouts_contradict_each_other_nothing_is_certain() -> None:
    text = "Ports:\n\n- input a\n- output q\n\nThere are signals, too.\n\n| Signal | Dir |\n|--|--|\n| x | in |\n"
    assert [(port.name, port.certain) for port in read_ports(text)] == [("a", False), ("q", False)]


def test_a_bus_beside_ports_in_prose_is_not_certain() -> None:
    bus = read_ports("It reads a clock, and drives the two wires of its bus.\n\n - inout sda\n - inout scl\n")
    assert [(port.name, port.certain) for port in bus] == [("sda", False), ("scl", False)]


def test_an_example_below_a_list_lists_nothing() -> None:
    text = "## Inputs\n\n- a: x\n\n## Outputs\n\n- q: y\n\nExample:\n\nInput: A5\nOutput: 3\n"
    assert [(port.name, port.certain) for port in read_ports(text)] == [("a", True), ("q", True)]


def test_a_sentence_that_does_not_introduce_a_list_leaves_it_uncertain() -> None:
    table = "| Name | Type | Bits |\n|--|--|--|\n| a | in | 1 |\n| q | out | 1 |\n"
    found = read_ports(f"All registers change at the edge.\n\n{table}")
    assert [(port.name, port.certain) for port in found] == [("a", False), ("q", False)]
    assert read_ports(f"The registers:\n\n{table}") == []


@pytest.mark.parametrize("text", [
    "- Input interface: takes data from the bus.\n- Output stage: drives the pads.\n",
    "- Processing: the data is shifted.\n- Generation: of parity.\nInput data is latched. Output: when it is stable.\n",
    "It has an input and an output. The input is fast.\n",
    "- input is latched at the edge\n- output follows a cycle later\n",
    "Inputs: none of them is registered, as said above\nOutputs: the usual ones\n",
    "| Step | What |\n|---|---|\n| 1 | input |\n",
    "Example: in = 3, out = 7.\nNote: in, out of range\n",
    "Example:\nInput: A5\nOutput: zero\n\nA5 gives zero.\n",
    "  time   in   out\n  0      1    0\n",
    "- Mode: input/output\n- Direction: in\n- Type: output\n- Handshake: input, output\n",
    "- `clk`\n  - Direction: input\n  - Width: 1\n",
    "Features:\n- input buffering\n- output register\n- output enable\n",
    "Inputs: asynchronous, synchronised\nOutputs: registered and stable\n",
    "Outputs:\n- Note: registered\n- Latency: two cycles\n- Reset: cleared\n- reset: cleared\n- style: the usual one\n",
    "The states are\n- LOAD: input\n- STORE: output\n",
    "It goes through a1, b1 and c1.\n- a1: nothing\n- b1: input\n- c1: output\n",
    "Registers\n\n| Name | Type | Reset |\n|--|--|--|\n| c0 | input | 0 |\n| c1 | output | 0 |\n",
    "Example\n\nInputs: a1, b1\nOutputs: c1\n",
])
def test_prose_lists_no_port_for_certain(text: str) -> None:
    assert not any(port.certain for port in read_ports(text))


@pytest.mark.parametrize("text", [
    "## Input treatment\n\n- d: late\n\n## Output\n\nIt is late.\n\n**Output** is\n- d: x\n",
    "Input:\nkey: value\nOutput:\nother: thing\n",
    "Inputs:\nNote: none is registered\nOutputs:\nSee: below\n",
    "## Inputs\n\n| Step | What |\n|--|--|\n| one | two |\n\n## Timing\n\n| Name | Value |\n|--|--|\n| t_su | 3 |\n",
    "| Name | Type | Bits |\n|--|--|--|\n| addi | I | 32 |\n| add | R | 32 |\n",
    "- 8-bit input\n- 16-bit inputs are not meant\n",
    "Input: 8-bit data, 1-bit parity\nOutput: 8-bit words from the bus\n",
    "- name: load\n  next: idle\n- name: idle\n  output: 0\n- direction: input\n",
    "It takes as input a number and has outputs registered, glitch-free. The input is fast; an output q.\n",
])
def test_what_only_comes_near_a_layout_lists_nothing(text: str) -> None:
    assert read_ports(text) == []


@pytest.mark.parametrize("more", [
    "The FIFO behind it has\n{}- input push\n- output full\n", "## The FIFO\n{}- input push\n- output full\n",
    "- input push (only if MUX is 1)\n- output full\n{}\nThe port `full` is optional.\n",
    "Registers:\n{}- input push\n- output full\n"])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_ports_of_others_and_optional_ones_are_not_certain(more: str, blank: str) -> None:
    found = read_ports(f"TopModule has\n- input clk\n- output q\n{blank}{more.format(blank)}")
    assert [port.name for port in found if port.certain] == ["clk", "q"]


@pytest.mark.parametrize("between", ["Read port:\n", "\n**Read side**\n\n", "", "  They go on\n  with the module.\n"])
def test_a_group_of_ports_is_no_other_module(between: str) -> None:
    found = read_ports(f"TopModule has\n- input a\n- output q\n{between}- input b\n- output c\n")
    assert all(port.certain for port in found)
    assert len(found) == 4


def test_a_section_ends_where_lines_stand_further_out() -> None:
    text = "  Output ports:\n    s[7:0]: s\n  Implementation:\n    Processing: adds\n    Generation: none\n"
    assert [port.name for port in read_ports(text)] == ["s"]


@pytest.mark.parametrize(("text", "is_sized"), [
    ("- input a\n", False), ("- input a: 8-bit operand\n", False), ("- input a (8 bits): operand\n", True),
    ("- input a — high if words are 8 bits wide\n", False), ("- input a — data, 8 bits wide\n", True),
    ("| Name | Dir | Notes |\n| a | in | 8-bit operand |\n", False), ("Inputs: a, b\n", False),
    ("| Name | Dir | Bits |\n| a | in | |\n", False), ("| Name | Dir | Bits |\n| a | in | 1 |\n", True),
    ("- a (input, 1 bit)\n", True), ("- a: input, clock enable\n", False), ("Inputs: a, b (8 bits each)\n", True),
])
def test_only_a_figure_beside_the_name_is_a_written_width(text: str, is_sized: bool) -> None:
    assert read_ports(text)[0].is_sized is is_sized


def test_a_width_that_is_no_number_is_not_known() -> None:
    assert read_ports("- input wdata (WIDTH bits)\n- output q [N-1:0]\n") == [
        ListedPort("input", "wdata", UNKNOWN), ListedPort("output", "q", "[N-1:0]", is_sized=True)]
    assert read_ports("Input ports:\n  bus: the data bus\n") == [ListedPort("input", "bus", UNKNOWN)]


@given(st.text(alphabet="-*|:([ \t\n`_,ab1inputo.", max_size=60))
def test_anything_can_be_read(text: str) -> None:
    assert all(port.name for port in read_ports(text))


@pytest.mark.parametrize("text", [
    " " * 50_000, "- input a" + " " * 50_000 + "!", "|" * 50_000, "Inputs: " + "a, " * 20_000,
    "Input ports:\n" + " a: b\n" * 20_000, "module a(" * 5000,
    "- input a\n- output b\n" * 8000, "- a: input\n" * 10_000, "| name | dir |\n" + "| a | in |\n" * 10_000,
    "{name: a, direction: in}\n" * 6000, "Inputs:\n- a: b\n\n" * 5000, "a\n" * 50_000, "inputs a and " * 10_000,
    "- input a" + ", b1" * 20_000 + "!", "+--+\n" * 10_000 + "- input a\n", "submodule `a` " * 5000 + "\n- input a\n",
    "- input a\n- output b\n" + "\n" * 50_000 + "- input c\n", "a: {b: in, dir: in}\n" * 6000, "a\tin\t" * 10_000])
def test_long_text_is_read_in_time(text: str) -> None:
    read_ports(text)


WIDTHS = {
    "- input a: 8-bit operand\n": "[7:0]", "- input a — sixteen bits\n": UNKNOWN,
    "- input a: the sum, 8-bit\n": UNKNOWN,
    "- a: input, byte\n": UNKNOWN, "- a: input, two-bit select\n": UNKNOWN, "- a: input, enables q[7:0]\n": UNKNOWN,
    "- a: input, clock enable\n": "", "- input a (0..15)\n": UNKNOWN, "- input a (signed, Q4.4)\n": UNKNOWN,
    "- input a (active low; 0 = busy)\n": "", "- input a (LEDs 0 to 7)\n": UNKNOWN, "- input code::t a\n": UNKNOWN,
    "a : in std_logic_vector(7 downto 0);\n": "[7:0]", "a : in unsigned(3 downto 0);\n": "[3:0]",
    "a : in std_logic;\n": "",
    "a  input  unsigned [7:0]  data\nb  input  logic  x\n": "[7:0]", "a  input  WORD  x\nb  input  1  x\n": UNKNOWN,
    "| Name | Dir | Width |\n| a | in | 7:0 |\n": "[7:0]", "| Name | Dir | Width |\n| a | in | data_w |\n": UNKNOWN,
    "| Name | Dir | Width |\n| a | in | 8 (default) |\n": UNKNOWN, "| Name | Dir | Width |\n| a | in | - |\n": "",
    "Inputs: a, b, c (8 bits each)\n": "[7:0]", "Inputs: a, b (4 bits)\n": UNKNOWN, "Inputs: a[3:0], b\n": "[3:0]",
    "Inputs: a, b (each 4 bits): the words\n": "[3:0]",
}


@pytest.mark.parametrize("text", WIDTHS)
def test_a_width_that_is_not_understood_is_not_known(text: str) -> None:
    first = read_ports(text)[0]
    assert (first.name, first.width) == ("a", WIDTHS[text])


@pytest.mark.parametrize("name", ["in", "out", "mode", "size", "width", "name"])
def test_a_port_may_have_the_name_of_anything(name: str) -> None:
    assert read_ports(f"- input {name}\n- output q\n")[0] == ListedPort("input", name, "")


def test_beside_bits_of_others_a_clock_has_one() -> None:
    assert read_ports("Inputs: clk, d (4 bits)\n")[0] == ListedPort("input", "clk", "")


@pytest.mark.parametrize(("text", "certain"), [
    ("The adder cell has\n\n- input x\n- output s\n\nTopModule has\n\n- input p\n- output r\n", {"p", "r"}),
    ("TopModule:\n- input p\n- output r\n\nIt uses the module cell:\n- input r (2 bits)\n- output x\n", {"p", "r"}),
    ("TopModule uses two modules:\n- input x\n- output s\n\nTopModule has\n- input p\n- output r\n", set()),
    ("A has\n\n- input x\n- output s\n\nB has\n\n- input p\n- output r\n", set()),
    ("TopModule:\n\n- input x\n- output s\n\nTopModule:\n\n- input p\n- output r\n", set()),
    ("TopModule\n\nWrite side:\n\n- input p\n- output r\n\nRead side:\n\n- input x\n- output s\n", {*"prxs"}),
])
def test_of_several_modules_only_the_ports_of_the_top_are_certain(text: str, certain: set[str]) -> None:
    found = {port.name: port for port in read_ports(text)}
    assert {name for name, port in found.items() if port.certain} == certain
    assert {port.width for port in found.values() if port.certain} <= {""}


def test_a_semicolon_in_a_comment_ends_no_head() -> None:
    head = "module TopModule (\n  input clk, // clock; rising edge\n  input rst, x, /* of all; high */\n  output q);\n"
    assert {port.name for port in read_ports(head)} >= {"clk", "rst", "q"}


def test_a_width_that_is_a_parameter_is_not_one_bit() -> None:
    text = "  pin   direction  width    function\n  clk   in         1        clock\n  req   in         LINES    x\n"
    assert [(port.name, port.width) for port in read_ports(text)] == [("clk", ""), ("req", UNKNOWN)]
