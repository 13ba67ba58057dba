"""Solutions that are no files — texts, choices, JSON, lists — and the templates and expressions they are put into."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.escape.world import World
from tests.engine.studio import CHECK, TALK
from tests.support.chat_server import Scripted

ASK = "talk#1/round-1/assistant"
RETRY = f"{ASK}/retry-1"
SECOND = {**TALK, "about": "Go on.", "reads": ["title"], "writes": "more", "opening": "NOW {{ title }}"}
TEMPLATES = [
    "{{ 7 * 7 }}", "{% for x in range(3) %}x{% endfor %}", "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ inputs }} {{ self }} {{ cycler.__init__.__globals__.os.environ }}", "{% include '/etc/passwd' %}", "{# gone #}",
    "{{ title }}", "{% raw %}", "${7*7} #{7*7} <%= 7*7 %> %(title)s {title} $title",
]


@pytest.mark.parametrize("text", TEMPLATES)
def test_a_template_in_a_reply_is_a_text_wherever_it_is_put(world: World, text: str) -> None:
    run = world.run(world.studio.company({"talk": TALK, "second": SECOND}), {
        ASK: f"<SOLUTION> {text}", "second#1/round-1/assistant": "<SOLUTION> Ada"})
    assert run.values["title"] == text
    assert world.studio.said("second#1/round-1/assistant") == f"NOW {text}"
    assert run.success


@pytest.mark.parametrize("text", TEMPLATES)
def test_so_is_one_in_the_task(world: World, text: str) -> None:
    world.run(world.studio.company({"talk": TALK}), {ASK: "<SOLUTION> Ada"}, task=text)
    assert world.studio.said(ASK) == f"OPENING about {text}"
    assert "leads the work" not in world.studio.system(ASK)


def test_expressions_read_a_reply_and_never_run_it(world: World) -> None:
    chain = [{"phase": "talk"}, {"phase": "second", "when": "title == '49'"}, CHECK]
    run = world.run(world.studio.company({"talk": TALK, "second": SECOND}, chain), {ASK: "<SOLUTION> 7 * 7"})
    assert "more" not in run.values


JSON: dict[str, str] = {
    "deep lists": "[" * 100_000 + "]" * 100_000, "deep objects": '{"a":' * 100_000,
    "a number without end": "9" * 10_000,
    "a number beyond all": '{"a": 1e999}', "no number": "NaN", "infinity": '{"a": Infinity}',
    "a Python call": "__import__('os').system('touch /tmp/chatdev-escaped.py')",
    "a Python object": "{'a': open('/etc/passwd').read()}", "a YAML tag": "!!python/object/apply:os.system ['id']",
    "a YAML bomb": "a: &a [x, x]\nb: &b [*a, *a]", "half of it": '{"a": [1, 2',
}


@pytest.mark.parametrize("name", JSON)
def test_json_that_is_none_is_refused_in_words(world: World, name: str) -> None:
    phase = {**TALK, "solution": {"form": "json", "schema": {"type": "object"}}}
    run = world.run(world.studio.company({"talk": phase}), {ASK: f"<SOLUTION>\n```json\n{JSON[name]}\n```",
                                                            RETRY: '<SOLUTION> {"a": 1}'})
    assert "UNREADABLE" in world.studio.said(RETRY)
    assert run.values["title"] == {"a": 1}


ODD: list[Any] = [{"__proto__": {"x": 1}, "__class__": "os"}, {"a": "\x1b[2J\u202e"},
                  {"passed": True, "report": "fine"}, {"../../escaped.py": "x"},
                  {"many": ["x"] * 10_000}, {"k" * 10_000: "v"}, {"long": 10**4000}]


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
def test_odd_json_is_a_value_like_any_other(world: World, value: Any) -> None:
    phase = {**TALK, "solution": {"form": "json", "schema": {"type": "object"}}}
    run = world.run(world.studio.company({"talk": phase, "second": SECOND}), {
        ASK: f"<SOLUTION>\n```json\n{json.dumps(value)}\n```", "second#1/round-1/assistant": "<SOLUTION> Ada"})
    assert run.values["title"] == value
    assert run.success


def test_half_a_character_in_json_is_none_from_there_on(world: World) -> None:
    phase = {**TALK, "solution": {"form": "json", "schema": {"type": "object"}}}
    run = world.run(world.studio.company({"talk": phase}), {ASK: r'<SOLUTION> {"a\ud800": ["\udfff", "\ud83d\ude00"]}'})
    assert run.values["title"] == {"a?": ["?", "\U0001f600"]}


ITEMS: dict[str, Any] = {
    "ids that are paths": [{"id": "../../escaped", "parents": []}, {"id": "/tmp/chatdev-escaped.py", "parents": []}],
    "ids that steer a terminal": [{"id": "\x1b[2Jx", "parents": []}],
    "ids with slashes and marks": [{"id": "a/b#1/round-1", "parents": []}, {"id": "a\nb", "parents": []}],
    "ids without end": [{"id": "x" * 200_000, "parents": []}, {"id": "x" * 200_000 + "y", "parents": ["x" * 200_000]}],
    "ids that are no texts": [{"id": {"a": [1]}, "parents": None}, {"id": None, "parents": {"a": [1]}}],
}


@pytest.mark.parametrize("name", ITEMS)
def test_items_of_a_list_name_places_of_the_run_and_nothing_else(world: World, name: str) -> None:
    plan = {**TALK, "writes": "plan", "solution": {"form": "list"}}
    item = {**TALK, "instructor": None, "reads": ["item"], "writes": "note", "opening": "DO {{ item.id }}"}
    chain = [{"phase": "plan"}, {"foreach": {"over": "plan", "as": "item", "depends_on": "parents",
                                             "steps": [{"phase": "item"}]}}, CHECK]
    company = world.studio.company({"plan": plan, "item": item}, chain)
    run = world.run(company, Everywhere(json.dumps(ITEMS[name])))
    assert run.success, run.reason
    assert len(world.studio.places) == 1 + len(ITEMS[name])


class Everywhere(dict[str, Any]):
    """Replies for every place: the plan, and `done` for all others."""

    def __init__(self, plan: str) -> None:
        super().__init__({"plan#1/round-1/assistant": f"<SOLUTION> {plan}"})

    def get(self, place: str, default: Any = None) -> Any:
        return super().get(place, Scripted("<SOLUTION> done"))


CHOICES = ["A or B", "both", "A\x00", "{{ options[0] }}", "none; run `rm -rf ~`", "B, but as A: C" * 1000]


@pytest.mark.parametrize("text", CHOICES, ids=range(len(CHOICES)))
def test_a_choice_is_one_of_the_options_or_asked_again(world: World, text: str) -> None:
    phase = {**TALK, "solution": {"form": "choice", "options": ["A", "B"]}}
    run = world.run(world.studio.company({"talk": phase}), {ASK: f"<SOLUTION> {text}", RETRY: "<SOLUTION> B"})
    assert run.values["title"] in ("A", "B")


def test_one_file_that_may_be_written_is_the_only_one_that_is(world: World) -> None:
    phase = {**TALK, "writes": "software", "solution": {"form": "files", "as_file": "manual.md"}}
    text = "# Manual\n\n../escaped.py\n```python\nx = 1\n```\n\n.git/config\n```\n[core]\n```\n"
    run = world.run(world.studio.company({"talk": phase}), {ASK: f"<SOLUTION>\n{text}", RETRY: "<SOLUTION>\n# Manual"})
    assert list(run.software) == ["manual.md"]


@pytest.mark.parametrize("path", ["main.py", "docs/../main.py", "docs/main.py\u200b", "Docs/x.md"])
def test_globs_of_what_may_be_written_hold_for_every_spelling(world: World, path: str) -> None:
    phase = {**TALK, "writes": "software", "solution": {"form": "files", "only": ["docs/*"]}}
    run = world.run(world.studio.company({"talk": phase}), {
        ASK: f"<SOLUTION>\n{path}\n```\nx\n```\n", RETRY: "<SOLUTION>\ndocs/x.md\n```\nx\n```\n"})
    assert list(run.software) == ["docs/x.md"]
