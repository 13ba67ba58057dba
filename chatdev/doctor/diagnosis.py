"""What a probe of the machine is, and making all of them: side by side, each bounded in time, none able to raise."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from chatdev.errors import ChatDevError
from chatdev.secrets import scrub

State = Literal["works", "absent", "broken"]

NEEDED = ("settings", "warehouse", "sandbox", "model")
"""What every run needs; of probes that provide the same, one is enough."""
SECONDS = 15.0
_PROGRAM_SECONDS = 5.0  # for a program to say its version


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one look at the machine found. `fix` is a command or a sentence; `packages` are Debian's, for a fix that is
    an installation."""

    state: State
    detail: str
    fix: str = ""
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A look at the machine; `provides` is the need (of `NEEDED`) that it meets where it works."""

    group: str
    name: str
    look: Callable[[], ProbeResult]
    provides: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Each probe with its result, in the order of the probes."""

    results: Sequence[tuple[Probe, ProbeResult]]

    @property
    def unmet_needs(self) -> list[str]:
        """The needs that nothing meets; a run is possible when there are none."""
        met = {probe.provides for probe, result in self.results if result.state == "works"}
        return [need for need in NEEDED if need not in met]

    @property
    def packages(self) -> list[str]:
        """The Debian packages that bring what is absent, each once."""
        return list(dict.fromkeys(package for _, result in self.results for package in result.packages))

    def stops_runs(self, probe: Probe, result: ProbeResult) -> bool:
        """Whether no run is possible for want of this."""
        return result.state != "works" and probe.provides in self.unmet_needs


def success(detail: str) -> ProbeResult:
    """It is there and does its work."""
    return ProbeResult("works", detail)


def absence(detail: str, fix: str = "", *, packages: Sequence[str] = ()) -> ProbeResult:
    """It is not there, which is no fault unless a run needs it."""
    return ProbeResult("absent", detail, fix or (f"apt-get install {' '.join(packages)}" if packages else ""),
                       tuple(packages))


def fault(detail: str, fix: str = "") -> ProbeResult:
    """It is there and does not do its work."""
    return ProbeResult("broken", detail, fix)


def check_program(program: str, option: str, package: str, without: str) -> ProbeResult:
    """Whether a program that some companies and commands need is there: `option` makes it say its version, Debian's
    `package` brings it, and `without` it something cannot be done."""
    path = shutil.which(program)
    if path is None:
        return absence(f"not installed: {without}", packages=[package])
    try:
        return success(f"{version_of(program, option)}, {path}")
    except (OSError, subprocess.SubprocessError) as error:
        return fault(f"{path} does not start: {error}", f"apt-get install --reinstall {package}")


def version_of(*command: str) -> str:
    """The version in the first line that the command says, or the line. Raises OSError or SubprocessError where it
    cannot be run."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PROGRAM_SECONDS,
                          check=True, stdin=subprocess.DEVNULL)
    line = (f"{done.stdout}{done.stderr}".strip().splitlines() or [""])[0]
    version = re.search(r"\d+(?:\.\d+)+", line)
    return version[0] if version else line


def diagnose(probes: Sequence[Probe], seconds: float = SECONDS) -> Diagnosis:
    """Make the probes; one that is not done after `seconds` is reported so and left to itself. Never raises."""
    results: list[ProbeResult | None] = [None] * len(probes)

    def look(number: int) -> None:
        results[number] = _result(probes[number])

    threads = [threading.Thread(target=look, args=(number,), daemon=True) for number in range(len(probes))]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = fault(f"no answer in {seconds:g} seconds")
    return Diagnosis([(probe, result or late) for probe, result in zip(probes, list(results), strict=True)])


def _result(probe: Probe) -> ProbeResult:
    """What the probe found; one that raises found a fault."""
    try:
        return probe.look()
    except ChatDevError as error:
        return fault(str(error))
    except Exception as error:  # noqa: BLE001 - on a machine so odd that a probe fails, the others are needed most
        return fault(scrub(f"this check failed: {type(error).__name__}: {error}"))
