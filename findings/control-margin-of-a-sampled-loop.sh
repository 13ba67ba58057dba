#!/usr/bin/env bash
# Guess: a loop whose gain margin is infinite stays stable whatever its gain.
# Seen, control 0.10.2 (numpy 2.4.6, Python 3.11): for 10/(s + 1), sampled at 0.1 s, `margin` says infinite, and the closed loop is
# unstable at 2.1 times the gain. The loop crosses -180 degrees at half the sampling rate only (z = -1), which is not looked at; the
# right margin is 2.0017. Where the crossing is lower, as for 1/(s(s + 1)), the margin is right.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check control==0.10.2 numpy==2.4.6
cat > margin.py <<'PY'
import math

import control
import numpy as np


def largest_pole(loop, gain):
    return float(max(np.abs(control.feedback(gain * loop, 1).poles())))


sampled = {"10/(s+1)": (control.tf([10], [1, 1]), 0.1), "1/(s(s+1))": (control.tf([1], [1, 1, 0]), 0.5)}
loops = {name: control.sample_system(plant, period) for name, (plant, period) in sampled.items()}
said = {name: float(control.margin(loop)[0]) for name, loop in loops.items()}
right = 1 / abs(complex(loops["10/(s+1)"](-1)))
below, above = (largest_pole(loops["10/(s+1)"], gain) for gain in (0.99 * right, 1.01 * right))
print("gain margins:", said)
print(f"largest pole of the first closed loop around a gain of {right:.4f}: {below:.4f}, {above:.4f}")
second = said["1/(s(s+1))"]
low, high = (largest_pole(loops["1/(s(s+1))"], gain) for gain in (0.99 * second, 1.01 * second))
print(f"largest pole of the second around its margin: {low:.4f}, {high:.4f}")
assert low < 1 < high and below < 1 < above, "the closed loops have other poles now"
assert math.isinf(said["10/(s+1)"]), "the crossing at z = -1 is found now"
PY
venv/bin/python margin.py
