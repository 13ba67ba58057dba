"""Are ports read from the layouts in which people list them, and is no right module refused for what was read?

The ports of the references of VerilogEval and of the twenty designs are listed in every layout of `data/verilog_ports`,
once alone and once with prose around them that speaks of other names, and read by rule. A module is refused where
`verilog.check` tells an error of its ports: the right one must not be, and one that lacks a port of the list, or has
another width, should be.

    python -m benchmarks.verilog.ports [--write]
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from benchmarks.verilog.subjects import Subject, designs, verilogeval_subjects
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.port_lines import ONE_BIT, bits_of
from chatdev.departments.verilog.specification import bit_count, port_differences, read_ports

DATA = ROOT / "benchmarks" / "data" / "verilog_ports"
VARIANTS = ("alone", "in prose")
_DIRECTIONS = {"in": "input", "out": "output", "inout": "inout"}


@dataclass(frozen=True, slots=True)
class Given:
    """A port as a template sees it."""

    name: str
    direction: str
    bits: int
    about: str = ""

    @property
    def range(self) -> str:
        """`[7:0]`, "" for one bit."""
        return bits_of(self.bits)

    @property
    def width(self) -> str:
        """In words."""
        return f"{self.bits} bits" if self.bits > 1 else "1 bit"


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one layout: `modules`; those of which all is read `exactly` (of a port of one bit the width may stay open),
    and all for `certain`; ports that are `missed`, `invented`, or read with `another` direction or width; right modules
    `refused`; modules that are refused as `lacking` a port, or as `wider` or narrower than listed."""

    modules: int = 0
    exactly: int = 0
    certain: int = 0
    missed: int = 0
    invented: int = 0
    another: int = 0
    refused: int = 0
    lacking: int = 0
    wider: int = 0


def layouts() -> list[str]:
    """Their names."""
    return [*_templates()[0]]


def counts_of(layout: str, variant: str, step: int = 1) -> Counts:
    """The sums over all modules, or over one of so many."""
    every = [asdict(_read_back(layout, variant, subject, given)) for subject, given in _subjects()[::step]]
    return Counts(**{field.name: sum(one[field.name] for one in every) for field in fields(Counts)})


@cache
def _subjects() -> list[tuple[Subject, list[Given]]]:
    return [(subject, [Given(port.name, _DIRECTIONS[port.direction], port.width)
                       for port in read_design(subject.text, subject.bench.target).ports])
            for subject in (*designs(), *verilogeval_subjects())]


def _read_back(layout: str, variant: str, subject: Subject, given: Sequence[Given]) -> Counts:
    top, chance = subject.bench.target.top, random.Random(f"{layout} {subject.name}")
    said, seed = specification(layout, variant, top, given, chance), chance.random()
    found = {port.name: port for port in read_ports(said, top)}
    own = {port.name: port for port in given} if layout != "no ports at all" else {}
    both = {name: (own[name], found[name], bit_count(found[name].width)) for name in own.keys() & found.keys()}
    another = [name for name, (port, said, bits) in both.items()
               if said.direction != port.direction or bits not in {None, port.bits}]
    unknown = [name for name, (port, _, bits) in both.items() if bits is None and port.bits > 1]
    number = int(seed * len(given))
    lacking, wider = (specification(layout, variant, top, [*given[:number], one, *given[number + 1:]], chance)
                      for one in (replace(given[number], name=f"{given[number].name}_w"),
                                  replace(given[number], bits=given[number].bits + 1)))
    return Counts(1, own.keys() == found.keys() and not another and not unknown,
                  bool(found) and all(port.certain for port in found.values()), len(own.keys() - found.keys()),
                  len(found.keys() - own.keys()), len(another),
                  *(_is_refused(subject, text) for text in (said, lacking, wider)))


def specification(layout: str, variant: str, top: str, given: Iterable[Given], chance: random.Random) -> str:
    """The ports in a layout, with what is said of them, alone or with prose around."""
    templates, prose = _templates()
    words = [*prose["plain" if variant == "alone" else "busy"]]
    ports = [replace(port, about=_sign(port.name, prose["signs"]) or chance.choice(words)) for port in given]
    inputs, outputs = ([port for port in ports if port.direction == kind] for kind in ("input", "output"))
    listed: str = templates[layout].render(top=top, ports=ports, inputs=inputs, outputs=outputs)
    if variant == "alone":
        return listed
    around = chance.choice(prose["around"])
    return f"{_engine().from_string(around['before']).render(top=top)}\n\n{listed}\n\n{around['after']}"


def _sign(name: str, signs: Mapping[str, str]) -> str | None:
    found = ONE_BIT.fullmatch(name)
    return signs[found.lastgroup] if found and found.lastgroup else None


@cache
def _templates() -> tuple[dict[str, Any], dict[str, Any]]:
    layouts = yaml.safe_load((DATA / "layouts.yaml").read_text(encoding="utf-8"))
    prose = yaml.safe_load((DATA / "prose.yaml").read_text(encoding="utf-8"))
    return {name: _engine().from_string(text) for name, text in layouts.items()}, prose


@cache
def _engine() -> Environment:
    return Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _is_refused(subject: Subject, text: str) -> bool:
    return any(one.severity == "error" for one in port_differences(subject.text, text, subject.bench.target))


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    names = [field.name for field in fields(Counts)[1:]]
    table = markdown_table(
        ["layout", "read exactly", "all for certain", "ports missed", "invented", "read otherwise",
         "right modules refused", "refused that lack a port", "refused for a width"],
        [(layout, *(" / ".join(str(row[variant][name]) for variant in VARIANTS) for name in names))
         for layout, row in results["layouts"].items()])
    modules = next(iter(results["layouts"].values()))["alone"]["modules"]
    return (f"{table}\n\n{modules} modules with {results['ports']} ports, alone / in prose. {results['date']}; "
            f"{results['machine']}.")


def measure(processes: int) -> dict[str, Any]:
    """The counts of all layouts."""
    pairs = [(layout, variant) for layout in layouts() for variant in VARIANTS]
    with ProcessPoolExecutor(processes) as pool:
        counts = dict(zip(pairs, pool.map(counts_of, *zip(*pairs, strict=True)), strict=True))
    rows = {layout: {variant: asdict(counts[layout, variant]) for variant in VARIANTS} for layout in layouts()}
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(),
            "ports": sum(len(given) for _, given in _subjects()), "layouts": rows}


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_ports.json", DOCS / "verilog.md",
                  marks("ports", "verilog.ports"), measure, {"processes": (2, "at a time")})

if __name__ == "__main__":
    STUDY.main(__doc__)
