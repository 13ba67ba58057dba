// A run is started from a form that is made of what its company asks for.
import { add, ask, el, fill, problem, size, title } from "./dom.js";

const BUDGETS = [["max_cost", "US dollars", "0.01"], ["max_minutes", "minutes", "0.1"], ["max_calls", "model calls", "1"], ["max_tokens", "tokens", "1"]];

export async function startPage(main, { go, signal }) {
  document.title = "New run · chatdev";
  const { companies } = await ask("companies", {}, { signal });
  const asked = new URLSearchParams(location.search).get("company");
  const company = el("select", { name: "company", id: "company" }, companies.map((name) => el("option", { value: name }, name)));
  company.value = companies.includes(asked) ? asked : companies.includes("chatdev") ? "chatdev" : companies[0];
  const about = el("p.soft");
  const fields = el("div.fields");
  const people = el("div.budgets");
  const result = el("div");
  const submit = el("button.main", { type: "submit" }, "Start the run");
  const form = el("form.form", { method: "post", novalidate: true },
    field("company", "Company", company, about), fields,
    el("details.more2", {}, el("summary", {}, "Name, model and budget"),
      field("name", "Name", el("input", { name: "name", id: "name", maxlength: "60", autocomplete: "off" }), el("p.soft", {}, "Of the run's folder; made from the task where it is empty.")),
      field("model", "Model", el("input", { name: "model", id: "model", maxlength: "200", autocomplete: "off", spellcheck: "false" }), el("p.soft", {}, "Of every role that has none of its own, e.g. gpt-4o-mini or local; else what your settings say.")),
      el("fieldset", {}, el("legend", {}, "The run stops before it takes more than"), el("div.budgets", {}, BUDGETS.map(([name, unit, step]) => el("label", {}, el("input", { name, type: "number", min: step, step, inputmode: "decimal" }), unit))))),
    el("details.more2", {}, el("summary", {}, "People in the run"),
      el("fieldset", {}, el("legend", {}, "You play"), people),
      el("fieldset", {}, el("legend", {}, "You are asked before"), el("div.budgets", {}, [["deliveries", "a delivery is applied"], ["tools", "a step's tool is called"]].map(([name, text]) => el("label", {}, el("input", { type: "checkbox", name: `approve.${name}` }), text))))),
    el("p.soft", {}, "The run goes on when this page or its server is closed."), result, submit);
  let most = 0;

  async function choose() {
    submit.disabled = true;
    fill(fields, el("p.soft", {}, "Loading …"));
    try {
      const found = await ask("company", { name: company.value }, { signal });
      most = found.most;
      fill(about, found.about);
      fill(people, found.roles.map((role) => el("label", {}, el("input", { type: "checkbox", name: `human.${role.name}` }), role.title)));
      fill(fields, found.inputs.map((input) => field(`input.${input.name}`, title(input.name) + (input.required ? "" : " (optional)"), control(input), input.about ? el("p.soft", {}, input.about) : null)));
      submit.disabled = false;
    } catch (error) {
      if (!signal.aborted) fill(fields, problem(error.message));
    }
  }
  company.addEventListener("change", choose);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = [...form.elements].find((one) => one.required && !one.value.trim());
    if (missing) {
      fill(result, problem(`${missing.labels[0].textContent} is needed.`));
      return missing.focus();
    }
    const given = new FormData(form);
    const files = [...given.values()].filter((value) => value instanceof File);
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    if (bytes > most) return void fill(result, problem(`The files have ${size(bytes)} and may have ${size(most)} together. Give smaller ones, or start the run with \`chatdev run\`.`));
    submit.disabled = true;
    fill(result, el("p.soft", { role: "status" }, "The run is being started …"));
    try {
      const found = await ask("start", {}, { method: "POST", body: given });
      go(`/run/${encodeURIComponent(found.run)}`);
    } catch (error) {
      fill(result, problem(error.message));
    } finally {
      submit.disabled = false;
    }
  });
  fill(main, el("div.narrow", {}, el("h1", {}, "New run"), form));
  await choose();
}

function field(id, name, input, ...more) {
  return add(el("div.field"), [el("label", { for: id }, name), input, more]);
}

function control(input) {
  const name = `input.${input.name}`;
  const shared = { name, id: name, required: input.required };
  if (input.kind === "image") return el("input", { ...shared, type: "file", accept: "image/png,image/jpeg,image/svg+xml" });
  if (input.kind !== "text") return el("input", { ...shared, type: "file", multiple: input.kind === "files" });
  const text = el("textarea", { ...shared, rows: input.name === "task" ? "6" : "2" });
  text.value = input.default;
  return text;
}
