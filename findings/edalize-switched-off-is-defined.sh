#!/usr/bin/env bash
# Guess: a Verilog macro of type bool with the value False is not defined, so its `ifdef is not taken.
# Seen, edalize 0.6.8 (Python 3.11): it is defined as 0, for Icarus and for Verilator, so `ifdef takes it as it takes one that is
# True. A macro is left out only if it is not among the parameters.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check edalize==0.6.8
cat > macros.py <<'PY'
import pathlib

from edalize.flows.sim import Sim

MACROS = {name: {"datatype": "bool", "default": value, "paramtype": "vlogdefine"} for name, value in (("ON", True), ("OFF", False))}
seen = {}
for tool, options in (("icarus", "design.scr"), ("verilator", "design.vc")):
    pathlib.Path(tool).mkdir()
    sources = [{"name": "m.v", "file_type": "verilogSource"}]
    flow = {"name": "design", "toplevel": "m", "files": sources, "parameters": MACROS, "flow_options": {"tool": tool}}
    Sim(flow, tool, False).configure()
    lines = pathlib.Path(tool, options).read_text().split()
    seen[tool] = [line for line in lines if line.startswith(("+define+", "-D"))]
    print(tool, seen[tool])
assert sorted(seen["icarus"]) == ["+define+OFF=0", "+define+ON=1"], "Icarus is called otherwise now"
assert sorted(seen["verilator"]) == ["-DOFF=0", "-DON=1"], "Verilator is called otherwise now"
PY
venv/bin/python macros.py
