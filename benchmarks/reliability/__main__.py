"""Run every study in a process of its own: python -m benchmarks.reliability [--seed N] [--quick] [--only faults]"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.reliability.proof import SEED, STUDIES
from benchmarks.study import ROOT


def main() -> int:
    """0 when every claim of every study holds; a study that fails does not keep the others from running."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=STUDIES)
    options = parser.parse_args()
    failed = []
    for name in STUDIES if options.only is None else (options.only,):
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.reliability.{name}", "--seed", str(options.seed)]
        if subprocess.run([*command, *(["--quick"] if options.quick else [])], cwd=ROOT, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"not proven: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
