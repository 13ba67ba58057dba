"""The simulators: compiling and simulating in the sandbox, in a folder of the call's own, with the one that the target
names; and their rows, with the prover's, in `chatdev doctor`."""

from __future__ import annotations

import functools
import importlib.metadata
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from chatdev.departments.verilog import icarus, verilator
from chatdev.departments.verilog.cocotb_bench import (
    INSTALL,
    MODULE,
    RESULTS,
    UNIT,
    PythonBench,
    read_results,
    require_cocotb,
)
from chatdev.departments.verilog.compilation import (
    GIVEN,
    PROGRAM,
    SIMULATING,
    WAVES,
    CompileResult,
    Message,
    SimulatorRun,
    as_bytes,
    ending_of,
    sort_compilation,
)
from chatdev.departments.verilog.target import USUAL, VERILATOR, Target
from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, check_program, success, version_of
from chatdev.errors import MissingProgram
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox
from chatdev.workspace.file_tree import write_tree


def compile_files(files: Mapping[str, str], tops: Sequence[str], sandbox: Sandbox, folder: Path,
                  target: Target = USUAL, *, to_run: bool = True, python: bool = False) -> CompileResult:
    """Compile what is given with the target, then `files` (in that order), with these root modules; `folder` is empty
    and the call's own. Without `to_run` there may be nothing to simulate afterwards; with `python` it is simulated
    with a bench of cocotb, of which nothing is among the files.

    Raises MissingProgram without the simulator, SandboxError and WorkspaceError.
    """
    folder.mkdir()
    target = functools.reduce(Target.including, files.values(), target)
    write_tree(folder, as_bytes({**files, **{GIVEN + path: text for path, text in target.texts.items()}}))
    paths = [*(GIVEN + path for path in target.sources), *files]
    if target.simulator == VERILATOR:
        execution = verilator.compile_with_verilator(paths, tops, target, sandbox, folder, to_run=to_run,
                                                     unit=UNIT if python else "")
    else:
        execution = icarus.compile_with_icarus(paths, tops, target, sandbox, folder, UNIT if python else "")
    return read_compilation(execution, target)


def require_simulator(target: Target) -> None:
    """Raise MissingProgram where the target's simulator is not installed."""
    if target.simulator == VERILATOR:
        verilator.require_verilator()
    else:
        icarus.require_icarus()


def read_compilation(execution: Execution, target: Target = USUAL) -> CompileResult:
    """What the compiler's exit status and messages come to."""
    log = execution.stderr + execution.stdout
    return sort_compilation(execution, log, read_messages(log, target))


def read_messages(log: str, target: Target = USUAL) -> list[Message]:
    """The messages of the compiler, each once."""
    return verilator.read_messages(log) if target.simulator == VERILATOR else icarus.read_messages(log)


def run_program(compiled: Path, folder: Path, sandbox: Sandbox, target: Target, *, dump: bool,
                limits: ProcessLimits = SIMULATING, bench: PythonBench | None = None) -> SimulatorRun:
    """Simulate what was compiled in the folder `compiled`; in `folder`, which holds nothing else but the target's data,
    so that there is no source to read. Without `dump` the bench's waveforms are not written. A `bench` in
    Python runs there, too."""
    folder.mkdir()
    write_tree(folder, as_bytes({**target.data, **({f"{MODULE}.py": bench.text} if bench else {})}))
    shutil.move(compiled / PROGRAM, folder / PROGRAM)
    if target.simulator == VERILATOR:
        execution = verilator.run_with_verilator(folder, sandbox, limits=limits, dump=dump, bench=bench)
    else:
        execution = icarus.run_with_icarus(folder, sandbox, dump=dump, limits=limits, bench=bench)
    waves = folder / WAVES
    return SimulatorRun(ending_of(execution), execution.stdout + (execution.stderr if bench else ""), execution.seconds,
                        waves if dump and waves.is_file() and not waves.is_symlink() else None,
                        tuple(read_results(folder / RESULTS)) if bench else ())


def time_of(target: Target) -> str:
    """How a bench prints the time in units of the waveform."""
    return verilator.TIME if target.simulator == VERILATOR else icarus.TIME


# The simulators and the prover of Verilog in `chatdev doctor`.


def probes() -> list[Probe]:
    """What `chatdev doctor` says of them."""
    return [
        Probe("extras", "iverilog", partial(check_program, "iverilog", "-V", "iverilog", "no Verilog is judged")),
        Probe("extras", "Yosys", partial(check_program, "yosys", "-V", "yosys", "no Verilog is proved equivalent")),
        Probe("extras", "Verilator", _check_verilator),
        Probe("extras", "cocotb", _check_cocotb),
    ]


def _check_cocotb() -> ProbeResult:
    """Whether test benches in Python can be run."""
    if find_spec("cocotb") is None:
        return absence("not installed: no test bench in Python", INSTALL)
    try:
        require_cocotb()
    except MissingProgram as error:
        return absence(str(error))
    return success(importlib.metadata.version("cocotb"))


def _check_verilator() -> ProbeResult:
    """Whether Verilog can be simulated by it, for those who name it."""
    home = verilator.verilator_home()
    if not home and not shutil.which("verilator_bin"):
        return absence("not installed: no --input simulator=verilator", verilator.INSTALL)
    if missing := [name for name in verilator.NEEDED if not shutil.which(name)]:
        return absence(f"it needs {' and '.join(missing)} to build a simulation", packages=missing)
    version = importlib.metadata.version("verilator") if home else version_of("verilator_bin", "--version")
    return success(f"{version}, {home or shutil.which('verilator_bin')}")
