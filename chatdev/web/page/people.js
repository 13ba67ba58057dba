// Questions to people, and their answers: say something, accept, refuse with words, edit before it is applied.
import { ask, el, fill, problem, say, title } from "./dom.js";
import { codeBlock, languageOf, prose } from "./code.js";
import { withPatches } from "./software.js";

// The open questions of a run; a form that somebody is writing in stays as it is.
export class Questions {
  #box;
  #run;
  #forms = new Map();

  constructor(element, run) {
    this.#box = element;
    this.#run = run;
  }

  // Returns the newest form, if there is a new one.
  async refresh(isUnderWay) {
    let newest = null;
    let open;
    try {
      open = await ask("waiting", { run: this.#run });
    } catch {
      return null; // the journal cannot be read, which the page tells
    }
    for (const id of this.#forms.keys()) if (!open.some((one) => one.id === id)) { this.#forms.get(id).remove(); this.#forms.delete(id); }
    for (const form of this.#forms.values()) form.querySelector(".asleep").hidden = isUnderWay();
    for (const question of open) {
      if (this.#forms.has(question.id)) continue;
      const form = this.#form(question, isUnderWay);
      this.#forms.set(question.id, form);
      this.#box.append(form);
      newest = form;
      say(`A person is asked: ${question.about}`);
    }
    return newest;
  }

  #form(question, isUnderWay) {
    const isTurn = question.asks === "turn";
    const result = el("div");
    const words = el("textarea", { id: `words-${question.id}`, rows: isTurn ? "6" : "2", dir: "auto" });
    const edits = Object.entries(question.edits).map(([path, text]) => {
      const area = el("textarea.mono", { rows: String(Math.min(24, Math.max(4, text.split("\n").length + 1))), "aria-label": `Edit ${path}`, spellcheck: "false", dir: "auto" });
      area.value = text;
      return { path, text, area };
    });
    const buttons = [];
    const send = async (action) => {
      const files = action === "edit" ? Object.fromEntries(edits.filter(({ text, area }) => area.value !== text).map(({ path, area }) => [path, area.value])) : undefined;
      if (action === "edit" && !Object.keys(files).length) return void fill(result, problem("Nothing is edited; change a text above, or accept it as it is."));
      if (["say", "refuse"].includes(action) && !words.value.trim()) { fill(result, problem(isTurn ? "Say something, or accept what is there." : "Say why it is refused.")); return words.focus(); }
      buttons.forEach((button) => { button.disabled = true; });
      try {
        const { taken } = await ask("answer", {}, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ run: this.#run, id: question.id, action, text: action === "skip" ? "" : words.value, ...(files ? { files } : {}) }) });
        if (!taken) return this.#end(form, question, "Somebody answered before you: your answer is not used.");
        this.#end(form, question, isUnderWay() ? "Your answer is given." : "Your answer is kept, and read when the run is resumed.");
      } catch (error) {
        fill(result, problem(error.message));
        buttons.forEach((button) => { button.disabled = false; });
      }
    };
    const button = (action, name, main) => buttons[buttons.push(el(main ? "button.main" : "button.quiet", { type: "button", onclick: () => send(action) }, name)) - 1];
    const form = el("section.question", { "aria-label": question.about },
      el("h2", {}, isTurn ? `It is your turn: ${title(question.role)}` : "May this happen?"), el("p", { dir: "auto" }, question.about),
      question.problem ? problem(`Your answer before could not be used: ${question.problem}`) : null,
      el("p.soft.asleep", { hidden: isUnderWay() }, "No process works on this run just now; your answer is kept until it is resumed."),
      el("div.asked", { tabindex: "0", role: "region", "aria-label": "What you read before you answer" }, withPatches(question.text, prose)),
      edits.map(({ path, text, area }) => el("details", {}, el("summary", {}, "Edit ", el("code", {}, path)), el("div.edit", {}, area, el("details", {}, el("summary", {}, "As it was"), codeBlock(text, languageOf(path)))))),
      el("div.field", {}, el("label", { for: words.id }, isTurn ? "Your answer" : "Your words (needed to refuse)"), words), result,
      el("div.answers", {}, isTurn ? [button("say", "Say it", true), button("accept", "Accept what is there")] : [button("accept", "Accept", true), edits.length ? button("edit", "Accept as edited") : null, button("refuse", "Refuse")], button("skip", "Skip")));
    return form;
  }

  #end(form, question, text) {
    say(text);
    const note = el("section.question.over", { role: "status" }, el("p", {}, text), el("button.quiet", { type: "button", onclick: () => note.remove() }, "Close"));
    form.replaceWith(note);
    this.#forms.delete(question.id);
    this.#forms.set(`${question.id} `, note); // goes when the next question comes or goes
  }
}
