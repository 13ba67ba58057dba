#!/usr/bin/env bash
# Guess: code that pyverilog writes from its syntax tree means what the code meant that it read.
# Seen, pyverilog 1.3.0 (Python 3.11): `a[7 -: 4]` becomes `a[7:7-4]`, five bits instead of four, so what is joined in front of it
# moves by one; `a[0 +: 4]` becomes `a[0:0+4]`, which runs the wrong way; of `casez (a)` only `a` is left. `casex` is right.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pyverilog==1.3.0
cat > write.py <<'PY'
from pyverilog.ast_code_generator.codegen import ASTCodeGenerator
from pyverilog.vparser.parser import VerilogParser

SOURCE = """module m (input [7:0] a, input b, output [4:0] high, output [4:0] low, output reg one, output reg two);
  assign high = {b, a[7 -: 4]};
  assign low = {b, a[0 +: 4]};
  always @(*) begin
    casez (a) 8'b1???????: one = 1; default: one = 0; endcase
    casex (a) 8'b1xxxxxxx: two = 1; default: two = 0; endcase
  end
endmodule
"""
written = ASTCodeGenerator().visit(VerilogParser(outputdir=".", debug=False).parse(SOURCE))
lines = [line.strip() for line in written.splitlines()]
print("\n".join(lines))
assert "assign high = { b, a[7:7-4] };" in lines and "assign low = { b, a[0:0+4] };" in lines, "part selects are written otherwise now"
assert "casex(a)" in lines and "casez" not in written, "casez is written now"
PY
venv/bin/python write.py
