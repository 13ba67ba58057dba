#!/usr/bin/env bash
# Guess: an integrator that has reached its upper limit leaves it as soon as its input is negative.
# Seen, bdsim 1.4.0 (scipy 1.17.1, Python 3.11): it stays there for the rest of the run, a little above the limit.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check bdsim==1.4.0
cat > limit.py <<'PY'
import contextlib
import io

import bdsim

with contextlib.redirect_stdout(io.StringIO()):
    simulation = bdsim.BDSim(graphics=False)
    diagram = simulation.blockdiagram()
    square = diagram.WAVEFORM(wave="square", freq=0.1, amplitude=1)  # 1 for 5 s, then -1 for 5 s, and so on
    integrator = diagram.INTEGRATOR(x0=0.0, min=-2.0, max=2.0)
    diagram.connect(square, integrator)
    diagram.compile()
    found = simulation.run(diagram, T=10, dt=0.5, watch=[integrator, square])
values = {float(time): (float(x), float(u)) for time, (x, u) in zip(found.t, found.y)}
for time in (1.0, 4.0, 6.0, 9.5):
    print(f"t = {time}: input {values[time][1]:+.0f}, integrator {values[time][0]:.3f}")
assert values[4.0][0] >= 2 and values[9.5] == (values[4.0][0], -1), "it leaves its limit now"
PY
venv/bin/python limit.py
