// How pages are made: elements whose texts are texts. Nothing here takes HTML; what models wrote cannot become any.

// Control characters, marks that turn the direction of writing and invisible letters are shown instead of obeyed.
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

export function visible(value) {
  return String(value).replace(/\r\n/g, "\n").replace(STEERING, (sign) => {
    const code = sign.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "path", "rect", "line", "g", "text", "circle", "polyline", "title"]);

// el("button.quiet", {onclick, "aria-label": "…"}, "text", element, …)
export function el(kind, given = {}, ...children) {
  const [name, ...classes] = kind.split(".");
  const element = SVG_NAMES.has(name) && name !== "title" ? document.createElementNS(SVG, name) : document.createElement(name);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [rule, set] of Object.entries(value)) element.style.setProperty(rule, set);
    else if (key === "value" || key === "checked" || key === "disabled" || key === "open" || key === "hidden") element[key] = value;
    else if (key === "href" && !/^[/#]/.test(value)) continue; // only places of our own
    else element.setAttribute(key, value === true ? "" : visible(value));
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export class Refused extends Error {}

export async function ask(path, query = {}, options = {}) {
  const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined));
  let answer;
  try {
    answer = await fetch(`/api/${path}?${params}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer: is `chatdev view` still running?");
  }
  if (answer.headers.get("content-type")?.startsWith("application/json")) {
    const found = await answer.json();
    if (answer.ok) return found;
    throw new Refused(found.error ?? `The server answers with ${answer.status}.`);
  }
  throw new Refused(answer.status === 403 ? "The server does not know this browser any more: open the address that `chatdev view` printed." : `The server answers with ${answer.status}.`);
}

export function problem(text) {
  return el("div.problem", { role: "alert" }, el("strong", {}, "This does not work. "), text);
}

export function say(text) {
  fill(document.getElementById("status"), text);
}

// Numbers for people.

export function count(number, noun) {
  return `${whole(number)} ${noun}${number === 1 ? "" : noun.endsWith("h") ? "es" : "s"}`;
}

export function whole(number) {
  return Math.round(number ?? 0).toLocaleString("en-US");
}

export function short(number) {
  if (number < 1000) return whole(number);
  if (number < 999_500) return `${(number / 1000).toFixed(number < 9_950 ? 1 : 0)}k`;
  return `${(number / 1e6).toFixed(number < 9.95e6 ? 1 : 0)}M`;
}

export function duration(seconds) {
  if (seconds === undefined || seconds === null || Number.isNaN(seconds)) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.5) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 3570) return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export function money(cost) {
  if (cost === null || cost === undefined) return "unknown";
  return cost === 0 ? "$0" : cost < 0.01 ? "< $0.01" : `$${cost.toFixed(2)}`;
}

export function when(iso) {
  const time = new Date(iso);
  if (!iso || Number.isNaN(time.getTime())) return "–";
  const today = new Date().toDateString() === time.toDateString();
  return today ? `today ${time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`
    : time.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;
}

// `code_review` as people write it.
export function title(name) {
  const words = String(name ?? "").replaceAll("_", " ").replace(/#1$/, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const WORDS = { success: "success", failure: "no success", unjudged: "unjudged", stopped: "out of budget", error: "failed", interrupted: "interrupted", running: "running", waiting: "waits for you", unreadable: "unreadable" };
const LOOKS = { success: "good", failure: "bad", error: "bad", unreadable: "bad", stopped: "warn", interrupted: "warn", unjudged: "warn", waiting: "ask", running: "live" };

export function badge(status) {
  return el(`span.badge.${LOOKS[status] ?? "plain"}`, {}, el("span.dot", { "aria-hidden": "true" }), WORDS[status] ?? status);
}

export function statusWord(status) {
  return WORDS[status] ?? status;
}
