"""What a small model is held to: lists of bounded length, and files in the form that can be read."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from chatdev.config.json_schema import schema_validator
from chatdev.config.load import load_company
from chatdev.config.phases import Solution, form_text, settle
from chatdev.config.profiles import ModelProfile, profile_for
from chatdev.engine.model_calls import constraint_for
from chatdev.llm.base import Constraint, Message, Request, Sampling
from chatdev.llm.local.local_model import LocalModel
from chatdev.replies import FilesDelivery, parse_solution
from tests.support.local_model import require_local_model

SMALL = ModelProfile(match=["x"], constrained=True)


def answers(question: str, *constraints: Constraint | None) -> list[str]:
    """What the local model says to the question when it is held to each constraint."""

    async def ask() -> list[str]:
        model, sampling = LocalModel(), Sampling("local", temperature=0, max_tokens=200)
        try:
            return [(await model.complete(Request((Message("user", question),), sampling, constraint=constraint))).text
                    for constraint in constraints]
        finally:
            await model.close()

    return asyncio.run(ask())


def json_by(schema: dict[str, Any]) -> Solution:
    return Solution.model_validate({"form": "json", "schema": schema})


def test_what_goes_beyond_the_bound_is_cut_off() -> None:
    assert parse_solution(Solution(form="list", most=2), "- a\n- b\n- c", {}) == ["a", "b"]
    assert parse_solution(Solution(form="list"), "- a\n- b\n- c", {}) == ["a", "b", "c"]


@pytest.mark.parametrize(("solution", "concludes", "expected"), [
    (Solution(form="list", most=12), True,
     'root ::= ("<SOLUTION>\\n")? item ("\\n" item){0,11}\nitem ::= "- " [^\\n]{1,200}'),
    (Solution(form="list"), False, 'root ::= item ("\\n" item)*\nitem ::= "- " [^\\n]+'),
])
def test_a_small_model_is_held_to_the_form(solution: Solution, concludes: bool, expected: str) -> None:
    constraint = constraint_for(solution, SMALL, concludes)
    assert constraint
    assert constraint.grammar == expected


@pytest.mark.parametrize(("paths", "concludes", "expected"), [
    (("main.py", "a b.txt"), True,
     'root ::= ("<SOLUTION>\\n")? file ("\\n\\n" file){0,5}\nfile ::= path "\\n```" [a-z]* "\\n" line+ "```"\n'
     'path ::= "a b.txt" | "main.py"\nline ::= ([^`\\n] [^\\n]*)? "\\n"'),
])
def test_a_small_model_is_held_to_files_that_there_are(paths: tuple[str, ...], concludes: bool, expected: str) -> None:
    constraint = constraint_for(Solution(form="files"), SMALL, concludes, paths)
    assert constraint
    assert constraint.grammar == expected
    assert constraint_for(Solution(form="files", as_file="manual.md"), SMALL, concludes, paths) is None


def test_files_of_its_own_have_names_that_are_those_of_files() -> None:
    constraint = constraint_for(Solution(form="files"), SMALL, concludes=False)
    assert constraint
    assert constraint.grammar
    (path,) = re.findall(r"path ::= (.*)", constraint.grammar)
    assert path.startswith('([a-z0-9_]{1,20} "/"){0,2} [a-z] [a-z0-9_-]{0,30} "." ( ')
    assert {'"py"', '"html"', '"sv"', '"md"'} < set(path.split())


@pytest.mark.parametrize(("only", "path"), [(["top.sv"], '"top.sv"'), (["*.md", "a.py"], '"main.py"')])
def test_files_that_the_solution_names_go_before_those_that_there_are(only: list[str], path: str) -> None:
    constraint = constraint_for(Solution(form="files", only=only), SMALL, concludes=False, paths=["main.py"])
    assert constraint
    assert f"path ::= {path}\n" in str(constraint.grammar)


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
def test_the_small_model_answers_with_readable_files_whatever_it_is_asked() -> None:
    require_local_model()
    software = {"main.py": b"def add(a, b):\n    return a - b\n\n\nprint(add(1, 2))\n"}
    constraint = constraint_for(Solution(form="files"), SMALL, concludes=False, paths=software)
    question = "main.py has the function add, which returns a - b. What is it called? Answer with one word."
    (answer,) = answers(question, constraint)
    delivery = parse_solution(Solution(form="files"), answer, software)
    assert isinstance(delivery, FilesDelivery)
    assert set(delivery.software) == {"main.py"}


@pytest.mark.parametrize("schema", [{"type": "object"}, {"items": {"$ref": "#/$defs/b"}, "$defs": {"b": {}}}])
def test_json_is_held_to_a_schema_that_a_grammar_can_express(schema: dict[str, Any]) -> None:
    assert constraint_for(json_by(schema), SMALL, concludes=True) == Constraint(schema=schema)
    assert constraint_for(json_by({"patternProperties": {"^a": schema}}), SMALL, concludes=True) is None


NAME = {"type": "string", "minLength": 1, "maxLength": 12}
EXPRESSIBLE: list[dict[str, Any]] = [
    {"$ref": "#/$defs/who", "$defs": {"who": {"type": "object", "properties": {"name": NAME}, "required": ["name"]}}},
    {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]},
    {"type": "array", "items": NAME, "minItems": 1, "maxItems": 2},
    {"anyOf": [{"type": "integer", "minimum": 3, "maximum": 5}, {"const": "none"}]},
    {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}, "required": ["kind"],
     "additionalProperties": False},
]


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
def test_the_small_model_gives_json_by_every_schema_it_is_held_to() -> None:
    require_local_model()
    constraints = [constraint_for(json_by(schema), SMALL, concludes=False) for schema in EXPRESSIBLE]
    assert all(constraints)
    for schema, answer in zip(EXPRESSIBLE, answers("Say hello to Anna.", *constraints), strict=True):
        assert schema_validator(schema).is_valid(parse_solution(json_by(schema), answer, {}))


def test_a_larger_model_is_left_free() -> None:
    assert constraint_for(Solution(form="list", most=12), ModelProfile(match=["y"]), concludes=True) is None


def test_the_bound_is_said_to_the_assistant() -> None:
    company = load_company("chatdev")
    for model, most in (("local", 12), ("gpt-4o", 20)):
        test_plan = settle(company.phases["test_plan"], {}, profile_for(model).sizes)
        assert f"of at most {most} items, one item per line" in form_text(company, test_plan, has_software=False)
