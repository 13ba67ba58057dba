#!/usr/bin/env bash
# Guess: an error that a SARIF file marks as absent since the baseline, and one that is suppressed in the source, do not fail the check.
# Seen, sarif-tools 3.0.5 (Python 3.11): both count as errors, and `--check error` exits 1, as for one that is there.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check sarif-tools==3.0.5
cat > check.py <<'PY'
import json
import pathlib
import subprocess

RULE = {"id": "R1", "defaultConfiguration": {"level": "error"}}
RESULTS = {
    "an error": {"ruleId": "R1"},
    "absent": {"ruleId": "R1", "baselineState": "absent"},
    "suppressed": {"ruleId": "R1", "suppressions": [{"kind": "inSource", "status": "accepted"}]},
    "passed": {"ruleId": "R1", "kind": "pass", "level": "none"},
}
seen = {}
for name, result in RESULTS.items():
    place = {"physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 1}}}
    run = {"tool": {"driver": {"name": "tool", "rules": [RULE]}}, "results": [{"message": {"text": "m"}, "locations": [place], **result}]}
    pathlib.Path("log.sarif").write_text(json.dumps({"version": "2.1.0", "runs": [run]}))
    done = subprocess.run(["venv/bin/sarif", "--check", "error", "summary", "log.sarif"], capture_output=True, text=True, check=False)
    counted = [line for line in done.stdout.splitlines() if line and line[0].isalpha() and not line.endswith(": 0")]
    seen[name] = done.returncode
    print(f"{name}: {', '.join(counted)}; exit code {done.returncode}")
assert (seen["an error"], seen["passed"]) == (1, 0), "the check has other exit codes now"
assert (seen["absent"], seen["suppressed"]) == (1, 1), "sarif-tools counts otherwise now"
PY
venv/bin/python check.py
