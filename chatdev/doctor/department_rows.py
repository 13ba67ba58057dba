"""The rows of departments in `chatdev doctor`: whether each can be used, and what it hands in itself."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import partial

from chatdev.department import (
    Department,
    InstalledDepartment,
    Table,
    bundled_companies,
    installed_departments,
    load,
    offers,
)
from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, fault, success
from chatdev.errors import ChatDevError, ConfigError, ToolError
from chatdev.tools.registry import registry

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
