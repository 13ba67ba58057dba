// One run, live or as a replay: a slider over its events, its chain, and tabs for what is looked at.
import { ask, badge, count, duration, el, fill, money, problem, say, short, title, whole } from "./dom.js";
import { Chain } from "./chain.js";
import { drawCharts } from "./charts.js";
import { Dialogue } from "./dialogue.js";
import { Questions } from "./people.js";
import { SoftwareTab } from "./software.js";
import { Story } from "./story.js";
import { TerminalTab } from "./terminal.js";
import { drawViews } from "./views.js";

const TABS = [["talk", "Dialogue"], ["software", "Software"], ["charts", "Charts"], ["views", "Results"], ["terminal", "Try it"]];
const BEAT = 350; // milliseconds between two steps of a replay that plays

export async function runPage(main, { signal, parts: [run] }) {
  document.title = `${run} · chatdev`;
  main.className = "runpage";
  const story = new Story();
  const [found, first] = await Promise.all([ask("run", { run }, { signal }), ask("events", { run }, { signal })]);
  const page = new RunPage(main, run, found, story);
  page.take(first.events, first.next);
  page.say(first.problem);
  page.follow();
  return () => page.close();
}

class RunPage {
  #run; #found; #story; #position = 0; #following = true; #reading = true; #chosen = ""; #tab = "talk";
  #next = 0; #status; #source = null; #timer = null; #ticker = null; #parts = {}; #listeners = new AbortController(); #playing = false;

  constructor(main, run, found, story) {
    this.#run = run; this.#found = found; this.#story = story; this.#status = found.status;
    this.#draw(main);
    const signal = this.#listeners.signal;
    addEventListener("keydown", (event) => this.#key(event), { signal });
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.#unfollow(); else this.follow(); }, { signal });
    this.#ticker = setInterval(() => this.#tick(), 1000);
  }

  close() {
    this.#listeners.abort();
    this.#unfollow();
    this.#parts.screen.close();
    this.#stop();
    clearInterval(this.#ticker);
  }

  // Events that came; the page shows them unless it is looking back.
  take(events, next) {
    this.#next = next;
    this.#story.add(events);
    if (events.some((event) => /^Person|^RunFinished|^RunStarted/.test(event.kind))) this.#askPeople();
    this.#parts.slider.max = String(Math.max(1, this.#story.length));
    this.#drawMarks();
    if (this.#following) this.#go(this.#story.length, { following: true }); else this.#drawFigures();
  }

  say(problemText) {
    fill(this.#parts.problem, problemText ? problem(problemText) : null);
  }

  // The server tells what comes; a lost connection is made again and goes on after the last event that came.
  follow() {
    if (this.#source || document.hidden) return;
    const source = new EventSource(`/api/live?${new URLSearchParams({ run: this.#run, since: String(this.#next) })}`);
    this.#source = source;
    source.addEventListener("open", () => this.#connection(true));
    source.addEventListener("events", (event) => this.take(JSON.parse(event.data), Number(event.lastEventId)));
    source.addEventListener("problem", (event) => this.say(JSON.parse(event.data)[0]));
    source.addEventListener("void", () => location.reload());
    source.addEventListener("status", (event) => { this.#status = JSON.parse(event.data); this.#drawFigures(); this.#askPeople(); });
    source.addEventListener("error", () => {
      this.#connection(false);
      if (source.readyState !== EventSource.CLOSED) return;
      this.#unfollow();
      this.#timer ??= setTimeout(() => { this.#timer = null; this.follow(); }, 1500);
    });
  }

  #askPeople() {
    if (!this.#story.asked.size) return;
    this.#parts.people.refresh(() => this.#status === "running" || this.#status === "waiting")
      .then((form) => { if (form && this.#following) form.scrollIntoView({ block: "nearest" }); });
  }

  #unfollow() {
    this.#source?.close();
    this.#source = null;
  }

  #connection(there) {
    this.#parts.lost.hidden = there;
  }

  #draw(main) {
    const found = this.#found;
    const p = this.#parts;
    p.badge = el("span");
    p.figures = el("p.figures2");
    p.problem = el("div");
    p.lost = el("div.lost", { role: "status", hidden: true }, "The server does not answer; trying again …");
    p.slider = el("input.slider", { type: "range", min: "0", max: "1", step: "1", "aria-label": "Position in the run" });
    p.where = el("span.where");
    p.marks = el("div.marks", { "aria-hidden": "true" });
    p.play = el("button.icon", { type: "button", "aria-label": "Play", title: "Play (space)" }, "▶");
    p.live = el("button.quiet", { type: "button" }, "End");
    p.chain = el("div");
    p.talk = el("div", { role: "tabpanel", id: "panel-talk", "aria-labelledby": "tab-talk" });
    p.software = el("div", { role: "tabpanel", id: "panel-software", "aria-labelledby": "tab-software", hidden: true });
    p.charts = el("div", { role: "tabpanel", id: "panel-charts", "aria-labelledby": "tab-charts", hidden: true });
    p.views = el("div", { role: "tabpanel", id: "panel-views", "aria-labelledby": "tab-views", hidden: true });
    p.terminal = el("div", { role: "tabpanel", id: "panel-terminal", "aria-labelledby": "tab-terminal", hidden: true });
    p.filter = el("div.chips");
    p.questions = el("div.questions");
    p.now = el("div.now", { "aria-live": "off" });
    p.tabs = el("div.tabs", { role: "tablist", "aria-label": "What is shown" }, TABS.map(([id, name]) => el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, "aria-selected": String(id === this.#tab), tabindex: id === this.#tab ? "0" : "-1", onclick: () => this.#open(id), onkeydown: (event) => this.#tabKey(event) }, name)));
    fill(main,
      el("div.runhead", {}, el("div", {}, el("p.crumb", {}, el("a", { href: "/" }, "Runs"), " / ", el("span", {}, this.#run)), el("h1", { dir: "auto" }, found.task.trim() || this.#run), el("div.line", {}, p.badge, p.figures)), p.problem, p.lost),
      el("div.timeline", { role: "group", "aria-label": "Replay" }, el("div.controls", {}, el("button.icon", { type: "button", "aria-label": "One event back", title: "Back (←)", onclick: () => this.#step(-1) }, "‹"), p.play, el("button.icon", { type: "button", "aria-label": "One event on", title: "On (→)", onclick: () => this.#step(1) }, "›")),
        el("div.track", {}, p.marks, p.slider), p.where, p.live),
      el("div.columns", {}, el("aside.side", { "aria-label": "Chain" }, el("details.chainbox", { open: matchMedia("(min-width: 60rem)").matches }, el("summary", {}, "Chain"), p.chain)),
        el("div.content", {}, p.tabs, p.filter, p.talk, p.software, p.charts, p.views, p.terminal, p.questions, p.now)));
    p.slider.addEventListener("input", () => { this.#stop(); this.#go(Number(p.slider.value)); });
    p.play.addEventListener("click", () => this.#toggle());
    p.live.addEventListener("click", () => { this.#stop(); this.#reading = false; this.#go(this.#story.length, { following: true }); });
    this.#parts.tree = new Chain(p.chain, found.plan, (step) => { this.#chosen = step; this.#open("talk"); this.#go(this.#position, { following: this.#following }); });
    this.#parts.dialogue = new Dialogue(p.talk, this.#story, this.#run, found.plan);
    this.#parts.people = new Questions(p.questions, this.#run);
    this.#parts.files = new SoftwareTab(p.software, this.#run);
    this.#parts.screen = new TerminalTab(p.terminal, this.#run);
    this.#reading = !["running", "waiting"].includes(found.status);
  }

  // Show how things stood after `position` events.
  #go(position, { following = false } = {}) {
    const p = this.#parts;
    this.#position = Math.max(Math.min(1, this.#story.length), Math.min(position, this.#story.length));
    this.#following = following || this.#position === this.#story.length;
    if (this.#position !== this.#story.length) this.#reading = false;
    const state = this.#story.at(this.#position);
    p.slider.value = String(this.#position);
    const seconds = state.seconds;
    const where = `event ${whole(this.#position)} of ${whole(this.#story.length)}${seconds === undefined ? "" : `, ${duration(seconds)}`}`;
    p.slider.setAttribute("aria-valuetext", where);
    fill(p.where, `${whole(this.#position)} / ${whole(this.#story.length)}`, el("span.soft", {}, seconds === undefined ? "" : duration(seconds)));
    p.tree.draw(state, this.#chosen);
    this.#drawFigures(state);
    fill(p.filter, this.#chosen ? el("button.chip", { type: "button", onclick: () => { this.#chosen = ""; this.#go(this.#position, { following: this.#following }); } }, `Only ${title(this.#chosen.split("/").pop())} `, el("span", { "aria-label": "show everything" }, "✕")) : null);
    this.#drawTab(state);
  }

  #drawTab() {
    const p = this.#parts;
    if (this.#tab === "talk") {
      const atEnd = !this.#reading && (window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 160 || !this.#following);
      p.dialogue.draw(this.#position, this.#chosen, this.#reading);
      if (atEnd) p.dialogue.end?.scrollIntoView({ block: "nearest" });
    } else if (this.#tab === "software") {
      const event = this.#story.events[this.#position - 1];
      p.files.draw(this.#position === this.#story.length ? NaN : event?.ms, this.#story.items.filter((item) => item.type === "delivery" || item.type === "end").length);
    } else if (this.#tab === "views") {
      drawViews(p.views, this.#run);
    } else if (this.#tab === "terminal") {
      p.screen.draw();
    } else {
      drawCharts(p.charts, this.#story, this.#position);
    }
  }

  #drawFigures(state = this.#story.at(this.#position)) {
    const p = this.#parts;
    const past = this.#position < this.#story.length;
    fill(p.badge, badge(past ? state.status : this.#status || state.status));
    const { usage } = state;
    fill(p.figures, [this.#found.company, duration(state.seconds), count(usage.calls, "call"), `${short(usage.prompt + usage.completion)} tokens`, usage.cost === null ? "cost unknown" : money(usage.cost)].filter(Boolean).map((text, n) => [n ? el("span.sep", { "aria-hidden": "true" }, "·") : null, el("span", {}, text)]));
    const going = !past && this.#status === "running";
    p.live.textContent = going || this.#status === "waiting" ? "Live" : "End";
    p.live.setAttribute("aria-pressed", String(this.#following));
    this.#tick();
  }

  // What is being worked on: the events tell only what is finished.
  #tick() {
    const p = this.#parts;
    const last = this.#story.events.at(-1);
    if (this.#status !== "running" || !this.#following || !last || Number.isNaN(last.ms)) return void fill(p.now);
    const open = this.#story.at(this.#story.length).open.filter((step) => step);
    const name = open.length ? title(open.at(-1).split("/").pop()) : "The chain";
    fill(p.now, el("span.pulse", { "aria-hidden": "true" }), `${name} is under way`, el("span.soft", {}, ` · ${duration(Math.max(0, (Date.now() - last.ms) / 1000))} since the last event`));
  }

  #drawMarks() {
    const total = Math.max(1, this.#story.length);
    const spans = [];
    const open = new Map();
    this.#story.events.forEach((event, n) => {
      if (event.kind === "PhaseStarted") open.set(event.place, n);
      if (event.kind === "PhaseFinished" && open.has(event.place)) { spans.push([open.get(event.place), n, event]); open.delete(event.place); }
    });
    for (const [, from] of open) spans.push([from, total - 1, {}]);
    fill(this.#parts.marks, spans.slice(0, 300).map(([from, to, event]) => el(`span${event.ending === "failed" ? ".bad" : ""}`, { title: title(event.phase), style: { left: `${(100 * from) / total}%`, width: `${Math.max(0.3, (100 * (to - from)) / total)}%` } })));
  }

  #open(tab) {
    this.#tab = tab;
    for (const [id] of TABS) {
      const button = document.getElementById(`tab-${id}`);
      button.setAttribute("aria-selected", String(id === tab));
      button.tabIndex = id === tab ? 0 : -1;
      this.#parts[id].hidden = id !== tab;
    }
    this.#parts.filter.hidden = tab !== "talk";
    this.#drawTab();
  }

  #tabKey(event) {
    const index = TABS.findIndex(([id]) => id === this.#tab);
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const [id] = TABS[(to + TABS.length) % TABS.length];
    this.#open(id);
    document.getElementById(`tab-${id}`).focus();
  }

  #step(by) {
    this.#stop();
    this.#reading = false;
    this.#go(this.#position + by);
  }

  #phase(by) {
    const starts = this.#story.events.flatMap((event, n) => event.kind === "PhaseStarted" ? [n + 1] : []);
    const next = by > 0 ? starts.find((at) => at > this.#position) : starts.findLast((at) => at < this.#position);
    this.#reading = false;
    this.#go(next ?? (by > 0 ? this.#story.length : 1));
  }

  #toggle() {
    if (this.#playing) return this.#stop();
    this.#playing = true;
    this.#reading = false;
    if (this.#position >= this.#story.length) this.#go(1);
    fill(this.#parts.play, "❚❚");
    this.#parts.play.setAttribute("aria-label", "Pause");
    const items = this.#story.items;
    const beat = () => {
      if (!this.#playing) return;
      const next = items.find((item) => item.at >= this.#position);
      this.#go(next ? next.at + 1 : this.#story.length);
      if (this.#position >= this.#story.length) return this.#stop();
      this.#timer = setTimeout(beat, BEAT);
    };
    beat();
    say("The replay plays.");
  }

  #stop() {
    this.#playing = false;
    clearTimeout(this.#timer);
    this.#timer = null;
    fill(this.#parts.play, "▶");
    this.#parts.play.setAttribute("aria-label", "Play");
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName ?? "");
    const onButton = /^(BUTTON|SUMMARY|A)$/.test(event.target.tagName ?? "");
    if (inField && !(event.target === this.#parts.slider && event.shiftKey)) return;
    const act = {
      ArrowLeft: () => event.shiftKey ? this.#phase(-1) : this.#step(-1), ArrowRight: () => event.shiftKey ? this.#phase(1) : this.#step(1),
      Home: () => this.#go(1), End: () => this.#go(this.#story.length, { following: true }), " ": onButton ? undefined : () => this.#toggle(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
