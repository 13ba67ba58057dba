"""The judge of Verilog on VerilogEval: does it pass what is right, and refuse what only looks right?

Every reference takes the answer's place, with the errata and, where they differ, as published; then a stub whose
outputs are 0. On every third problem come the cheats of `judge.yaml`. Then come the pairs of
`judge_twins.yaml`: of each kind one must not pass, or be told what the bench does not see, and its honest twin
must pass.

    python -m benchmarks.verilog.judge [--problems N | --minutes M]

`--problems` takes every so many of them, so that about N are judged, and writes nothing down. Else it can be run in
parts: references and stubs, then each kind of cheats, are written down when they are done, and not tried again while
judge and cheat stay as they are. With `--minutes` no kind is begun after so long, and the same command goes on; a kind
takes ten seconds to a minute. `--again` tries all of them anew.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, machine, markdown_table, marks, write_results
from chatdev import isolation
from chatdev.departments.verilog import judge
from chatdev.departments.verilog.answer import Answer
from chatdev.departments.verilog.bench import REFERENCE_MODULE, HiddenBench
from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.judge import judge_answer, verdict_of
from chatdev.departments.verilog.simulation import reference_as_answer, simulate_unexamined
from chatdev.departments.verilog.target import ICARUS, Target
from chatdev.departments.verilog.verilogeval import VerilogEval, VerilogProblem, measure_answer
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.evaluation.measure import Row
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import template

DATA = ROOT / "benchmarks" / "data" / "verilogeval_v2.tar.gz"
WEAK = {"Prob001_zero", "Prob002_m2014_q4i", "Prob053_m2014_q4d"}
"""What a stub passes: two are 0 indeed, and the reference of the third is x for ever. No cheat is one there."""
EVERY = 3
"""Of so many problems one is cheated on."""
TWINS = Path(__file__).with_name("judge_twins.yaml")
TWIN_PARTS = {"refused", "let", "remark"}
_STUB = "{{ head }}\n{{ zeros }}\nendmodule\n"
_RECORDER = """{{ head }}
  Recorded recorded({% for name in inputs + outputs %}.{{ name }}({{ name }}){{ ", " if not loop.last }}{% endfor %});
  wire [{{ width - 1 }}:0] seen = {{ packed }};
  integer n = 0;
  always @({{ inputs | join(" or ") }}) n = n + 1;
endmodule
"""
_MOST_ROWS = 4000  # of more only the first is replayed: such modules take a minute, and match no better


def cheats() -> dict[str, str]:
    """About a cheat -> the body of its module, a Jinja2 template of the ports."""
    found: dict[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return found


def stub(problem: VerilogProblem) -> str:
    """A module whose outputs are 0."""
    return filled(_STUB, problem)


def study(problems: Sequence[VerilogProblem], published: Mapping[str, VerilogProblem],
          sandbox: Sandbox) -> dict[str, Any]:
    """Judge references and stubs; no cheat yet."""
    def right(problem: VerilogProblem) -> str:
        return reference_as_answer(problem.reference)

    started = time.monotonic()
    references = judge_all(right, problems, sandbox)
    seconds = time.monotonic() - started
    return {
        "date": datetime.now(UTC).date().isoformat(), "machine": machine(), "problems": len(problems),
        "references": {**_counted(references), "seconds": round(seconds, 1),
                       "failed": [name for name, row in references.items() if not row["solved"]],
                       "failed_by_script": [name for name, row in references.items() if not row["official"]]},
        "as_published": {name: row["outcome"] for name, row in judge_all(right, (
            published[problem.name] for problem in problems if problem != published[problem.name]), sandbox).items()},
        "stubs": {"passed": [name for name, row in judge_all(stub, problems, sandbox).items() if row["solved"]]},
        "kinds": len(cheats()), "cheats": {}, "digest": digest_of(_STUB),
    }


def judge_twins(sandbox: Sandbox, data: Mapping[str, Any]) -> dict[str, Any]:
    """About each kind of `twins()` -> what is wrong with the verdicts on them; nothing, as it should be."""
    found = dict[str, Any]()
    for about, row in data["kinds"].items():
        bench, target = data["benches"][row["bench"]], Target(simulator=row.get("simulator", ICARUS))
        for old, new in row.get("where", {}).items():
            bench = bench.replace(old, new)
        wrong = list[str]()
        for part in TWIN_PARTS & row.keys():
            text = f"{data['heads'][row['bench']]}\n{row[part]}\nendmodule\n"
            with TemporaryDirectory(prefix="chatdev-") as folder:
                hidden = HiddenBench(bench, data["references"][row["bench"]], target)
                verdict, facts = judge_answer(text, hidden, sandbox, Path(folder))
            told = verdict_of(verdict, Answer("top.sv", text), **facts)
            if told.passed is (part == "refused") or bool(told.evidence["unseen"]) is not (part == "remark"):
                wrong.append(f"{part}: {verdict.outcome}")
        found[about] = wrong
    return found


def twins() -> dict[str, Any]:
    """Benches, references, heads of modules, and kinds of twins."""
    found: dict[str, Any] = yaml.safe_load(TWINS.read_text(encoding="utf-8"))
    return found


def judge_all(answer: Callable[[VerilogProblem], str], problems: Iterable[VerilogProblem],
              sandbox: Sandbox) -> dict[str, Row]:
    """The verdicts on an answer to each problem, as many at once as there are cores."""
    def one(problem: VerilogProblem) -> Row:
        return measure_answer({"top.sv": answer(problem).encode("utf-8")}, problem, sandbox)

    listed = list(problems)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip((problem.name for problem in listed), pool.map(one, listed), strict=True))


def cheat(problems: Sequence[VerilogProblem], body: str, sandbox: Sandbox) -> dict[str, Any]:
    """What becomes of one kind of cheats."""
    cheated, started = [problem for problem in problems[::EVERY] if problem.name not in WEAK], time.monotonic()
    counted = _counted(judge_all(functools.partial(filled, body), cheated, sandbox))
    return {**counted, "digest": digest_of(body), "seconds": round(time.monotonic() - started)}


def digest_of(body: str) -> str:
    """Of a cheat and the judge: where one of them changes, the cheat is tried again."""
    return hashlib.sha256(body.encode("utf-8") + _code_of_judge()).hexdigest()[:12]


def judge_files() -> list[Path]:
    """The files of which the judge is made, and what reads a design in the child."""
    own = Path(judge.__file__).parent
    folders = [own, own / "design", own / "waveform", Path(isolation.__file__).parent]
    return [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix in (".py", ".yaml")]


@functools.cache
def _code_of_judge() -> bytes:
    return b"".join(path.read_bytes() for path in judge_files())


def rows_that_hold(known: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds of cheats of earlier results that need not be tried again."""
    rows: Mapping[str, Any] = known.get("cheats", {})
    return {about: rows[about] for about, body in cheats().items()
            if rows.get(about, {}).get("digest") == digest_of(body)}


def told(results: Mapping[str, Any]) -> str:
    """The figures for the page."""
    right = results["references"]
    table = markdown_table(["an answer that …", "answers", "pass here", "pass by VerilogEval's script"], [
        (about, row["answers"], row["solved"], row["official"])
        for about, row in {"is the reference itself": right, **_in_order(results["cheats"])}.items()])
    published = [f"{name} ({outcome})" for name, outcome in results["as_published"].items()]
    pairs = results.get("twins", {})
    return (f"{table}\n\n{len(results['cheats'])} of {results['kinds']} kinds of cheats were tried. Twins are an "
            "answer that must not pass, or be told what the bench does not see, and an honest one that looks like it: "
            f"of {len(pairs)} kinds the verdicts on {sum(not wrong for wrong in pairs.values())} are right. Judging "
            f"the references took {right['seconds']:g} seconds; each is simulated four times. VerilogEval's script "
            f"fails {_listed(right['failed_by_script'])} of them. As published, without the errata, these do not pass: "
            f"{_listed(published)}. A stub whose outputs are 0 passes {_listed(results['stubs']['passed'])}.\n\n"
            f"{results['date']}; {results['machine']}.")


def _in_order(rows: Mapping[str, Any]) -> dict[str, Any]:
    """As the kinds stand in the table, however they came."""
    return {about: rows[about] for about in cheats() if about in rows}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _counted(rows: Mapping[str, Row]) -> dict[str, Any]:
    return {"answers": len(rows), "solved": sum(row["solved"] == 1 for row in rows.values()),
            "official": sum(row["official"] == 1 for row in rows.values()),
            "outcomes": dict(Counter(row["outcome"] for row in rows.values()))}


def replay_rows(problem: VerilogProblem) -> list[dict[str, Any]]:
    """When the reference's outputs change in the bench, and to what; see the head of `judge.yaml`."""
    reference = re.sub(rf"\b{REFERENCE_MODULE}\b", "Recorded", problem.reference)
    recorder = f"{filled(_RECORDER, problem)}\n{reference}"
    bench = HiddenBench(problem.bench, problem.reference)
    seen, count = f"{bench.layout.scope}.seen", f"{bench.layout.scope}.n"
    now, found = {count: "0", seen: "x"}, [(0, 0, "")]
    with TemporaryDirectory(prefix="chatdev-") as folder:
        done = simulate_unexamined(recorder, bench, find_sandbox(), Path(folder), dump=True)
        for moment, changed in Waves.open(done.waves).steps([seen, count]) if done.waves else ():
            now |= changed
            if now[seen] != found[-1][2]:
                found.append((moment, int(now[count], 2), now[seen]))
    return [{"delay": moment - before, "changes": many - few, "count": many, "bits": bits}
            for (before, few, _), (moment, many, bits) in pairwise(found if len(found) <= _MOST_ROWS else found[:2])]


def filled(body: str, problem: VerilogProblem) -> str:
    """A template of an answer, with the ports of a problem."""
    ports = Design.of(reference_as_answer(problem.reference)).ports
    listed = ", ".join(f"{port.direction}put [{port.width - 1}:0] {port.name}" for port in ports)
    outputs = {port.name: port.width for port in ports if port.direction == "out"}
    text: str = template(body).render(
        ports=listed, head=f"module TopModule({listed});", ports_both_ways=listed.replace("input ", "inout "),
        head_with_depth=f"module TopModule #(parameter DEPTH = 4)({listed});", outputs=[*outputs],
        width=sum(outputs.values()), packed=f"{{{', '.join(outputs)}}}",
        inputs=[port.name for port in ports if port.direction == "in"],
        rows=replay_rows(problem) if "rows" in body else [], zeros=" ".join(f"assign {name} = 0;" for name in outputs))
    return text


TABLE = KeptTable(told, RESULTS_FOLDER / "verilog_judge.json", DOCS / "verilog.md", marks("judge", "verilog.judge"))


def main() -> None:
    """Judge, write it down, and print it; exit with 1 when a reference fails or a cheat or a strong bench's stub
    passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    sample, end = given.problems, time.monotonic() + 60 * given.minutes
    problems, published = VerilogEval(DATA).problems(), VerilogEval(DATA, errata=False).problems()
    chosen = problems[::max(1, len(problems) // sample)] if sample else problems
    known = {} if given.again or sample else TABLE.read()
    sandbox, is_same = find_sandbox(), known.get("digest") == digest_of(_STUB)
    results = known if is_same else study(chosen, {problem.name: problem for problem in published}, sandbox)
    results |= {"cheats": rows_that_hold(known), "kinds": len(cheats())}

    def keep() -> None:
        if not sample:
            write_results(TABLE.results, results)

    keep()
    digest = digest_of(TWINS.read_text(encoding="utf-8"))
    if results.get("twins_digest") != digest:
        results |= {"twins": judge_twins(sandbox, twins()), "twins_digest": digest}
        keep()
    for about, body in cheats().items():
        if about not in results["cheats"] and time.monotonic() < end:
            results["cheats"][about] = cheat(chosen, body, sandbox)
            keep()
    print(told(results) if sample else TABLE.write())
    raise SystemExit(bool(mistakes(results)))


def mistakes(results: Mapping[str, Any]) -> list[str]:
    """What the judge did wrong, in words."""
    return [*(f"the reference of {name} fails" for name in results["references"]["failed"]),
            *(f"a stub passes {name}" for name in results["stubs"]["passed"] if name not in WEAK),
            *(f"twins, {about}: {one}" for about, wrong in results.get("twins", {}).items() for one in wrong),
            *(f"an answer that {about} passes" for about, row in results["cheats"].items() if row["solved"])]


if __name__ == "__main__":
    main()
