#!/usr/bin/env bash
# Guess: readers of a VCD file give the same values for a clock that the top module and its part see under one code, as the standard
# writes shared nets, and for a state written as text (an extension of GTKWave, as pyvcd and others write it).
# Seen, pyDigitalWaveTools 1.2, vcdvcd 2.6.0, pywellen 0.25.7 (Python 3.11): the first gives the part's clock no values at all, the
# second gives the text none; pywellen has both. Nothing is said.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pyDigitalWaveTools==1.2 vcdvcd==2.6.0 pywellen==0.25.7 pyvcd==0.5.1
cat > read.py <<'PY'
import pywellen
from pyDigitalWaveTools.vcd.parser import VcdParser
from vcd import VCDWriter
from vcdvcd import VCDVCD

with open("wave.vcd", "w") as file, VCDWriter(file, timescale="1 ns") as writer:
    clock = writer.register_var("top", "clk", "wire", size=1, init=0)
    writer.register_alias("top.part", "clk", clock)
    state = writer.register_var("top", "state", "string", init="IDLE")
    writer.change(clock, 5, 1)
    writer.change(state, 5, "RUN")

parser = VcdParser()
with open("wave.vcd") as file:
    parser.parse(file)
top = {child["name"]: child for child in parser.scope.toJson()["children"][0]["children"]}
[part] = top["part"]["children"]
waves = VCDVCD("wave.vcd")
variables = {variable.full_name: variable for variable in pywellen.Waveform("wave.vcd").all_vars()}
seen = {
    "pyDigitalWaveTools": [len(top["clk"]["data"]), len(part["data"]), len(top["state"]["data"])],
    "vcdvcd": [len(waves[name].tv) for name in ("top.clk", "top.part.clk", "top.state")],
    "pywellen": [len({variables[name].signal.value_at(time) for time in (0, 5)}) for name in ("top.clk", "top.part.clk", "top.state")],
}
for reader, counts in seen.items():
    print(reader, dict(zip(("clk", "part.clk", "state"), counts, strict=True)))
assert seen == {"pyDigitalWaveTools": [2, 0, 2], "vcdvcd": [2, 2, 0], "pywellen": [2, 2, 2]}, "a reader changed"
PY
venv/bin/python read.py
