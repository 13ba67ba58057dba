"""What a check is and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["works", "absent", "broken"]

NEEDED = ("settings", "warehouse", "sandbox", "model")
"""What every run needs; of checks that provide the same, one is enough."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one look at the machine found. `mend` is a command or a sentence; `packages` are Debian's, for a mend that
    is an installation."""

    state: State
    detail: str
    mend: str = ""
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A look at the machine; `provides` is the need (of `NEEDED`) that it meets where it works."""

    group: str
    name: str
    look: Callable[[], Found]
    provides: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A check and what it found."""

    check: Check
    found: Found


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, in the order of the checks."""

    findings: Sequence[Finding]

    @property
    def lacking(self) -> list[str]:
        """The needs that nothing meets; a run is possible when there are none."""
        met = {finding.check.provides for finding in self.findings if finding.found.state == "works"}
        return [need for need in NEEDED if need not in met]

    @property
    def packages(self) -> list[str]:
        """The Debian packages that bring what is absent, each once."""
        return list(dict.fromkeys(package for finding in self.findings for package in finding.found.packages))

    def stops_runs(self, finding: Finding) -> bool:
        """Whether no run is possible for want of this."""
        return finding.found.state != "works" and finding.check.provides in self.lacking


def works(detail: str) -> Found:
    """It is there and does its work."""
    return Found("works", detail)


def absent(detail: str, mend: str = "", *, packages: Sequence[str] = ()) -> Found:
    """It is not there, which is no fault unless a run needs it."""
    return Found("absent", detail, mend or (f"apt-get install {' '.join(packages)}" if packages else ""),
                 tuple(packages))


def broken(detail: str, mend: str = "") -> Found:
    """It is there and does not do its work."""
    return Found("broken", detail, mend)
