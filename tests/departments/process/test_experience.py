"""What a pool teaches: a text and examples, as they are kept and read again."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.process.read_description import read_description
from chatdev.departments.process.conformance import accepts
from chatdev.departments.process.pool import PoolEntry
from chatdev.departments.process.process_company import (
    EXAMPLES,
    Experience,
    gather_experience,
    mine_pool,
    read_experience,
)
from chatdev.errors import ConfigError

NAMES = ("Plan", "Write", "Test", "Tell")
POOL = [PoolEntry(("Plan", "Write"), 4, 3), PoolEntry(("Plan", "Write", "Test"), 2, 2), PoolEntry(("Tell",), 5, 0)]


def test_the_text_is_that_of_the_model_and_examples_are_allowed_by_it() -> None:
    found = gather_experience(POOL, NAMES, "a test", chance=Random(1))
    assert found is not None
    assert read_description(found.text) == mine_pool(POOL)
    assert set(found.instances) == {("Plan", "Write"), ("Plan", "Write", "Test")}
    assert all(accepts(read_description(found.text), instance) for instance in found.instances)
    assert "Tell" not in found.text


def test_examples_are_drawn_by_chance_and_are_few() -> None:
    pool = [PoolEntry((name, other), 3, 3) for name in NAMES for other in NAMES]
    found = [gather_experience(pool, NAMES, "", chance=Random(seed)) for seed in range(20)]
    drawn = {one.instances for one in found if one}
    assert len(drawn) > 10
    assert all(len(set(instances)) == EXAMPLES for instances in drawn)


@pytest.mark.parametrize("pool", [[], [PoolEntry(("Plan",), 3, 0)], [PoolEntry((), 1, 0)]])
def test_a_pool_without_success_teaches_nothing(pool: list[PoolEntry]) -> None:
    assert gather_experience(pool, NAMES, "", chance=Random(1)) is None
    assert mine_pool(pool) is None


def test_experience_is_kept_in_a_file() -> None:
    found = gather_experience(POOL, NAMES, "ein Test — 試", chance=Random(1))
    assert found is not None
    assert read_experience(found.to_json(), NAMES, "file") == found


@pytest.mark.parametrize(("text", "why"), [
    ("{", "holds no experience"), ("[]", "holds no experience"), ('{"text": "", "origin": ""}', "holds no experience"),
    ('{"text": 7, "origin": "", "instances": []}', "`text` is no text"),
    ('{"text": "", "origin": "", "instances": ["Sing → Dance"]}', "Dance, Sing"),
    (Experience("x" * 30_000, (), "").to_json(), "too long"),
    (Experience("", (("Plan",) * 200,), "").to_json(), "too long"),
])
def test_what_is_no_experience_is_refused(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refusal:
        read_experience(text, NAMES, "known.json")
    assert "known.json" in str(refusal.value)
