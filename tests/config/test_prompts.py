"""Rendering templates."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.templates import entries, render, variables
from chatdev.errors import ConfigError


def listed(software: object) -> str:
    return render("{{ software | listing }}", {"software": software}, "here")


@given(st.text())
def test_what_a_model_wrote_is_never_a_template(text: str) -> None:
    assert render("Said: {{ text }}", {"text": text + "{{ secret }}{% if %}{#"}, "here") == (
        f"Said: {text}{{{{ secret }}}}{{% if %}}{{#")


def test_braces_of_code_stay() -> None:
    assert render("{{ code }}", {"code": "assign y = {a, b}; // <&>'"}, "here") == "assign y = {a, b}; // <&>'"


def test_blocks_leave_no_blank_lines() -> None:
    assert render("a\n  {% if true %}\nb\n  {% endif %}\nc", {}, "here") == "a\nb\nc"


@pytest.mark.parametrize(("template", "message"), [
    ("{{ langauge }}", r"phases.x.opening: .*'langauge' is undefined \(it is given: language, task\)"),
    ("{{ task.name }}", "phases.x.opening: .*has no attribute 'name'"),
    ("{% if task %}", "phases.x.opening: the template is broken in its line 1"),
    ("a\n{{ task | no_such }}", "phases.x.opening: the template is broken in its line 2: No filter named 'no_such'"),
    ("{{ task + 1 }}", "phases.x.opening: the template cannot be rendered"),
    ("{{ task.__class__.__mro__ }}", "phases.x.opening: the template cannot be rendered"),
    ("{{ range(9) }}", "'range' is undefined"),
])
def test_a_template_that_cannot_be_rendered_is_named(template: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        render(template, {"task": "t", "language": "Python"}, "phases.x.opening")


def test_a_template_cannot_change_what_it_shows() -> None:
    plan = ["a"]
    with pytest.raises(ConfigError):
        render("{{ plan.append('b') }}", {"plan": plan}, "here")
    assert plan == ["a"]


def test_variables_are_the_names_from_outside() -> None:
    assert variables("{% for s in plan %}{{ s }}{{ task }}{% endfor %}{% set x = 1 %}{{ x }}") == {"plan", "task"}
    with pytest.raises(ConfigError, match="broken in its line 1"):
        variables("{{")


def test_entries_are_found_dotted_and_indexed() -> None:
    assert entries("{{ inputs.a }} {{ inputs['b'].c }} {{ other.d }} {{ inputs.items() }}", "inputs") == {"a", "b"}


def test_json_is_written_without_escapes_for_web_pages() -> None:
    assert render("{{ s | tojson(indent=None) }}", {"s": {"a": "<b> & 'ü'"}}, "x") == "{\"a\": \"<b> & 'ü'\"}"


def test_a_software_is_listed_by_path_in_fenced_blocks() -> None:
    assert listed({"b/x.txt": b"two", "a.py": "print(1)\n", "logo.png": b"\x89PNG\xff", "empty.py": b""}) == (
        "a.py\n```python\nprint(1)\n```\n\nb/x.txt\n```\ntwo\n```\n\nempty.py\n```python\n```\n\n"
        "logo.png (5 bytes, binary)")


def test_nothing_yet_is_listed_as_nothing() -> None:
    assert (listed({}), listed(None)) == ("", "")


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}\.(py|md)", fullmatch=True),
                       st.text(alphabet=st.sampled_from("`~a\n #"), max_size=30), max_size=3))
def test_no_file_can_end_its_own_block(software: dict[str, str]) -> None:
    text = listed({path: content.encode() for path, content in software.items()})
    found = re.findall(r"^([a-z]+\.(?:py|md))\n(`{3,})\w*\n(.*?)^\2$", text, re.MULTILINE | re.DOTALL)
    assert {path: content.rstrip("\n") for path, _, content in found} == {
        path: content.rstrip("\n") for path, content in software.items()}


def test_a_file_that_is_bytes_but_no_text_is_only_named() -> None:
    assert listed({"data.bin": b"a\0b"}) == "data.bin (3 bytes, binary)"
