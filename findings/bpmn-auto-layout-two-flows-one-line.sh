#!/usr/bin/env bash
# Guess: in a laid out diagram two flows that share neither source nor target can be told apart.
# Seen, bpmn-auto-layout 1.3.0 (Node.js 20): of "a, then b any number of times or not at all, then c" the skip of the choice and
# the way back of the loop lie on one line, so nobody sees which gateway leads where. Without the optional elements `incoming` and
# `outgoing` in the nodes it draws no flow at all, and says nothing.
set -euo pipefail
cd "$(mktemp -d)"
npm install --silent --no-fund --no-audit bpmn-auto-layout@1.3.0 >/dev/null
cat > layout.mjs <<'JS'
import { layoutProcess } from 'bpmn-auto-layout';

const nodes = [['startEvent', 'start'], ['task', 'a'], ['exclusiveGateway', 'split'], ['exclusiveGateway', 'enter'], ['task', 'b'],
  ['exclusiveGateway', 'again'], ['exclusiveGateway', 'merge'], ['task', 'c'], ['endEvent', 'end']];
const flows = [['start', 'a'], ['a', 'split'], ['split', 'enter'], ['enter', 'b'], ['b', 'again'], ['again', 'enter'],
  ['again', 'merge'], ['split', 'merge'], ['merge', 'c'], ['c', 'end']];
const ends = (node, side, tag) => flows.filter(flow => flow[side] === node).map(flow => `<${tag}>${flow.join('_')}</${tag}>`).join('');
const write = withEnds => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"><process id="p">${
  nodes.map(([kind, id]) => `<${kind} id="${id}">${withEnds ? ends(id, 1, 'incoming') + ends(id, 0, 'outgoing') : ''}</${kind}>`).join('')}${
  flows.map(([a, b]) => `<sequenceFlow id="${a}_${b}" sourceRef="${a}" targetRef="${b}"/>`).join('')}</process></definitions>`;
const drawn = xml => Object.fromEntries([...xml.matchAll(/bpmnElement="(\w+_\w+)">(.*?)<\/bpmndi:BPMNEdge>/gs)].map(
  ([, id, inner]) => [id, [...inner.matchAll(/x="([\d.]+)" y="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)])]));
const lines = drawn(await layoutProcess(write(true)));
const skip = lines.split_merge, back = lines.again_enter;
console.log('skip', JSON.stringify(skip), 'way back', JSON.stringify(back));
const low = points => points.filter(([, y]) => y === Math.max(...points.map(point => point[1])));
const [s, b] = [low(skip), low(back)];
const shared = s[0][1] === b[0][1] && Math.min(s[1][0], Math.max(b[0][0], b[1][0])) > Math.max(s[0][0], Math.min(b[0][0], b[1][0]));
const bare = Object.keys(drawn(await layoutProcess(write(false)))).length;
console.log('on one line:', shared, '| flows drawn without incoming and outgoing:', bare);
process.exit(shared && bare === 0 ? 0 : 1);
JS
node layout.mjs
