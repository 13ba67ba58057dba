#!/usr/bin/env bash
# Guess: a package that asks for `mcp` without an upper bound imports beside the newest one that its own rule admits.
# Seen, camel-ai 0.2.90 with mcp 2.3.0 (Python 3.11): pip finds nothing wrong, and `import camel.agents` fails, since
# FastMCP is gone from mcp.server; with mcp 1.30.0 it imports. Agents that never use MCP are hit, too.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check camel-ai==0.2.90 mcp==2.3.0
venv/bin/pip check
if venv/bin/python -c "import camel.agents" 2> error.txt; then
    echo "it imports beside mcp 2.3.0 now"
    exit 1
fi
tail -n 1 error.txt | cut -d '(' -f 1
grep -q "cannot import name 'FastMCP' from 'mcp.server'" error.txt
venv/bin/pip install -q --disable-pip-version-check mcp==1.30.0
venv/bin/python -c "import camel.agents; print('with mcp 1.30.0 it imports')"
