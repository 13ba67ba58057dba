"""What a phase leaves to the model's sizes and to the values at hand, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.phases import Phase, settle
from chatdev.config.preview import preview
from chatdev.config.profiles import ModelProfile, ModelSettings, Sizes, profile_for
from chatdev.config.schema import CompanyConfig
from chatdev.errors import ConfigError
from tests.config.tiny import loaded, refused

SIZED = """
background: "Sizes: {{ sizes.program }}."
roles: {boss: {prompt: "You like {{ sizes.program }} things."}}
phases:
  planning:
    opening: "At most {{ sizes.design_lines }} lines."
    guidance: {assistant: "A {{ sizes.program }} plan."}
    solution: {form: list, most: commands}
"""


def phase(solution: str, folder: Path) -> Phase:
    company: CompanyConfig = loaded(folder, f"phases: {{coding: {{solution: {solution}}}}}")
    return company.phases["coding"]


def test_every_text_may_name_the_sizes_of_the_model_that_reads_it(tmp_path: Path) -> None:
    company = loaded(tmp_path, SIZED)
    for model, kind, lines, items in (("local", "small", 10, 12), ("gpt-4o", "any", 30, 20)):
        boss, coder, *_ = preview(company, {"task": "x"}, default=ModelSettings(name=model))
        assert (boss.opening, coder.opening) == (f"At most {lines} lines.",) * 2
        assert f"You like {kind} things." in boss.system
        assert f"A {kind} plan." in coder.system
        assert f"Sizes: {kind}." in coder.system
        assert f"at most {items} items" in coder.system


def test_the_users_own_profile_has_its_own_sizes(tmp_path: Path) -> None:
    own = [ModelProfile(match=["m*"], sizes=Sizes(design_lines=3))]
    boss, *_ = preview(loaded(tmp_path, SIZED), {"task": "x"}, default=ModelSettings(name="mine"), profiles=own)
    assert boss.opening == "At most 3 lines."
    assert profile_for("mine", own).sizes == Sizes(design_lines=3)


def test_a_list_is_as_long_as_the_size_that_it_names_says(tmp_path: Path) -> None:
    planning = loaded(tmp_path, "phases: {planning: {solution: {form: list, most: examples}}}").phases["planning"]
    assert settle(planning, {}, Sizes(examples=2)).solution.longest == 2
    assert planning.solution.longest is None


def test_a_reply_is_as_long_as_the_size_that_it_names_says(tmp_path: Path) -> None:
    limit = loaded(tmp_path, "phases: {planning: {model: {max_tokens: example_tokens}}}").phases["planning"].model
    own = ModelProfile(match=["m*"], max_tokens=90, sizes=Sizes(example_tokens=30))
    assert [own.longest(most) for most in (limit.max_tokens, 50, None)] == [30, 50, 90]
    assert "phases.planning.model.max_tokens: 'exampletokens' is not possible here" in refused(
        tmp_path, "phases: {planning: {model: {max_tokens: exampletokens}}}")


def test_a_size_that_there_is_not_is_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, "phases: {planning: {solution: {form: list, most: comands}}}")
    assert "solution.most: 'comands' is not possible here; did you mean 'commands'?" in told
    told = refused(tmp_path, "phases: {planning: {solution: {form: list, most: 0}}}")
    assert "solution.most: input should be greater than or equal to 1 (given: 0)" in told


def test_the_name_of_the_one_file_may_come_from_what_is_read(tmp_path: Path) -> None:
    coding = phase("{as_file: '{{ plan.file }}'}", tmp_path)
    assert settle(coding, {"plan": {"file": "go.mod"}}, Sizes()).solution.as_file == "go.mod"
    assert coding.solution.files_named == []


@pytest.mark.parametrize(("name", "why"), [
    ("../x", "the path '../x' leaves the software folder"), ("", "path"), ("/etc/x", "absolute"),
    (".envrc", "may not be written")])
def test_a_name_that_no_file_may_have_is_refused_when_it_is_known(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ConfigError, match=f"(?s)solution.as_file: .*{why}"):
        settle(phase("{as_file: '{{ plan }}'}", tmp_path), {"plan": name}, Sizes())


def test_the_name_of_the_one_file_uses_only_what_is_read(tmp_path: Path) -> None:
    told = refused(tmp_path, "phases: {coding: {solution: {form: files, as_file: '{{ style }}.md'}}}")
    assert "phases.coding.solution.as_file: uses 'style', which it is not given; add it to `reads`" in told


def test_only_where_there_is_code_an_instruction_names_file_and_function(tmp_path: Path) -> None:
    planner, _, builder, _ = preview(loaded(tmp_path), {"task": "x"})
    assert "file and function" not in planner.system
    assert "file and function" in builder.system
