"""Solves the grids of the load-flow study by pandapower; for an interpreter that has it, and not this project.

    python benchmarks/simulink/load_flow_peer.py < grids.json

Prints JSON: of each grid the magnitude (per unit) and the angle (degrees) of each bus, or the error.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Mapping
from typing import Any


def solve(grid: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Magnitude and angle of each bus."""
    import pandapower

    net = pandapower.create_empty_network(f_hz=grid["frequency"], sn_mva=1.0)
    for _ in range(grid["buses"]):
        pandapower.create_bus(net, vn_kv=grid["rated"] / 1e3)
    for one, other, line in grid["lines"]:
        pandapower.create_line_from_parameters(
            net, one, other, line["length"], line["R"] - line["Rm"],
            2 * math.pi * grid["frequency"] * (line["L"] - line["M"]) / 1e3, 1e3 * (line["Cg"] + 3 * line["Cl"]), 1e3)
    for bus, active, reactive in grid["loads"]:
        pandapower.create_shunt(net, bus, reactive / 1e6, active / 1e6)
    for bus, kind, source in grid["sources"]:
        if kind == "Swing":
            pandapower.create_ext_grid(net, bus, source["Vpu"], source["phase"])
        elif kind == "PV":
            pandapower.create_gen(net, bus, source["P"] / 1e6, source["Vpu"])
        else:
            pandapower.create_sgen(net, bus, source["P"] / 1e6, source["Q"] / 1e6)
    pandapower.runpp(net, tolerance_mva=1e-11, numba=False, calculate_voltage_angles=True, init="flat")
    return [(float(size), float(angle)) for size, angle in zip(net.res_bus.vm_pu, net.res_bus.va_degree, strict=True)]


def main() -> None:
    """All grids of standard input."""
    warnings.simplefilter("ignore")
    found: list[Any] = []
    for grid in json.load(sys.stdin):
        try:
            found.append(solve(grid))
        except Exception as error:  # noqa: BLE001 - what the peer cannot do is a row, and no end of the study
            found.append(f"{type(error).__name__}: {error}"[:200])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
