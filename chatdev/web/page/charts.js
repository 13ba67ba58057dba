// What a run took: figures of every step, and tokens over time, drawn as plain SVG.
import { count, duration, el, fill, money, short, title, whole } from "./dom.js";

export function drawCharts(element, story, position) {
  const state = story.at(position);
  const rows = [...state.nodes].filter(([, node]) => node.calls || node.seconds >= 0.05).map(([step, node]) => ({ step, ...node }));
  const most = { seconds: Math.max(...rows.map((row) => row.seconds), 0.001), tokens: Math.max(...rows.map((row) => row.tokens), 1) };
  const { usage } = state;
  fill(element,
    el("div.tiles", {}, tile("Time", duration(state.seconds)), tile("Model calls", whole(usage.calls)), tile("Tokens in", short(usage.prompt)), tile("Tokens out", short(usage.completion)), tile("Cost", money(usage.cost)), tile("Tool calls", whole(usage.tools))),
    el("section.card", {}, el("h2", {}, "Tokens over time"), overTime(story, position)),
    el("section.card", {}, el("h2", {}, "Where it went"), rows.length ? el("div.scroll", { tabindex: "0", role: "region", "aria-label": "Figures of every step" }, el("table.figures", {},
      el("thead", {}, el("tr", {}, ["Step", "Time", "Tokens", "Calls"].map((name, n) => el("th", { scope: "col", class: n ? "number" : null }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row" }, title(row.step.split("/").pop()), row.times > 1 ? el("span.soft", {}, ` ×${row.times}`) : null),
        el("td.number", {}, bar(row.seconds / most.seconds, "time"), duration(row.seconds)), el("td.number", {}, bar(row.tokens / most.tokens, "tokens"), short(row.tokens)), el("td.number", {}, whole(row.calls))))))) : el("p.soft", {}, "Nothing yet.")));
}

function tile(name, value) {
  return el("div.tile", {}, el("span.soft", {}, name), el("strong", {}, value));
}

function bar(share, kind) {
  return el(`span.bar.${kind}`, { "aria-hidden": "true", style: { width: `${Math.max(1, Math.round(share * 90))}px` } });
}

function overTime(story, position) {
  const points = [];
  let sent = 0;
  let written = 0;
  for (const event of story.events.slice(0, position)) {
    if (event.kind !== "ModelCalled" || Number.isNaN(event.ms)) continue;
    sent += event.prompt_tokens;
    written += event.completion_tokens;
    points.push([(event.ms - story.start) / 1000, sent, written]);
  }
  if (!points.length) return el("p.soft", {}, "No model was called, or the journal has no times.");
  const [width, height, left, bottom] = [720, 200, 48, 24];
  const end = Math.max(points.at(-1)[0], story.elapsed(position) ?? 0, 1);
  const top = Math.max(sent, written, 1);
  const x = (seconds) => left + (width - left - 8) * seconds / end;
  const y = (tokens) => height - bottom - (height - bottom - 10) * tokens / top;
  const line = (n) => points.reduce((path, point) => `${path}H${x(point[0]).toFixed(1)}V${y(point[n]).toFixed(1)}`, `M${left},${y(0)}`) + `H${x(end).toFixed(1)}`;
  const ticks = [0, 0.5, 1].map((share) => el("g", {}, el("line.grid", { x1: left, x2: width - 8, y1: y(top * share), y2: y(top * share) }), el("text.axis", { x: left - 8, y: y(top * share) + 4, "text-anchor": "end" }, short(top * share))));
  const times = [0, 0.5, 1].map((share) => el("text.axis", { x: x(end * share), y: height - 6, "text-anchor": ["start", "middle", "end"][share * 2] }, duration(end * share)));
  return el("figure", {}, el("svg.chart", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${count(sent, "token")} in and ${count(written, "token")} out in ${duration(end)}` },
    ticks, times, el("path.line.in", { d: line(1) }), el("path.line.out", { d: line(2) })),
    el("figcaption.legend", {}, el("span.key.in", {}, "in"), el("span.key.out", {}, "out")));
}
