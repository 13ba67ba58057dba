// What a run made that has a look of its own: pictures, tables and texts of tools and departments.
import { ask, el, fill, problem } from "./dom.js";

let shown = "";

export async function drawViews(element, run) {
  try {
    const views = await ask("views", { run });
    const now = JSON.stringify([run, views]);
    if (now === shown && element.childElementCount) return;
    shown = now;
    if (!views.length) return void fill(element, el("p.empty", {}, "Nothing of this run has a picture or a table of its own."));
    fill(element, views.map((view, number) => card(view, `/api/view?${new URLSearchParams({ run, number })}`)));
  } catch (error) {
    fill(element, problem(error.message));
  }
}

function card(view, picture) {
  return el("section.card.view", {}, el("h2", {}, view.title), view.about ? el("p.soft", {}, view.about) : null,
    view.picture ? el("div.scroll", { tabindex: "0", role: "region", "aria-label": view.title }, el("img", { src: picture, alt: view.about || view.title })) : null,
    view.table.length ? drawTable(view) : null,
    view.text ? el("div.prose", { dir: "auto" }, view.text) : null);
}

// What departments learnt from all runs.
export async function experiencePage(main, { signal }) {
  document.title = "Experience · chatdev";
  const boards = await ask("boards", {}, { signal });
  fill(main, el("div.wide", {}, el("div.head", {}, el("div", {}, el("h1", {}, "Experience"), el("p.soft", {}, "What was learnt from all runs, and later ones go by."))),
    boards.length ? boards.map((view, number) => card(view, `/api/board?number=${number}`)) : el("p.empty", {}, "No department keeps any.")));
}

function drawTable({ title, table: [head, ...rows] }) {
  return el("div.scroll", { tabindex: "0", role: "region", "aria-label": title }, el("table.figures", {},
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, n) => el(n ? "td" : "th", n ? {} : { scope: "row" }, cell)))))));
}
