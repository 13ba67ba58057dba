"""A small program, and `chatdev plc` in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.cli.outcome import heed_signals

LATCH = """FUNCTION_BLOCK Latch
VAR_INPUT Set, Clear : BOOL; END_VAR
VAR_OUTPUT Out : BOOL; END_VAR
VAR Count : INT; END_VAR
IF Clear THEN
  Out := FALSE;
ELSIF Set THEN
  Out := TRUE;
  Count := Count + 1;
END_IF;
END_FUNCTION_BLOCK
"""


def plc(*arguments: object) -> Result:
    with heed_signals():
        return CliRunner().invoke(command_line, ["plc", *map(str, arguments)], prog_name="chatdev")
