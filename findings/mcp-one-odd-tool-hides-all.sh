#!/usr/bin/env bash
# Guess: of a server's tools a client leaves out the one whose arguments are described as a text and not as an object, and
# offers the others.
# Seen, mcp 2.3.0: the whole list is refused; the sound tool beside it cannot be found.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0
cat > server.py <<'PY'
import json
import sys

SOUND = {"name": "sound", "inputSchema": {"type": "object", "properties": {}}}
ODD = {"name": "odd", "inputSchema": {"type": "string"}}
TOOLS = [SOUND, ODD] if sys.argv[1] == "both" else [SOUND]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": TOOLS}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
PY
cat > client.py <<'PY'
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def names(which):
    server = StdioServerParameters(command=sys.executable, args=["server.py", which])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        try:
            return [tool.name for tool in (await session.list_tools()).tools]
        except Exception as error:
            return f"refused ({type(error).__name__})"


found = {which: asyncio.run(names(which)) for which in ("sound", "both")}
for which, what in found.items():
    print(f"{which}: {what}")
assert found["sound"] == ["sound"]
assert str(found["both"]).startswith("refused"), "the sound tool is listed now"
PY
venv/bin/python client.py
