"""What a call costs here and in frameworks of agents, each in an environment of its own.

    python -m benchmarks.engine.peers [--write] [--rounds N]

Installs the pinned frameworks beside the other studies, once. A dialogue of 20 calls, in fresh processes that take
turns, as in `benchmarks.engine.overhead`. Written to docs/benchmarks.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.engine.overhead import CALLS, DELAY, MANY, servers
from benchmarks.local_study import FOLDER
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks

PEERS: Mapping[str, tuple[str, ...]] = {
    "openai": ("openai==3.57.0",),
    "camel": ("camel-ai==0.2.90", "mcp<2"),
    "langgraph": ("langgraph==1.2.24", "langchain-openai==1.7.4"),
    "autogen": ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"),
    "agent-framework": ("agent-framework-core==1.23.0", "agent-framework-openai==1.17.0"),
    "pydantic-ai": ("pydantic-ai-slim[openai]==2.68.0",),
}
_LOOPS = Path(__file__).with_name("peer_loops.py")


def environment(peer: str) -> Path:
    """The Python of a framework, installed where it is not yet."""
    folder = FOLDER / "peers" / peer
    python, done = folder / "bin" / "python", folder / "installed"
    wanted = "\n".join(PEERS[peer])
    if not done.exists() or done.read_text() != wanted:
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[peer]], check=True)
        done.write_text(wanted)
    return python


def measure_all(rounds: int) -> dict[str, Any]:
    """All frameworks and ours in turns."""
    commands = {peer: [str(environment(peer)), str(_LOOPS), peer] for peer in PEERS}
    rows = []
    with servers() as urls:
        for number in range(rounds):
            for peer, command in commands.items():
                rows.append({"way": peer, "round": number, **_figures([*command, *urls, str(CALLS), str(MANY)])})
            ours = [sys.executable, "-m", "benchmarks.engine.overhead", "child", "ours", *urls, str(MANY)]
            rows.append({"way": "chatdev", "round": number, **_figures(ours)})
            print(json.dumps(rows[-1 - len(PEERS):]), flush=True)
    return {"machine": machine(), "rounds": rounds, "packages": PEERS, "rows": rows}


def _figures(command: list[str]) -> dict[str, float]:
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out.splitlines()[-1])
    return found


def table(study: Mapping[str, Any]) -> str:
    """Medians, and what is the median of the ratios to our rounds."""
    ours = {row["round"]: row for row in study["rows"] if row["way"] == "chatdev"}
    rows = []
    for way in ("chatdev", *study["packages"]):
        mine = [row for row in study["rows"] if row["way"] == way]
        ratios = [median(row[name] / ours[row["round"]][name] for row in mine) for name in ("ms", "seconds")]
        rows.append([", ".join(study["packages"].get(way, ["`chatdev`, with its journal"])),
                     f"{median(row['ms'] for row in mine):.2g}", f"{ratios[0]:.1f}",
                     f"{median(row['seconds'] for row in mine):.1f}", f"{ratios[1]:.1f}",
                     f"{median(row['peak_mb'] for row in mine):.0f}"])
    return markdown_table(["", "CPU of a call, ms", "÷ ours", f"{MANY} dialogues at {1000 * DELAY:.0f} ms, s", "÷ ours",
                           "peak memory, MB"], rows)


STUDY = KeptStudy(table, RESULTS_FOLDER / "peers.json", DOCS / "benchmarks.md", marks("peers", "engine.peers"),
                  measure_all, {"rounds": (3, "rounds of all")})

if __name__ == "__main__":
    STUDY.main(__doc__)
