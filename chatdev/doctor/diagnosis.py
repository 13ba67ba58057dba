"""What a probe of the machine is, and making all, departments' too: side by side, bounded in time, without raising."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from chatdev.department import (
    Department,
    InstalledDepartment,
    Table,
    bundled_companies,
    installed_departments,
    load,
    offers,
)
from chatdev.errors import ChatDevError, ConfigError, ToolError
from chatdev.safe_text import scrub
from chatdev.tools.base import registry

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


# The rows of departments in `chatdev doctor`: whether each can be used, and what it hands in itself.

_INSTALL = "pip install -e .   (in the checkout)"


def department_probes(core: Mapping[Table, Container[str]]) -> Iterator[Probe]:
    """A probe of each department, then those that they hand in. `core`: names of chatdev itself, by table."""
    found, core = installed_departments(), {"companies": bundled_companies(), **core}
    for one in found:
        yield Probe("departments", one.name, partial(_check_department, one, core))
    try:
        registry()
    except ToolError as error:
        yield Probe("departments", "tools", partial(fault, str(error)))
    for one in found:
        if one.department and one.department.checks:
            yield from _own_probes(one.name, one.department.checks)


def _check_department(one: InstalledDepartment, core: Mapping[Table, Container[str]]) -> ProbeResult:
    """Whether it can be used, and all that it brings."""
    if one.department is None:
        return fault(f"{one.package}: {one.problem}")
    if clashes := list(_clashes(one.department, core)):
        return fault("; ".join(clashes))
    if not one.registered:
        return absence(f"found in its folder, not by its entry point: {_count_rows(one.department)}", _INSTALL)
    return success(f"{one.package}: {_count_rows(one.department)}")


def _clashes(department: Department, core: Mapping[Table, Container[str]]) -> Iterator[str]:
    """Why names of it mean nothing, or something else."""
    for table, names in core.items():
        own = department.rows(table)
        yield from (offer.problem for name, offer in offers(table, names).items() if offer.problem and name in own)


def _count_rows(department: Department) -> str:
    counts = {"company|companies": department.rows("companies"), "tool|tools": department.tools,
              "data set|data sets": department.data_sets, "command|commands": department.commands}
    some = [f"{len(rows)} {nouns.split('|')[len(rows) > 1]}" for nouns, rows in counts.items() if rows]
    return ", ".join(some) or "nothing yet"


def _own_probes(name: str, path: str) -> Iterator[Probe]:
    """What the department's own function returns, which meets no need of every run; a fault where there is no such."""
    try:
        probes = list(load(path, f"the checks of the department {name!r}")())
        if odd := [probe for probe in probes if not isinstance(probe, Probe)]:
            raise ConfigError(f"{path} returns {type(odd[0]).__name__}; return Probes")
        yield from (replace(probe, provides="") for probe in probes)
    except ChatDevError as error:
        yield Probe(name, "checks", partial(fault, str(error)))
    except Exception as error:  # noqa: BLE001 - the function may be anybody's
        yield Probe(name, "checks", partial(fault, f"{path} failed: {type(error).__name__}: {error}"))
