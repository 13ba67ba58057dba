#!/usr/bin/env bash
# Guess: in each pass of a loop around a parallel part its join waits for both branches, in whatever order people finish them.
# Seen, SpiffWorkflow 3.2.0 (Python 3.11): the first pass b, a, c is right; in the second pass c is offered after a alone.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check SpiffWorkflow==3.2.0
cat > loop.bpmn <<'XML'
<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="t">
  <process id="p" isExecutable="true">
    <startEvent id="start"/><exclusiveGateway id="merge"/><task id="s"/><parallelGateway id="fork"/><task id="a"/><task id="b"/>
    <parallelGateway id="join"/><task id="c"/><exclusiveGateway id="choice" default="leave"/><endEvent id="end"/>
    <sequenceFlow id="f0" sourceRef="start" targetRef="merge"/><sequenceFlow id="f1" sourceRef="merge" targetRef="s"/>
    <sequenceFlow id="f2" sourceRef="s" targetRef="fork"/><sequenceFlow id="f3" sourceRef="fork" targetRef="a"/>
    <sequenceFlow id="f4" sourceRef="fork" targetRef="b"/><sequenceFlow id="f5" sourceRef="a" targetRef="join"/>
    <sequenceFlow id="f6" sourceRef="b" targetRef="join"/><sequenceFlow id="f7" sourceRef="join" targetRef="c"/>
    <sequenceFlow id="f8" sourceRef="c" targetRef="choice"/><sequenceFlow id="leave" sourceRef="choice" targetRef="end"/>
    <sequenceFlow id="again" sourceRef="choice" targetRef="merge"><conditionExpression xsi:type="tFormalExpression">again</conditionExpression></sequenceFlow>
  </process>
</definitions>
XML
cat > run.py <<'PY'
from SpiffWorkflow.bpmn import BpmnWorkflow
from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.util.task import TaskState

parser = BpmnParser()
parser.add_bpmn_file("loop.bpmn")
workflow = BpmnWorkflow(parser.get_spec("p"))
done = []
for wanted in "sbacsa":  # what the people finish, one after another
    while True:  # gateways and events go on by themselves
        ready = {task.task_spec.name: task for task in workflow.get_tasks(state=TaskState.READY)}
        automatic = [name for name in ready if name not in ("s", "a", "b", "c")]
        if not automatic:
            break
        ready[automatic[0]].run()
    task = ready[wanted]
    task.data["again"] = True
    task.run()
    done.append(wanted)
while automatic := [task for task in workflow.get_tasks(state=TaskState.READY) if task.task_spec.name not in ("s", "a", "b", "c")]:
    automatic[0].run()
offered = sorted(task.task_spec.name for task in workflow.get_tasks(state=TaskState.READY))
print("done:", *done, "| offered now:", *offered)
assert offered == ["b", "c"], "the join waits for b now"
PY
venv/bin/python run.py
