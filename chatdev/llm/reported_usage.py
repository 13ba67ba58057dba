"""Tokens of a call as servers report them, in the names and the sums of each of their dialects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatdev.llm.base import Usage

_MOST_TOKENS = 10**9  # that one call can have taken; whoever counts more does not count tokens
_MOST_THOUGHTS = 10**6  # that a reply can have had beside its text
_CACHED = (("prompt_tokens_details", "cached_tokens"), ("input_tokens_details", "cached_tokens"),
           ("prompt_cache_hit_tokens",), ("cache_read_input_tokens",), ("cached_tokens",))
_THOUGHTS = (("completion_tokens_details", "reasoning_tokens"), ("output_tokens_details", "reasoning_tokens"),
             ("output_tokens_details", "thinking_tokens"), ("reasoning_tokens",))


def usage_of(reported: Mapping[str, Any]) -> Usage | None:
    """The count in the `usage` of a completion; None when it cannot be one. Thoughts, and a prompt's tokens from the
    cache, are counted where the server leaves them out of its counts, too: its total, or its names, tell."""
    prompt, completion = _count(reported, ("prompt_tokens",)), _count(reported, ("completion_tokens",))
    if prompt is None and completion is None:
        prompt, completion = _by_other_names(reported)
    if prompt is None or completion is None:
        return None
    cached, thoughts = _first(reported, _CACHED), _first(reported, _THOUGHTS)
    beside = (_count(reported, ("total_tokens",)) or 0) - prompt - completion
    if 0 < beside == cached != thoughts:
        prompt += beside
    elif 0 < beside <= _MOST_THOUGHTS and (thoughts in (0, beside) or thoughts > completion):
        completion, thoughts = completion + beside, thoughts or beside
    elif thoughts > completion:
        completion += thoughts
    return Usage(prompt, completion, cached_tokens=min(cached, prompt), reasoning_tokens=min(thoughts, completion))


def _by_other_names(reported: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Prompt and completion by the names of OpenAI's responses, or by Anthropic's, whose prompts leave out what the
    cache took or gave."""
    prompt, completion = _count(reported, ("input_tokens",)), _count(reported, ("output_tokens",))
    if prompt is not None and "input_tokens_details" not in reported:
        prompt += sum(_count(reported, (f"cache_{kind}_input_tokens",)) or 0 for kind in ("read", "creation"))
    return prompt, completion


def _first(reported: Mapping[str, Any], paths: Sequence[tuple[str, ...]]) -> int:
    return next((count for path in paths if (count := _count(reported, path))), 0)


def _count(reported: Mapping[str, Any], path: tuple[str, ...]) -> int | None:
    value: Any = reported
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if is_count else None
