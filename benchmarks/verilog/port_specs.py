"""Specifications with prose behind, before and amid their ports: is no right module refused, and a wrong one told?

Each of `data/verilog_ports/specs.yaml` comes with the head of its right module. Ports that are *invented* stand in none
of them; *for certain* are those whose lack would refuse a module. A module that lacks a port (each of them in turn)
should be refused where the list is certain.

    python -m benchmarks.verilog.port_specs [--write]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks
from benchmarks.verilog.ports import DATA
from chatdev.departments.verilog.specification import port_differences, read_ports


@dataclass(frozen=True, slots=True)
class Row:
    """A specification: how many ports there are, read, read for certain, and invented (for certain or not); whether the
    right module is refused, whether one that lacks a port should be, and how many of these are."""

    name: str
    ports: int
    read: int
    certain: int
    invented: int
    invented_for_certain: int
    refused: bool
    is_listed: bool
    lacking: int


def rows() -> list[Row]:
    """Of all specifications."""
    return [_row(spec) for spec in yaml.safe_load((DATA / "specs.yaml").read_text(encoding="utf-8"))]


def _row(spec: Mapping[str, Any]) -> Row:
    text, heads = spec["text"], spec["ports"].split(", ")
    own, found = {head.split()[-1] for head in heads}, read_ports(text)
    lacking = (_is_refused(text, [*heads[:at], f"{heads[at]}_w", *heads[at + 1:]]) for at in range(len(heads)))
    strange = [port for port in found if port.name not in own]
    return Row(spec["name"], len(heads), len(found) - len(strange),
               sum(port.certain for port in found if port.name in own), len(strange),
               sum(port.certain for port in strange), _is_refused(text, heads), spec["certain"], sum(lacking))


def _is_refused(text: str, heads: list[str]) -> bool:
    module = f"module TopModule({', '.join(heads)});\nendmodule\n"
    return any(one.severity == "error" for one in port_differences(module, text))


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    return markdown_table(
        ["specification", "ports", "read", "for certain", "invented", "right module refused",
         "refused that lack a port"],
        [(row["name"], *(row[field] for field in ("ports", "read", "certain", "invented")),
          "yes" if row["refused"] else "no", row["lacking"]) for row in results["rows"]])


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_port_specs.json", DOCS / "verilog.md",
                  marks("specs", "verilog.port_specs"), lambda: {"rows": [*map(asdict, rows())]})

if __name__ == "__main__":
    STUDY.main(__doc__)
