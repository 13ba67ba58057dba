// Texts with code in them, coloured by highlight.js, whose tree of tokens becomes elements; its HTML is not used.
import hljs from "./vendor/highlight-11.12.0.js";
import verilog from "./vendor/highlight-verilog-11.12.0.js";
import { add, ask, el, fill, problem, size } from "./dom.js";

const COLOURED = 60_000; // characters
const PIECE = 20_000;

hljs.registerLanguage("verilog", verilog);
hljs.registerLanguage("st", (engine) => ({
  name: "Structured Text", case_insensitive: true,
  keywords: {
    keyword: "PROGRAM END_PROGRAM FUNCTION END_FUNCTION FUNCTION_BLOCK END_FUNCTION_BLOCK VAR VAR_INPUT VAR_OUTPUT VAR_IN_OUT VAR_GLOBAL VAR_TEMP END_VAR CONSTANT RETAIN AT IF THEN ELSIF ELSE END_IF CASE OF END_CASE FOR TO BY DO END_FOR WHILE END_WHILE REPEAT UNTIL END_REPEAT RETURN EXIT AND OR XOR NOT MOD TYPE END_TYPE STRUCT END_STRUCT ARRAY",
    type: "BOOL BYTE WORD DWORD LWORD SINT INT DINT LINT USINT UINT UDINT ULINT REAL LREAL TIME DATE STRING TON TOF TP R_TRIG F_TRIG CTU CTD CTUD SR RS", literal: "TRUE FALSE",
  },
  contains: [engine.COMMENT(/\(\*/, /\*\)/), engine.C_LINE_COMMENT_MODE, engine.QUOTE_STRING_MODE, { scope: "string", begin: /'/, end: /'/ }, { scope: "number", begin: /\b(T#[\w.]+|\d[\d._#a-f]*)\b/ }],
}));

const ENDINGS = { py: "python", v: "verilog", sv: "verilog", js: "javascript", mjs: "javascript", ts: "typescript", rs: "rust", md: "markdown", yml: "yaml", sh: "bash", h: "c", cc: "cpp", cpp: "cpp", hpp: "cpp", html: "xml", svg: "xml", toml: "ini", cfg: "ini" };

export function languageOf(path) {
  const ending = String(path).split(".").pop().toLowerCase();
  const name = ENDINGS[ending] ?? ending;
  return hljs.getLanguage(name) ? name : "";
}

function tokens(parent, children) {
  for (const child of children) {
    if (typeof child === "string") add(parent, [child]);
    else parent.append(tokens(el(child.scope ? `span.hl-${child.scope.split(/[.:]/)[0].replace(/[^a-z_-]/gi, "")}` : "span"), child.children));
  }
  return parent;
}

const waiting = new WeakMap();
const sight = new IntersectionObserver((seen) => {
  for (const entry of seen) {
    if (!entry.isIntersecting) continue;
    sight.unobserve(entry.target);
    waiting.get(entry.target)?.();
    waiting.delete(entry.target);
  }
}, { rootMargin: "400px" });

// A block of code; it is coloured when it comes into sight.
export function codeBlock(text, language = "", { label = language } = {}) {
  const code = el("code", {}, text);
  const block = el("pre.code", { tabindex: "0", "aria-label": label ? `Code: ${label}` : "Code" }, code);
  if (hljs.getLanguage(language) && text.length <= COLOURED) {
    waiting.set(block, () => {
      const lines = document.createDocumentFragment();
      tokens(lines, hljs.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode.children);
      code.replaceChildren(lines);
    });
    sight.observe(block);
  }
  return block;
}

// One line of code, coloured at once.
export function colouredLine(text, language) {
  if (!language || text.length > 2000) return text;
  return tokens(document.createDocumentFragment(), hljs.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode.children);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)\n([\s\S]*?)(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm;

// What somebody said: paragraphs, and blocks of code between fences.
export function prose(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(FENCE)) {
    const before = text.slice(end, found.index);
    parts.push(...paragraphs(before));
    const said = found[2].trim().split(/[\s:,{]/)[0].toLowerCase();
    const language = ENDINGS[said] ?? said;
    parts.push(codeBlock(found[3].replace(/\n$/, ""), hljs.getLanguage(language) ? language : languageAbove(before)));
    end = found.index + found[0].length;
  }
  parts.push(...paragraphs(text.slice(end)));
  return parts;
}

// By the file's name in the line above a block.
function languageAbove(text) {
  const path = text.trimEnd().split("\n").pop().match(/[\w./-]+\.\w{1,5}(?=[`*:\s]*$)/);
  return path ? languageOf(path[0]) : "";
}

function paragraphs(text) {
  const trimmed = text.replace(/^\s*\n|\s+$/g, "");
  if (!trimmed) return [];
  const pieces = [];
  let end = 0;
  if (trimmed.length < COLOURED) {
    for (const found of trimmed.matchAll(/`([^`\n]{1,200})`|^#{1,4} +(.{1,200})$|\*\*([^*\n]{1,200})\*\*/gm)) {
      pieces.push(trimmed.slice(end, found.index), found[1] ? el("code.inline", {}, found[1]) : el("strong", {}, found[2] ?? found[3]));
      end = found.index + found[0].length;
    }
  }
  pieces.push(trimmed.slice(end));
  return [el("div.prose", { dir: "auto" }, pieces)];
}

// A text that may have been cut on its way: `show all` asks for the rest.
export function wholeText(event, path, text, run, draw = prose) {
  const length = event.cut?.[path];
  if (!length) return draw(text);
  const box = el("div", {}, draw(text));
  const button = el("button.quiet", { type: "button" }, `Show all (${size(length)})`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const found = await ask("text", { run, line: event.n, path });
      fill(box, found.text.length > COLOURED ? pieces(found.text) : draw(found.text));
      button.remove();
    } catch (error) {
      fill(box, draw(text), problem(error.message));
      button.disabled = false;
    }
  });
  return [box, el("div.more", {}, el("span.soft", {}, "…"), button)];
}

// A very long text: in pieces, of which the browser lays out only those in sight.
export function pieces(text) {
  const found = [];
  for (let at = 0; at < text.length; at += PIECE) found.push(el("div.piece", {}, text.slice(at, at + PIECE)));
  return el("pre.code.long", { tabindex: "0", "aria-label": "The whole text" }, found);
}
