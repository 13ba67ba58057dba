"""A plan, what its specification says, and the relation graph that the tool makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, registry

SERIAL = {
    "plan": {"subtasks": [
        {"id": "1", "content": "Define the module with the ports clk, in and done."},
        {"id": "2", "content": "Write the state register.", "parents": ["1"]},
        {"id": "3", "content": "Compute `next_state[1:0]`.", "source": "It waits for in.", "parents": ["2"]},
        {"id": "4", "content": "Simulate and mend.", "parents": ["3"]},
    ]},
    "extraction": {
        "signals": [{"name": "input clk"}, {"name": "in", "about": "the serial line"}, {"name": "output logic done"},
                    {"name": "next_state [1:0]", "about": "combinational"}, {"name": "bits", "about": "counts"}],
        "transitions": [{"text": "IDLE: // in falls\n  next_state = FIRST"}, {"text": "After eight the byte is whole"}],
        "examples": [{"text": "in = 1, 0, 1 gives done = 0, 0, 1"}],
    },
}


def relate(task: str = "", /, **values: Any) -> dict[str, Any]:
    """The graph, as JSON and back, because long-term memory is JSON."""
    context = ToolContext({}, values, {"task": task}, Unconfined(), Path(), Path())
    result: dict[str, Any] = json.loads(json.dumps(registry()["verilog.relate"].call(context, {})))
    return result
