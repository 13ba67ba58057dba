// The runs of the warehouse: a list with filters, kept up to date while it is looked at.
import { ask, badge, count, duration, el, fill, money, problem, short, statusWord, when, whole } from "./dom.js";

const LOOK_AGAIN = 3000; // milliseconds

export async function runsPage(main, { go, signal }) {
  document.title = "Runs · chatdev";
  const asked = Object.fromEntries(new URLSearchParams(location.search));
  const about = await ask("about", {}, { signal });
  const body = el("div.list");
  const found = el("p.soft.found", { "aria-live": "polite" });
  const pager = el("nav.pager", { "aria-label": "Pages of the list" });
  const text = el("input", { type: "search", placeholder: "Search name, task, model", "aria-label": "Search runs", value: asked.text ?? "" });
  const status = el("select", { "aria-label": "Status" });
  const company = el("select", { "aria-label": "Company" });
  fill(main, el("div.wide", {},
    el("div.head", {}, el("div", {}, el("h1", {}, "Runs"), el("p.soft.path", {}, about.warehouse))),
    el("div.filters", { role: "search" }, text, status, company), found, body, pager));

  const chosen = new Set();
  const compare = el("button.main", { type: "button", hidden: true, onclick: () => go(`/compare?${new URLSearchParams([...chosen].map((run) => ["run", run]))}`) }, "Compare the two");
  main.querySelector(".head").append(compare);
  const pick = (run, on) => {
    if (on) chosen.add(run); else chosen.delete(run);
    compare.hidden = chosen.size !== 2;
  };
  let timer;
  let last = "";

  async function draw() {
    clearTimeout(timer);
    let page;
    try {
      page = await ask("runs", asked, { signal });
    } catch (error) {
      if (signal.aborted) return;
      last = "";
      fill(found, problem(error.message));
      timer = setTimeout(draw, LOOK_AGAIN);
      return;
    }
    const now = JSON.stringify(page);
    if (now !== last) {
      last = now;
      options(status, "Any status", page.statuses.map((one) => [one, statusWord(one)]), asked.status);
      options(company, "Any company", page.companies.map((one) => [one, one]), asked.company);
      fill(found, tell(page, asked));
      fill(body, page.runs.length ? table(page.runs, chosen, pick) : nothing(page, asked));
      fill(pager, pages(page, asked));
    }
    timer = setTimeout(draw, document.hidden ? LOOK_AGAIN * 5 : page.looked < page.all ? 300 : LOOK_AGAIN);
  }

  function choose(name, value) {
    if (value) asked[name] = value; else delete asked[name];
    delete asked.page;
    history.replaceState({}, "", `/?${new URLSearchParams(asked)}`.replace(/\?$/, ""));
    draw();
  }
  let typing;
  text.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => choose("text", text.value), 150); });
  status.addEventListener("change", () => choose("status", status.value));
  company.addEventListener("change", () => choose("company", company.value));
  const keys = (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); text.focus(); }
  };
  addEventListener("keydown", keys);
  await draw();
  return () => { clearTimeout(timer); clearTimeout(typing); removeEventListener("keydown", keys); };
}

function options(select, any, values, chosen = "") {
  if (document.activeElement === select) return;
  const known = values.some(([value]) => value === chosen) || !chosen ? values : [[chosen, statusWord(chosen)], ...values];
  fill(select, el("option", { value: "" }, any), ...known.map(([value, name]) => el("option", { value }, name)));
  select.value = chosen;
}

function tell(page, asked) {
  const filtered = asked.text || asked.status || asked.company;
  const looked = page.looked < page.all ? `, ${whole(page.looked)} of ${whole(page.all)} looked at` : "";
  return filtered ? `${count(page.found, "run")} found${looked}` : count(page.all, "run");
}

function nothing(page, asked) {
  if (page.all) return el("p.empty", {}, "No run is like that.");
  return el("div.empty", {}, el("p", {}, "There are no runs here yet."), el("pre", {}, 'chatdev run "a command-line to-do list"'));
}

function table(runs, chosen, choose) {
  return el("table.runs", {},
    el("thead", {}, el("tr", {}, ["", "Status", "Run", "Company", "Calls", "Tokens", "Cost", "Time", "Last"].map((name, n) => el(name ? "th" : "td", { scope: name ? "col" : null, class: n > 3 ? "number" : null }, name)))),
    el("tbody", {}, runs.map((run) => row(run, chosen, choose))));
}

function row(run, chosen, choose) {
  const going = run.status === "running" || run.status === "waiting";
  return el("tr", {},
    el("td.pick", {}, el("input", { type: "checkbox", "aria-label": `Compare ${run.id}`, checked: chosen.has(run.id), onchange: (event) => choose(run.id, event.target.checked) })),
    el("td", {}, badge(run.status)),
    el("td.what", {}, el("a.run", { href: `/run/${encodeURIComponent(run.id)}`, title: run.id }, run.task.trim() || run.id),
      el("div.soft.why", {}, going ? `in ${run.phase.replaceAll("_", " ") || "the beginning"}` : run.reason || run.id)),
    el("td.soft", { "data-name": "Company" }, run.company || "–"),
    el("td.number", { "data-name": "Calls" }, whole(run.calls)),
    el("td.number", { "data-name": "Tokens" }, short(run.prompt_tokens + run.completion_tokens)),
    el("td.number", { "data-name": "Cost", title: run.cost === null ? "The price of a model is unknown" : null }, run.cost === null ? "–" : money(run.cost)),
    el("td.number", { "data-name": "Time" }, run.seconds ? duration(run.seconds) : "–"),
    el("td.number.soft", { "data-name": "Last" }, when(run.last || run.started)));
}

function pages(page, asked) {
  const last = Math.max(1, Math.ceil(page.found / 50));
  if (last === 1) return null;
  const link = (number, name, on) => on ? el("a.button", { href: `/?${new URLSearchParams({ ...asked, page: number })}` }, name) : el("span.button.off", {}, name);
  return [link(page.page - 1, "← Newer", page.page > 1), el("span.soft", {}, `${whole(page.page)} of ${whole(last)}`), link(page.page + 1, "Older →", page.page < last)];
}
