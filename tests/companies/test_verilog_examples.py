"""The example designs of `verilogcoder`: their benches accept what the specification says and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from chatdev.paths import bundled_folder

EXAMPLES = bundled_folder("company_config") / "verilogcoder" / "examples"
OUTPUTS = {"shift_fsm": ["busy", "done", "word", "odd"], "alu": ["y", "zero", "negative", "carry", "overflow"]}

MUTANTS = {
    "shift_fsm": {
        "forgets that 1010 ends in 10": ("in ? B1011 : B10", "in ? B1011 : NONE"),
        "forgets that 10111 ends in 1": ("in ? B1 : SHIFT", "in ? NONE : SHIFT"),
        "forgets that 11 ends in 1": ("B1:      next = in ? B1", "B1:      next = in ? NONE"),
        "looks for another pattern": ("in ? B101 : NONE", "in ? NONE : B101"),
        "takes five bits": ("left <= 5", "left <= 4"),
        "takes seven bits": ("left <= 5", "left <= 6"),
        "counts anew only after a gap": ("else\n        left", "else if (state == NONE)\n        left"),
        "shifts the wrong way": ("{taken[3:0], in}", "{in, taken[4:1]}"),
        "shows a partial word": ("if (left == 0) word", "word"),
        "loses the last bit": ("word <= {taken, in}", "word <= {taken, 1'b0}"),
        "shifts a bit too far": ("word <= {taken, in}", "word <= {taken[3:0], in, 1'b0}"),
        "misses the bit during done": ("DONE:    next = in ? B1 : NONE", "DONE:    next = NONE"),
        "counts the word's last bit for the next search": ("DONE:    next = in ? B1 : NONE",
                                                           "DONE:    next = in ? B1 : taken[0] ? B10 : NONE"),
        "takes a word again without a pattern": ("(left == 0) ? DONE : SHIFT", "(left == 0 && in) ? DONE : SHIFT"),
        "has an asynchronous reset": ("@(posedge clk)", "@(posedge clk, posedge reset)"),
        "works at the other edge": ("@(posedge clk)", "@(negedge clk)"),
        "has a reset that is active low": ("if (reset)", "if (!reset)"),
        "has no reset": ("if (reset)", "if (1'b0)"),
        "keeps the word in reset": ("      word <= 0;\n", ""),
        "keeps the state in reset": ("      state <= NONE;\n", ""),
        "takes the bit during reset": ("      state <= NONE;", "      state <= in ? B1 : NONE;"),
        "is busy a cycle early": ("busy = (state", "busy = (next"),
        "is busy during done": ("busy = (state == SHIFT)", "busy = (state == SHIFT || state == DONE)"),
        "is done a cycle early": ("done = (state", "done = (next"),
        "says even": ("odd = ^word", "odd = ~^word"),
        "says odd of what was taken": ("odd = ^word", "odd = ^{taken, in}"),
    },
    "alu": {
        "adds one too many": ("{1'b0, a} + {1'b0, b}", "{1'b0, a} + {1'b0, b} + 9'd1"),
        "adds seven bits of b": ("{1'b0, a} + {1'b0, b}", "{1'b0, a} + {2'b0, b[6:0]}"),
        "subtracts a from b": ("{1'b0, a} - {1'b0, b}", "{1'b0, b} - {1'b0, a}"),
        "overflows when signs differ in a sum": ("(a[7] == b[7])", "(a[7] != b[7])"),
        "overflows when signs agree in a difference": ("overflow = (a[7] != b[7])", "overflow = (a[7] == b[7])"),
        "never overflows": ("overflow = difference_overflow", "overflow = 1'b0"),
        "has or for and": ("y = a & b", "y = a | b"),
        "has exclusive or for or": ("y = a | b", "y = a ^ b"),
        "has equal for exclusive or": ("y = a ^ b", "y = ~(a ^ b)"),
        "has two operations swapped": ("AND = 2, OR = 3", "AND = 3, OR = 2"),
        "shifts left by all of b": ("{1'b0, a} << b[2:0]", "{1'b0, a} << b"),
        "shifts right by all of b": (">>> b[2:0]", ">>> b"),
        "shifts right by at most three": (">>> b[2:0]", ">>> b[1:0]"),
        "shifts zeros in from the left": ("$signed({a, 1'b0}) >>>", "{a, 1'b0} >>"),
        "forgets the carry of the left shift": ("{carry, y} = left", "{carry, y} = left & 9'h0ff"),
        "forgets the carry of the right shift": ("{y, carry} = right", "{y, carry} = right & 9'h1fe"),
        "compares without signs": ("(a[7] != b[7]) ? a[7] : difference[8]", "difference[8]"),
        "compares by the sign of the difference": ("(a[7] != b[7]) ? a[7] : difference[8]", "difference[7]"),
        "has less or equal": ("? a[7] : difference[8]", "? a[7] : (difference[8] || a == b)"),
        "has no borrow but its opposite": ("{carry, y} = difference", "{carry, y} = difference ^ 9'h100"),
        "is zero when a is b": ("zero = (y == 0)", "zero = (a == b)"),
        "is negative but for overflows": ("negative = y[7]", "negative = y[7] ^ overflow"),
        "keeps an old carry": ("    carry = 0;\n", ""),
        "keeps an old overflow": ("    overflow = 0;\n", ""),
        "says less in the highest bit": ("{7'b0, less}", "{less, 7'b0}"),
    },
}

OTHERWISE = {
    "shift_fsm": """
        module TopModule (input clk, input reset, input in, output busy, output reg done, output reg [5:0] word,
                          output odd);
          reg [10:0] seen;  // the stream since the search began, behind a leading one
          reg [2:0] to_come;
          wire [10:0] now = {seen[9:0], in};
          assign busy = to_come != 0;
          assign odd = word[0] ^ word[1] ^ word[2] ^ word[3] ^ word[4] ^ word[5];
          always @(posedge clk)
            if (reset) begin
              seen <= 0; to_come <= 0; done <= 0; word <= 0;
            end else begin
              done <= to_come == 1;
              seen <= to_come == 1 ? 0 : now;
              if (to_come == 1) word <= now[5:0];
              if (to_come != 0) to_come <= to_come - 1;
              else if (now[4:0] == 5'b10110) to_come <= 6;
            end
        endmodule""",
    "alu": """
        module TopModule (input [7:0] a, input [7:0] b, input [2:0] op, output [7:0] y, output zero, output negative,
                          output carry, output overflow);
          wire signed [9:0] x = {{2{a[7]}}, a}, z = {{2{b[7]}}, b};
          wire signed [9:0] exact = op[0] ? x - z : x + z;
          wire [2:0] n = b[2:0], last = n - 3'd1;
          wire [7:0] filled = {8{a[7]}} & ~(8'hff >> n);
          wire signed_less = $signed(a) < $signed(b);
          assign y = op == 0 ? a + b : op == 1 ? a - b : op == 2 ? a & b : op == 3 ? a | b : op == 4 ? a ^ b :
                     op == 5 ? a << n : op == 6 ? (a >> n) | filled : signed_less;
          assign zero = ~|y;
          assign negative = y >= 8'd128;
          assign overflow = op[2:1] == 0 && (exact > 127 || exact < -128);
          assign carry = op == 0 ? y < a : op == 1 ? a < b : op == 5 ? n != 0 && a[8 - n] :
                         op == 6 ? n != 0 && a[last] : 1'b0;
        endmodule""",
}


def reference(design: str) -> str:
    return (EXAMPLES / design / "ref.sv").read_text(encoding="utf-8")


def simulated(design: str, answer: str, folder: Path) -> str:
    """What the bench says of the answer; the benches are our own, so they run without a sandbox."""
    for program in ("iverilog", "vvp"):
        assert shutil.which(program), "apt-get install iverilog"
    (folder / "top.sv").write_text(answer, encoding="utf-8")
    sources = [EXAMPLES / design / "tb.sv", EXAMPLES / design / "ref.sv"]
    compiled = subprocess.run(["iverilog", "-Wall", "-Winfloop", "-Wno-timescale", "-g2012", "-s", "tb", "-o", "a.out",
                               "top.sv", *sources], cwd=folder, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    return subprocess.run(["vvp", "-n", "a.out"], cwd=folder, capture_output=True, text=True, check=True,
                          timeout=60).stdout


def mismatches(output: str) -> int:
    wrong, samples = re.findall(r"^Mismatches: (\d+) in (\d+) samples$", output, re.MULTILINE)[-1]
    assert output.splitlines()[-1].startswith("Mismatches:")
    assert int(samples) > 5000
    return int(wrong)


@pytest.mark.parametrize("design", OUTPUTS)
def test_the_reference_passes_and_nothing_is_said_of_time(design: str, tmp_path: Path) -> None:
    output = simulated(design, reference(design).replace("RefModule", "TopModule"), tmp_path)
    assert mismatches(output) == 0
    assert re.findall(r"^Hint: Output '(\w+)' has no mismatches\.$", output, re.MULTILINE) == OUTPUTS[design]
    assert "TIMEOUT" not in output
    assert (tmp_path / "wave.vcd").stat().st_size > 10_000


@pytest.mark.parametrize("design", OUTPUTS)
def test_a_design_built_in_another_way_passes(design: str, tmp_path: Path) -> None:
    assert mismatches(simulated(design, OTHERWISE[design], tmp_path)) == 0


@pytest.mark.parametrize(("design", "mistake"), [(design, name) for design in MUTANTS for name in MUTANTS[design]])
def test_every_mistake_is_noticed(design: str, mistake: str, tmp_path: Path) -> None:
    right, wrong = MUTANTS[design][mistake]
    text = reference(design).replace("RefModule", "TopModule")
    assert text.count(right) == 1
    output = simulated(design, text.replace(right, wrong, 1), tmp_path)
    assert mismatches(output) > 0
    assert re.search(r"^Hint: Output '\w+' has [1-9]\d* mismatches\. First mismatch occurred at time \d+\.$", output,
                     re.MULTILINE)


@pytest.mark.parametrize(("design", "output"), [(design, name) for design in OUTPUTS for name in OUTPUTS[design]])
def test_an_output_that_is_stuck_is_named(design: str, output: str, tmp_path: Path) -> None:
    inner = reference(design).replace("RefModule", "Inner")
    header = inner[:inner.index(");") + 2].replace("Inner", "TopModule").replace("logic ", "")
    names = [name for name in re.findall(r"(\w+),?$", header, re.MULTILINE) if name != output]
    links = ", ".join(f".{name}({name})" for name in names)
    said = simulated(design, f"{header}\nassign {output} = 0;\nInner inner ({links});\nendmodule\n{inner}", tmp_path)
    assert mismatches(said) > 0
    assert re.findall(r"^Hint: Output '(\w+)' has \d+ mismatches", said, re.MULTILINE) == [output]


@pytest.mark.parametrize("design", OUTPUTS)
def test_the_specification_names_every_port_and_its_width(design: str) -> None:
    text = (EXAMPLES / design / "spec.txt").read_text(encoding="utf-8")
    ports = re.findall(r"^ - (input|output) +(\w+)(?: \((\d+) bits\))?$", text, re.MULTILINE)
    declared = re.findall(r"^  (input|output) (?:logic )?(?:\[(\d+):0\] )?(\w+),?$", reference(design), re.MULTILINE)
    assert ports == [(kind, name, str(int(high) + 1) if high else "") for kind, high, name in declared]
    assert max(map(len, text.splitlines())) <= 78
