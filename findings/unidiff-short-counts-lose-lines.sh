#!/usr/bin/env bash
# Guess: a hunk whose header counts fewer lines than follow it is an error, as one that counts more lines is.
# Seen, unidiff 1.0.1 and whatthepatch 1.0.7 (Python 3.11): both keep as many lines as the header counts and drop the others
# without a word; where the header counts too many, unidiff raises "Hunk is shorter than expected".
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check unidiff==1.0.1 whatthepatch==1.0.7
cat > counts.py <<'PY'
import unidiff
import whatthepatch

DIFF = "--- a/x\n+++ b/x\n@@ -1,{count} +1,{count} @@\n-one\n+1\n-two\n+2\n"
right, short = DIFF.format(count=2), DIFF.format(count=1)
kept = {}
for name, text in (("right", right), ("short", short)):
    lines = [line for file in unidiff.PatchSet(text) for hunk in file for line in hunk]
    changes = [change for diff in whatthepatch.parse_patch(text) for change in diff.changes or ()]
    kept[name] = len(lines), len(changes)
    print(f"counts that are {name}: unidiff keeps {len(lines)} lines, whatthepatch {len(changes)}")
try:
    list(unidiff.PatchSet(DIFF.format(count=3)))
    said = "nothing"
except unidiff.UnidiffParseError as error:
    said = str(error)
print("counts that are too large:", said)
assert kept["right"][0] == 4 and kept["short"][0] < 4 and "shorter" in said, "unidiff counts otherwise now"
assert kept["right"][1] == 4 and kept["short"][1] < 4, "whatthepatch counts otherwise now"
PY
venv/bin/python counts.py
