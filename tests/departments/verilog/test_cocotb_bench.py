"""Test benches in Python (cocotb): right modules pass, wrong ones fail, and nothing is judged by a bench that does not
come to a verdict of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chatdev.departments.verilog.cocotb_bench import is_python, read_results, report_on, toplevel_of
from tests.departments.verilog.small import verilog

RIGHT = """module count(input logic clk, input logic rst, output logic [3:0] q);
  always_ff @(posedge clk)
    if (rst) q <= 0;
    else q <= q + 1;
endmodule
"""
HEAD = """import os, random, sys
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
"""
BENCH = HEAD + """
async def start(dut):
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0

@cocotb.test()
async def resets(dut):
    await start(dut)
    assert dut.q.value == 0

@cocotb.test()
async def counts(dut):
    await start(dut)
    for step in range(1, random.randint(20, 30)):
        await FallingEdge(dut.clk)
        assert dut.q.value == step % 16, f"q is {dut.q.value}, expected {step % 16}"
"""
MUTANTS = [RIGHT.replace("+ 1", "+ 2"), RIGHT.replace("posedge", "negedge"), RIGHT.replace("(rst)", "(!rst)"),
           RIGHT.replace("q <= 0", "q <= 1"), RIGHT.replace("q + 1", "q < 9 ? q + 1 : q")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"count.sv": RIGHT, "wrong.sv": MUTANTS[0], "test_count.py": BENCH}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def judged(folder: Path, bench: str, *more: str, design: str = RIGHT) -> tuple[int, str]:
    (folder / "design.sv").write_text(design, encoding="utf-8")
    (folder / "bench.py").write_text(bench, encoding="utf-8")
    found = verilog("judge", "design.sv", "--bench", "bench.py", *more)
    return found.exit_code, found.output


def test_a_right_module_passes_alone_and_beside_a_reference(folder: Path) -> None:
    assert judged(folder, BENCH) == (0, "The test bench passes.\n")
    assert judged(folder, BENCH, "--reference", "count.sv") == (0, "The test bench passes.\n")


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_module_fails(folder: Path, mutant: str) -> None:
    status, said = judged(folder, BENCH, design=mutant)
    assert status == 1
    assert "The test bench fails" in said


def test_the_message_has_the_place_and_the_time(folder: Path) -> None:
    _, said = judged(folder, BENCH, design=MUTANTS[0])
    line = 1 + BENCH[:BENCH.index("== step % 16")].count("\n")
    assert f"at 20001: counts: q is 0010, expected 1 (line {line} of the bench)" in said


def test_a_trace_leads_from_its_waveform_to_the_line(folder: Path) -> None:
    found = verilog("trace", "wrong.sv", "--bench", "test_count.py", "--reference", "count.sv")
    assert "q must be 0001, but is 0010" in found.output
    assert "4 |     else q <= q + 2;" in found.output


def test_its_tests_are_those_of_the_junit_file(folder: Path) -> None:
    assert verilog("judge", "wrong.sv", "--bench", "test_count.py", "--junit", "out.xml").exit_code == 1
    cases = {case.get("name"): case for case in ElementTree.parse(folder / "out.xml").iter("testcase")}
    assert {name: case.find("failure") is not None for name, case in cases.items()} == {"resets": False, "counts": True}


def test_all_signals_are_kept(folder: Path) -> None:
    assert verilog("wave", "wrong.sv", "--bench", "test_count.py", "--out", "run.vcd").exit_code == 0
    assert "count.q" in (folder / "run.gtkw").read_text()


ONE = "@cocotb.test()\nasync def one(dut):\n    await Timer(1, unit='ns')\n"
UNJUDGED = {
    "it leaves a test": ONE + "    sys.exit(0)\n",
    "it ends the process": ONE + "    os._exit(0)\n",
    "it leaves as it is loaded": "print('PASS')\nsys.exit(0)\n" + ONE,
    "all tests are skipped": ONE.replace("test()", "test(skip=True)"),
    "a name is not there": ONE + "    assert dut.q.value == no_such_name\n",
    "a module is not there": "import no_such_module\n" + ONE,
}


@pytest.mark.parametrize("bench", UNJUDGED.values(), ids=UNJUDGED)
def test_a_bench_without_a_verdict_judges_nobody(folder: Path, bench: str) -> None:
    status, said = judged(folder, HEAD + bench)
    assert status == 7, said
    assert said.startswith("Not judged: no test of the bench in Python")


def test_the_bench_s_own_error_is_told(folder: Path) -> None:
    assert "No module named 'no_such_module'" in judged(folder, HEAD + UNJUDGED["a module is not there"])[1]


FAILING = {
    "it prints that all is well": "print('PASS')\n" + ONE + "    print('all tests passed, PASS=1')\n    assert False\n",
    "nothing happens any more": "@cocotb.test()\nasync def one(dut):\n    await RisingEdge(dut.clk)\n",
    "it waits too long": "@cocotb.test(timeout_time=50, timeout_unit='ns')\nasync def one(dut):\n"
                         "    cocotb.start_soon(Clock(dut.clk, 2, unit='ns').start())\n    await RisingEdge(dut.q)\n",
}


@pytest.mark.parametrize("bench", FAILING.values(), ids=FAILING)
def test_only_its_results_count(folder: Path, bench: str) -> None:
    assert judged(folder, HEAD + bench)[0] == 1


@pytest.mark.parametrize(("bench", "said"), [
    (HEAD + "async def one(dut):\n    pass\n", "has no test; write @cocotb.test()"),
    (HEAD + "@cocotb.test(\nasync def one(dut):\n    pass\n", "cannot be read: line 5"),
])
def test_what_is_no_bench_is_wrong_input(folder: Path, bench: str, said: str) -> None:
    status, output = judged(folder, bench)
    assert status == 2
    assert said in output


def test_a_refused_reference_comes_with_what_the_bench_says(folder: Path) -> None:
    found = verilog("judge", "count.sv", "--bench", "test_count.py", "--reference", "wrong.sv")
    assert found.exit_code == 2
    assert "counts: q is 0010, expected 1" in found.output


def test_modules_beside_the_bench_come_with_it(folder: Path) -> None:
    (folder / "model.py").write_text("from wrap import wrap\ndef after(q):\n    return wrap(q + 1)\n", encoding="utf-8")
    (folder / "wrap.py").write_text("def wrap(q):\n    return q % 16\n", encoding="utf-8")
    bench = "from model import after\n" + BENCH.replace("== step % 16", "== after(step - 1)")
    assert judged(folder, bench)[0] == 0
    assert judged(folder, bench, design=MUTANTS[4])[0] == 1


def test_values_by_heart_of_one_seed_do_not_pass(folder: Path) -> None:
    bench = HEAD + ("\n@cocotb.test()\nasync def one(dut):\n    for _ in range(20):\n"
                    "        d = random.getrandbits(8)\n"
                    "        dut.d.value = d\n        await Timer(1, unit='ns')\n"
                    "        assert dut.q.value == d ^ 85\n")
    right = "module x(input [7:0] d, output [7:0] q);\n  assign q = d ^ 8'd85;\nendmodule\n"
    (folder / "count.sv").write_text(right, encoding="utf-8")
    assert judged(folder, bench, "--reference", "count.sv", design=right)[0] == 0
    kept = bench.replace("        assert", "        want.append(d)\n        assert")
    kept += "    assert not want, f'[{want}]'\n"
    told = judged(folder, kept.replace("    for _", "    want = []\n    for _"), design=right)[1]
    seen = map(int, re.findall(r"\d+", told[told.index("[["):told.index("]]")]))
    table = "".join(f"      8'd{d}: q = 8'd{d ^ 85};\n" for d in dict.fromkeys(seen))
    by_heart = (f"module x(input [7:0] d, output reg [7:0] q);\n  always @*\n    case (d)\n{table}"
                "      default: q = 0;\n    endcase\nendmodule\n")
    assert judged(folder, bench, design=by_heart)[0] == 0
    status, said = judged(folder, bench, "--reference", "count.sv", design=by_heart)
    assert status == 1
    assert "other random inputs" in said


def test_results_of_others_are_read_with_care(tmp_path: Path) -> None:
    file = tmp_path / "results.xml"
    for text in ("", "no xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuites>&b;</testsuites>"):
        file.write_text(text, encoding="utf-8")
        assert read_results(file) == []
    assert report_on([], "").samples is None
    link = tmp_path / "link.xml"
    link.symlink_to(file)
    assert read_results(link) == []


def test_a_bench_in_python_is_told_from_verilog() -> None:
    assert is_python(BENCH)
    assert not is_python("// import cocotb\nmodule tb; endmodule\n")
    assert toplevel_of(BENCH + "\ndef test_it():\n    runner.build(hdl_toplevel='fifo')\n") == "fifo"


@pytest.mark.timeout(600)
def test_verilator_runs_it_as_well(folder: Path) -> None:
    assert judged(folder, BENCH, "--simulator", "verilator") == (0, "The test bench passes.\n")
    status, said = judged(folder, BENCH, "--simulator", "verilator", design=MUTANTS[0])
    assert status == 1
    assert "counts: q is 0010, expected 1" in said


def test_its_tests_stand_in_the_json(folder: Path) -> None:
    found = json.loads(verilog("judge", "count.sv", "--bench", "test_count.py", "--json").output)
    assert found["tests"] == {"resets": "", "counts": ""}
    assert found["outcome"] == "matches"
