"""Inception prompts (ChatDev equation 2): the same parts for both sides, mirrored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatdev.config.load import load_company
from chatdev.config.phases import Solution, Surroundings, ToolDescription, form_text, system_prompt
from chatdev.config.profiles import Sizes
from chatdev.config.schema import CompanyConfig
from chatdev.errors import ConfigError
from chatdev.events import Speaker
from tests.config.tiny import loaded, tiny

FIND = ToolDescription("docs.find", "Finds <a> page.", {"type": "object", "properties": {"word": {"type": "string"}}})
VALUES = {"task": "a clock", "style": "plain", "bench": "the answer key", "plan": "one file"}


def told(folder: Path, what: str, changes: str = "", speaker: Speaker = "assistant", **given: Any) -> str:
    """What `protocol.system` makes of the template `what`."""
    company = loaded(folder, f"protocol: {{system: {json.dumps(what)}}}\n{changes}")
    return system_prompt(company, "coding", speaker, Surroundings(VALUES, **given))


def test_both_sides_know_themselves_and_each_other(tmp_path: Path) -> None:
    who = "{{ company }}, {{ speaker }}: {{ me.title }} ({{ me.prompt }}) with {{ other.title }} on {{ phase.name }}"
    assert told(tmp_path, who) == "tiny, assistant: Coder (You write.) with Boss on coding"
    assert told(tmp_path, who, speaker="instructor") == (
        "tiny, instructor: Boss (You answer for a clock.) with Coder on coding")


def test_who_acts_alone_has_no_counterpart(tmp_path: Path) -> None:
    alone = "phases: {coding: {instructor: null}}"
    assert told(tmp_path, "{{ other is none }} {{ other_may_conclude }}", alone) == "True False"


def test_guidance_is_rendered_for_its_own_side(tmp_path: Path) -> None:
    assert told(tmp_path, "[{{ guidance }}]") == "[Follow one file.]"
    assert told(tmp_path, "[{{ guidance }}]", speaker="instructor") == "[]"


def test_guidance_sees_only_what_the_phase_reads(tmp_path: Path) -> None:
    company = load_company(tiny(tmp_path))
    sly = company.phases["coding"].model_copy(update={"reads": ["task"]})
    company = company.model_copy(update={"phases": {**company.phases, "coding": sly}})
    with pytest.raises(ConfigError, match=r"phases.coding.guidance.assistant: .*'plan' is undefined"):
        system_prompt(company, "coding", "assistant", Surroundings(VALUES))


def test_the_background_may_name_visible_inputs_only(tmp_path: Path) -> None:
    background = "background: 'Make {{ task }}, {{ style }}, {{ inputs.style }}.'"
    assert told(tmp_path, "{{ background }}", background) == "Make a clock, plain, plain."
    company = load_company(tiny(tmp_path)).model_copy(update={"background": "{{ inputs.bench }}"})
    with pytest.raises(ConfigError, match="background: "):
        system_prompt(company, "coding", "assistant", Surroundings(VALUES))


@pytest.mark.parametrize(("concludes", "mine", "theirs"), [
    ("assistant", "True False", "False True"), ("instructor", "False True", "True False"),
    ("either", "True True", "True True"),
])
def test_each_side_is_told_who_may_conclude(tmp_path: Path, concludes: str, mine: str, theirs: str) -> None:
    what, changes = "{{ may_conclude }} {{ other_may_conclude }}", f"phases: {{coding: {{concludes: {concludes}}}}}"
    assert told(tmp_path, what, changes) == mine
    assert told(tmp_path, what, changes, speaker="instructor") == theirs


def test_rules_and_markers_are_told(tmp_path: Path) -> None:
    what = ("{{ dehallucination }} {{ questions }} {{ rounds }} {{ opens }} {{ feedback }} {{ marker }} "
            "{{ question_marker }}")
    changes = "phases: {coding: {dehallucination: true, questions: 2, rounds: 5, opens: instructor}}"
    assert told(tmp_path, what, changes) == "True 2 5 instructor True <SOLUTION> <QUESTION>"
    assert told(tmp_path, "{{ documents_language }}", documents_language="German") == "German"


def test_tools_are_described_in_words_only_where_the_model_needs_words(tmp_path: Path) -> None:
    what = "{{ tools | map(attribute='name') | join }} {{ native_tools }} {{ tool_text }}"
    text = told(tmp_path, what, tools=[FIND])
    assert text.startswith("docs.find False ")
    assert "Finds <a> page." in text
    assert "Arguments: {word?: string}" in text
    small = told(tmp_path, what, tools=[FIND], sizes=Sizes(program="small"))
    assert '"properties": {"word": {"type": "string"}}' in small
    assert told(tmp_path, what, tools=[FIND], native_tools=True) == "docs.find True "
    assert told(tmp_path, what) == " False "


def test_without_roles_only_the_titles_are_left(tmp_path: Path) -> None:
    assert told(tmp_path, "{{ me.title }}[{{ me.prompt }}]", "with_roles: false") == "Coder[]"


def form(folder: Path, solution: str) -> str:
    writes = "software" if "files" in solution else "plan"
    company: CompanyConfig = loaded(folder, f"phases: {{planning: {{writes: {writes}, solution: {solution}}}, "
                                      "coding: {reads: [task, 'plan?'], opening: 'x', guidance: {assistant: ''}}}")
    return form_text(company, company.phases["planning"], has_software=False)


def test_each_form_is_explained_with_what_belongs_to_it(tmp_path: Path) -> None:
    assert "red, green" in form(tmp_path, "{form: choice, options: [red, green]}")
    kinds = "{form: json, schema: {type: object, properties: {kind: {type: string}}}}"
    assert "{kind?: string}" in form(tmp_path, kinds)
    assert "manual.md" in form(tmp_path, "{form: files, as_file: manual.md}")
    assert "*.st" in form(tmp_path, "{form: files, only: ['*.st']}")
    assert form(tmp_path, "{form: list}") != form(tmp_path, "{form: text}")


def test_software_that_is_there_is_changed_in_parts(tmp_path: Path) -> None:
    company = loaded(tmp_path, "protocol: {files: whole, files_partial: parts, as_file: '{{ file }}'}\n"
                               "phases: {planning: {solution: {form: text}}}")
    coding = company.phases["coding"]
    assert [form_text(company, coding, has_software=there) for there in (False, True)] == ["whole", "parts"]
    alone = coding.model_copy(update={"solution": Solution(form="files", as_file="a.md")})
    assert form_text(company, alone, has_software=True) == "a.md"
