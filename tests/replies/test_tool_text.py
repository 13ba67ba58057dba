"""Calls of tools in a text: JSON objects, and the tags of chat templates that a server left in the text."""

from __future__ import annotations

import json

import pytest

from chatdev.llm.base import ToolSpec
from chatdev.replies.utterance import ends_with_tool_call, read_tool_call

TOOLS = (ToolSpec("mine.look", "Looks.", {"properties": {"at": {"type": "string"}, "times": {"type": "integer"},
                                                         "code": {"type": "string"}}}),)
GIVEN = {"at": "7", "times": 2}
JSON = json.dumps({"name": "mine__look", "arguments": GIVEN})
CALLS = {
    "Hermes, Qwen": f"<tool_call>\n{JSON}\n</tool_call>",
    "without its end": f"<tool_call>\n{JSON}",
    "two, the first counts": f"<tool_call>\n{JSON}\n</tool_call>\n<tool_call>\n{{}}\n</tool_call>",
    "after words": f"I look first.\n\n<tool_call>{JSON}</tool_call>",
    "Qwen Coder": "<tool_call>\n<function=mine__look>\n<parameter=at>\n7\n</parameter>\n<parameter=times>\n2\n"
                  "</parameter>\n</function>\n</tool_call>",
    "Qwen Coder, no outer tag": "<function=mine__look>\n<parameter=at>\n7\n</parameter>\n<parameter=times>\n2\n"
                                "</parameter>\n</function>",
    "GLM": "<tool_call>mine__look\n<arg_key>at</arg_key>\n<arg_value>7</arg_value>\n<arg_key>times</arg_key>\n"
           "<arg_value>2</arg_value>\n</tool_call>",
    "Mistral": f"[TOOL_CALLS][{JSON}]",
    "Mistral, newer": f"[TOOL_CALLS]mine__look[ARGS]{json.dumps(GIVEN)}",
    "Llama": '<|python_tag|>{"name": "mine__look", "parameters": {"at": "7", "times": 2}}',
    "Llama, tags": f"<function=mine__look>{json.dumps(GIVEN)}</function>",
    "Llama, bare": '{"type": "function", "name": "mine__look", "parameters": {"at": "7", "times": 2}}',
    "DeepSeek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>mine__look\n```json\n"
                f"{json.dumps(GIVEN)}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "DeepSeek, newer": f"<｜tool▁call▁begin｜>mine__look<｜tool▁sep｜>{json.dumps(GIVEN)}<｜tool▁call▁end｜>",
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.mine__look:0<|tool_call_argument_begin|>"
            f"{json.dumps(GIVEN)}<|tool_call_end|><|tool_calls_section_end|>",
    "gpt-oss": "<|channel|>commentary to=functions.mine__look <|constrain|>json<|message|>"
               f"{json.dumps(GIVEN)}<|call|>",
    "gpt-oss, as a thought": f"<|channel|>analysis to=functions.mine__look<|message|>{json.dumps(GIVEN)}",
    "MiniMax": '<minimax:tool_call>\n<invoke name="mine__look">\n<parameter name="at">7</parameter>\n'
               '<parameter name="times">2</parameter>\n</invoke>\n</minimax:tool_call>',
    "Phi": f"<|tool_call|>[{JSON}]<|/tool_call|>",
    "JSON by the name on the wire": f"```json\n{JSON}\n```",
    "JSON by our name": f"```json\n{JSON.replace('mine__look', 'mine.look')}\n```",
    "our own protocol": f'```json\n{{"tool": "mine__look", "arguments": {json.dumps(GIVEN)}}}\n```',
    "arguments as a text": "<tool_call>" + json.dumps({"name": "mine.look", "arguments": json.dumps(GIVEN)}),
}
NO_CALLS = {
    "words about the tag": "Models write `<tool_call>` and then JSON; <tool_call> ends with </tool_call>.",
    "a tag in a file": f"notes.md\n```markdown\n<tool_call>\n{JSON}\n</tool_call>\n```",
    "JSON with a name": '{"name": "mine", "parameters": {}}',
    "half an object": '<tool_call>{"name": "mine__look", "arguments": {"at": ',
    "a list of nothing": "[TOOL_CALLS][]",
    "a program": "main.py\n```python\nprint('<function=mine.look>')\n```",
    "a name that nobody has": "<tool_call>other</tool_call>",
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_call_is_read_in_the_words_of_every_template(text: str) -> None:
    call = read_tool_call(text, TOOLS)
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == ("mine.look", GIVEN)


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_what_only_speaks_of_calls_is_none(text: str) -> None:
    assert read_tool_call(text, TOOLS) is None
    assert not ends_with_tool_call(text, TOOLS)


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_text_ends_with_a_call_or_goes_on(text: str) -> None:
    assert ends_with_tool_call(text, TOOLS) == ("{}" not in text), "the last of two is none"
    assert not ends_with_tool_call(f"{text}\n\n</tool_call>\nThat is all.", TOOLS)


def test_texts_of_several_lines_come_as_they_are() -> None:
    body = "def f():\n    return '<b>'\n"
    text = f"<tool_call>\n<function=mine__look>\n<parameter=code>\n{body}\n</parameter>\n</function>\n</tool_call>"
    call = read_tool_call(text, TOOLS)
    assert call is not None
    assert json.loads(call.arguments) == {"code": body}


def test_older_runs_know_only_json_and_the_names_in_it() -> None:
    assert read_tool_call(CALLS["Hermes, Qwen"], TOOLS, semantics=6) is None
    call = read_tool_call(CALLS["JSON by the name on the wire"], TOOLS, semantics=6)
    assert call is not None
    assert call.name == "mine__look"
    assert not ends_with_tool_call(CALLS["Hermes, Qwen"], TOOLS, semantics=6)
