#!/usr/bin/env bash
# Guess: an FMU with an integer output, as in pythonfmu's README, is valid, and fmpy runs it.
# Seen, pythonfmu 0.7.0, fmpy 0.3.32 (Python 3.11): Integer, Boolean and String are written without a variability, which in FMI 2.0
# means continuous and is for Real only; fmpy refuses the FMU. With variability=discrete it runs.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pythonfmu==0.7.0 fmpy==0.3.32
cat > check.py <<'PY'
import pathlib
import subprocess

import fmpy

UNIT = """from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer


class {name}(Fmi2Slave):
    def __init__(self, **given):
        super().__init__(**given)
        self.count = 0
        self.register_variable(Integer("count", causality=Fmi2Causality.output{more}))

    def do_step(self, time, step):
        self.count += 1
        return True
"""
seen = {}
for name, more in (("Plain", ""), ("Discrete", ", variability=Fmi2Variability.discrete")):
    pathlib.Path(f"{name}.py").write_text(UNIT.format(name=name, more=more))
    subprocess.run(["venv/bin/pythonfmu", "build", "-f", f"{name}.py"], check=True, capture_output=True)
    try:
        result = fmpy.simulate_fmu(f"{name}.fmu", stop_time=1, output_interval=0.25)
        seen[name] = [int(count) for count in result["count"]]
    except fmpy.model_description.ValidationError as error:
        seen[name] = error.problems
    print(name, seen[name])
assert seen["Discrete"] == [0, 1, 2, 3, 4], "an FMU with discrete integers runs otherwise now"
assert "continuous" in str(seen["Plain"]), "the FMU is not refused now"
PY
venv/bin/python check.py
