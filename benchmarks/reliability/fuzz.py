"""Fuzz every reader of what others wrote by atheris, ten minutes for each target, guided by the code that an input
reaches.

The first inputs are the texts of the readers' own tests, their pieces, and what was found before. An input that breaks
what must hold (tests/fuzz/readers/), takes more than 60 s or 2 GB is written to tests/fuzz/cases/, where it fails
`make test` until it is mended. `--only TARGET …` fuzzes some, `--missing` those without a result of that length; the
results of the others are kept, so that it can be done in parts.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reliability.proof import SEED, Claim, Proof, Study
from benchmarks.study import RESULTS_FOLDER, ROOT, markdown_table, read_results
from chatdev.workspace.python_facts import parse
from tests.fuzz.targets import TARGETS, Target

SECONDS, QUICK = 600, 2
SAMPLE = ("files",)  # that a quick study fuzzes
CASES = ROOT / "tests" / "fuzz" / "cases"
MISSING = ("atheris is not installed, which finds the inputs. It has wheels for Python 3.11 to 3.13 on Linux (x86-64): "
           "pip install -e '.[fuzz]'")
_LIMITS = {"max_len": 16_384, "timeout": 60, "report_slow_units": 60, "rss_limit_mb": 2048, "print_final_stats": 1}
_STATISTICS = {"inputs": "number_of_executed_units", "slowest_seconds": "slowest_unit_time_sec",
               "memory": "peak_rss_mb"}
_DONE = re.compile(r"^#\d+\s+DONE\s+cov: (?P<branches>\d+) ft: \d+ corp: (?P<kept>\d+)/", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What came of a target in `asked` seconds. `seconds` of a processor: on a busy machine fewer than the clock's.
    `branches` of the readers were reached; `kept` inputs each reach something of their own; `memory` in MB; `found`
    says what breaks it, and where the input is."""

    target: str
    asked: int = 0
    seconds: int = 0
    inputs: int = 0
    branches: int = 0
    kept: int = 0
    slowest_seconds: int = 0
    memory: int = 0
    found: str = ""
    readers: Sequence[str] = ()
    """Those that were fuzzed together."""


def seeds(name: str, target: Target) -> Iterator[bytes]:
    """Texts to begin with."""
    yield from map(_bytes, target.tokens)
    for path in sorted((ROOT / "tests" / target.tests).glob("test_*.py")):
        for node in ast.walk(parse(path.read_bytes(), path.name)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield _bytes(node.value)
    for path in sorted(CASES.glob(f"{name}-*")):
        yield path.read_bytes()


def dictionary(target: Target) -> str:
    """The tokens as libFuzzer reads them."""
    escaped = (_bytes(token[:60]).hex(" ").replace(" ", r"\x") for token in target.tokens)
    return "".join(rf'"\x{token}"' + "\n" for token in escaped)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def fuzzed(target: str, seconds: int, seed: int, scratch: Path) -> Fuzzed:
    """Fuzz one target in a process of its own."""
    about = TARGETS[target]
    corpus, found = scratch / target, scratch / f"{target}-found"
    corpus.mkdir()
    found.mkdir()
    (tokens := scratch / f"{target}-tokens").write_text(dictionary(about), encoding="ascii")
    for number, text in enumerate(dict.fromkeys(seeds(target, about))):
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
    return replace(result, asked=seconds, seconds=round(used.ru_utime + used.ru_stime))


def _kept(target: str, found: Path) -> list[str]:
    """What was found, as cases; where they are."""
    cases = []
    for path in found.iterdir():
        case = CASES / f"{target}-{path.name}.txt"
        case.write_bytes(path.read_bytes())
        cases.append(str(case.relative_to(ROOT)))
    return cases


def _read(target: str, status: int, output: str, cases: list[str]) -> Fuzzed:
    reached, readers = _DONE.search(output), TARGETS[target].readers
    if status or cases or reached is None:
        last = next((line for line in reversed(output.splitlines()) if re.match(r"\w*(Error|Exception)|==\d+==", line)),
                    output[-300:])
        return Fuzzed(target, readers=readers, found=f"{last} ({', '.join(cases) or f'exit status {status}'})")
    counted: dict[str, Any] = {name: int(value[1]) for name, said in _STATISTICS.items()
                               if (value := re.search(rf"stat::{said}:\s+(\d+)", output))}
    return Fuzzed(target, readers=readers, branches=int(reached["branches"]), kept=int(reached["kept"]), **counted)


def prove(seed: int, quick: bool) -> Proof:
    """Fuzz every target anew; quickly, one of them (tests/fuzz/ tries every reader with every `make test`)."""
    return proof_of(fuzz_all(SAMPLE, QUICK, seed) if quick else fuzz_all([*TARGETS], SECONDS, seed))


def fuzz_all(targets: Sequence[str], seconds: int, seed: int,
             on_result: Callable[[Fuzzed], None] | None = None) -> list[Fuzzed]:
    """Fuzz these targets, as many at a time as there are cores. Exits with the mend when atheris is not there."""
    if find_spec("atheris") is None:
        raise SystemExit(MISSING)
    results = []
    with TemporaryDirectory(prefix="chatdev-fuzz-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for work in as_completed([pool.submit(fuzzed, target, seconds, seed, Path(folder)) for target in targets]):
            results.append(work.result())
            if on_result:
                on_result(results[-1])
    return results


def proof_of(results: Iterable[Fuzzed]) -> Proof:
    """The claims and figures of these results, in the order of the targets."""
    ordered = sorted(results, key=lambda result: [*TARGETS].index(result.target))
    claims = [Claim(f"in {result.asked} s of fuzzing no input breaks what must hold of reading {result.target}",
                    not result.found, result.found or f"{result.inputs:,} inputs, {result.seconds} s of a processor")
              for result in ordered]
    return Proof(claims, {"targets": [asdict(result) for result in ordered]})


def table(figures: Mapping[str, Any]) -> str:
    """What came of the targets."""
    columns = ["target", "reads", "processor, s", "inputs", "branches reached", "inputs kept", "slowest, s",
               "memory, MB"]
    rows = ([f"`{t['target']}`", ", ".join(t["readers"]), t["seconds"], f"{t['inputs']:,}",
             *(t[name] for name in ("branches", "kept", "slowest_seconds", "memory"))] for t in figures["targets"])
    return markdown_table(columns, rows)


STUDY = Study.of("fuzz", prove, table)


def known_results() -> dict[str, Fuzzed]:
    """What was written down before, by target."""
    before = read_results(RESULTS_FOLDER / "fuzz.json").get("figures", {}).get("targets", [])
    return {row["target"]: Fuzzed(**row) for row in before if row["target"] in TARGETS}


def main() -> int:
    """Fuzz what is asked for, and write each result down as it comes; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} s each; nothing is written down")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each target (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=[*TARGETS], metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--missing", action="store_true", help="leave out targets that have a result of that length")
    options = parser.parse_args()
    known = known_results()
    targets = [name for name in options.only or (SAMPLE if options.quick else TARGETS)
               if not (options.missing and name in known and known[name].asked >= options.seconds)]
    started = time.monotonic()

    def note(result: Fuzzed) -> None:
        known[result.target] = result
        [claim] = proof_of([result]).claims
        print(f"{'✓' if claim.holds else '✗'} {claim.text}: {claim.detail}", flush=True)
        if not options.quick:
            STUDY.record(proof_of(known.values()), options.seed, time.monotonic() - started)

    results = fuzz_all(targets, QUICK if options.quick else options.seconds, options.seed, note)
    return 0 if all(not result.found for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
