// Which page is shown: addresses are places of this server, and links change them without loading anything.
import { el, fill, problem } from "./dom.js";
import { comparePage } from "./compare.js";
import { runsPage } from "./runs.js";
import { runPage } from "./run.js";
import { startPage } from "./start.js";
import { studiesPage, studyPage } from "./studies.js";
import { experiencePage } from "./views.js";

const PAGES = [
  [/^\/$/, "Runs", runsPage],
  [/^\/run\/(.+)$/, "Runs", runPage],
  [/^\/new$/, "New run", startPage],
  [/^\/compare$/, "Runs", comparePage],
  [/^\/experience$/, "Experience", experiencePage],
  [/^\/studies$/, "Studies", studiesPage],
  [/^\/study\/(.+)$/, "Studies", studyPage],
];
const LINKS = [["/", "Runs"], ["/new", "New run"], ["/studies", "Studies"], ["/experience", "Experience"]];

let leave = () => {};

export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"]({}, "", path);
  show();
}

async function show() {
  leave();
  leave = () => {};
  const main = document.getElementById("main");
  main.className = "";
  const found = PAGES.map(([pattern, name, page]) => [location.pathname.match(pattern), name, page]).find(([match]) => match);
  drawTop(found?.[1]);
  if (!found) return void fill(main, el("div.narrow", {}, el("h1", {}, "There is no such page"), el("p", {}, el("a", { href: "/" }, "All runs"))));
  const abort = new AbortController();
  let end = () => {};
  leave = () => { abort.abort(); end(); };
  const [match, , page] = found;
  const before = main.firstChild;
  const slow = setTimeout(() => { if (!abort.signal.aborted && main.firstChild === before) fill(main, el("p.empty", { role: "status" }, "Loading …")); }, 300);
  try {
    end = (await page(main, { go, signal: abort.signal, parts: match.slice(1).map(decode) })) ?? (() => {});
    clearTimeout(slow);
    if (abort.signal.aborted) end();
  } catch (error) {
    clearTimeout(slow);
    if (!abort.signal.aborted) fill(main, el("div.narrow", {}, el("h1", {}, "Not shown"), problem(error.message)));
  }
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function drawTop(current) {
  const links = LINKS.map(([path, name]) => el("a", { href: path, "aria-current": name === current ? "page" : null }, name));
  const theme = el("button.icon", { type: "button", "aria-label": "Dark or light", title: "Dark or light", onclick: toggleTheme }, el("span", { "aria-hidden": "true" }, "◐"));
  fill(document.getElementById("top"), el("a.brand", { href: "/" }, mark(), "chatdev"), el("nav", { "aria-label": "Pages" }, ...links), theme);
}

function mark() {
  return el("svg", { viewBox: "0 0 20 20", width: "20", height: "20", "aria-hidden": "true" },
    el("path.mark", { d: "M2 5a3 3 0 0 1 3-3h6a3 3 0 0 1 3 3v3a3 3 0 0 1-3 3H8l-3 3v-3a3 3 0 0 1-3-3z" }),
    el("path.mark2", { d: "M16 7.500a2.500 2.500 0 0 1 2 2.500v3a2.500 2.500 0 0 1-2.500 2.500V18L13 15.500h-3" }));
}

function toggleTheme() {
  const page = document.documentElement.dataset;
  page.theme = page.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", page.theme); } catch { /* it holds until the page is left */ }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.hash) return;
  event.preventDefault();
  go(url.pathname + url.search);
});
addEventListener("popstate", show);
show();
