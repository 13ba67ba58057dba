"""The simulators and the prover of Verilog in `chatdev doctor`."""

from __future__ import annotations

import importlib.metadata
import shutil
from functools import partial

from chatdev.departments.verilog import verilator
from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, check_program, success, version_of


def probes() -> list[Probe]:
    """What `chatdev doctor` says of them."""
    return [
        Probe("extras", "iverilog", partial(check_program, "iverilog", "-V", "iverilog", "no Verilog is judged")),
        Probe("extras", "Yosys", partial(check_program, "yosys", "-V", "yosys", "no Verilog is proved equivalent")),
        Probe("extras", "Verilator", _check_verilator),
    ]


def _check_verilator() -> ProbeResult:
    """Whether Verilog can be simulated by it, for those who name it."""
    home = verilator.verilator_home()
    if not home and not shutil.which("verilator_bin"):
        return absence("not installed: no --input simulator=verilator", verilator.INSTALL)
    if missing := [name for name in verilator.NEEDED if not shutil.which(name)]:
        return absence(f"it needs {' and '.join(missing)} to build a simulation", packages=missing)
    version = importlib.metadata.version("verilator") if home else version_of("verilator_bin", "--version")
    return success(f"{version}, {home or shutil.which('verilator_bin')}")
