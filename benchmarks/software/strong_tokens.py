"""What is sent to a strong model for the same success, beside an earlier build: the tables in docs/models.md.

    python -m benchmarks.software.strong_tokens [--only NAME]... [--build NAME] [--write]

The right programs of the scenarios of `strong_models` are written by the same scripted model, and what it is
sent is counted: system messages, all other messages, and the schemas of tools; a token is a fourth of the characters.
`--build` names what is measured (`now`, or the commit in whose tree the command runs: copy this file,
`strong_models.py`, `study.py` and `data/strong_models/` there). Takes about twenty minutes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.reliability.room import room
from benchmarks.software.strong_models import MODEL, RIGHT, Scenario, StrongModel, read_scenarios
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, markdown_table, marks, write_results
from chatdev import Company
from tests.support.chat_server import Received, Scripted

BEFORE, NOW = "8554d454", "now"
PARTS = ("system", "messages", "tools")
Sent = dict[str, int]
"""Tokens by part."""


def count(body: Mapping[str, Any]) -> Sent:
    """The tokens of a request's body by part."""
    sizes = dict.fromkeys(PARTS, 0)
    for message in body["messages"]:
        sizes["system" if message["role"] == "system" else "messages"] += _tokens(message.get("content") or "")
    return {**sizes, "tools": _tokens(body["tools"]) if body.get("tools") else 0}


def _tokens(content: object) -> int:
    return round(len(content if isinstance(content, str) else json.dumps(content)) / 4)


def measure(scenario: Scenario) -> dict[str, Any]:
    """How the right program ends, and what was sent for it, by phase and call."""
    sent: list[tuple[str, Sent]] = []
    model = StrongModel(scenario, dict(scenario.programs())[RIGHT])

    def answer(request: Received) -> Scripted:
        sent.append((phase_of(request.headers["X-ChatDev-Activity"]), count(request.body)))
        return model(request)

    with room(answer, {}) as warehouse:
        status = Company.load("chatdev").run(scenario.request, model=MODEL, warehouse=str(warehouse)).status
    return {"status": status, "sent": sent}


def phase_of(activity: str) -> str:
    """The phase of a call, with its side."""
    return f"{re.findall(r'([a-z_]+)#', activity)[-1]}, {'instructor' if 'instructor' in activity else 'assistant'}"


def table(study: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for each scenario that succeeds in both builds, and one for each phase of these."""
    before, now = study.get(BEFORE, {}), study.get(NOW, {})
    both = [name for name in now if {build.get(name, {}).get("status") for build in (before, now)} == {"success"}]
    lines = [(name, *_compared(before[name]["sent"], now[name]["sent"])) for name in both]
    all_sent = [[call for name in both for call in build[name]["sent"]] for build in (before, now)]
    bare = [[(phase, {**one, "tools": 0}) for phase, one in sent] for sent in all_sent]
    head = ["scenario", "calls before", "now", "tokens before", "now", "ratio", "system before", "now"]
    phases = [(name, *_per_call(all_sent[0], name), *_per_call(all_sent[1], name))
              for name in dict.fromkeys(phase for sent in all_sent for phase, _ in sent)]
    parts = ["calls", *PARTS]
    return "\n".join([
        markdown_table(head, [*lines, ("all", *_compared(*all_sent)), ("all, no schemas", *_compared(*bare))]), "",
        f"What a call sends on average, by phase, in {BEFORE} (before) and now:", "",
        markdown_table(["phase", *(f"{part} before" for part in parts), *(f"{part} now" for part in parts)], phases)])


def _compared(before: Sequence[tuple[str, Sent]], now: Sequence[tuple[str, Sent]]) -> tuple[str, ...]:
    (then_all, then_system), (now_all, now_system) = _total(before), _total(now)
    return (str(len(before)), str(len(now)), str(then_all), str(now_all), f"{now_all / then_all:.2f}",
            f"{then_system / then_all:.0%}", f"{now_system / now_all:.0%}")


def _total(sent: Iterable[tuple[str, Sent]]) -> tuple[int, int]:
    """All tokens, schemas of tools among them, and those of system messages."""
    counted = [one for _, one in sent]
    return sum(sum(one.values()) for one in counted), sum(one["system"] for one in counted)


def _per_call(sent: Iterable[tuple[str, Sent]], phase: str) -> tuple[str, ...]:
    found = [one for name, one in sent if name == phase]
    means = [f"{sum(one[part] for one in found) / len(found):.0f}" if found else "–" for part in PARTS]
    return (str(len(found)), *means)


TABLE = KeptTable(table, RESULTS_FOLDER / "strong_tokens.json", DOCS / "models.md",
                  marks("tokens", "software.strong_tokens"))


def main() -> None:
    """Measure, keep, print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this scenario")
    parser.add_argument("--build", default=NOW, metavar="NAME", help="what is measured")
    parser.add_argument("--write", action="store_true", help="write the page from what is kept, and measure nothing")
    given = parser.parse_args()
    for scenario in [] if given.write else read_scenarios(given.only):
        row, study = measure(scenario), TABLE.read()
        print(f"{scenario.name}: {row['status']}, {len(row['sent'])} calls, {_total(row['sent'])[0]} tokens")
        write_results(TABLE.results, {**study, given.build: {**study.get(given.build, {}), scenario.name: row}})
    print(TABLE.write() if given.build == NOW else TABLE.text())


if __name__ == "__main__":
    main()
