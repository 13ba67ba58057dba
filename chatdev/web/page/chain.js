// The chain of a run: its plan, lit by how far it has come. Steps that were skipped are folded.
import { duration, el, fill, title } from "./dom.js";

const STATES = { active: "under way", done: "done", failed: "failed", skipped: "skipped", stopped: "stopped", "": "not yet" };

export class Chain {
  #element;
  #choose;
  #plan;
  #signature = "";
  #unfolded = new Set();
  #state;
  #chosen = "";

  constructor(element, plan, choose) {
    this.#element = element;
    this.#choose = choose;
    this.#plan = plan;
  }

  draw(state, chosen) {
    this.#state = state;
    this.#chosen = chosen;
    const signature = [chosen, ...[...state.nodes].map(([step, node]) => `${step}${node.state}${node.times}${node.verdict}${Math.round(node.seconds)}`)].join("|");
    if (signature === this.#signature) return;
    this.#signature = signature;
    const known = new Set();
    const collect = (steps) => steps.forEach((step) => { known.add(step.place); collect(step.steps); });
    collect(this.#plan);
    // What the plan does not tell, e.g. the phases that a process was given, the events do.
    const extra = new Map();
    const root = [];
    for (const step of state.nodes.keys()) {
      if (!step || known.has(step)) continue;
      const above = step.split("/").slice(0, -1).join("/").replace(/\/branch-\d+$/, "");
      const found = { kind: "phase", name: step.split("/").pop().replace(/#\d+$/, ""), place: step, caption: "", steps: [] };
      known.add(step);
      const parent = known.has(above) ? above : "";
      if (parent) extra.set(parent, [...(extra.get(parent) ?? []), found]); else root.push(found);
    }
    const focused = this.#element.contains(document.activeElement) ? document.activeElement.dataset.place : null;
    fill(this.#element, this.#list([...this.#plan, ...root], extra));
    if (focused) this.#element.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  #list(steps, extra) {
    const rows = [];
    let skipped = [];
    const flush = () => {
      if (skipped.length > 1 && !this.#unfolded.has(skipped[0].place)) rows.push(this.#folded(skipped));
      else skipped.forEach((step) => rows.push(this.#row(step, extra)));
      skipped = [];
    };
    for (const step of steps) {
      if (this.#state.nodes.get(step.place)?.state === "skipped" && step.name) { skipped.push(step); continue; }
      flush();
      rows.push(this.#row(step, extra));
    }
    flush();
    return el("ol.chain", {}, rows);
  }

  #folded(skipped) {
    const names = skipped.map((step) => title(step.name)).join(", ");
    return el("li.folded", {}, el("button.node", { type: "button", "aria-expanded": "false", title: names, onclick: () => { this.#unfolded.add(skipped[0].place); this.#signature = ""; this.draw(this.#state, this.#chosen); } },
      el("span.mark", { "aria-hidden": "true" }), el("span.name", {}, `${skipped.length} steps skipped`)));
  }

  #row(step, extra) {
    const node = this.#state.nodes.get(step.place) ?? { state: "" };
    const inner = [...step.steps, ...(extra.get(step.place) ?? [])];
    const state = node.state;
    const verdict = step.kind === "tool" && state === "done" && node.verdict !== undefined ? (node.verdict ? " passed" : " rejected") : "";
    const name = step.name.includes(".") ? step.name : title(step.name || "branch");
    const more = [node.times > 1 ? `×${node.times}` : "", node.seconds >= 1 ? duration(node.seconds) : ""].filter(Boolean).join(" · ");
    const button = step.name ? el("button.node", { type: "button", "data-place": step.place, "aria-pressed": String(this.#chosen === step.place), title: node.why ? `skipped: ${node.why}` : step.caption || step.about || name, onclick: () => this.#choose(this.#chosen === step.place ? "" : step.place) },
      el("span.mark", { "aria-hidden": "true" }), el("span.name", {}, name, el("span.hidden", {}, ` ${STATES[state]}${verdict}`)), more ? el("span.soft.figure", {}, more) : null) : null;
    const kind = step.kind === "tool" || step.name.includes(".") ? "is-tool" : inner.length ? "is-group" : "is-phase";
    return el(`li.${kind}.${state || "pending"}${verdict.trim() ? `.${verdict.trim()}` : ""}`, {}, button, inner.length ? this.#list(inner, extra) : null);
  }
}
