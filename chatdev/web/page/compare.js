// Two runs side by side: figures, steps, and how their software differs.
import { ask, badge, count, duration, el, fill, money, problem, title, whole } from "./dom.js";
import { diffCard } from "./software.js";
import { ENDINGS, Story } from "./story.js";

export async function comparePage(main, { signal }) {
  document.title = "Compare · chatdev";
  main.className = "";
  const asked = new URLSearchParams(location.search).getAll("run").slice(0, 2);
  if (asked.length < 2) return void fill(main, el("div.narrow", {}, el("h1", {}, "Compare"), el("p", {}, "Choose two runs in ", el("a", { href: "/" }, "the list"), " and compare them.")));
  const sides = await Promise.all(asked.map(async (run) => {
    const [about, events] = await Promise.all([ask("run", { run }, { signal }), ask("events", { run }, { signal })]);
    const story = new Story();
    story.add(events.events);
    return { run, about, story, state: story.at(story.length), problem: events.problem };
  }));
  const differences = el("div.diffs", {}, el("p.soft", {}, "Loading …"));
  fill(main, el("div.wide", {}, el("div.head", {}, el("h1", {}, "Two runs side by side")), sides.map((side) => side.problem ? problem(side.problem) : null),
    el("div.scroll", { tabindex: "0", role: "region", "aria-label": "Figures of both runs" }, el("table.compared", {},
      el("thead", {}, el("tr", {}, el("td"), sides.map(({ run, about }) => el("th", { scope: "col" }, el("a", { href: `/run/${encodeURIComponent(run)}` }, run.split("/").slice(-2).join(" / ")), el("div.clip", { dir: "auto" }, about.task))))),
      el("tbody", {}, figures(sides), steps(sides)))),
    el("h2.apart", {}, "How the software differs"), differences));
  try {
    const found = await ask("compare", { run: asked[0], other: asked[1] }, { signal });
    fill(differences, found.length ? [el("p.soft", {}, `From ${asked[0]} to ${asked[1]}.`), found.map(diffCard)] : el("p.soft", {}, "It does not, or there is none."));
  } catch (error) {
    if (!signal.aborted) fill(differences, problem(error.message));
  }
}

const row = (name, cells) => el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", {}, cell)));

function figures(sides) {
  return [
    row("Status", sides.map(({ about }) => [badge(about.status), el("div.soft", {}, about.reason)])),
    row("Company", sides.map(({ about }) => about.company)), row("Models", sides.map(({ about }) => about.models.join(", ") || "–")),
    row("Time", sides.map(({ state }) => duration(state.seconds))), row("Model calls", sides.map(({ state }) => whole(state.usage.calls))),
    row("Tokens in", sides.map(({ state }) => whole(state.usage.prompt))), row("Tokens out", sides.map(({ state }) => whole(state.usage.completion))),
    row("Cost", sides.map(({ state }) => money(state.usage.cost))), row("Tool calls", sides.map(({ state }) => whole(state.usage.tools))),
  ];
}

function steps(sides) {
  const names = [...new Set(sides.flatMap(({ state }) => [...state.nodes].filter(([, node]) => node.phase).map(([step]) => step)))];
  return [el("tr.group", {}, el("th", { scope: "colgroup", colspan: "3" }, "Phases")), names.map((step) => row(title(step.split("/").pop()), sides.map(({ state }) => {
    const node = state.nodes.get(step);
    if (!node?.times) return el("span.soft", {}, node?.state === "skipped" ? "skipped" : "–");
    return [ENDINGS[node.ending] ?? node.ending ?? node.state, el("span.soft", {}, ` · ${duration(node.seconds)} · ${count(node.calls, "call")}`)];
  })))];
}
