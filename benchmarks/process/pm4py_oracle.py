"""What pm4py says: mines, measures and reads for the study `oracle.py`, in an interpreter that has pm4py.

It imports nothing of this project, and the project nothing of it: pm4py is AGPL-3.0 and 550 MB. Jobs come on standard
input as one JSON list, answers go out as another.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta

os.environ["PM4PY_SHOW_PROGRESS_BAR"] = "False"

import pm4py
from pm4py.objects.log.obj import Event, EventLog, Trace
from pm4py.objects.process_tree.obj import Operator, ProcessTree

WORDS = {Operator.SEQUENCE: "sequence", Operator.XOR: "exclusive", Operator.PARALLEL: "parallel", Operator.LOOP: "loop"}
SIGNS = {word: sign for sign, word in WORDS.items()}


def log_of(pool):
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    return EventLog(Trace((Event({"concept:name": name, "time:timestamp": begin + timedelta(seconds=place)})
                           for place, name in enumerate(instance)), attributes={"concept:name": f"{number}-{copy}"})
                    for number, (instance, count) in enumerate(pool) for copy in range(count))


def to_plain(tree):
    if tree.operator is None:
        return tree.label
    return [WORDS[tree.operator], *map(to_plain, tree.children)]


def from_plain(value):
    if not isinstance(value, list):
        return ProcessTree(label=value)
    found = ProcessTree(operator=SIGNS[value[0]])
    for child in map(from_plain, value[1:]):
        child.parent = found
        found.children.append(child)
    return found


def mine(job):
    log = log_of(job["pool"])
    seconds = []
    for _ in range(job.get("times", 1)):
        began = time.process_time()
        tree = pm4py.discover_process_tree_inductive(log, noise_threshold=job["noise"])
        seconds.append(time.process_time() - began)
    return {"tree": to_plain(tree), "seconds": min(seconds)}


def measure(job):
    log = log_of(job["pool"])
    net = pm4py.convert_to_petri_net(from_plain(job["tree"]))
    fitness = pm4py.fitness_token_based_replay(log, *net)
    return {"fitness": fitness["log_fitness"], "fitting": fitness["perc_fit_traces"],
            "precision": pm4py.precision_token_based_replay(log, *net)}


def read_bpmn(job):
    return {"tree": to_plain(pm4py.convert_to_process_tree(pm4py.read_bpmn(job["path"])))}


def read_log(job):
    found = pm4py.read_xes(job["path"])
    return {"cases": int(found["case:concept:name"].nunique()), "events": len(found)}


def main():
    does = {"mine": mine, "measure": measure, "read_bpmn": read_bpmn, "read_log": read_log}
    answers = [does[job["do"]](job) for job in json.load(sys.stdin)]
    json.dump({"pm4py": pm4py.__version__, "answers": answers}, sys.stdout)


if __name__ == "__main__":
    main()
