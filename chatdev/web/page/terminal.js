// The software of a run at a terminal: keys go to the program, and lines come back, drawn by the server.
import { ask, el, fill, problem } from "./dom.js";

const KEYS = {
  Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b", ArrowUp: "\x1b[A", ArrowDown: "\x1b[B", ArrowRight: "\x1b[C", ArrowLeft: "\x1b[D",
  Home: "\x1b[H", End: "\x1b[F", Delete: "\x1b[3~", Insert: "\x1b[2~", PageUp: "\x1b[5~", PageDown: "\x1b[6~",
  F1: "\x1bOP", F2: "\x1bOQ", F3: "\x1bOR", F4: "\x1bOS", F5: "\x1b[15~", F6: "\x1b[17~", F7: "\x1b[18~", F8: "\x1b[19~", F9: "\x1b[20~", F10: "\x1b[21~",
};
const SIX = /^(fg|bg)-([0-9a-f]{6})$/;
const REASONS = { 4429: "Too many programs are played at once: end one first." };

export class TerminalTab {
  #box; #run; #socket = null; #lines = []; #screen; #state; #begin; #cursor = null; #cell;

  constructor(element, run) {
    this.#box = element;
    this.#run = run;
  }

  async draw() {
    if (this.#screen) return;
    const { plays } = await ask("about").catch((error) => ({ plays: error.message }));
    if (plays !== true) return void fill(this.#box, plays ? problem(plays) : el("p.empty", {}, "No department that is installed here starts software."));
    this.#begin = el("button.main", { type: "button", onclick: () => this.#socket ? this.close() : this.#start() }, "Start the program");
    this.#state = el("span.soft", { role: "status" }, "It runs in the sandbox on this machine.");
    this.#cell = el("span.cell", { "aria-hidden": "true" }, "0".repeat(50));
    this.#screen = el("div.screen", { tabindex: "0", role: "textbox", "aria-multiline": "true", "aria-label": "Terminal. Shift and Tab leave it.", onkeydown: (event) => this.#key(event), onpaste: (event) => this.#paste(event) }, this.#cell);
    fill(this.#box, el("div.line", {}, this.#begin, this.#state), this.#screen, el("p.soft.small", {}, "Keys go to the program while the terminal has the focus; Shift+Tab leaves it."));
  }

  close() {
    this.#socket?.close();
  }

  #start() {
    this.#lines = [];
    fill(this.#screen, this.#cell);
    const socket = this.#socket = new WebSocket(`ws://${location.host}/api/play?${new URLSearchParams({ run: this.#run })}`);
    socket.addEventListener("open", () => { this.#tell({ size: this.#size() }); this.#screen.focus(); this.#said("It is under way."); });
    socket.addEventListener("message", (event) => this.#take(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      fill(this.#begin, "Start it again");
      if (this.#state.dataset.ended !== "1") this.#said(REASONS[event.code] ?? "It was ended.");
    });
    this.#state.dataset.ended = "";
    fill(this.#begin, "End it");
  }

  #said(text) {
    fill(this.#state, text);
  }

  // As many signs as fit, of a terminal's size at least on a wide page.
  #size() {
    const width = this.#cell.getBoundingClientRect().width / 50 || 8;
    return [Math.max(20, Math.min(200, Math.floor((this.#screen.clientWidth - 24) / width))), 24];
  }

  #take({ lines = {}, cursor, ended }) {
    if (ended !== undefined) {
      this.#state.dataset.ended = "1";
      return void this.#said(ended ? `It has ended with status ${ended}.` : "It has ended.");
    }
    const changed = new Set(Object.keys(lines).map(Number));
    for (const number of [this.#cursor?.[1], cursor?.[1]]) if (number !== undefined) changed.add(number);
    this.#cursor = cursor;
    for (const number of [...changed].sort((one, other) => one - other)) {
      const row = this.#lines[number] ??= { pairs: [], element: null };
      row.pairs = lines[number] ?? row.pairs;
      this.#row(number).replaceChildren(...this.#pieces(row.pairs, cursor?.[1] === number ? cursor[0] : -1));
    }
  }

  #row(number) {
    for (let n = 0; n <= number; n += 1) {
      const row = this.#lines[n] ??= { pairs: [], element: null };
      if (!row.element) this.#screen.append(row.element = el("div.row"));
    }
    return this.#lines[number].element;
  }

  #pieces(pairs, at) {
    const pieces = [];
    let column = 0;
    for (const [text, look] of pairs) {
      const signs = [...text];
      if (at >= column && at < column + signs.length) {
        const n = at - column;
        pieces.push(this.#piece(signs.slice(0, n).join(""), look), this.#piece(signs[n], look, true), this.#piece(signs.slice(n + 1).join(""), look));
      } else pieces.push(this.#piece(text, look));
      column += signs.length;
    }
    if (at >= column) pieces.push(" ".repeat(at - column), this.#piece(" ", "", true));
    return pieces.filter((one) => one !== "" && one.textContent !== "");
  }

  #piece(text, look, cursor = false) {
    const element = el("span", {}, text);
    for (const word of look.split(" ").filter(Boolean)) {
      const found = SIX.exec(word);
      if (found) element.style.setProperty(found[1] === "fg" ? "color" : "background-color", `#${found[2]}`);
      else if (/^[a-z-]+$/.test(word)) element.classList.add(word);
    }
    if (cursor) element.classList.add("cursor");
    return element;
  }

  #key(event) {
    if (!this.#socket || event.metaKey || event.isComposing || (event.key === "Tab" && event.shiftKey)) return;
    if (event.ctrlKey && event.key.toLowerCase() === "v") return; // pasted
    let keys = KEYS[event.key] ?? (event.key.length === 1 || [...event.key].length === 1 ? event.key : "");
    if (event.ctrlKey && /^[a-z@[\\\]^_ ]$/i.test(event.key)) keys = String.fromCharCode(event.key.toUpperCase().charCodeAt(0) & 31);
    if (!keys) return;
    event.preventDefault();
    event.stopPropagation();
    this.#tell({ keys: event.altKey ? `\x1b${keys}` : keys });
  }

  #paste(event) {
    event.preventDefault();
    this.#tell({ keys: event.clipboardData.getData("text").replace(/\r?\n/g, "\r").slice(0, 20000) });
  }

  #tell(value) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(value));
  }
}
