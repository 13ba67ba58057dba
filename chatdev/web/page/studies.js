// Studies: variants (companies, models) beside each other on the same tasks, with the run behind each figure.
import { ask, badge, count, duration, el, fill, money, short, title } from "./dom.js";

export async function studiesPage(main, { signal }) {
  document.title = "Studies · chatdev";
  const { folder, studies } = await ask("studies", {}, { signal });
  fill(main, el("div.wide", {}, el("div.head", {}, el("div", {}, el("h1", {}, "Studies"), el("p.soft.path", {}, folder))),
    studies.length ? el("ul.cardlist", {}, studies.map((name) => el("li", {}, el("a.card", { href: `/study/${encodeURIComponent(name)}` }, name)))) : el("div.empty", {}, el("p", {}, "There are no studies here."), el("pre", {}, "chatdev eval srdd --companies single,chatdev"))));
}

export async function studyPage(main, { signal, parts: [name] }) {
  document.title = `${name} · chatdev`;
  const study = await ask("study", { name }, { signal });
  const variants = [...new Set(study.runs.map((run) => run.variant))];
  const tasks = new Map();
  for (const run of study.runs) tasks.set(run.task, { ...tasks.get(run.task), [run.variant]: run });
  fill(main, el("div.wide", {}, el("p.crumb", {}, el("a", { href: "/studies" }, "Studies")), el("div.head", {}, el("div", {}, el("h1", {}, name), el("p.soft", {}, [study.about, count(study.runs.length, "run"), study.left_out ? `${study.left_out} more are not shown` : ""].filter(Boolean).join(" · ")))),
    study.figures.length ? el("section.card", {}, el("h2", {}, "Means"), el("div.scroll", { tabindex: "0", role: "region", "aria-label": "Means" }, means(study))) : null,
    el("div.scroll", { tabindex: "0", role: "region", "aria-label": "Runs by task and variant" }, el("table.matrix", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Task"), variants.map((variant) => el("th", { scope: "col" }, variant)), variants.length > 1 ? el("th", { scope: "col" }, "First two") : null)),
      el("tbody", {}, [...tasks].map(([task, runs]) => el("tr", {}, el("th", { scope: "row" }, task.replace(/-[0-9a-f]{6}(?=(-\d+)?$)/, "").replaceAll("-", " ")), variants.map((variant) => el("td", {}, cell(runs[variant]))), variants.length > 1 ? el("td", {}, pair(runs, variants)) : null)))))));
}

const idOf = (run) => `study:${run.id}`;

function cell(run) {
  if (!run) return el("span.soft", {}, "–");
  return el("a.cell", { href: `/run/${encodeURIComponent(idOf(run))}` }, badge(run.status), el("span.soft", {}, `${duration(run.seconds)} · ${short(run.prompt_tokens + run.completion_tokens)} tokens${run.cost ? ` · ${money(run.cost)}` : ""}`));
}

function pair(runs, variants) {
  const [one, other] = variants.map((variant) => runs[variant]).filter(Boolean);
  return one && other ? el("a", { href: `/compare?${new URLSearchParams([["run", idOf(one)], ["run", idOf(other)]])}` }, "Compare") : null;
}

function means({ metrics, figures }) {
  const tell = (metric, one) => {
    if (!one || one.mean === null || one.mean === undefined) return "–";
    if (metric === "seconds") return duration(one.mean);
    if (metric === "cost") return money(one.mean);
    return metric === "tokens" ? short(one.mean) : one.mean.toFixed(2);
  };
  const range = (metric, one) => one && one.low !== null && one.low !== undefined && !["seconds", "cost", "tokens"].includes(metric) ? el("div.soft", {}, `${one.low.toFixed(2)} to ${one.high.toFixed(2)}`) : null;
  return el("table.figures", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Variant"), metrics.map((metric) => el("th.number", { scope: "col" }, title(metric))))),
    el("tbody", {}, figures.map(({ variant, means: found }) => el("tr", {}, el("th", { scope: "row" }, variant), metrics.map((metric) => el("td.number", {}, tell(metric, found[metric]), range(metric, found[metric])))))));
}
