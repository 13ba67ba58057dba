"""Finding, merging, changing and dumping companies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatdev.config.load import companies, find_company, load_company
from chatdev.config.schema import CompanyConfig, PhaseStep
from chatdev.config.yaml_nodes import dump
from chatdev.errors import ConfigError
from tests.config.tiny import TINY, TOOLS, loaded, refused, tiny


def phases_of(company: CompanyConfig) -> list[str]:
    return [step.phase for step in company.chain if isinstance(step, PhaseStep)]


def test_a_company_is_found_by_folder_file_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tiny(tmp_path)
    (tmp_path / "company_config").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert find_company(file.parent) == find_company(file) == file
    assert find_company("tiny").resolve() == file
    assert find_company("chatdev").name == "company.yaml"


@pytest.mark.parametrize(("name", "message"), [
    ("chatdv", "there is no company 'chatdv'; did you mean 'chatdev'. known: "),
    ("../nowhere", "there is no company at '../nowhere'; give a YAML file, a folder with company.yaml"),
    ("missing.yaml", "there is no company at 'missing.yaml'"),
    ("", "there is no company ''; known: "),
    ("x" * 5000, "there is no company 'xxx"),
    ("a\0b", "there is no company "),
])
def test_an_unknown_company_lists_those_there_are(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_company(name)


def test_a_folder_without_a_company_does_not_hide_a_company_of_its_name(tmp_path: Path,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chatdev").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_company("chatdev").is_file()


def test_what_extends_overrides_entry_by_entry_and_replaces_lists(tmp_path: Path) -> None:
    company = loaded(tmp_path, "company: own\nphases: {coding: {rounds: 3, reads: [task, plan, 'software?', style]}}")
    assert (company.company, company.extends) == ("own", None)
    assert company.phases["coding"].rounds == 3
    assert company.phases["coding"].reads[-1] == "style"
    assert company.phases["coding"].feedback == "software.run"


def test_a_phase_like_another_has_its_fields_and_its_own_on_top(tmp_path: Path) -> None:
    """Also where the other one comes from the company that is extended."""
    company = loaded(tmp_path, "phases: {again: {like: coding, about: Once more., guidance: {assistant: Try.}}}\n"
                     "chain: [{phase: planning}, {phase: coding}, {phase: again}, {tool: software.run, writes: test}]")
    again, coding = company.phases["again"], company.phases["coding"]
    assert (again.about, again.guidance.assistant, again.like) == ("Once more.", "Try.", None)
    assert (again.reads, again.opening, again.assistant) == (coding.reads, coding.opening, coding.assistant)


@pytest.mark.parametrize(("phases", "message"), [
    ("{again: {like: again}}", "phases.again.like: the phase is like itself"),
    ("{one: {like: two}, two: {like: one}}", "like: the phase is like itself"),
    ("{again: {like: codding}}", "phases.again.like: there is no phase 'codding'; did you mean 'coding'"),
    ("{again: {like: [coding]}}", "phases.again.like: there is no phase"),
])
def test_a_phase_like_none_that_there_is_is_refused(tmp_path: Path, phases: str, message: str) -> None:
    assert message in refused(tmp_path, f"phases: {phases}")


def test_phases_that_only_the_extended_company_runs_are_left_out(tmp_path: Path) -> None:
    company = loaded(tmp_path, "phases: {other: {like: coding, reads: [task, 'plan?', 'software?']}}\n"
                     "chain: [{phase: other}, {tool: software.run, writes: test}]")
    assert list(company.phases) == ["other"]


def test_a_company_that_extends_itself_is_refused(tmp_path: Path) -> None:
    file = tiny(tmp_path, "company: own")
    (file.parent / "tiny" / "company.yaml").write_text("extends: .", encoding="utf-8")
    with pytest.raises(ConfigError, match="extends itself .* → "):
        load_company(file)


@pytest.mark.parametrize("form", ["{0}", "{0}/company.yaml", "../tiny", "../tiny/company.yaml", "link", "link.yaml",
                                  "own/../../tiny"])
def test_a_company_extends_nothing_outside_its_folder(tmp_path: Path, form: str) -> None:
    """What lies there is the user's, and would become text for models."""
    private = tiny(tmp_path).parent
    own = tmp_path / "own"
    own.mkdir()
    (own / "link").symlink_to(private)
    (own / "link.yaml").symlink_to(private / "company.yaml")
    (own / "company.yaml").write_text(f"extends: {form.format(private)}\ncompany: own\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="lies outside the company's folder"):
        load_company(own, tools=TOOLS)


def test_nor_another_company_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(tmp_path / "company_config")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "company.yaml").write_text("extends: tiny\ncompany: own\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="there is no company 'tiny'; .* has to lie below"):
        load_company(tmp_path, tools=TOOLS)


@pytest.mark.parametrize("form", ["base", "base/company.yaml", "./base", "more.yaml"])
def test_a_company_extends_what_lies_below_it(tmp_path: Path, form: str) -> None:
    tiny(tmp_path / "x").parent.rename(tmp_path / "base")
    (tmp_path / "more.yaml").write_text("extends: base\n", encoding="utf-8")
    (tmp_path / "company.yaml").write_text(f"extends: {form}\ncompany: own\n", encoding="utf-8")
    assert load_company(tmp_path, tools=TOOLS).company == "own"


@pytest.mark.parametrize(("value", "message"), [
    ("chatdv", "company.yaml:1: extends: there is no company 'chatdv'; did you mean 'chatdev'"),
    ("[a]", "company.yaml:1: extends: .* is not the name of a company"),
])
def test_extending_what_is_not_there_names_the_line(tmp_path: Path, value: str, message: str) -> None:
    (tmp_path / "company.yaml").write_text(f"extends: {value}", encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_company(tmp_path)


def test_a_long_text_may_lie_in_a_file_of_the_company(tmp_path: Path) -> None:
    file = tiny(tmp_path, "phases: {planning: {opening: {file: prompts/plan.j2}}}\n"
                          "protocol: {text: {file: prompts/t.j2}}")
    (file.parent / "prompts").mkdir()
    (file.parent / "prompts" / "plan.j2").write_text("Think about {{ task }}: é.", encoding="utf-8")
    (file.parent / "prompts" / "t.j2").write_text("Answer.", encoding="utf-8")
    company = load_company(file)
    assert company.phases["planning"].opening == "Think about {{ task }}: é."
    assert company.protocol.text == "Answer."


@pytest.mark.parametrize(("value", "message"), [
    ("../secret", "own/company.yaml:2: the file '../secret' lies outside the company's folder"),
    ("/etc/passwd", "lies outside the company's folder"),
    (".ssh/id_rsa", "is no template; its name has to end with .j2"),
    ("accounts.txt", "is no template"),
    ("link.j2", "lies outside the company's folder"),
    ("missing.j2", "there is no file 'missing.j2'"),
    ("[1]", "is not a file name"),
    ("latin.j2", "latin.j2 is not UTF-8"),
    ("broken.j2", "own/broken.j2:1: phases.planning.opening: the template is broken in its line 2"),
])
def test_files_outside_missing_or_broken_are_refused(tmp_path: Path, value: str, message: str) -> None:
    file = tiny(tmp_path, f"phases: {{planning: {{opening: {{file: {value}}}}}}}")
    (file.parent / "link.j2").symlink_to("/etc/passwd")
    (file.parent / "latin.j2").write_bytes(b"\xe9")
    (file.parent / "broken.j2").write_text("a\n{% if %}", encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_company(file)


def test_file_is_an_ordinary_word_where_no_template_stands(tmp_path: Path) -> None:
    company = loaded(tmp_path, "phases: {planning: {on_no_solution: {value: {file: x}}}}")
    assert company.phases["planning"].on_no_solution.value == {"file": "x"}  # type: ignore[union-attr]  # not a word


def test_the_protocol_is_the_bundled_one_with_own_entries_on_top(tmp_path: Path) -> None:
    plain, own = loaded(tmp_path), loaded(tmp_path, "protocol: {go_on: Go on.}")
    assert own.protocol.go_on == "Go on."
    assert own.protocol.system == plain.protocol.system


@pytest.mark.parametrize("assignment", [
    "phases.coding.rounds=3", "model.name=gpt-4o", "phases.coding.memory.window=2", "with_roles=false",
    "roles.boss.model.temperature=0", "chain.0.when=task", "phases.planning.on_no_solution={value: {a: 1}}",
    "phases.planning.on_no_solution=keep", "phases.coding.opening=Build {{ task }}: now", "phases.planning.rounds = 2",
])
def test_set_changes_what_the_schema_knows(tmp_path: Path, assignment: str) -> None:
    before = load_company(tiny(tmp_path))
    after = load_company(tiny(tmp_path), sets=[assignment])
    assert after != before
    assert load_company(tiny(tmp_path), sets=[assignment, assignment]) == after


@pytest.mark.parametrize(("assignment", "message"), [
    ("phases.codin.rounds=3", "--set phases.codin.rounds=3: phases has no 'codin'; did you mean 'coding'"),
    ("phases.coding.rouns=3", "phases.coding has no 'rouns'; did you mean 'rounds'"),
    ("chain.9.when=task", "chain has no '9'; known: 0, 1, 2"),
    ("chain.0.max=3", "chain.0 has no 'max'; known: when, optional, phase"),
    ("tsak=x", "the company has no 'tsak'"),
    ("extends=chatdev", "the company has no 'extends'"),
    ("company.x=1", "company has no 'x'; there are none"),
    ("phases", "--set 'phases' is not `path=value`; write e.g."),
    ("=3", "is not `path=value`"),
    ("phases.coding.rounds=many", "--set phases.coding.rounds=many:1: phases.coding.rounds: .*valid integer"),
    ("phases.coding.rounds=[", "--set .*not YAML"),
    ("phases.coding.rounds=0", "greater than or equal to 1"),
    ("about=\ud800", "is not UTF-8 at character 6"),
])
def test_set_of_something_else_is_refused(tmp_path: Path, assignment: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_company(tiny(tmp_path), sets=[assignment])


NESTED = """
chain:
  - phase: planning
  - repeat: {until: plan, max: 2, steps: [{phase: planning}]}
  - parallel: [{steps: [{phase: planning}]}, {phase: coding}]
  - foreach: {over: plan, as: part, steps: [{repeat: {max: 2, steps: [{phase: planning}]}}, {phase: coding}]}
  - {tool: software.run, writes: test}
"""


def test_without_removes_the_phase_everywhere_and_what_it_leaves_empty(tmp_path: Path) -> None:
    company = load_company(tiny(tmp_path, NESTED + "phases: {coding: {reads: [task, 'plan?', 'software?']}}"),
                           without=["planning"], sets=["chain.3.foreach.over=[1]"])
    chain = company.model_dump(include={"chain"}, exclude_defaults=True)["chain"]
    assert chain == [{"parallel": [{"phase": "coding"}]},
                     {"foreach": {"over": "[1]", "as_": "part", "steps": [{"phase": "coding"}]}},
                     {"tool": "software.run", "writes": "test"}]


@pytest.mark.parametrize(("names", "message"), [
    (["codin"], "--without codin: the chain has no such phase; did you mean 'coding'"),
    (["planning"], "phases.coding.reads: reads 'plan', which nothing writes; write it before, or `plan.`"),
])
def test_without_something_needed_or_unknown_is_refused(tmp_path: Path, names: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_company(tiny(tmp_path), without=names)


def test_without_everything_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--without planning: nothing is left of the chain"):
        load_company(tiny(tmp_path, "chain: [{phase: planning}]"), without=["planning"])


def test_every_mistake_of_a_file_is_listed_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded(tmp_path, "phases:\n  coding:\n    rouns: 3\n    rounds: '3'\nroles:\n  boss: {title: yes, tool: x}\n"
                         "with_roles: no\nchain:\n  - {phse: coding}")
    lines = [line.partition("own/")[2] for line in str(refused.value).splitlines()]
    assert lines == [
        "company.yaml:7: roles.boss.tool: unknown key 'tool'; did you mean 'tools'? known: title, prompt, tools, "
        "tools_when, approve, model",
        "company.yaml:5: phases.coding.rounds: input should be a valid integer (given: '3')",
        lines[2],
        "company.yaml:10: chain.0: a step is one of: phase, tool, repeat, foreach, parallel, process "
        "(given: {'phse': 'coding'})",
        "company.yaml:8: with_roles: 'no' is not a truth value; write `true` or `false`",
    ]
    assert lines[2].startswith("company.yaml:4: phases.coding.rouns: unknown key 'rouns'; did you mean 'rounds'? ")


@pytest.mark.parametrize(("changes", "message"), [
    ("phases: {coding: {solution: {form: flies}}}", "phases.coding.solution.form: 'flies' is not possible here; did "
                                                     "you mean 'files'. known: text, choice, files, json, list"),
    ("chain: []", "chain: list should have at least 1 item"),
    ("chain: [{repeat: {max: 0, steps: [{phase: coding}]}}]", "chain.0.repeat.max: .*greater than or equal to 1"),
    ("chain: [{repeat: {max: 2}}]", "chain.0.repeat.steps: this key is required"),
    ("chain: [{parallel: [{fase: coding}]}]", "chain.0.parallel.0: a branch is one of: .*steps"),
    ("phases: {coding: {on_no_solution: maybe}}", "on_no_solution: 'maybe' is not possible here; known: fail, keep"),
    ("phases: {coding: {rounds: true}}", "phases.coding.rounds: .*valid integer .given: True"),
    ("model: {temperature: 3}", "model.temperature: .*less than or equal to 2"),
])
def test_misfits_of_the_schema_are_told_in_plain_words(tmp_path: Path, changes: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        loaded(tmp_path, changes)


def test_a_dumped_company_loads_back_equal(tmp_path: Path) -> None:
    for name, company in (("one", loaded(tmp_path, NESTED)), ("two", load_company("chatdev"))):
        (tmp_path / f"{name}.yaml").write_text(dump(company), encoding="utf-8")
        assert load_company(tmp_path / f"{name}.yaml") == company


texts = st.text(min_size=1).map(lambda text: text.replace("{", "(").replace("\ud800", ""))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(about=texts, title=texts, opening=texts, value=st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
def test_any_texts_survive_dump_and_load(tmp_path: Path, about: str, title: str, opening: str, value: Any) -> None:
    company = load_company(tiny(tmp_path)).model_dump(by_alias=True)
    company["about"], company["roles"]["boss"]["title"] = about, title
    company["phases"]["planning"].update(opening=opening, on_no_solution={"value": value})
    given_ = CompanyConfig.model_validate(company)
    (tmp_path / "x.yaml").write_text(dump(given_), encoding="utf-8", newline="")
    assert load_company(tmp_path / "x.yaml") == given_


def test_companies_are_listed_and_a_broken_one_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "company_config" / "broken").mkdir(parents=True)
    (tmp_path / "company_config" / "broken" / "company.yaml").write_text("company: x", encoding="utf-8")
    (tmp_path / "company_config" / "mine").mkdir()
    (tmp_path / "company_config" / "mine" / "company.yaml").write_text(TINY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    listed = {summary.name: summary for summary in companies()}
    assert "about: this key is required" in listed["broken"].problem
    assert listed["mine"].phases == ("planning", "coding")
    assert listed["chatdev"].problem == ""
