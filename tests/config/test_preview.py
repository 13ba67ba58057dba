"""What can be shown before a run: drawing, prompts, estimate."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.load import load_company
from chatdev.config.phases import ToolDescription
from chatdev.config.preview import Estimate, Load, chain_dot, chain_picture, chain_text, estimate, preview
from chatdev.config.profiles import ModelSettings
from chatdev.config.schema import CompanyConfig
from chatdev.errors import ConfigError, MissingProgram
from tests.config.tiny import loaded

LOOPS = """
chain:
  - {phase: planning, when: task}
  - repeat: {until: test.passed, max: 3, steps: [{phase: coding}, {tool: software.run, writes: test}]}
  - foreach: {over: plan, as: part, until: test.passed, steps: [{phase: coding}, {tool: software.run, writes: test}]}
  - parallel: [{steps: [{tool: docs.find, writes: a}]}, {tool: docs.find, writes: b, optional: true}]
  - process: plan
  - {tool: software.run, writes: test}
"""


def guess(company: CompanyConfig, inputs: dict[str, str], default: ModelSettings | None = None) -> Estimate:
    """The estimate by the prompts as they are shown."""
    return estimate(company, preview(company, inputs, default=default), default)


def test_the_chain_is_drawn_as_a_tree(tmp_path: Path) -> None:
    assert chain_text(loaded(tmp_path, LOOPS)) == """\
tiny
├─ planning: Boss ⇄ Coder → plan   [when task]
├─ repeat until test.passed, at most 3 times
│  ├─ coding: Boss ⇄ Coder → software   (feedback: software.run)
│  └─ tool software.run → test
├─ for each part in plan, until test.passed
│  ├─ coding: Boss ⇄ Coder → software   (feedback: software.run)
│  └─ tool software.run → test
├─ parallel
│  ├─ branch
│  │  └─ tool docs.find → a
│  └─ tool docs.find → b   [optional]
├─ process plan
└─ tool software.run → test
success: test.passed"""


def test_the_graph_leads_from_start_to_success(tmp_path: Path) -> None:
    dot = chain_dot(loaded(tmp_path, LOOPS))
    assert "start -> n1;" in dot
    assert "n4 -> n3 [style=dashed" in dot  # the loop's way back
    assert dot.rstrip("}\n").endswith("-> success;")


@pytest.mark.tool
@pytest.mark.parametrize(("name", "begins"), [("x.svg", b"<?xml"), ("x.png", b"\x89PNG"), ("x.dot", b"digraph")])
def test_graphviz_draws_the_picture(tmp_path: Path, name: str, begins: bytes) -> None:
    company = loaded(tmp_path, LOOPS + "company: 'quo\"te \\\\ <b>'\nroles: {boss: {title: 'B\"'}}")
    chain_picture(company, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_picture_that_cannot_be_drawn_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    company = loaded(tmp_path)
    with pytest.raises(ConfigError, match=r"'x.jpg' is not a picture this can draw; .*end in .svg, .png, .dot"):
        chain_picture(company, tmp_path / "x.jpg")
    with pytest.raises(ConfigError, match="cannot be written: No such file or directory"):
        chain_picture(company, tmp_path / "no" / "x.dot")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingProgram, match="install it .Debian, Ubuntu: `apt install graphviz`"):
        chain_picture(company, tmp_path / "x.svg")


def test_openings_are_shown_as_far_as_they_are_known(tmp_path: Path) -> None:
    shown = preview(loaded(tmp_path), {"task": "a clock"})
    assert [(p.place, p.phase, p.role, p.speaker) for p in shown] == [
        ("chain.0", "planning", "boss", "instructor"), ("chain.0", "planning", "coder", "assistant"),
        ("chain.1", "coding", "boss", "instructor"), ("chain.1", "coding", "coder", "assistant")]
    assert (shown[0].opening, shown[0].known) == ("Plan a clock.", True)
    assert shown[2].opening == "Build a clock by ‹plan›. ‹software›‹feedback.report›"
    assert not shown[2].known
    assert "Follow ‹plan›." in shown[3].system
    assert "You answer for a clock." in shown[2].system


def test_tools_are_shown_to_who_may_use_them(tmp_path: Path) -> None:
    tools = {"docs.find": ToolDescription("docs.find", "Finds a page.", {"type": "object"})}
    boss, coder, *_ = preview(loaded(tmp_path), {"task": "x"}, tools)
    assert "Finds a page." in coder.system
    assert "Finds a page." not in boss.system
    _, narrowed, *_ = preview(loaded(tmp_path, "phases: {planning: {tools: []}}"), {"task": "x"}, tools)
    assert "Finds a page." not in narrowed.system


def test_tools_are_shown_as_their_model_gets_them(tmp_path: Path) -> None:
    company, parameters = loaded(tmp_path), {"type": "object", "additionalProperties": False}
    tools = {"docs.find": ToolDescription("docs.find", "Finds a page.", parameters)}
    _, coder, *_ = preview(company, {"task": "x"}, tools, default=ModelSettings(name="gpt-4o"))
    assert coder.tools == (ToolDescription("docs.find", "Finds a page.", {"type": "object"}),)
    assert "Finds a page." not in coder.system
    _, coder, *_ = preview(company, {"task": "x"}, tools, default=ModelSettings(name="local"))
    assert coder.tools == ()
    assert "Finds a page." in coder.system


def test_software_that_is_handed_in_is_shown_and_counted(tmp_path: Path) -> None:
    company, default = loaded(tmp_path), ModelSettings(name="gpt-4o")
    software = {"main.py": b"print('hello')\n" * 1000}
    *_, bare = preview(company, {"task": "x"}, default=default)
    shown = preview(company, {"task": "x"}, default=default, software=software)
    assert "‹software›" in bare.opening
    assert "print('hello')" in shown[-1].opening
    most = estimate(company, shown, default).most
    before = guess(company, {"task": "x"}, default).most
    assert most
    assert before
    assert most.prompt_tokens > before.prompt_tokens + 3000


def test_a_template_that_needs_the_real_value_names_its_expressions(tmp_path: Path) -> None:
    opening = "Keys: {% for k, v in plan.items() %}{{ k | upper }}{% endfor %}{# a remark #}"
    shown = preview(loaded(tmp_path, f"phases: {{coding: {{opening: '{opening}'}}}}"), {"task": "x"})
    assert (shown[2].opening, shown[2].known) == ("Keys: ‹k | upper›", False)


def test_an_instructor_who_never_speaks_is_not_shown(tmp_path: Path) -> None:
    shown = preview(loaded(tmp_path, "phases: {planning: {rounds: 1}}"), {"task": "x"})
    assert [(one.phase, one.speaker) for one in shown] == [
        ("planning", "assistant"), ("coding", "instructor"), ("coding", "assistant")]


def test_placeholders_stand_for_lists_entries_and_tests(tmp_path: Path) -> None:
    opening = "{% for s in plan.steps %}{{ s.name | upper }}{% endfor %} {{ plan | tojson }} {{ 'y' if plan.a == 1 }}"
    shown = preview(loaded(tmp_path, f"phases: {{coding: {{opening: \"{opening}\"}}}}"), {"task": "x"})
    assert shown[2].opening == '‹PLAN.STEPS.….NAME› "‹plan›" '


def test_a_hidden_input_is_shown_to_nobody(tmp_path: Path) -> None:
    company = loaded(tmp_path, "phases: {planning: {reads: [task, inputs], opening: '{{ inputs }}'}}")
    assert "secret" not in repr(preview(company, {"task": "x", "bench": "secret"}))


def test_the_estimate_spans_from_no_rounds_to_all_of_them(tmp_path: Path) -> None:
    company = loaded(tmp_path, "phases: {planning: {rounds: 2}, coding: {rounds: 3, dehallucination: true}}")
    span = guess(company, {"task": "x"}, ModelSettings(name="gpt-4o"))
    assert span.most is not None
    # planning: 1 .. 2 responses, 1 instruction, 2 reflections; coding: 0 .. 3 x (response, question, answer) + 2 + 2
    assert (span.least.calls, span.most.calls) == (1, 5 + 13)
    assert span.least.cost is not None
    assert span.most.cost is not None
    assert 0 < span.least.cost < span.most.cost
    assert guess(company, {"task": "x"}, ModelSettings(name="unknown")).least.cost is None


def test_a_budget_of_calls_lowers_the_guess(tmp_path: Path) -> None:
    chain = "chain: [{phase: planning}, {tool: software.run, writes: test}]\n"
    free, bound, observed = (guess(loaded(tmp_path, f"{chain}phases: {{planning: {{{more}}}}}"), {"task": "x"}).most
                             for more in ("rounds: 4", "rounds: 4, budget: {calls: 3}", "on_no_solution: observed"))
    assert free
    assert bound
    assert observed
    assert (free.calls, bound.calls, observed.calls) == (7 + 2, 3 + 2, 19)


def test_the_estimate_counts_drafts(tmp_path: Path) -> None:
    chain = "chain: [{phase: planning}, {tool: software.run, writes: test}]\n"
    phase = "instructor: null, guard: software.run, rounds: 4"
    calls = []
    for more in ("", ", drafts: 6", ", drafts: 6, budget: {calls: 4}", ", drafts: 6, tools: [docs.find]",
                 ", drafts: model", ", drafts: 6, feedback: software.run, memory: {fresh: true}"):
        tools = "" if "tools" in more else ", tools: []"
        company = loaded(tmp_path, f"{chain}phases: {{planning: {{{phase}{more}{tools}}}}}")
        for model in ("gpt-4o", "local"):
            span = guess(company, {"task": "x"}, ModelSettings(name=model))
            assert span.most is not None
            calls.append((span.least.calls, span.most.calls))
    assert calls == [(1, 3), (1, 3), (4, 8), (1, 8), (4, 6), (1, 6), (1, 8), (1, 8), (1, 3), (1, 6),
                     (0, 26), (0, 20)]


def test_limits_of_small_models_lower_the_guess(tmp_path: Path) -> None:
    company = loaded(tmp_path)
    small, large = (guess(company, {"task": "x"}, ModelSettings(name=n)).most for n in ("local", "gpt-4o"))
    assert small is not None
    assert large is not None
    assert small.calls < large.calls


def test_a_loop_over_what_is_not_known_yet_has_no_upper_end(tmp_path: Path) -> None:
    span = guess(loaded(tmp_path, LOOPS), {"task": "x"})
    assert (span.least, span.most) == (Load(), None)


def test_loops_and_branches_are_counted(tmp_path: Path) -> None:
    chain = """
chain:
  - repeat: {max: 3, steps: [{phase: planning}]}
  - parallel: [{phase: solo}, {steps: [{phase: solo2}]}]
  - repeat: {until: plan, max: 2, steps: [{phase: planning}]}
  - phase: coding
  - {tool: software.run, writes: test}
"""
    solo = "about: x, assistant: boss, opening: x, writes: "
    company = loaded(tmp_path, f"{chain}phases: {{planning: {{rounds: 1}}, solo: {{{solo}s}}, solo2: {{{solo}t}}, "
                               "coding: {rounds: 1}}")
    span = guess(company, {"task": "x"})
    assert span.most is not None
    assert (span.least.calls, span.most.calls) == (3 + 2 + 1, 3 * 3 + 2 * 3 + 2 * 3 + 3)


def test_the_bundled_company_can_be_shown() -> None:
    company = load_company("chatdev")
    assert all(shown.system and shown.opening for shown in preview(company, {"task": "a clock"}))
    assert "success: " in chain_text(company)
    assert guess(company, {"task": "a clock"}).most is not None
