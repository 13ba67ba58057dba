#!/usr/bin/env bash
# Guess: y = 1 + (y one period ago) counts 1, 2, 3, … by one in every period, as a difference equation says.
# Seen, pathsim 0.27.1 (numpy 2.4.6, Python 3.11): a delay in a loop holds for two periods, so y is 1, 2, 2, 3, 3, 4.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pathsim==0.27.1
cat > loop.py <<'PY'
import numpy as np
from pathsim import Connection, Simulation
from pathsim.blocks import Adder, Constant, DiscreteTransferFunction, Scope

one, add, scope = Constant(1.0), Adder(), Scope()
delay = DiscreteTransferFunction(Num=[1.0], Den=[1.0, 0.0], T=1.0)  # 1/z
wires = [Connection(one, add[0]), Connection(delay, add[1]), Connection(add, delay, scope)]
Simulation([one, add, delay, scope], wires, dt=0.25, log=False).run(6.0)
time, [value] = scope.read()
seen = [float(value[np.argmin(abs(time - middle))]) for middle in np.arange(0.5, 6)]
print("y in the middle of each period:", seen)
assert seen == [1, 2, 2, 3, 3, 4], "the loop counts otherwise now"
PY
venv/bin/python loop.py
