"""What the static check refuses before the first call: roles, tools, forms and texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.check_company import warnings
from chatdev.config.load import load_company
from tests.config.tiny import loaded, refused, tiny


@pytest.mark.parametrize(("changes", "message"), [
    ("{instructor: bos}", "instructor: there is no role 'bos'; did you mean 'boss'? known: boss, coder"),
    ("{assistant: nobody}", "assistant: there is no role 'nobody'; known: boss, coder"),
    ("{feedback: software.rn}", "feedback: there is no tool 'software.rn'; did you mean 'software.run'?"),
    ("{mends: x}", "mends: there is no tool 'x'; known: docs.find, docs.make, docs.read, software.run"),
    ("{mends: docs.find}", "mends: the tool docs.find makes no files; name one that does"),
    ("{mends: docs.make, writes: plan, solution: {form: text}}",
     "mends: files are mended, and the phase delivers none; leave this key out"),
    ("{guard: x}", "guard: there is no tool 'x'; known: docs.find, docs.make, docs.read, software.run"),
    ("{feedback: null, drafts: 4}", "drafts: drafts are chosen by the verdict of a tool, and the phase has none; add "
                                    "`guard: TOOL` or `feedback: TOOL`"),
    ("{feedback: null, drafts: model}", "drafts: drafts are chosen by the verdict of a tool, and the phase has none"),
    ("{drafts: 0}", "drafts: input should be greater than or equal to 1 (given: 0)"),
    ("{drafts: modle}", "drafts: 'modle' is not possible here; did you mean 'model'?"),
    ("{drafts: true}", "drafts: input should be a valid integer (given: True)"),
    ("{tools: [docs.fnd]}", "tools.0: the role 'coder' has no tool 'docs.fnd', and a phase only narrows; did you mean "
                            "'docs.find'?"),
    ("{instructor: null, concludes: instructor}", "concludes: this needs an instructor, and the phase has none"),
    ("{instructor: null, opens: instructor}", "opens: this needs an instructor"),
    ("{instructor: null, dehallucination: true}", "dehallucination: this needs an instructor"),
    ("{on_no_solution: observed}", "on_no_solution: what tools said is a text, not the form 'files'; write `fail`"),
    ("{writes: other}", "writes: the form `files` writes `software`, not 'other'"),
    ("{solution: {form: text}}", "writes: `software` is written in the form `files`, not 'text'"),
    ("{writes: task}", "writes: 'task' is reserved"),
    ("{writes: feedback}", "writes: 'feedback' is reserved"),
    ("{writes: style}", "writes: 'style' is an input"),
    ("{writes: a-b}", "writes: 'a-b' is not a name that templates and expressions can use"),
    ("{writes: 'not'}", "writes: 'not' is not a name"),
    ("{reads: [task, task]}", "reads.1: 'task' is read twice"),
    ("{reads: ['a b?']}", "reads.0: 'a b?' is not a name"),
    ("{reads: [feedback]}", "reads.0: `feedback` is not read, it is given"),
    ("{reads: [bench]}", "reads.0: the input 'bench' is hidden, and only tools may see it"),
    ("{solution: {options: [a, b]}}", "solution.options: this belongs to the form `choice`, not 'files'"),
    ("{solution: {schema: {type: object}}}", "solution.schema: this belongs to the form `json`, not 'files'"),
    ("{solution: {as_file: ../x}}", "solution.as_file: the path '../x' leaves the software folder"),
    ("{solution: {only: [/etc/*]}}", "solution.only: the path '/etc/x' is absolute"),
    ("{model: {key_env: sk-secret}}", "model.key_env: this is not the name of an environment variable"),
    ("{model: {base_url: localhost}}", "model.base_url: this is not a URL"),
    ("{opening: '{{ langauge }}'}", "opening: uses 'langauge', which it is not given; add it to `reads` or fix the "
                                    "name (known: feedback, plan, sizes, software, task)"),
    ("{opening: '{% if %}'}", "opening: the template is broken in its line 1"),
    ("{opening: '{{ range(3) }}'}", "opening: uses 'range', which it is not given"),
    ("{guidance: {assistant: '{{ feedback }}'}}", "guidance.assistant: uses 'feedback', which it is not given"),
    ("{opening: '{{ inputs.bench }}'}", "opening: names the hidden input 'bench', which only tools may see"),
    ("{opening: '{{ bench }}'}", "opening: names the hidden input 'bench'"),
    ("{opening: \"{{ inputs['stlye'] }}\", reads: [inputs, plan]}",
     "opening: uses inputs.stlye, but there is no such input; did you mean 'style'?"),
])
def test_a_phase_that_cannot_run_is_refused(tmp_path: Path, changes: str, message: str) -> None:
    assert f": phases.coding.{message}" in refused(tmp_path, f"phases:\n  coding: {changes}")


def test_a_finding_names_the_line_that_is_wrong(tmp_path: Path) -> None:
    text = refused(tmp_path, "phases:\n  coding:\n    opening: |\n      {{ x }}\n    guard: none")
    assert text.startswith("own/company.yaml:6: phases.coding.guard: there is no tool 'none'")
    assert "own/company.yaml:4: phases.coding.opening: uses 'x'" in text


@pytest.mark.parametrize(("solution", "message"), [
    ("{form: choice, options: [one]}", "options: a choice needs at least two different options, not ['one']"),
    ("{form: choice}", "options: a choice needs at least two"),
    ("{form: choice, options: [A, a]}", "options: a choice needs at least two different options"),
    ("{form: json}", "schema: the form `json` needs a schema"),
    ("{form: json, schema: {type: objet}}", "schema: schema.type: there is no type 'objet'; did you mean 'object'?"),
    ("{form: json, schema: {tpye: object}}", "schema: schema: there is no keyword 'tpye'; did you mean 'type'?"),
    ("{form: json, schema: {properties: {a: {items: 3}}}}", "schema: schema.properties.a.items must be a mapping"),
    ("{form: json, schema: {properties: [a]}}", "schema: schema.properties must be a mapping"),
    ("{form: json, schema: {required: [1]}}", "schema: schema.required.0 must be a text, not 1"),
    ("{form: json, schema: {required: a}}", "schema: schema.required must be a list, not 'a'"),
    ("{form: json, schema: {minItems: true}}", "schema: schema.minItems must be a whole number, not True"),
    ("{form: json, schema: {minLength: -3}}", "schema: schema.minLength cannot be -3: -3 is less than"),
    ("{form: json, schema: {multipleOf: 0}}", "schema: schema.multipleOf cannot be 0"),
    ("{form: json, schema: {pattern: '('}}", "schema: schema.pattern is not a regular expression"),
    ("{form: json, schema: {anyOf: {type: object}}}", "schema: schema.anyOf must be a list, not"),
    ("{form: json, schema: {anyOf: [3]}}", "schema: schema.anyOf.0 must be a mapping"),
    ("{form: json, schema: {additionalProperties: 3}}", "schema: schema.additionalProperties must be a mapping"),
])
def test_a_form_without_what_it_needs_is_refused(tmp_path: Path, solution: str, message: str) -> None:
    assert f"phases.planning.solution.{message}" in refused(tmp_path, f"phases: {{planning: {{solution: {solution}}}}}")


@pytest.mark.parametrize(("changes", "message"), [
    ("roles: {coder: {tools: [docs.fnd]}}", "roles.coder.tools.0: there is no tool 'docs.fnd'; did you mean"),
    ("roles: {boss: {prompt: '{{ plan }}'}}", "roles.boss.prompt: uses 'plan', which it is not given; name an input"),
    ("roles: {boss: {prompt: '{{ bench }}'}}", "roles.boss.prompt: names the hidden input 'bench'"),
    ("background: '{{ x }}'", "background: uses 'x'"),
    ("protocol: {go_on: '{{ tial }}'}", "protocol.go_on: uses 'tial', which it is not given; name one of them (did you "
                                        "mean 'tail'? known: tail)"),
    ("inputs: {software: {}}", "inputs.software: an input cannot be called 'software'"),
    ("inputs: {a-b: {}}", "inputs.a-b: an input cannot be called 'a-b'"),
    ("inputs: {task: {hidden: true}}", "inputs.task.hidden: the task cannot be hidden"),
])
def test_roles_inputs_and_texts_of_the_company_are_checked(tmp_path: Path, changes: str, message: str) -> None:
    assert message in refused(tmp_path, changes)


def test_a_hidden_input_may_share_its_name_with_a_word_of_the_protocol(tmp_path: Path) -> None:
    loaded(tmp_path, "inputs: {report: {hidden: true}}")


def test_a_key_written_where_its_name_belongs_is_not_repeated(tmp_path: Path) -> None:
    assert "sk-secret" not in refused(tmp_path, "model: {key_env: sk-secret}")


def test_all_findings_are_told_at_once(tmp_path: Path) -> None:
    phases = "phases:\n  coding: {instructor: bos}\n  planning: {opening: '{{ x }}'}\n"
    assert len(refused(tmp_path, f"{phases}success: tset.passed").splitlines()) == 3


def test_tools_are_not_checked_where_they_are_not_known(tmp_path: Path) -> None:
    load_company(tiny(tmp_path, "phases: {coding: {feedback: any.thing}}"))


def test_a_phase_that_never_runs_is_a_warning(tmp_path: Path) -> None:
    spare = "phases: {spare: {about: x, assistant: boss, reads: [nowhere], writes: y, opening: '{{ nowhere }}'}}"
    assert warnings(loaded(tmp_path, spare)) == ["phases.spare: the chain never runs the phase 'spare'"]
    assert warnings(loaded(tmp_path)) == []


@pytest.mark.parametrize(("phase", "advice"), [
    ("concludes: assistant", "let the instructor conclude"),
    ("concludes: assistant, instructor: null", "leave this key out"),
    ("concludes: either", ""), ("concludes: assistant, feedback: null, opening: Go.", ""),
])
def test_failing_feedback_with_an_assistant_that_concludes_is_a_warning(tmp_path: Path, phase: str,
                                                                        advice: str) -> None:
    said = warnings(loaded(tmp_path, f"phases: {{coding: {{{phase}}}}}"))
    assert ["phases.coding.concludes" in line and advice in line for line in said] == [True] * bool(advice)


@pytest.mark.parametrize("kind", ["file", "image"])
def test_a_company_cannot_say_which_file_of_the_user_is_read(tmp_path: Path, kind: str) -> None:
    said = refused(tmp_path, f"inputs: {{mine: {{kind: {kind}, default: /etc/passwd}}}}")
    assert "inputs.mine.default: a company cannot say which of the user's files is read" in said
