"""How many hostile replies the suite tries, by kind; `python -m tests.engine.escape.counts` prints them as JSON."""

from __future__ import annotations

import json

from tests.engine.escape.contents import DELIVERIES
from tests.engine.escape.paths import ACTING, DECEIVING, HARMLESS, IMPOSSIBLE, LEAVING, METADATA
from tests.engine.escape.test_injection import ENDS, FILES, HIDDEN, LACKING, ORDERS
from tests.engine.escape.test_talk import CALLS, INSTRUCTIONS, NATIVE_CALLS, PRETENDED
from tests.engine.escape.test_values import CHOICES, ITEMS, JSON, ODD, TEMPLATES

COUNTS = {
    "paths": len([*LEAVING, *METADATA, *DECEIVING, *IMPOSSIBLE, *ACTING, *HARMLESS]),
    "archives, bombs and other contents": len(DELIVERIES),
    "calls of tools that the role lacks": len([*CALLS, *NATIVE_CALLS, *LACKING, *HIDDEN, *FILES]),
    "injected orders": 3 * len(ORDERS),  # by a tool's result, a report and a file
    "verdicts and speakers pretended": len([*PRETENDED, *INSTRUCTIONS, *ENDS]),
    "values": len([*TEMPLATES, *JSON, *ODD, *ITEMS, *CHOICES]),
}

if __name__ == "__main__":
    print(json.dumps({**COUNTS, "all": sum(COUNTS.values())}, indent=1))
