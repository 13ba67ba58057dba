// The software as it grew: its versions, and what each delivery changed.
import { ask, count, el, fill, problem, size, title } from "./dom.js";
import { codeBlock, colouredLine, languageOf } from "./code.js";

const LINES = 600; // of a file's diff that are drawn at once

export class SoftwareTab {
  #box;
  #run;
  #versions = [];
  #known = new Map();
  #chosen = "";
  #loaded = -1;
  #shown = "";
  #file = "";

  constructor(element, run) {
    this.#box = element;
    this.#run = run;
  }

  // The newest version that was there at a time (milliseconds); `events` says when to look for more of them.
  async draw(ms, events) {
    try {
      if (this.#loaded !== events) {
        this.#loaded = events;
        this.#versions = await ask("versions", { run: this.#run });
      }
      const there = this.#versions.filter((one) => Number.isNaN(ms) || one.time * 1000 <= ms + 1000);
      if (!there.length) return void fill(this.#box, el("p.empty", {}, this.#versions.length ? "There is no software yet." : "This run keeps no versions of software."));
      const version = there.find((one) => one.id === this.#chosen) ?? there.at(-1);
      await this.#show(version, there);
    } catch (error) {
      fill(this.#box, problem(error.message));
    }
  }

  async #show(version, there) {
    const shown = `${version.id} ${there.length} ${this.#file}`;
    if (shown === this.#shown) return;
    const found = this.#known.get(version.id) ?? await ask("version", { run: this.#run, id: version.id });
    this.#known.set(version.id, found);
    this.#shown = shown;
    const pick = el("select", { "aria-label": "Version", onchange: (event) => { this.#chosen = event.target.value; this.#file = ""; this.#again(there); } },
      there.map((one, n) => el("option", { value: one.id }, `${n + 1}. ${one.place ? `${title(one.place.split("/").find((part) => part.includes("#")) ?? one.place)}: ` : ""}${one.about}`.slice(0, 110))));
    pick.value = version.id;
    const changed = found.files.filter((file) => file.state !== "same");
    fill(this.#box,
      el("div.versions", {}, pick, el("span.soft", {}, `${count(there.length, "version")} · ${count(found.files.filter((file) => file.state !== "deleted").length, "file")} · ${changed.length} changed here`)),
      el("div.tree2", {}, el("nav.tree", { "aria-label": "Files" }, this.#tree(found, there)), el("div.diffs", {}, this.#file ? await this.#whole(version, found) : this.#diffs(found))));
  }

  #again(there) {
    this.#shown = "";
    const version = there.find((one) => one.id === this.#chosen) ?? there.at(-1);
    this.#show(version, there).catch((error) => fill(this.#box, problem(error.message)));
  }

  #tree(found, there) {
    const row = (file) => el(`li.${file.state}`, {}, el("button.node", { type: "button", "aria-pressed": String(this.#file === file.path), disabled: file.state === "deleted", title: `${file.path}, ${file.state}`, onclick: () => { this.#file = this.#file === file.path ? "" : file.path; this.#again(there); } },
      el("span.name", {}, file.path), el("span.soft.figure", {}, file.state === "same" ? size(file.size) : { added: "new", changed: "changed", deleted: "deleted" }[file.state])));
    return el("ul", {}, found.files.map(row));
  }

  #diffs(found) {
    if (!found.diffs.length) return el("p.soft", {}, "No file differs from the version before.");
    return [found.diffs.map(diffCard), found.left_out ? el("p.soft", {}, `${found.left_out} more files differ.`) : null];
  }

  async #whole(version, found) {
    const file = await ask("file", { run: this.#run, id: version.id, path: this.#file });
    const diff = found.diffs.find((one) => one.path === file.path);
    return [el("div.filehead", {}, el("code", {}, file.path), el("span.soft", {}, size(file.size))), file.binary ? el("p.soft", {}, "This file holds no text.") : codeBlock(file.text, languageOf(file.path), { label: file.path }), diff && diff.state === "changed" ? [el("h3", {}, "What changed"), diffCard(diff)] : null];
  }
}

export function diffCard(diff) {
  const language = languageOf(diff.path);
  const rows = diff.hunks.flatMap((hunk, n) => [...(n ? [null] : []), ...hunk]);
  const body = el("div.rows", { tabindex: "0", role: "region", "aria-label": `Changes of ${diff.path}` });
  const draw = (some) => body.append(...some.map((row) => row === null ? el("div.gap", { "aria-hidden": "true" }, "⋯") : line(row, language)));
  draw(rows.slice(0, LINES));
  const rest = rows.length - LINES;
  const more = rest > 0 ? el("button.quiet", { type: "button", onclick: () => { draw(rows.slice(LINES)); more.remove(); } }, `Show ${rest} more lines`) : null;
  return el("section.diff", {}, el("div.filehead", {}, el("code", {}, diff.path), el("span.figure", {}, el("span.plus", {}, `+${diff.added}`), " ", el("span.minus", {}, `−${diff.removed}`))),
    diff.note ? el("p.soft", {}, diff.note) : body, more);
}

// Texts with patches in them, as `git diff` writes these: the patches become cards, the rest is drawn by `draw`.
export function withPatches(text, draw) {
  const found = [];
  let rest = [];
  let file = null;
  const end = () => {
    if (file) found.push(diffCard({ ...file, hunks: [file.rows] })); else if (rest.join("").trim()) found.push(draw(rest.join("\n")));
    rest = [];
    file = null;
  };
  for (const row of text.split("\n")) {
    const head = row.match(/^diff --git a\/.* b\/(.*)$/);
    if (head) { end(); file = { path: head[1], rows: [], added: 0, removed: 0, at: [0, 0] }; continue; }
    const hunk = file && row.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)/);
    if (hunk) { if (file.rows.length) file.rows.push(null); file.at = [Number(hunk[1]), Number(hunk[2])]; file.left = true; continue; }
    if (file && !file.left && /^(index |--- |\+\+\+ |new file|deleted file|old mode|new mode)/.test(row)) continue;
    if (file?.left && /^[ +-]/.test(row)) {
      const [before, after] = file.at;
      file.rows.push([row[0], row[0] === "+" ? null : before, row[0] === "-" ? null : after, row.slice(1)]);
      file.at = [before + (row[0] !== "+"), after + (row[0] !== "-")];
      if (row[0] === "+") file.added += 1;
      if (row[0] === "-") file.removed += 1;
      continue;
    }
    if (file && (row === "" || row.startsWith("\\"))) continue;
    if (file) end();
    rest.push(row);
  }
  end();
  return found;
}

function line([sign, before, after, text], language) {
  const kind = { "+": "plus", "-": "minus", " ": "same" }[sign];
  return el(`div.row.${kind}`, {}, el("span.no", { "aria-hidden": "true" }, before ?? ""), el("span.no", { "aria-hidden": "true" }, after ?? ""), el("span.sign", {}, sign), el("span.text", {}, colouredLine(text, language)));
}
