"""Fuzz the file parser and the marker parser by atheris, ten minutes each, guided by the code that an input reaches.

The first inputs are the texts of the parsers' own tests and what was found before. An input that breaks a property
(tests/fuzz/properties.py), takes more than 20 s or 2 GB is written to tests/fuzz/cases/, where it fails `make test`
until it is mended.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.study import ROOT, markdown_table
from chatdev.workspace.python_source import parse
from tests.fuzz.properties import PROPERTIES, TOKENS

SECONDS, QUICK = 600, 2
CASES = ROOT / "tests" / "fuzz" / "cases"
MISSING = ("atheris is not installed, which finds the inputs. It has wheels for Python 3.11 to 3.13 on Linux (x86-64): "
           "pip install -e '.[fuzz]'")
_LIMITS = {"max_len": 16_384, "timeout": 20, "rss_limit_mb": 2048, "print_final_stats": 1}
_STATISTICS = {"inputs": "number_of_executed_units", "slowest_seconds": "slowest_unit_time_sec",
               "memory": "peak_rss_mb"}
_DONE = re.compile(r"^#\d+\s+DONE\s+cov: (?P<branches>\d+) ft: \d+ corp: (?P<kept>\d+)/", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What came of a target. `seconds` of a processor: on a busy machine fewer than the clock's. `branches` of the
    parser were reached; `kept` inputs each reach something of their own; `memory` in MB; `found` says what breaks it,
    and where the input is."""

    target: str
    seconds: int = 0
    inputs: int = 0
    branches: int = 0
    kept: int = 0
    slowest_seconds: int = 0
    memory: int = 0
    found: str = ""


def seeds() -> Iterator[bytes]:
    """Texts to begin with."""
    for path in sorted((ROOT / "tests" / "replies").glob("test_*.py")):
        for node in ast.walk(parse(path.read_bytes(), path.name)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value.encode("utf-8", "surrogatepass")
    for path in sorted(CASES.iterdir()):
        yield path.read_bytes()


def dictionary() -> str:
    """The tokens as libFuzzer reads them."""
    escaped = (token.encode("utf-8", "surrogatepass").hex(" ").replace(" ", r"\x") for token in TOKENS)
    return "".join(rf'"\x{token}"' + "\n" for token in escaped)


def fuzzed(target: str, seconds: int, seed: int, scratch: Path) -> Fuzzed:
    """Fuzz one target in a process of its own."""
    corpus, found = scratch / target, scratch / f"{target}-found"
    corpus.mkdir()
    found.mkdir()
    (tokens := scratch / f"{target}-tokens").write_text(dictionary(), encoding="ascii")
    for number, text in enumerate(dict.fromkeys(seeds())):
        (corpus / str(number)).write_bytes(text)
    limits = {**_LIMITS, "max_total_time": seconds, "seed": seed, "artifact_prefix": f"{found}/",
              "dict": tokens}
    with (scratch / f"{target}-log").open("w+b") as log:
        process = subprocess.Popen([sys.executable, "-m", "benchmarks.reliability.fuzz_target", target, str(corpus),
                                    *(f"-{name}={value}" for name, value in limits.items())], cwd=ROOT, stdout=log,
                                   stdin=subprocess.DEVNULL, stderr=log, env={**os.environ, "PYTHONHASHSEED": "0"})
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        output = log.read().decode("utf-8", "replace")
    result = _read(target, process.returncode, output, _kept(target, found))
    return replace(result, seconds=round(used.ru_utime + used.ru_stime))


def _kept(target: str, found: Path) -> list[str]:
    """What was found, as cases; where they are."""
    cases = []
    for path in found.iterdir():
        case = CASES / f"{target}-{path.name}.txt"
        case.write_bytes(path.read_bytes())
        cases.append(str(case.relative_to(ROOT)))
    return cases


def _read(target: str, status: int, output: str, cases: list[str]) -> Fuzzed:
    reached = _DONE.search(output)
    if status or cases or reached is None:
        last = next((line for line in reversed(output.splitlines()) if re.match(r"\w*(Error|Exception)|==\d+==", line)),
                    output[-300:])
        return Fuzzed(target, found=f"{last} ({', '.join(cases) or f'exit status {status}'})")
    counted: dict[str, Any] = {name: int(value[1]) for name, said in _STATISTICS.items()
                               if (value := re.search(rf"stat::{said}:\s+(\d+)", output))}
    return Fuzzed(target, branches=int(reached["branches"]), kept=int(reached["kept"]), **counted)


def prove(seed: int, quick: bool) -> Proof:
    """Fuzz every target. Exits with the mend when atheris is not there."""
    if find_spec("atheris") is None:
        raise SystemExit(MISSING)
    seconds = QUICK if quick else SECONDS
    with TemporaryDirectory(prefix="chatdev-fuzz-") as folder, ThreadPoolExecutor() as pool:
        results = [*pool.map(lambda target: fuzzed(target, seconds, seed, Path(folder)), PROPERTIES)]
    claims = [Claim(f"in {seconds} s of fuzzing no input breaks what must hold of reading {result.target}",
                    not result.found, result.found or f"{result.inputs:,} inputs, {result.seconds} s of a processor")
              for result in results]
    return Proof(claims, {"seconds": seconds, "targets": [asdict(result) for result in results]})


def table(figures: Mapping[str, Any]) -> str:
    """What came of the targets."""
    columns = ["parser of", "processor, s", "inputs", "branches reached", "inputs kept", "slowest, s", "memory, MB"]
    rows = ([f"`{t['target']}`", t["seconds"], f"{t['inputs']:,}",
             *(t[name] for name in ("branches", "kept", "slowest_seconds", "memory"))] for t in figures["targets"])
    return markdown_table(columns, rows)


STUDY = Study("fuzz", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
