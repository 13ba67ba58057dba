// What bpmn.io's programs say of the BPMN files in a folder: each is read and written anew (NAME.again), and checked by
// the recommended rules of bpmnlint. Takes the folder with node_modules and that of the files; prints JSON.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, folder] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/index.js`));
const { BpmnModdle } = await import(pathToFileURL(require.resolve("bpmn-moddle")).href);
const { Linter } = require("bpmnlint");
const NodeResolver = require("bpmnlint/lib/resolver/node-resolver");
const found = {};
for (const name of readdirSync(folder).filter((one) => one.endsWith(".bpmn"))) {
  const { rootElement, warnings } = await new BpmnModdle().fromXML(readFileSync(`${folder}/${name}`, "utf8"));
  const { xml } = await new BpmnModdle().toXML(rootElement, { format: true });
  writeFileSync(`${folder}/${name}.again`, xml);
  const linter = new Linter({ resolver: new NodeResolver({ require }), config: { extends: "bpmnlint:recommended" } }); // it remembers flows
  const reports = await linter.lint(rootElement);
  found[name] = { warnings: warnings.length, lint: Object.entries(reports).flatMap(([rule, all]) => all.map((one) => `${rule}: ${one.id} ${one.message}`)) };
}
console.log(JSON.stringify({ moddle: require("bpmn-moddle/package.json").version, lint: require("bpmnlint/package.json").version, found }));
