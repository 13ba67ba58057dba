"""Tokens as servers report them: cached ones, thoughts inside and beside the completion, and what can be no count."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.llm.base import Usage
from chatdev.llm.completions import usage_of
from tests.llm.asking import STREAMED, complete, delta, stream
from tests.support.chat_server import ChatServer, Scripted


def counts(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


@pytest.mark.parametrize(("reported", "usage"), [
    (counts(10, 5, total_tokens=15), Usage(10, 5)),
    # OpenAI: thoughts are part of the completion
    (counts(100, 50, total_tokens=150, prompt_tokens_details={"cached_tokens": 64},
            completion_tokens_details={"reasoning_tokens": 40}), Usage(100, 50, cached_tokens=64, reasoning_tokens=40)),
    # Gemini's compatible address: only the total has them
    (counts(9, 2, total_tokens=311), Usage(9, 302, reasoning_tokens=300)),
    # Grok: details have them, the completion does not
    (counts(9, 2, total_tokens=311, completion_tokens_details={"reasoning_tokens": 300}),
     Usage(9, 302, reasoning_tokens=300)),
    (counts(9, 2, completion_tokens_details={"reasoning_tokens": 300}), Usage(9, 302, reasoning_tokens=300)),
    # DeepSeek, Moonshot
    (counts(100, 5, prompt_cache_hit_tokens=64, prompt_cache_miss_tokens=36), Usage(100, 5, cached_tokens=64)),
    (counts(100, 5, cached_tokens=64), Usage(100, 5, cached_tokens=64)),
    # a gateway that passes Anthropic's names on beside OpenAI's, with and without the cached ones in the prompt
    (counts(100, 5, total_tokens=105, cache_read_input_tokens=64), Usage(100, 5, cached_tokens=64)),
    (counts(36, 5, total_tokens=105, cache_read_input_tokens=64), Usage(100, 5, cached_tokens=64)),
    # Anthropic's own names, which leave the cached ones out
    ({"input_tokens": 30, "output_tokens": 5, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 6},
     Usage(100, 5, cached_tokens=64)),
    # the names of OpenAI's responses
    ({"input_tokens": 100, "output_tokens": 50, "input_tokens_details": {"cached_tokens": 64},
      "output_tokens_details": {"reasoning_tokens": 40}}, Usage(100, 50, cached_tokens=64, reasoning_tokens=40)),
    # odd ones: a total that is none, more cached than there is, no details
    (counts(10, 5, total_tokens=10**12), Usage(10, 5)), (counts(10, 5, total_tokens=3), Usage(10, 5)),
    (counts(10, 5, prompt_tokens_details={"cached_tokens": 99}), Usage(10, 5, cached_tokens=10)),
    (counts(10, 5, prompt_tokens_details=None, completion_tokens_details=[]), Usage(10, 5)),
    (counts(10, 50, total_tokens=80, completion_tokens_details={"reasoning_tokens": 40}),
     Usage(10, 50, reasoning_tokens=40)),
])
def test_every_dialect_is_counted(reported: dict[str, Any], usage: Usage) -> None:
    assert usage_of(reported) == usage


@pytest.mark.parametrize("reported", [{}, {"prompt_tokens": 3}, counts(-1, 2), counts(True, 2), {"input_tokens": 4},
                                      {"prompt_tokens": "3", "completion_tokens": 4}])
def test_what_is_no_count_is_none(reported: dict[str, Any]) -> None:
    assert usage_of(reported) is None


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
                    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([
                        "cached_tokens", "reasoning_tokens", "x"]), inner, max_size=3), max_leaves=5)
NAMES = ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details",
         "input_tokens", "output_tokens", "cache_read_input_tokens", "reasoning_tokens", "cached_tokens"]


@given(st.dictionaries(st.sampled_from(NAMES), JSON | st.integers(0, 1000)))
def test_whatever_is_reported_its_parts_fit(reported: dict[str, Any]) -> None:
    if found := usage_of(reported):
        assert 0 <= found.cached_tokens <= found.prompt_tokens
        assert 0 <= found.reasoning_tokens <= found.completion_tokens


def test_replies_and_streams_have_them(chat_server: ChatServer) -> None:
    reported = counts(100, 50, prompt_tokens_details={"cached_tokens": 64},
                      completion_tokens_details={"reasoning_tokens": 40})
    choice = {"message": {"content": "yes"}, "finish_reason": "stop"}
    chat_server.script(Scripted(body={"choices": [choice], "usage": reported}),
                       stream(delta(content="yes"), delta("stop"), {"choices": [], "usage": reported}, "[DONE]"))
    usage = Usage(100, 50, cached_tokens=64, reasoning_tokens=40)
    assert complete(chat_server).usage == complete(chat_server, STREAMED).usage == usage
