"""What SpiffWorkflow does with executable BPMN files: runs each several times, with ways drawn at random.

It runs in an interpreter that has SpiffWorkflow, and imports nothing of this project. Takes files; prints JSON.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from random import Random
from xml.etree import ElementTree

from SpiffWorkflow.bpmn import BpmnWorkflow
from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.util.task import TaskState

RUNS, MOST_STEPS = 8, 2000
SPACE = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"


def run(path, chance):
    """The names of the tasks in the order in which they were done."""
    parser = BpmnParser()
    parser.add_bpmn_file(path)
    workflow = BpmnWorkflow(parser.get_spec("process"))
    root = ElementTree.parse(path).getroot()
    names = {one.get("id"): one.get("name") for one in root.iter(f"{SPACE}task")}
    choices = [one.get("id") for one in root.iter(f"{SPACE}exclusiveGateway")]
    done = []
    for _ in range(MOST_STEPS):
        ready = workflow.get_tasks(state=TaskState.READY)
        if not ready:
            return done
        task = chance.choice(ready)
        task.data.update({id: chance.choice((1, 1, 2, 3)) for id in choices})
        task.run()
        if task.task_spec.bpmn_id in names:
            done.append(names[task.task_spec.bpmn_id])
    return None


def main():
    found = {}
    for number, path in enumerate(sys.argv[1:]):
        runs = []
        for seed in range(RUNS):
            try:
                runs.append(run(path, Random(f"{number}/{seed}")))
            except Exception as error:  # noqa: BLE001 - what the engine raises is what is counted
                runs.append(f"{type(error).__name__}: {error}"[:200])
        found[path] = runs
    json.dump({"spiff": version("SpiffWorkflow"), "found": found}, sys.stdout)


if __name__ == "__main__":
    main()
