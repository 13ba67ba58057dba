// What was said and done: dialogues as bubbles, tools and their verdicts, drafts side by side, what an agent was shown.
import { ask, count, duration, el, fill, money, problem, short, title, visible, whole } from "./dom.js";
import { codeBlock, prose, wholeText } from "./code.js";
import { ENDINGS } from "./story.js";

const WINDOW = 60; // items of a run that is read from its beginning
const TAIL = 30; // items before the position of the slider

export class Dialogue {
  #box;
  #list = el("div.flow");
  #more = el("div.more");
  #elements = new Map();
  #story;
  #run;
  #plan = new Map();
  #moreShown = 0;

  constructor(element, story, run, plan) {
    this.#box = element;
    this.#story = story;
    this.#run = run;
    const collect = (steps) => steps.forEach((step) => { this.#plan.set(step.place, step); collect(step.steps); });
    collect(plan);
    fill(element, this.#more, this.#list);
  }

  // The items before `position`, of the step `chosen` where one is; `reading`: from the beginning, else the last ones.
  draw(position, chosen, reading) {
    const items = this.#story.items.filter((item) => item.at < position && (!chosen || item.where === chosen || item.where.startsWith(`${chosen}/`)));
    const visibleItems = reading ? items.slice(0, WINDOW + this.#moreShown) : items.slice(-TAIL - this.#moreShown);
    const wanted = visibleItems.map((item) => this.#element(item, position));
    let at = this.#list.firstChild;
    const keep = new Set(wanted);
    for (const element of wanted) {
      while (at && at !== element && !keep.has(at)) { const next = at.nextSibling; at.remove(); at = next; }
      if (at === element) at = at.nextSibling; else this.#list.insertBefore(element, at);
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
    const left = items.length - visibleItems.length;
    const button = left > 0 ? el("button.quiet", { type: "button", onclick: () => { this.#moreShown += 200; this.draw(position, chosen, reading); } }, `Show ${whole(Math.min(left, 200))} ${reading ? "more" : "earlier"} of ${whole(left)}`) : null;
    fill(this.#more, button);
    if (reading) this.#box.append(this.#more); else this.#box.prepend(this.#more);
    if (!items.length) fill(this.#list, el("p.empty", {}, chosen ? "Nothing was said in this step yet." : "Nothing has happened yet."));
  }

  // The last thing that is shown.
  get end() { return this.#list.lastElementChild; }

  #element(item, position) {
    let version = "";
    if (item.drafts) version = String(item.drafts.filter((one) => one.at < position).length);
    if (item.skipped) version = String(item.skipped.filter((one) => one.at < position).length);
    const known = this.#elements.get(item);
    if (known?.version === version) return known.element;
    const element = (DRAW[item.type] ?? (() => el("div")))(item, { story: this.#story, run: this.#run, plan: this.#plan, position });
    element.dataset.at = item.at;
    this.#elements.set(item, { element, version });
    return element;
  }
}

const DRAW = {
  order({ event }) {
    const inputs = Object.entries(event.inputs ?? {}).filter(([, value]) => value !== null && value !== "");
    return el("section.order", { "aria-label": "What was asked for" }, el("h2", {}, "Asked for"),
      inputs.map(([name, value]) => [name === "task" ? null : el("h3", {}, title(name)), el("div.prose", { dir: "auto" }, typeof value === "string" ? value : JSON.stringify(value, null, 1))]));
  },

  phase({ event }, { plan }) {
    const step = plan.get(event.where);
    const roles = [event.instructor, event.assistant].filter(Boolean);
    return el("section.phase", {}, el("h2", {}, title(event.phase)), el("p", {}, event.about),
      el("p.soft", {}, roles.join(" ⇄ "), step?.reads?.length ? ["; reads ", list(step.reads)] : null, step?.writes ? ["; writes ", el("code.inline", {}, step.writes)] : null));
  },

  ended({ event }) {
    return el(`div.ended${event.ending === "failed" ? ".bad" : ""}`, {}, el("span", {}, ENDINGS[event.ending] ?? event.ending), el("span.soft", {}, ` · ${count(event.rounds, "round")} · ${count(event.calls, "call")}`));
  },

  said({ event }, { story, run }) {
    if (event.utterance === "opening") {
      return el("details.opening", {}, el("summary", {}, "The opening that both sides read"), wholeText(event, "text", event.text, run));
    }
    if (!event.speaker) {
      return el("div.report", {}, el("div.who", {}, el("strong", {}, event.role === "report" ? "Report" : title(event.role))), wholeText(event, "text", event.text, run, (text) => codeBlock(text)));
    }
    const call = story.calls.get(event.place);
    const kinds = { question: "asks", answer: "answers", reflection: "concludes", instruction: "", response: "" };
    return el(`article.bubble.${event.speaker}`, { "aria-label": `${event.role} ${kinds[event.utterance] || "says"}` },
      el("div.who", {}, el("strong", {}, event.role), kinds[event.utterance] ? el("span.soft", {}, kinds[event.utterance]) : null),
      wholeText(event, "text", event.text, run), call ? callLine(call, run) : null);
  },

  tool({ event }, { story, run }) {
    const call = story.calls.get(event.place)?.activity;
    const look = event.passed === true ? "passed" : event.passed === false ? "rejected" : "neutral";
    const first = event.summary.split("\n")[0].slice(0, 160);
    return el(`details.tool.${look}`, {},
      el("summary", {}, el("span.mark", { "aria-hidden": "true" }), el("code", {}, event.tool), el("span.verdict", {}, event.passed === true ? "passed" : event.passed === false ? "did not pass" : ""),
        el("span.first", {}, first), el("span.soft.figure", {}, duration(event.seconds))),
      event.summary.trim() ? wholeText(event, "summary", event.summary, run, (text) => codeBlock(text)) : el("p.soft", {}, "It says nothing."),
      call ? toolCall(call, run) : null);
  },

  drafts(item, { story, run, position }) {
    const drafts = item.drafts.filter((one) => one.at < position).map((one) => one.event);
    const best = drafts.filter((draft) => draft.chosen).at(-1);
    const cards = drafts.map((draft) => {
      const passed = draft.passed === true ? "passed" : draft.passed === false ? "rejected" : "neutral";
      const activity = story.calls.get(draft.place)?.activity;
      const body = el("div.text");
      return el(`div.draft.${passed}${draft === best ? ".best" : ""}`, {},
        el("div.who", {}, el("strong", {}, `Draft ${draft.number}`), draft === best ? el("span.badge.good", {}, "kept") : null),
        el("p", {}, draft.examples ? `${draft.examples[0]} of ${draft.examples[1]} examples hold` : draft.passed === null ? draft.problem : draft.passed ? "passes" : "does not pass", draft.score !== null ? el("span.soft", {}, ` · score ${Number(draft.score.toFixed(2))}`) : null),
        activity ? demand("Show the text", body, async () => prose((await ask("text", { run, line: activity.n, path: "result.text" })).text)) : null, body);
    });
    return el("section.drafts", { "aria-label": "Drafts side by side" }, el("h3", {}, `${count(drafts.length, "draft")}, at most ${item.event.of}`), el("div.cards", {}, cards));
  },

  delivery({ event }) {
    const files = [...(event.written ?? []).map((path) => el("li.added", {}, path)), ...(event.deleted ?? []).map((path) => el("li.removed", {}, path))];
    if (!files.length) return el("div.delivery.soft", {}, event.unchanged ? "The delivery changes nothing." : "The delivery is taken.");
    return el("div.delivery", {}, el("span", {}, "Delivered"), el("ul.files", {}, files.slice(0, 40), files.length > 40 ? el("li", {}, `and ${files.length - 40} more`) : null));
  },

  refused({ event }, { run }) {
    return el("details.refused", {}, el("summary", {}, "The delivery was not kept: ", el("span", {}, event.reason.split("\n")[0].slice(0, 160))), wholeText(event, "reason", event.reason, run, (text) => codeBlock(text)));
  },

  note({ event }) { return el(`div.note${event.level === "warning" ? ".warn" : ""}`, {}, el("span.prose", { dir: "auto" }, event.text)); },

  resumed({ event }) { return el("div.divider", {}, el("span", {}, `Resumed: ${count(event.calls, "call")} were on record`)); },

  skipped(item, { position }) {
    const found = item.skipped.filter((one) => one.at < position).map((one) => one.event);
    return el("details.skips", {}, el("summary", {}, found.length === 1 ? `${title(stepName(found[0]))} is skipped` : `${found.length} steps are skipped`),
      el("ul", {}, found.map((event) => el("li", {}, el("strong", {}, title(stepName(event))), " ", el("span.soft", {}, event.reason.replaceAll("`", ""))))));
  },

  loop({ event }) {
    const names = { repeat: "Repeat", foreach: "For each", parallel: "At the same time", process: "Process" };
    return el("div.divider", {}, el("span", {}, names[event.step] ?? title(event.step)), el("span.soft", {}, ` ${event.detail}`));
  },

  end({ event }, { run }) {
    const words = { success: "The run succeeded", failure: "The run ended without success", unjudged: "The run ended, and nothing judges it", stopped: "A budget is used up", error: "The run failed", interrupted: "The run was interrupted" };
    return el(`section.end.${event.status}`, {}, el("h2", {}, words[event.status] ?? event.status), el("div", {}, wholeText(event, "reason", event.reason, run, (text) => el("div.prose", { dir: "auto" }, text))),
      el("p.soft", {}, duration(event.seconds), event.place ? ` · at ${event.place}` : ""));
  },

  asked({ event }, { run }) {
    return el("details.note.ask", {}, el("summary", {}, el("strong", {}, "A person is asked"), ` ${event.about}`), event.text ? wholeText(event, "text", event.text, run) : null);
  },

  answered({ event }) {
    const words = { say: "says", accept: "accepts", refuse: "refuses", edit: "accepts with edits", skip: "does not answer" };
    return el("div.note.ask", {}, el("strong", {}, "The person "), words[event.action] ?? event.action, event.text ? [": ", el("span.prose", { dir: "auto" }, event.text)] : null);
  },
};

const stepName = (event) => event.where.split("/").pop() || event.step;

const list = (names) => names.map((name, n) => [n ? ", " : "", el("code.inline", {}, String(name).replace(/\?$/, ""))]);

function demand(name, place, draw) {
  const button = el("button.quiet", { type: "button" }, name);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      fill(place, await draw());
      button.remove();
    } catch (error) {
      fill(place, problem(error.message));
      button.disabled = false;
    }
  });
  return button;
}

function callLine({ activity, called }, run) {
  const parts = called ? [called.model, `${short(called.prompt_tokens)} → ${short(called.completion_tokens)} tokens${called.estimated ? " (estimated)" : ""}`, duration(called.seconds), called.cost ? money(called.cost) : null, called.retries ? `${count(called.retries, "attempt")} failed` : null] : [];
  return el("div.call", {}, el("span.soft", {}, parts.filter(Boolean).join(" · ")),
    activity ? el("button.quiet", { type: "button", onclick: () => showCall(activity, run) }, "What it was shown") : null);
}

function toolCall(activity, run) {
  const body = el("div");
  const reads = activity.request?.reads ?? [];
  const given = JSON.stringify(activity.request?.arguments ?? {});
  return el("div.call", {}, el("div.soft", {}, reads.length ? ["reads ", list(reads)] : null, given !== "{}" ? [reads.length ? "; " : "", "given ", el("code.inline", {}, given.slice(0, 300))] : null),
    demand("Its whole result", body, async () => codeBlock((await ask("text", { run, line: activity.n, path: "result" })).text, "json")), body);
}

// Everything that a model was sent, in a panel beside the page.
async function showCall(activity, run) {
  const body = el("div.messages", {}, el("p.soft", {}, "Loading …"));
  const panel = el("dialog.panel", { "aria-label": "What the agent was shown" }, el("div.panelhead", {}, el("h2", {}, "What it was shown"), el("button.icon", { type: "button", "aria-label": "Close", onclick: () => panel.close() }, "✕")), body);
  panel.addEventListener("close", () => panel.remove());
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  document.body.append(panel);
  panel.showModal();
  try {
    const found = await ask("shown", { run, line: activity.n });
    const names = { system: "System message", user: "Message", assistant: "Its own words", tool: "Result of a tool" };
    const sampling = Object.entries(found.sampling).filter(([, value]) => value !== null).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(" · ");
    fill(body, sampling ? el("p.soft", {}, sampling) : null,
      found.messages.map(({ n, message, cut }) => el(`section.message.${/^\w+$/.test(message.role) ? message.role : "other"}`, {}, el("h3", {}, names[message.role] ?? visible(message.role)),
        typeof message.content === "string" ? wholeText({ n, cut: { "message.content": cut["message.content"] } }, "message.content", message.content, run) : codeBlock(JSON.stringify(message, null, 1), "json"))),
      found.tools.length ? el("section.message", {}, el("h3", {}, count(found.tools.length, "tool")), codeBlock(JSON.stringify(found.tools, null, 1).slice(0, 50_000), "json")) : null);
  } catch (error) {
    fill(body, problem(error.message));
  }
}

