#!/usr/bin/env bash
# Guess: a constant with an unknown bit is no number: `int` refuses it, as it refuses a cocotb LogicArray.
# Seen, pyslang 12.1.0 (Python 3.11): for a parameter 4'b1x01 `int` says 0, `float` 9.0 and `bool` True; the same for one that is all
# x are 0, 0.0 and False. Only `hasUnknown` tells.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pyslang==12.1.0
cat > unknown.py <<'PY'
from pyslang import ast, syntax

SOURCE = "module m; localparam [3:0] KNOWN = 4'b1001, PARTLY = 4'b1x01, UNKNOWN = 4'bxxxx; endmodule"
compilation = ast.Compilation()
compilation.addSyntaxTree(syntax.SyntaxTree.fromText(SOURCE))
seen = {}
for name in ("KNOWN", "PARTLY", "UNKNOWN"):
    value = compilation.getRoot().lookupName(f"m.{name}").value.value
    seen[name] = int(value), float(value), bool(value), value.hasUnknown
    print(f"{name} = {value}: int {seen[name][0]}, float {seen[name][1]}, bool {seen[name][2]}, unknown {seen[name][3]}")
assert seen["KNOWN"] == (9, 9.0, True, False), "a known constant has another value now"
assert seen["PARTLY"] == (0, 9.0, True, True) and seen["UNKNOWN"] == (0, 0.0, False, True), "unknown bits are read otherwise now"
PY
venv/bin/python unknown.py
