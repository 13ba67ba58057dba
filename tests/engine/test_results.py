"""What an activity gave reads back from the journal as what it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.engine.context import (
    ActivityResult,
    ContextOverflowed,
    PhaseBudgetReached,
    Replied,
    ToolFailed,
    ToolReturned,
    result_from_json,
    result_to_json,
)
from chatdev.errors import JournalError
from chatdev.llm.base import Reply, ToolCall, Usage

texts, seconds, counts = st.text(), st.floats(0, 1e6), st.integers(0, 10**9)
usages = st.builds(Usage, counts, counts, st.booleans())
replies = st.builds(Reply, texts, st.lists(st.builds(ToolCall, texts, texts, texts), max_size=3).map(tuple), usages,
                    st.sampled_from(["stop", "length", "tool_calls"]), texts, counts)
values = st.recursive(st.none() | st.booleans() | counts | texts,
                      lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8)
results = st.one_of(st.builds(Replied, replies, seconds), st.builds(ContextOverflowed, texts),
                    st.builds(PhaseBudgetReached, texts), st.builds(ToolReturned, values, seconds),
                    st.builds(ToolFailed, texts, st.booleans(), seconds))


@given(results)
def test_every_result_comes_back_from_its_json(result: ActivityResult) -> None:
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


@pytest.mark.parametrize("data", [{}, {"text": "hello"}, {"error": "broken"}, {"value": 1},
                                  {"text": "", "tool_calls": [{"odd": 1}], "usage": {}, "finish": "stop", "model": "",
                                   "retries": 0, "seconds": 0.1},
                                  {"text": "", "tool_calls": 3, "usage": {}, "finish": "", "model": "", "retries": 0}])
def test_a_result_that_lacks_fields_is_a_damaged_journal(data: dict[str, object]) -> None:
    with pytest.raises(JournalError, match="damaged"):
        result_from_json(data)
