"""Test benches in Python: a module with tests of cocotb 2, which the simulator loads; what it is, how it runs, and what
its results (`results.xml`) say.

The bench runs in the sandbox like the simulation. Only its results count, never what it prints.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from chatdev.departments.verilog.bench_report import BenchReport, PrintedLine
from chatdev.errors import MissingProgram, ToolError
from chatdev.sandbox.base import Binding
from chatdev.workspace.python_facts import fault_in_python, imported_names, keyword_texts, used_names

MODULE = "bench_in_python"
"""What the bench is called where it runs."""
UNIT = "1ns/1ps"
"""The unit of time and the precision of designs that name none: cocotb's clocks need them."""
PRECISION = "unit_of_time"
"""A module beside the design, so that the waveform has no coarser unit than that."""
PRECISE = f"`timescale {UNIT}\nmodule {PRECISION};\nendmodule\n`resetall\n"
RESULTS = "results.xml"
INSTALL = "pip install 'chatdev-chain[verilog]'"

_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+cocotb\b", re.MULTILINE)
BENCH_FILE = f"{MODULE}.py"
_TOPLEVEL = frozenset({"hdl_toplevel", "toplevel"})
_DRAWS = re.compile(r"\b(?:random|randint|randrange|getrandbits|secrets|numpy\.random|np\.random)\b")
_PLACE = re.compile(rf'File "[^"\n]*{MODULE}\.py", line (\d{{1,9}})')
_ERROR = re.compile(r"^[ \t]*(?:[A-Za-z_][\w.]*Error|SystemExit)\b(?:: [^\n]*)?$", re.MULTILINE)
_LARGEST, _LONGEST, _MOST = 8 << 20, 300, 1000  # bytes of results; characters of a message; tests
_PICOSECONDS = {"fs": Decimal("0.001"), "ps": Decimal(1), "ns": Decimal(10) ** 3, "us": Decimal(10) ** 6,
                "ms": Decimal(10) ** 9, "sec": Decimal(10) ** 12, "s": Decimal(10) ** 12}
_OWN_FAULTS = frozenset({"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "SyntaxError",
                         "IndentationError", "FileNotFoundError"})
"""Errors that no module under test can lead to."""


def is_python(bench: str) -> bool:
    """Whether a bench is one of cocotb."""
    return _IMPORTS.search(bench) is not None


def toplevel_of(bench: str) -> str | None:
    """The module that it names for its simulation (`runner.build(hdl_toplevel="fifo")`), if any."""
    try:
        return next(iter(keyword_texts(bench.encode(), BENCH_FILE, sorted(_TOPLEVEL))), None)
    except SyntaxError:
        return None


def imported_modules(bench: str) -> list[str]:
    """The modules that it imports, the first part of their names."""
    try:
        return [name for name, _ in imported_names(bench.encode(), BENCH_FILE)]
    except SyntaxError:
        return []


def draws(bench: str) -> bool:
    """Whether it takes random numbers, which its seed decides."""
    return _DRAWS.search(bench) is not None


def require_readable(bench: str) -> None:
    """Raise ToolError for a bench that is no Python, or has no test, and MissingProgram without cocotb."""
    try:
        fault = fault_in_python(bench.encode(), BENCH_FILE)
        names = [] if fault else used_names(bench.encode(), BENCH_FILE)
    except SyntaxError as error:
        fault = type(error).__name__, 0, str(error)
    if fault:
        place = f"line {fault[1]}: " if fault[1] else ""
        raise ToolError(f"the test bench cannot be read: {place}{fault[2]}; mend `bench`")
    if {"test", "parametrize", "TestFactory"}.isdisjoint(names):
        raise ToolError("the test bench has no test; write @cocotb.test() before its coroutines")
    require_cocotb()


def require_cocotb() -> None:
    """Raise MissingProgram without cocotb 2, or where this Python is no library."""
    if find_spec("cocotb") is None or find_spec("find_libpython") is None:
        raise MissingProgram(f"cocotb not found, which runs a test bench in Python; install it: {INSTALL}")
    if not library("icarus").is_file() or find_spec("cocotb_tools") is None:
        raise MissingProgram(f"the cocotb that is installed is older than 2.0; install a newer one: {INSTALL}")
    _libpython()


def _libpython() -> str:
    """Raises MissingProgram for a Python that is no library."""
    from find_libpython import find_libpython

    found = find_libpython()
    if not found:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise MissingProgram(f"no shared library of Python {version}, which a simulator needs for a test bench in "
                             f"Python; install it: apt-get install libpython{version}")
    return str(found)


def _home() -> Path:
    """The folder with the packages that the bench may import."""
    found = find_spec("cocotb")
    if found is None or found.origin is None:
        raise MissingProgram(f"cocotb not found, which runs a test bench in Python; install it: {INSTALL}")
    return Path(found.origin).parent.parent


def library(simulator: str) -> Path:
    """What the simulator loads."""
    return libraries() / f"libcocotbvpi_{simulator}.so"


def libraries() -> Path:
    """The folder of what a simulator loads."""
    return _home() / "cocotb" / "libs"


def package() -> list[Binding]:
    """What building a simulation needs of it."""
    return [Binding(_home() / "cocotb")]


def main_program() -> Path:
    """The program around a design that Verilator made."""
    return _home() / "cocotb" / "share" / "lib" / "verilator" / "verilator.cpp"


@dataclass(frozen=True, slots=True)
class PythonBench:
    """A bench, the module `top` that it tests, and the `seed` of its random numbers."""

    text: str
    top: str
    seed: int

    @property
    def variables(self) -> dict[str, str]:
        """The environment that cocotb reads."""
        return _variables(self.top, self.seed)

    @property
    def bindings(self) -> list[Binding]:
        """What the simulation sees of this Python."""
        places = dict.fromkeys((Path(sys.base_prefix), Path(_libpython()).resolve().parent, _home()))
        return [Binding(place) for place in places if not place.is_relative_to("/usr")]


def _variables(top: str, seed: int) -> dict[str, str]:
    home = _home()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    extension = home / "cocotb" / f"simulator{sysconfig.get_config_var('EXT_SUFFIX')}"
    return {"COCOTB_TEST_MODULES": MODULE, "COCOTB_TOPLEVEL": top, "TOPLEVEL_LANG": "verilog",
            "COCOTB_RANDOM_SEED": str(seed), "COCOTB_RESULTS_FILE": RESULTS, "COCOTB_ANSI_OUTPUT": "0",
            "GPI_USERS": f"{_libpython()};{extension},initialize", "PYTHONPATH": f".:{home}", "PYTHONHASHSEED": "0",
            "PYGPI_PYTHON_BIN": str(Path(sys.base_prefix) / "bin" / f"python{version}")}


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test: its name, its message where it failed ("" else), the kind of error, the line of the bench, and the time
    at which it ended, in units of the waveform."""

    name: str
    message: str = ""
    kind: str = ""
    line: int = 0
    time: int | None = None
    skipped: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether the bench itself is wrong, or ends without a verdict."""
        return self.kind in _OWN_FAULTS or self.message in ("SystemExit", "SystemExit: 0", "SystemExit: None")

    @property
    def complaint(self) -> PrintedLine:
        """What it says of the module."""
        place = f" (line {self.line} of the bench)" if self.line else ""
        return PrintedLine(f"{self.name}: {self.message}{place}", self.time)


def read_results(path: Path) -> list[TestResult]:
    """The tests of a results file, none where there is no such file or it cannot be read; a program that nobody trusts
    wrote it."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    if "<!" in text.replace("<![CDATA[", ""):  # no entities
        return []
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return []
    return [_read_test(case) for case in root.iter("testcase")][:_MOST]


def _read_test(case: ElementTree.Element) -> TestResult:
    name = case.get("name", "test")
    for wrong in (*case.iter("failure"), *case.iter("error")):
        kind, message = _words_of(wrong)
        facts = {one.get("name"): one.get("value", "") for one in case.iter("property")}
        places = ["0", *_PLACE.findall(wrong.text or "")]
        time = _time_of(facts.get("sim_time_stop", ""), facts.get("sim_time_unit", ""))
        return TestResult(name, message, kind, int(places[-1]), time)
    return TestResult(name, skipped=case.find("skipped") is not None)


def _words_of(wrong: ElementTree.Element) -> tuple[str, str]:
    """The kind of error, and what it says."""
    kind, said = wrong.get("type", wrong.tag), wrong.get("message", "").strip().partition("\n")[0][:_LONGEST]
    return kind, said if said and kind == "AssertionError" else f"{kind}: {said}".removesuffix(": ")


def _time_of(time: str, unit: str) -> int | None:
    try:
        return int(Decimal(time) * _PICOSECONDS[unit])
    except (InvalidOperation, KeyError, ValueError, OverflowError):
        return None


def report_on(tests: Sequence[TestResult], printed: str) -> BenchReport:
    """What the tests say, or else an error among what was `printed`; without a number of mismatches where no test came
    to a verdict: none ran, or the bench itself is wrong and nothing else failed."""
    said = {one.name: one.message for one in tests if not one.skipped}
    wrong = [one for one in tests if one.message]
    failed = [one.complaint for one in wrong if not one.is_fault]
    if said and (failed or not wrong):
        failed.sort(key=lambda one: one.time or 0)
        return BenchReport(mismatches=len(failed), samples=len(said), is_counted=False, tests=said,
                           complaints=tuple(failed))
    faults = [one.complaint for one in wrong] if tests else _last_error(printed)
    return BenchReport(complaints=tuple(faults), is_counted=False, tests=said)


def _last_error(printed: str) -> list[PrintedLine]:
    return [PrintedLine(found[0].strip()[:_LONGEST]) for found in _ERROR.finditer(printed)][-1:]
