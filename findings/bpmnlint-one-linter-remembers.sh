#!/usr/bin/env bash
# Guess: a linter that has looked at one diagram judges the next one as if it were the first.
# Seen, bpmnlint 11.15.0 (Node.js 20): the rule no-duplicate-sequence-flows keeps the flows of earlier diagrams. A second diagram
# whose flows have the same ids, as generated files and copies have, gets six findings, and a third one two, though each is right
# and has none with a linter of its own.
set -euo pipefail
cd "$(mktemp -d)"
npm install --silent --no-fund --no-audit bpmnlint@11.15.0 bpmn-moddle@10.3.1 >/dev/null
cat > lint.mjs <<'JS'
import { createRequire } from 'node:module';
import { BpmnModdle } from 'bpmn-moddle';

const require = createRequire(import.meta.url);
const { Linter } = require('bpmnlint');
const NodeResolver = require('bpmnlint/lib/resolver/node-resolver');
const diagram = name => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t" id="d"><process id="p">
<startEvent id="start" name="begin"><outgoing>one</outgoing></startEvent>
<task id="a" name="${name}"><incoming>one</incoming><outgoing>two</outgoing></task>
<endEvent id="end" name="end"><incoming>two</incoming></endEvent>
<sequenceFlow id="one" sourceRef="start" targetRef="a"/><sequenceFlow id="two" sourceRef="a" targetRef="end"/>
</process></definitions>`;
const make = () => new Linter({ config: { rules: { 'no-duplicate-sequence-flows': 'error' } }, resolver: new NodeResolver() });
const count = async (linter, name) => {
  const { rootElement } = await new BpmnModdle().fromXML(diagram(name));
  return Object.values(await linter.lint(rootElement)).flat().length;
};
const shared = make();
const together = [await count(shared, 'a'), await count(shared, 'b'), await count(shared, 'c')];
const alone = [await count(make(), 'a'), await count(make(), 'b'), await count(make(), 'c')];
console.log('findings of three diagrams: one linter', together.join(', '), '| a linter each', alone.join(', '));
process.exit(together[0] === 0 && together[1] > 0 && alone.every(number => number === 0) ? 0 : 1);
JS
node lint.mjs
