"""The metrics on cases made by hand, false alarms of the published script among them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.software.evaluation.quality import (
    completeness,
    consistency,
    executability,
    paper_completeness,
    paper_executability,
    quality,
)

VECTORS = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3)


@pytest.mark.parametrize("code", [
    "def bypass(valve):\n    return not valve\n", "class TodoList:\n    items = []\n", "compass = 'N'\n",
    "from typing import Protocol\nclass P(Protocol):\n    def f(self): ...\n",
    "try:\n    import readline\nexcept ImportError:\n    pass\n",
    "import abc\nclass A:\n    @abc.abstractmethod\n    def f(self):\n        raise NotImplementedError\n",
])
def test_what_is_no_placeholder(code: str) -> None:
    assert completeness({"main.py": code.encode()}) == 1


@pytest.mark.parametrize("code", [
    "def f():\n    pass\n", "def f():\n    ...\n", "class A:\n    def f(self):\n        \"\"\"Later.\"\"\"\n",
    "def f():\n    raise NotImplementedError('later')\n", "x = 1  # TODO: more\n",
])
def test_what_is_one(code: str) -> None:
    assert completeness({"main.py": code.encode(), "other.py": b"print(1)\n"}) == 0


def test_no_software_is_not_complete() -> None:
    assert completeness({}) == 0


def test_the_paper_compatible_one_keeps_its_false_alarms() -> None:
    assert paper_completeness({"main.py": b"class TodoList: ...\n"}) == 0
    assert paper_completeness({"main.py": b"compass = 1\n"}) == 0
    assert paper_completeness({"main.py": b"password = passed = passes\n", "notes.txt": b"TODO"}) == 1
    assert paper_executability("error: no input\n") == 1
    assert paper_executability("Traceback (most recent call last):\n") == 0


def test_executability_is_the_verdict_of_the_policy() -> None:
    assert executability({"passed": True, "report": ""}) == 1
    assert executability({"passed": False, "report": "", "judged": True}) == 0
    assert executability({"passed": True, "report": "", "judged": False}) is None


def test_quality_is_the_product_or_the_mean() -> None:
    values = (0.56, 0.88, 0.8021)
    assert quality(values) == pytest.approx(0.3953, abs=1e-4)  # the paper's own row
    assert quality(values, "mean") == pytest.approx(sum(values) / 3)
    assert quality((1.0, None, 0.5)) is None


@given(VECTORS, VECTORS)
def test_consistency_is_a_cosine_between_0_and_1(one: list[float], other: list[float]) -> None:
    value = consistency(one, other)
    assert 0 <= value <= 1 + 1e-9
    assert value == pytest.approx(consistency(other, one))
    if math.hypot(*one) > 1e-3:
        assert consistency(one, one) == pytest.approx(1)
