"""Solutions in every form: what a response means, and what is said when it means nothing."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.config.phases import Solution
from chatdev.replies import FilesDelivery, Unreadable, parse_solution


def read(text: str, **solution: Any) -> Any:
    return parse_solution(Solution(**solution), text, {"main.py": b"x = 1\n"})


def refusal(text: str, **solution: Any) -> str:
    with pytest.raises(Unreadable) as problem:
        read(text, **solution)
    return str(problem.value)


# --- text ---

@pytest.mark.parametrize(("text", "value"), [
    ("  A plan.\n", "A plan."),
    ("```\nA plan.\n```", "A plan."),
    ("```markdown\n# Plan\n```sh\nls\n```\n```", "# Plan\n```sh\nls\n```"),
    ('"A plan."', "A plan."),
    ('"A" and "B"', '"A" and "B"'),
    ("Use it:\n```python\nx\n```", "Use it:\n```python\nx\n```"),
])
def test_text_is_taken_without_its_wrapping(text: str, value: str) -> None:
    assert read(text, form="text") == value


@pytest.mark.parametrize("text", ["", " \n", "```\n\n```", '""'])
def test_an_empty_text_is_refused(text: str) -> None:
    assert refusal(text, form="text") == "the answer is empty"


# --- choice ---

MODALITIES = ["Website", "Application", "Web Application", "C", "C++", "PowerPoint"]


@pytest.mark.parametrize(("text", "option"), [
    ("Application", "Application"),
    ("application.", "Application"),
    ("**Application**", "Application"),
    ('"Application"', "Application"),
    ("I choose Application.", "Application"),
    ("The best choice is the web-application!", "Web Application"),
    ("Web Application", "Web Application"),
    ("C++", "C++"),
    ("C", "C"),
    ("I choose C++.", "C++"),
    ("Application\nA Website would need a server.", "Application"),
    ("Application. A Website would need a server.", "Application"),
    ("**Application** - a Website would need a server", "Application"),
    ("Application, because a Website needs a server", "Application"),
    ("Let me think.\nIt must be PowerPoint.", "PowerPoint"),
    ("`Application`\n\nReasons: …", "Application"),
])
def test_the_option_named_is_chosen(text: str, option: str) -> None:
    assert read(text, form="choice", options=MODALITIES) == option


@pytest.mark.parametrize("text", ["", "Neither", "Website or Application", "Cobol", "Applications",
                                  "Website, Application"])
def test_no_option_or_several_are_refused_with_the_options(text: str) -> None:
    assert refusal(text, form="choice", options=MODALITIES) == (
        "the answer must name exactly one of: Website, Application, Web Application, C, C++, PowerPoint")


# --- json ---

PLAN = {"type": "object", "required": ["steps"], "additionalProperties": False,
        "properties": {"steps": {"type": "array", "items": {"type": "object", "required": ["id"]}}}}


@pytest.mark.parametrize("text", [
    '{"steps": [{"id": 1}]}',
    '```json\n{"steps": [{"id": 1}]}\n```',
    'Here it is:\n```\n{"steps": [{"id": 1}]}\n```\nDone {really}.',
    'Here it is: {"steps": [{"id": 1}]} Done.',
    '{"steps": [{"id": 1,},],}',
    "{'steps': [{'id': 1}]}",
    "{'steps': ({'id': 1},)}",
    '```json\n{"other": 1}\n```\n```json\n{"steps": [{"id": 1}]}\n```',
])
def test_a_value_is_read_as_models_write_it(text: str) -> None:
    assert read(text, form="json", schema=PLAN) == {"steps": [{"id": 1}]}


@pytest.mark.parametrize(("text", "value"), [
    ('{"a": True, "b": None, "c": "True, ]"}', {"a": True, "b": None, "c": "True, ]"}),
    ("{'a': true, 'b': null}", {"a": True, "b": None}),
    ('{"a": "two\nlines"}', {"a": "two\nlines"}),
    ("[1, 2]", [1, 2]),
    ("5", 5),
    ('"text"', "text"),
])
def test_without_a_schema_any_value_goes(text: str, value: Any) -> None:
    assert read(text, form="json") == value


@pytest.mark.parametrize(("text", "why"), [
    ("", "no JSON value was found"),
    ("I have no plan.", "the answer is not valid JSON: line 1 column 1: Expecting value"),
    ('{"steps": [}', "the answer is not valid JSON: line 1 column 12: Expecting value"),
    ('{"steps": NaN}', "the answer is not valid JSON: NaN is not a JSON value"),
    ("{1, 2}", "the answer is not valid JSON: line 1 column 2: Expecting property name"),
    ('{"steps": [{}]}', "steps[0]: 'id' is a required property"),
    ("[]", "the value: [] is not of type 'object'"),
    ('{"steps": 1, "x": 2}',
     "- the value: Additional properties are not allowed ('x' was unexpected)\n- steps: 1 is not of type 'array'"),
])
def test_what_is_wrong_with_a_value_is_said_field_by_field(text: str, why: str) -> None:
    assert refusal(text, form="json", schema=PLAN).startswith(why)


@pytest.mark.parametrize("text", ["[" * 200_000, '"' + '\\"' * 500_000, "{" * 200_000 + "}" * 200_000, "9" * 10_000,
                                  "," * 1_000_000, "{'a': " + "-" * 100_000 + "1}"])
def test_hostile_json_is_refused_in_time(text: str) -> None:
    assert refusal(text, form="json")


# --- list ---

@pytest.mark.parametrize("text", [
    '["one", "two"]', '```json\n[" one ", "two"]\n```', '{"items": ["one", "two"]}', "- one\n- two", "1. one\n2. two",
    "Here they are:\n\n* one\n\n* two\n\nThat is all.", "  - one\n  - two", "1) one\r\n2) two\r\n", "• one\n• two",
    "['one', 'two']", "```\n- one\n- two\n```",
])
def test_a_list_is_read_as_models_write_it(text: str) -> None:
    assert read(text, form="list") == ["one", "two"]


def test_deeper_lines_belong_to_the_item_above() -> None:
    assert read("- [x] one\n  - detail\n  more\n- two [1]", form="list") == ["[x] one\n- detail\nmore", "two [1]"]


@pytest.mark.parametrize("text", ["", "one", "[]", '{"a": 1}'])
def test_no_list_is_refused(text: str) -> None:
    assert refusal(text, form="list").startswith("no list was found")


# --- files ---

def test_files_are_applied_to_the_software() -> None:
    delivery = read("a.py\n```python\ny = 2\n```", form="files")
    assert isinstance(delivery, FilesDelivery)
    assert delivery.software == {"main.py": b"x = 1\n", "a.py": b"y = 2\n"}
    assert refusal("a.py\n```python\ny = 2\n```", form="files", only=["*.md"]) == (
        "a.py: may not be written here; allowed: *.md")


@pytest.mark.parametrize("text", [
    "flask\nnumpy", "flask\nnumpy\n\n", "```\nflask\nnumpy\n```", "```txt\nflask\nnumpy\n```",
    "requirements.txt\nflask\nnumpy",
    "**requirements.txt**\n\n```txt\nflask\nnumpy\n```", "You need these:\n```\nflask\nnumpy\n```\nInstall them first.",
    "requirements.txt\n```\nflask\nnumpy\n```\nInstall:\n```bash\npip install -r requirements.txt\n```",
])
def test_the_whole_answer_is_the_one_file(text: str) -> None:
    delivery = read(text, form="files", as_file="requirements.txt")
    assert delivery.software["requirements.txt"].strip() == b"flask\nnumpy"
    assert delivery.written == ("requirements.txt",)


TOP, HALF = "module top;\nendmodule\n", "module half;\nendmodule\n"
BOTH = f"half.sv\n```verilog\n{HALF}```\n\ntop.sv\n```verilog\n{TOP}```\n"


@pytest.mark.parametrize(("solution", "text", "files"), [
    ({"as_file": "top.sv", "beside": ["*.sv"]}, BOTH, {"top.sv": TOP, "half.sv": HALF}),
    ({"as_file": "top.sv", "beside": ["*.sv"]}, TOP, {"top.sv": TOP}),
    ({"as_file": "top.sv", "beside": ["*.sv"]}, f"{BOTH}\nTry it:\n```bash\niverilog top.sv\n```",
     {"top.sv": TOP, "half.sv": HALF}),
    ({"as_file": "top.sv", "beside": ["*.sv"]}, f"top.sv\n```verilog\n{TOP}```\nAs in\n```verilog\n{HALF}```",
     {"top.sv": TOP}),
    ({"as_file": "top.sv"}, BOTH, {"top.sv": TOP}),
    ({"only": ["top.sv"], "beside": ["*.sv"]}, BOTH, {"top.sv": TOP, "half.sv": HALF}),
    ({"only": ["top.sv"], "beside": ["*.sv"]}, f"```\n{TOP}```", {"top.sv": TOP}),
])
def test_files_beside_the_one_that_is_asked_for(solution: dict[str, Any], text: str, files: dict[str, str]) -> None:
    found = read(text, form="files", **solution).software
    assert {path: text.decode() for path, text in found.items() if path.endswith(".sv")} == files


def test_other_files_are_not_taken_beside_it() -> None:
    assert "not be written" in refusal(BOTH, form="files", as_file="top.sv", beside=["*.v"])


MANUAL = "# Manual\n\n```bash\npython main.py\n```\n\nPress q.\n"


@pytest.mark.parametrize("text", [
    MANUAL, f"```markdown\n{MANUAL}```", f"manual.md\n```md\n{MANUAL}```", f"````\n{MANUAL}````",
    f"Here is the manual:\n```markdown\n{MANUAL}```\nEnjoy!", f"manual.md\n{MANUAL}",
])
def test_a_document_keeps_the_blocks_inside_it(text: str) -> None:
    assert read(text, form="files", as_file="manual.md").software["manual.md"] == MANUAL.encode()


@pytest.mark.parametrize(("text", "why"), [
    ("", "the content of requirements.txt is empty"),
    ("```\n```", "the content of requirements.txt is empty"),
    ("```\nflask", "the reply ends inside the block of requirements.txt"),
    ("```\na\n```\n```\nb\n```", "2 code blocks were given for the one file requirements.txt"),
])
def test_no_content_is_refused(text: str, why: str) -> None:
    assert refusal(text, form="files", as_file="requirements.txt").startswith(why)


def test_the_same_content_again_changes_nothing() -> None:
    assert read("x = 1", form="files", as_file="main.py").is_unchanged
