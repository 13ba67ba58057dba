// A run as its events tell it: what there is to show, and how things stood after any number of events.

// How a phase ended, in words.
export const ENDINGS = { consensus: "They agree", feedback: "The tool is content", rounds: "All rounds are used", delivered: "Delivered", failed: "It failed", kept: "What was there is kept", unchanged: "Nothing changes any more", stuck: "They are stuck", budget: "Its budget is used up", reflection: "A conclusion was drawn", value: "A value was set", skipped: "Nobody answered", refused: "A person did not want it" };

// The step of the plan that a place belongs to: passes and items of a loop are the same step again.
export function stepOf(place) {
  const parts = String(place ?? "").split("/");
  let last = parts.length - 1;
  while (last >= 0 && !parts[last].includes("#")) last -= 1;
  return parts.slice(0, last + 1).filter((part) => !/^(pass|item)-/.test(part)).join("/");
}

// The execution of a step, with its pass or item.
export function executionOf(place) {
  const parts = String(place ?? "").split("/");
  let last = parts.length - 1;
  while (last >= 0 && !parts[last].includes("#")) last -= 1;
  return parts.slice(0, last + 1).join("/");
}

const firstDraft = (place) => String(place).replace(/\/draft-\d+$/, "");

export class Story {
  events = [];
  items = []; // what a reader sees, in order; each with `at`, the number of its first event
  calls = new Map(); // place → {activity, called}, of models and tools
  asked = new Set(); // questions to people, by id
  #drafts = new Map();
  start = NaN;

  add(events) {
    for (const event of events) {
      const at = this.events.length;
      event.where = stepOf(event.place);
      event.ms = Date.parse(event.time ?? "");
      if (Number.isNaN(this.start)) this.start = event.ms;
      this.events.push(event);
      this.#take(event, at);
    }
  }

  get length() { return this.events.length; }

  elapsed(position) {
    const event = this.events[Math.max(0, Math.min(position, this.length) - 1)];
    return event && !Number.isNaN(event.ms) ? (event.ms - this.start) / 1000 : undefined;
  }

  #item(type, event, at, more = {}) {
    const item = { type, event, at, where: event.where, ...more };
    this.items.push(item);
    return item;
  }

  #take(event, at) {
    switch (event.kind) {
      case "Activity": this.calls.set(event.place, { ...this.calls.get(event.place), activity: event }); break;
      case "ModelCalled": this.calls.set(event.place, { ...this.calls.get(event.place), called: event }); break;
      case "ToolCalled": this.#item("tool", event, at); break;
      case "DraftJudged": this.#draft(event, at); break;
      case "StepSkipped": this.#skip(event, at); break;
      case "PersonAsked": this.asked.add(event.id); this.#item("asked", event, at); break;
      case "PersonAnswered": this.#item("answered", event, at); break;
      case "StepStarted": if (!isTool(event)) this.#item("loop", event, at); break;
      default: if (SHOWN[event.kind]) this.#item(SHOWN[event.kind], event, at);
    }
  }

  #draft(event, at) {
    const place = firstDraft(event.place);
    const known = this.#drafts.get(place);
    if (known) { known.drafts.push({ event, at }); known.changed = at; return; }
    this.#drafts.set(place, this.#item("drafts", event, at, { drafts: [{ event, at }] }));
  }

  #skip(event, at) {
    const last = this.items[this.items.length - 1];
    if (last?.type === "skipped") { last.skipped.push({ event, at }); last.changed = at; } else this.#item("skipped", event, at, { skipped: [{ event, at }] });
  }

  // How things stood after `position` events.
  at(position) {
    const nodes = new Map();
    const open = [];
    const usage = { calls: 0, prompt: 0, completion: 0, cost: 0, tools: 0 };
    let status = "running";
    let reason = "";
    const node = (step) => nodes.get(step) ?? nodes.set(step, { state: "", times: 0, seconds: 0, tokens: 0, calls: 0, cost: 0, began: 0 }).get(step);
    for (let n = 0; n < Math.min(position, this.events.length); n += 1) {
      const event = this.events[n];
      switch (event.kind) {
        case "RunStarted": case "RunResumed": status = "running"; reason = ""; break;
        case "PhaseStarted": case "StepStarted": {
          const found = node(event.where);
          found.state = "active"; found.times += 1; found.began = event.ms; found.first ??= n;
          found.about ??= event.about; found.phase = event.kind === "PhaseStarted";
          open.push(event.where);
          break;
        }
        case "PhaseFinished": case "StepFinished": {
          const found = node(event.where);
          found.state = event.ending === "failed" ? "failed" : "done";
          found.ending = event.ending ?? event.outcome;
          found.seconds += (event.ms - found.began) / 1000 || 0;
          const index = open.lastIndexOf(event.where);
          if (index >= 0) open.splice(index, 1);
          break;
        }
        case "StepSkipped": { const found = node(event.where); if (!found.times) found.state = "skipped"; found.why = event.reason; found.first ??= n; break; }
        case "ModelCalled": {
          usage.calls += 1; usage.prompt += event.prompt_tokens; usage.completion += event.completion_tokens;
          usage.cost = usage.cost === null || event.cost === null ? null : usage.cost + event.cost;
          const found = node(event.where);
          found.calls += 1; found.tokens += event.prompt_tokens + event.completion_tokens;
          break;
        }
        case "ToolCalled": usage.tools += 1; if (event.passed === false) node(event.where).verdict = false; else if (event.passed) node(event.where).verdict = true; break;
        case "RunFinished":
          status = event.status; reason = event.reason;
          for (const step of open) node(step).state = event.status === "success" ? "done" : event.status === "error" ? "failed" : "stopped";
          open.length = 0;
          break;
        default:
      }
    }
    return { nodes, open, usage, status, reason, seconds: this.elapsed(position) };
  }
}

const isTool = (event) => event.step === "tool";

const SHOWN = {
  Order: "order", PhaseStarted: "phase", PhaseFinished: "ended", Uttered: "said", DeliveryApplied: "delivery",
  DeliveryRefused: "refused", Noted: "note", RunResumed: "resumed", RunFinished: "end",
};
