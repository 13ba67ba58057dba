#!/usr/bin/env bash
# Guess: a gain of 2 with unity feedback is 2/3, whichever function closes the loop.
# Seen, control 0.10.2 (scipy 1.17.1, Python 3.11): `feedback` gives 2/3; `interconnect` builds the same system without a
# word, and refuses it when it runs ("algebraic loop detected").
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check control==0.10.2
cat > loop.py <<'PY'
import control
import numpy

closed = control.feedback(control.tf([2], [1]), 1)
gain = float(numpy.real(closed(0)))
print("feedback:", round(gain, 4))
plant = control.ss(control.tf([2], [1]), inputs="e", outputs="y", name="plant")
try:
    loop = control.interconnect([plant, control.summing_junction(["u", "-y"], "e")], inputs="u", outputs="y")
    said = f"{control.input_output_response(loop, [0, 1], [1, 1]).outputs}"
except RuntimeError as error:
    said = f"RuntimeError: {error}"
print("interconnect:", said)
assert abs(gain - 2 / 3) < 1e-9 and "algebraic loop" in said, "the loop is treated otherwise now"
PY
venv/bin/python loop.py
