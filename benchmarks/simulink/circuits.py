"""Are electrical networks simulated as ngspice does?

    python -m benchmarks.simulink.circuits [--resume | --write]

Seeded networks of at most 15 elements: resistors, capacitors, coils, sources of voltage and current (direct, and of a
sine), the four controlled sources, transformers, and in a part of them diodes. Every net is connected to ground by
resistors, so that each network has one solution. Our voltage of each net is compared with that of ngspice at the end
of 20 ms, of tight tolerances; errors are parts of the greatest voltage. A diode of the Foundation Library is two lines;
ngspice's is an exponential with nearly the same knee, so that those networks can only be near. Where there is no
ngspice, the study says so. Writes benchmarks/results/simulink_circuits.json.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, PartStudy, markdown_table, marks
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.simulation.solve import Options, simulate

NETWORKS, MOST_ELEMENTS, STOP, GROUND, SECONDS = 12, 15, 0.02, 0, 5
KINDS = {"resistors and sources": "RRVIA", "with capacitors and coils": "RRCCLVAI",
         "with controlled sources": "RCEGFHV", "with transformers": "RRTCVA", "with diodes": "RRDDCVA"}
"""Which elements each kind is drawn from: A is a sine's source, D a diode, T a transformer."""


class Circuit:
    """A network both as our blocks and as lines of ngspice; nets are numbers, 0 is ground."""

    def __init__(self, rng: random.Random, letters: str) -> None:
        self.rng, self.lines, self.joined = rng, ["* random"], dict[int, list[End]]()
        self.blocks: dict[str, DiagramBlock] = {}
        self.nets = rng.randint(2, 6)
        for net in range(1, self.nets + 1):  # a tree of resistors
            self.add("R", net, rng.randrange(net))
        driven = {GROUND}
        self._source(rng.choice("VA" if "A" in letters else "V"), 1, driven)
        while len(self.blocks) < MOST_ELEMENTS - 2 and rng.random() < 0.95:
            letter = rng.choice(letters)
            first, second = rng.sample(range(self.nets + 1), 2)
            if letter in "VAEH":
                self._source(letter, first, driven)
            else:
                self.add(letter, first, second)

    def _source(self, letter: str, net: int, driven: set[int]) -> None:
        """Voltages are given to ground, each net's once, so that none contradicts another."""
        if net not in driven:
            driven.add(net)
            self.add(letter, net, GROUND)

    def add(self, letter: str, plus: int, minus: int) -> None:
        """An element between two nets."""
        name, uniform = f"{letter}{len(self.blocks)}", self.rng.uniform
        ends = {"LConn1": plus, "RConn1": minus}
        if letter == "R":
            value = round(10 ** uniform(1, 4), 3)
            self._place(name, "Resistor", {"R": repr(value)}, ends, f"{name} {plus} {minus} {value!r}")
        elif letter == "C":
            value, start = 10 ** uniform(-7, -5), 0.0
            self._place(name, "Capacitor", {"c": repr(value), "r": "1e-3", "g": "0", "vc": repr(start)}, ends,
                        f"{name} {plus} c{name} {value!r} IC={start}", f"R{name}p c{name} {minus} 1e-3")
        elif letter == "L":
            value = 10 ** uniform(-3, -1)
            self._place(name, "Inductor", {"l": repr(value), "r": "0", "g": "1e-7", "i_L": "0"}, ends,
                        f"{name} {plus} {minus} {value!r} IC=0", f"R{name}p {plus} {minus} 1e7")
        elif letter in "VI":
            value = round(uniform(-5, 5) * (1 if letter == "V" else 1e-3), 6)
            kind, key = ("DC Voltage Source", "v0") if letter == "V" else ("DC Current Source", "i0")
            self._place(name, kind, {key: repr(value)}, ends, f"{name} {plus} {minus} DC {value!r}")
        elif letter == "A":
            size, hertz = round(uniform(0.5, 5), 3), round(uniform(50, 400), 1)
            self._place(name, "AC Voltage Source", {"amp": repr(size), "frequency": repr(hertz), "shift": "0"}, ends,
                        f"V{name} {plus} {minus} SIN(0 {size!r} {hertz!r})")
        elif letter == "D":
            self._place(name, "Diode", {"Vf": "0.6", "Ron": "0.3", "Goff": "1e-8"}, ends, f"{name} {plus} {minus} knee")
        elif letter == "T":
            self._transformer(name, plus, minus)
        else:
            self._dependent(name, letter, plus, minus)

    def _dependent(self, name: str, letter: str, plus: int, minus: int) -> None:
        """E, G follow a voltage, F, H the current through a wire to a resistor of its own."""
        factor = round(self.rng.uniform(-0.8, 0.8), 3) * {"E": 1.0, "G": 1e-3, "F": 0.5, "H": 50.0}[letter]
        first, second = self.rng.sample(range(self.nets + 1), 2)
        kind = {"E": "Voltage-Controlled Voltage Source", "G": "Voltage-Controlled Current Source",
                "F": "Current-Controlled Current Source", "H": "Current-Controlled Voltage Source"}[letter]
        if letter in "EG":
            self._place(name, kind, {"K": repr(factor)}, {"LConn1": first, "RConn1": second, "LConn2": plus,
                                                          "RConn2": minus},
                        f"{name} {plus} {minus} {first} {second} {factor!r}")
            return
        between = self.nets + 100 + len(self.blocks)
        self._place(name, kind, {"K": repr(factor)}, {"LConn1": first, "RConn1": between, "LConn2": plus,
                                                      "RConn2": minus},
                    f"V{name} {first} {between} 0", f"{name} {plus} {minus} V{name} {factor!r}")
        self.add("R", between, second)

    def _transformer(self, name: str, first: int, second: int) -> None:
        """v1 = n v2 and i2 = -n i1, in ngspice as two controlled sources; resistors in series keep it determined."""
        ratio, inner = round(self.rng.uniform(0.5, 3), 2), self.nets + 200 + 2 * len(self.blocks)
        outer = inner + 1
        self._place(name, "Ideal Transformer", {"n": repr(ratio)},
                    {"LConn1": inner, "LConn2": GROUND, "RConn1": outer, "RConn2": GROUND},
                    f"E{name} {inner} s{name} {outer} 0 {ratio!r}", f"V{name} s{name} 0 0",
                    f"F{name} 0 {outer} V{name} {ratio!r}")
        self.add("R", first, inner)
        self.add("R", outer, second)

    def _place(self, name: str, kind: str, parameters: Mapping[str, str], ends: Mapping[str, int],
               *lines: str) -> None:
        self.blocks[name] = DiagramBlock(kind, parameters)
        for port, net in ends.items():
            self.joined.setdefault(net, []).append(End(name, port))
        self.lines += lines

    def diagram(self) -> Diagram:
        """Our model, with a sensor at each net."""
        blocks = {**self.blocks, "g": DiagramBlock("Electrical Reference"), "f": DiagramBlock("Solver Configuration"),
                  "Scope": DiagramBlock("Scope", {"NumInputPorts": str(self.nets)})}
        ground = End("g", "LConn1")
        wires = [Wire(ground, End("f", "RConn1")), *(Wire(ground, end) for end in self.joined.get(GROUND, []))]
        for net, ends in self.joined.items():
            wires += [Wire(ends[0], end) for end in ends[1:]] if net else []
        for net in range(1, self.nets + 1):
            blocks |= {f"s{net}": DiagramBlock("Voltage Sensor"), f"p{net}": DiagramBlock("PS-Simulink Converter")}
            wires += [Wire(End(f"s{net}", "LConn1"), self.joined[net][0]), Wire(End(f"s{net}", "RConn2"), ground),
                      Wire(End(f"s{net}", "RConn1"), End(f"p{net}", "LConn1")),
                      Wire(End(f"p{net}", "1"), End("Scope", str(net)))]
        return Diagram("m", blocks, tuple(wires))

    def ask_ngspice(self) -> list[float]:
        """The nets' voltages at the end. Raises ValueError with what ngspice says."""
        with tempfile.TemporaryDirectory() as folder:
            out, deck = Path(folder) / "out", Path(folder) / "deck"
            nets = " ".join(f"v({net})" for net in range(1, self.nets + 1))
            deck.write_text("\n".join([
                *self.lines, ".model knee D(IS=1e-12 N=0.9 RS=0.3)",
                ".options reltol=1e-7 abstol=1e-14 vntol=1e-10 gmin=1e-15 method=gear",
                f".tran {STOP / 4000} {STOP} 0 {STOP / 4000} uic", ".control", "set numdgt=12", "run",
                f"wrdata {out} {nets}", ".endc", ".end", ""]))
            said = subprocess.run(["ngspice", "-b", str(deck)], capture_output=True, text=True, timeout=60,
                                  check=False)
            if not out.exists():
                raise ValueError(said.stderr[-300:])
            last = [float(one) for one in out.read_text().splitlines()[-1].split()]
        return last[1::2]


def measure_kind(kind: str) -> dict[str, Any] | None:
    """Errors of all networks of a kind."""
    if not shutil.which("ngspice"):
        print(f"{kind}: ngspice is not installed (apt-get install --no-install-recommends ngspice); skipped")
        return None
    errors, sizes, refused, slow = [], [], list[str](), 0
    for seed in range(NETWORKS):
        circuit = Circuit(random.Random(f"{kind} {seed}"), KINDS[kind])
        try:
            expected = circuit.ask_ngspice()
        except ValueError as error:
            refused.append(str(error))
            continue
        results = simulate(circuit.diagram(), Options(stop=STOP, relative=1e-7, absolute=1e-12, seconds=SECONDS))
        if not results.is_whole:
            slow += 1
            continue
        found = results.values[-1].tolist()
        sizes.append(len(circuit.blocks))
        errors.append(max(abs(a - b) for a, b in zip(found, expected, strict=True)) / max(1.0, *map(abs, expected)))
    return {"networks": len(errors), "elements": max(sizes), "errors": errors, "refused": refused, "slow": slow}


def tables(study: Mapping[str, Any]) -> str:
    """Errors by kind of network."""
    rows = [(kind, row["networks"], row["elements"], f"{sorted(row['errors'])[len(row['errors']) // 2]:.0e}",
             f"{max(row['errors']):.0e}", len(row["refused"]), row["slow"])
            for kind, row in study.items() if kind in KINDS]
    return markdown_table(["networks", "number", "most elements", "median error", "greatest", "refused by ngspice",
                           f"not done in {SECONDS} s here"],
                          rows)


STUDY = PartStudy(tables, RESULTS_FOLDER / "simulink_circuits.json", DOCS / "simulink.md",
                  marks("circuits", "simulink.circuits"), {kind: partial(measure_kind, kind) for kind in KINDS})

if __name__ == "__main__":
    STUDY.main(__doc__)
