#!/usr/bin/env bash
# Guess: a mask written into a MAT-file comes back as a mask.
# Seen, scipy 1.17.1, pymatreader 1.3.2 (numpy 2.4.6, Python 3.11): the file has it as logical, `whosmat` says so, and both readers
# give it as uint8: as an index it picks elements 0 and 1 by number instead of those that are marked, and `~` of it is 254 and 255.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check scipy==1.17.1 pymatreader==1.3.2 numpy==2.4.6
cat > mask.py <<'PY'
import numpy as np
import pymatreader
import scipy.io

values = np.array([10.0, 20.0, 30.0, 40.0])
scipy.io.savemat("mask.mat", {"mask": values > 20})
kind = scipy.io.whosmat("mask.mat")[0][2]
print("in the file:", kind)
read = {"scipy": scipy.io.loadmat("mask.mat", squeeze_me=True)["mask"], "pymatreader": pymatreader.read_mat("mask.mat")["mask"]}
for name, mask in read.items():
    print(f"{name}: {mask.dtype}, picks {values[mask]}, inverted {~mask}")
assert kind == "logical", "the file has another class now"
assert all(mask.dtype == np.uint8 and list(values[mask]) == [10, 10, 20, 20] for mask in read.values()), "a mask is read as one now"
PY
venv/bin/python mask.py
