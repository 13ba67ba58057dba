"""An utterance beside its solution: marker and thoughts, the joining of a cut one with its continuation, calls of tools
that stand in its text, and whether it says the same again and again, as small models do until the length limit.

Such calls are a JSON object, or the tags that chat templates teach models where the server does not take them out
(docs/servers.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from chatdev.llm.base import ToolCall, ToolSpec
from chatdev.llm.wire_tools import WireNames
from chatdev.replies.blocks import name_on
from chatdev.replies.fences import NEWEST, Fence, closes, fence_of, lines_of, scan
from chatdev.safe_text import load_json, short_name

_LEFT, _RIGHT = "[<＜《〈]", "[>＞》〉]"
_LONGEST = 300  # most characters of a marker with its decoration
_BLANK = r"[ \t\u3000]"
_DECORATION = rf"{_BLANK}*(?:(?:[-*+•>]|#{{1,6}}|\d{{1,2}}[.)]){_BLANK}+)?(?P<wrap>[*_]{{1,3}}|`{{1,2}}(?!`)|){_BLANK}*"
_MARKER = re.compile(
    rf"{_DECORATION}{_LEFT}\s{{0,9}}(?P<kind>s?olution|question)\s{{0,9}}/?{_RIGHT}"  # small models drop the S
    rf"(?:(?P<close>(?P=wrap)|{_BLANK}+(?P=wrap)(?=[\s:：]|$)){_BLANK}*[:：]?"  # **<SOLUTION>**:
    rf"|{_BLANK}*[:：](?P<late>(?P=wrap))|{_BLANK}*[:：]?)",  # **<SOLUTION>:** and **<SOLUTION> text**
    re.IGNORECASE)
_BARE = re.compile(r"[*_`\[]{0,3}SOLUTION[*_`\].:]{0,4}")  # small models drop its brackets, too
_CLOSING = re.compile(rf"{_LEFT}\s{{0,9}}/\s{{0,9}}(?:s?olution|question)\s{{0,9}}{_RIGHT}", re.IGNORECASE)
_THOUGHT = re.compile(r"[ \t]*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"(?<!`)</think(?:ing)?>", re.IGNORECASE)
_FIRST_THOUGHTS = {  # of which a text begins with one, and where its answer begins
    "[THINK]": re.compile(r"\[/THINK\]"),  # Mistral
    "<thought>": re.compile("</thought>"),  # Gemini
    "<seed:think>": re.compile("</seed:think>"), "◁think▷": re.compile("◁/think▷"),  # Seed, Kimi
    "<|channel|>analysis<|message|>": re.compile(  # gpt-oss: an answer, or a call of a tool
        r"<\|channel\|>final<\|message\|>|(?=<\|channel\|>\w{1,20} to=)")}
_LAST_TAG = re.compile(r"(?:<\|(?:return|end|call)\|>\s*)+\Z")


@dataclass(frozen=True, slots=True)
class Marked:
    """Marker a text begins with (None: none), and the text without it."""

    kind: Literal["solution", "question"] | None
    body: str


def read_marker(text: str) -> Marked:
    """The marker of an utterance and the text after it.

    A speaker begins with the marker. For models that put it last, a final line that begins with `<SOLUTION>` counts
    too, outside code: the body is then what follows on that line, or what stood before it when nothing follows or
    when it was the delivery (fenced blocks). The word alone, in capitals and with nothing else, counts as the marker.
    """
    if _BARE.fullmatch(text.strip()):
        return Marked("solution", "")
    body = text.lstrip()
    found = _MARKER.match(body[:_LONGEST])
    if found:
        kind: Literal["solution", "question"] = "question" if found["kind"].lower() == "question" else "solution"
        return Marked(kind, _unwrap(body[found.end():], _open_emphasis(found)))
    return _marker_at_end(text.rstrip()) or Marked(None, text)


def _open_emphasis(found: re.Match[str]) -> str:
    """The emphasis opened before the marker and not closed behind it."""
    return "" if found["close"] or found["late"] else found["wrap"]


def _marker_at_end(text: str) -> Marked | None:
    start = text.rfind("\n") + 1
    found = _MARKER.match(text[start:start + _LONGEST])
    if not found or found["kind"].lower() == "question":
        return None
    blocks = scan(text)
    if blocks and (not blocks[-1].closed or blocks[-1].end > start):
        return None
    before = text[:start].strip()
    after = _unwrap(text[start + found.end():], _open_emphasis(found))
    if not after or blocks:
        return Marked("solution", f"{before}\n{after}".strip())
    return Marked("solution", after)


def _unwrap(body: str, left_open: str) -> str:
    """`body` without closing tags and the end of an emphasis that began before the marker."""
    if left_open:
        line, newline, rest = body.partition("\n")
        body = line.rstrip().removesuffix(left_open) + newline + rest
    closing = _closing_tag(body)
    if closing:
        inside, rest = body[:closing.start()], body[closing.end():]
        body = inside if inside.strip() and not scan(rest) else inside + rest
    return body.strip()


def _closing_tag(text: str) -> re.Match[str] | None:
    """The first closing tag outside code."""
    start = 0
    for block in scan(text):
        if found := _CLOSING.search(text, start, block.start):
            return found
        start = block.end
    return _CLOSING.search(text, start)


def strip_thoughts(text: str, *, semantics: int = NEWEST) -> str:
    """`text` without `<think>…</think>`, also when the opening or the closing tag is missing; code keeps its tags. From
    semantics 7 on also without a thought that it begins with in the tags of other models."""
    text = _without_first_thought(text) if semantics > 6 else text
    if not _THOUGHT_END.search(text) and not _THOUGHT.match(text.lstrip()):
        return text
    kept: list[str] = []
    fence: Fence | None = None
    thinking = False
    for line in lines_of(text):
        if fence is not None and not thinking:
            fence = None if closes(line, fence) else fence
            kept.append(line)
            continue
        thinking, rest, unopened = _answer_of_line(line, thinking)
        if unopened:  # everything so far was thought
            kept.clear()
        if not thinking:
            fence = fence_of(rest)
            kept.append(rest)
    return "".join(kept).strip()


def _without_first_thought(text: str) -> str:
    begun = text.lstrip()
    answer = next((end for tag, end in _FIRST_THOUGHTS.items() if begun.startswith(tag)), None)
    if answer is None:
        return text
    found = answer.search(begun)
    return _LAST_TAG.sub("", begun[found.end():]).strip() if found else ""


def _answer_of_line(line: str, thinking: bool) -> tuple[bool, str, bool]:
    """Whether the thought goes on after `line`, what of it is not thought, and whether a thought ended unopened."""
    unopened, at = False, 0
    while True:
        if opening := None if thinking else _THOUGHT.match(line, at):
            thinking, at = True, opening.end()
        end = _THOUGHT_END.search(line, at)
        if not end:
            return thinking, line[at:], unopened
        unopened = unopened or not thinking
        thinking, at = False, end.end()


_OVERLAP = 400  # characters a model repeats at most when it goes on
_FENCE = re.compile(r"^[ \t]*+(```++|~~~++)[^\n`]*+\n?", re.MULTILINE)
_REOPENED = re.compile(r"\A\s*(```++|~~~++)[^\n`]*+\n")


def join_continuation(start: str, rest: str, *, semantics: int = NEWEST) -> str:
    """`start` + `rest`, without the fence a model opens again and without what it repeats of the cut end. A fence that
    the text needs, or one of its blocks would stay open, is none of those. Before semantics 5 every
    fence at the beginning is."""
    if semantics > 4:
        without = _REOPENED.sub("", rest, count=1)
        needed = without != rest and _is_closed(start + rest) and not _is_closed(start + without)
        rest = rest if needed or _is_closed(start) else without
    elif _inside_fence(start):
        rest = _REOPENED.sub("", rest, count=1)
    for size in range(min(len(start), len(rest), _OVERLAP), 7, -1):
        if start.endswith(rest[:size]):
            return start + rest[size:]
    return start + rest


def drop_new_thought(start: str, rest: str) -> str:
    """What a continuation of `start` says without what its model thought before it went on. A thought that `start` has
    not come to the end of goes on in it, and is kept: with its end, `strip_thoughts` knows it."""
    opens = _THOUGHT.match(start.lstrip())
    if opens and not _THOUGHT_END.search(start):
        return rest
    end = _THOUGHT_END.search(rest)
    if _THOUGHT.match(rest.lstrip()):
        return _answer_after(rest, end)
    # some chat templates open a thought themselves, so that no reply shows where it begins
    return _answer_after(rest, end) if end and not opens and strip_thoughts(start) != start.strip() else rest


def _answer_after(text: str, end: re.Match[str] | None) -> str:
    return text[end.end():].lstrip("\r\n") if end else ""


def _is_closed(text: str) -> bool:
    """Whether every block of the text ends in it."""
    return all(block.closed for block in scan(text))


def _inside_fence(text: str) -> bool:
    return len(_FENCE.findall(text)) % 2 == 1


# Replies that say the same again and again, as small models do until the length limit cuts them.

_END, _AGAIN = 60, 4  # characters at the end of a reply that stand in it so often: it goes in circles
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]|[^\W\d_]{2,}")  # where words have no blanks, a sign is one
TAIL = 6000
"""Characters at the end of a reply that `never_ends` looks at."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """Bounds above which repetition is a circle: number of turns, and characters of them all."""

    turns: int
    characters: int

    def is_reached(self, turns: int, unit: str) -> bool:
        """Whether that many have come."""
        return turns >= self.turns and turns * len(unit) >= self.characters


_SENTENCES = _Limit(6, 480)
_PARAGRAPHS = _Limit(5, 1000)
_COUNTED = _Limit(30, 1800)  # sentences that are the same but for their numbers
_STATEMENTS = _Limit(20, 1200)
_DATA = _Limit(100, 3000)  # rows of a board, cells of a page
_CODE, _PROSE, _PURE_PROSE = 0.5, 0.75, 0.8  # of what is no blank in it are letters
_FEW_WORDS, _MANY_WORDS = 3, 6  # different ones


def goes_in_circles(text: str) -> bool:
    """Whether a cut reply says the same again and again, so that going on would bring more of it."""
    return len(text) > _END and text.count(text[-_END:]) >= _AGAIN


def counts_on(text: str) -> bool:
    """Whether a cut reply says the same again and again but for its numbers: a list without an end, or a table."""
    return goes_in_circles(_NUMBER.sub("0", text))


def cut_circles(text: str) -> str:
    """The beginning of such a reply, up to where it came round for the first time."""
    return text[:text.find(text[-_END:]) + _END]


def never_ends(text: str) -> bool:
    """Whether a reply that ends so far with `text` says the same without an end, for certain: not a table, and not a
    list of different lines."""
    tail = text[-TAIL:]
    unit, turns = _repetition(tail)
    if unit and goes_in_circles(tail):
        return any(limit.is_reached(turns, unit) for limit in _limits(unit))
    plain = _NUMBER.sub("0", tail)
    unit, turns = _repetition(plain)
    return _is_prose(unit, _MANY_WORDS, _PURE_PROSE) and _COUNTED.is_reached(turns, unit) and goes_in_circles(plain)


def _limits(unit: str) -> tuple[_Limit, ...]:
    if _is_prose(unit, _FEW_WORDS, _PROSE):
        return _SENTENCES, _PARAGRAPHS
    return (_STATEMENTS,) if _is_prose(unit, _FEW_WORDS, _CODE) else (_DATA,)


def _repetition(text: str) -> tuple[str, int]:
    """Unit that the text's end repeats, and the number of repetitions; empty without any."""
    size = len(text) - _END - text.rfind(text[-_END:], 0, max(len(text) - 1, 0))
    if len(text) <= _END or size > len(text) - _END:
        return "", 0
    unit, turns = text[-size:], 1
    while text[-size * (turns + 1):-size * turns] == unit:
        turns += 1
    return unit, turns


def _is_prose(unit: str, words: int, share: float) -> bool:
    """Whether the text has enough words to be prose, and not data or markup."""
    dense = "".join(unit.split())
    letters = sum(letter.isalpha() for letter in dense)
    return len(set(_WORD.findall(unit))) >= words and letters >= share * len(dense) and "</" not in 2 * unit


# Calls of tools that stand in a text: as a JSON object, and in the tags that chat templates teach models, where the
# server does not take them out (docs/servers.md).

_BLOCK_OPENS = re.compile(r"```(?:json|tool)?[ \t]*\n(?=\{)")
_BLOCK_CLOSES = re.compile(r"(?<=\})\s*```")


def read_tool_call(text: str, tools: Collection[ToolSpec] = (), *, semantics: int = NEWEST) -> ToolCall | None:
    """The first call of one of the `tools` in a text: one action, then its observation. Before semantics 7 only JSON
    objects are calls, and names are as they stand there."""
    newest, names = semantics > 6, WireNames(tools)
    blocks = list(_json_blocks(text)) or ([text] if text.lstrip().startswith("{") else [])
    found = next((call for block in blocks if (call := _read_object(block, names if newest else None))), None)
    return found or (next(_tagged_calls(text, tools, names), (None, 0))[0] if newest else None)


def ends_with_tool_call(text: str, tools: Collection[ToolSpec], *, semantics: int = NEWEST) -> bool:
    """Whether a text ends with a call of one of the `tools`."""
    offered, newest, names = {tool.name for tool in tools}, semantics > 6, WireNames(tools)
    *_, last = [text, *_json_blocks(text)]
    is_last = text.rstrip("` \t\n").endswith(last.rstrip("` \t\n"))
    call = _read_object(last, names if newest else None) if is_last else None
    if call is None and newest:
        *_, (call, end) = [(None, 0), *_tagged_calls(text, tools, names)]
        call = call if _ENDS.fullmatch(text, end) else None
    return call is not None and call.name in offered


def _json_blocks(text: str) -> Iterator[str]:
    """Fenced JSON objects that are no files of a delivery, in a time that grows with the text only (one pattern for all
    of it would not do)."""
    start = _BLOCK_OPENS.search(text)
    while start and (end := _BLOCK_CLOSES.search(text, start.end())):
        above = text[text.rfind("\n", 0, max(0, start.start() - 1)) + 1:start.start()]
        if not name_on(above):
            yield text[start.end():end.start()]
        start = _BLOCK_OPENS.search(text, end.end())


def _read_object(block: str, names: WireNames | None) -> ToolCall | None:
    """The call that a JSON object is. Some models write `name` for `tool`. With `names`, their other words count,
    too."""
    try:
        value = load_json(block)
    except ValueError:
        return None
    if names is not None:
        return _call_of(value, names)
    if not isinstance(value, dict):
        return None
    name, arguments = value.get("tool"), value.get("arguments", {})
    if name is None and "arguments" in value:  # much else has a name
        name = value.get("name")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ToolCall("", short_name(name), json.dumps(arguments, ensure_ascii=False))


def _call_of(value: Any, names: WireNames) -> ToolCall | None:
    """The call that a JSON value is: of a tool by its own name or that on the wire."""
    if not isinstance(value, dict):
        return None
    said = value.get("tool") or value.get("name")
    name = names.own(said) if isinstance(said, str) else ""
    arguments = _arguments_in(value, known=names.is_offered(name))
    return _new_call(name, arguments) if name and isinstance(arguments, dict) else None


def _arguments_in(value: Mapping[str, Any], *, known: bool) -> Any:
    """Arguments of a call; None where it is none. Of a tool that is offered they may be `parameters` (Llama), or a
    text: much else has a name and parameters."""
    key = "parameters" if known and "arguments" not in value else "arguments"
    given = value.get(key, {} if value.get("tool") else None)
    return _value_of(given) if known and isinstance(given, str) else given


def _new_call(name: str, arguments: Mapping[str, Any]) -> ToolCall:
    return ToolCall("", short_name(name), json.dumps(arguments, ensure_ascii=False))


# Calls in tags.

_TAGS = {"<tool_call>": "</tool_call>",  # Hermes, Qwen, GLM
         "<|tool_call|>": "<|/tool_call|>",  # Phi
         "<function_calls>": "</function_calls>", "<minimax:tool_call>": "</minimax:tool_call>",
         "<function=": "</function>",  # Llama, Qwen Coder without its outer tag
         "<|python_tag|>": "<|eom_id|>",  # Llama
         "[TOOL_CALLS]": "</s>",  # Mistral
         "<｜tool▁call▁begin｜>": "<｜tool▁call▁end｜>",  # DeepSeek
         "<|tool_call_begin|>": "<|tool_call_end|>",  # Kimi
         "<|channel|>commentary to=": "<|call|>", "<|channel|>analysis to=": "<|call|>"}  # gpt-oss
_OPENS = re.compile("|".join(map(re.escape, _TAGS)))
_MOST = 20  # tags that are looked at: whoever writes more of them writes about them
_ENDS = re.compile(r"(?:[\s`\]]|<[^<>]{0,60}>)*+")
_BLANKS = re.compile(r"\s*")
_NAME = r"[\w.:-]{1,200}"
_FUNCTION = re.compile(rf"\s*(?:<function=|<invoke name=\"|<function name=\")({_NAME})\"?>")
_PARAMETER = re.compile(r"<parameter(?:=| name=\")([^<>\"]{1,200})\"?[^<>]{0,100}>")
_KEY = re.compile(r"<arg_key>\s*([^<>]{1,200}?)\s*</arg_key>\s*<arg_value>")
_BEFORE_KEY = re.compile(rf"\s*({_NAME})\s*(?=<arg_key>|\Z)")
_BEFORE_JSON = re.compile(
    rf"\s*(?:function<｜tool▁sep｜>)?(?P<name>{_NAME})\s*(?:<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|\[ARGS\]|"
    r"(?:<\|constrain\|>json)?<\|message\|>|>|(?=\s*```json))\s*(?:```json\s*)?(?=\{)")
_JSON = json.JSONDecoder()


def _tagged_calls(text: str, tools: Collection[ToolSpec], names: WireNames) -> Iterator[tuple[ToolCall, int]]:
    """The calls in tags outside code, each with its end in the text, before the tag that closes it."""
    openings = list(islice(_OPENS.finditer(text), _MOST))
    blocks = [range(block.start, block.end) for block in scan(text)] if openings else []
    end = 0
    for opening in openings:
        tag, start = opening[0], opening.end()
        if start < end or any(opening.start() in block for block in blocks):
            continue
        if found := _read_json(text, start, names):
            end = found[1]
            yield found
            continue
        closing = text.find(_TAGS[tag], start) % (len(text) + 1)  # the end of the text, where there is none
        if call := _read_values(text[opening.start() if tag == "<function=" else start:closing], tools, names):
            end = closing
            yield call, end


def _read_json(text: str, start: int, names: WireNames) -> tuple[ToolCall, int] | None:
    """The call behind a tag as JSON, and its end: of name and arguments, several of which may be in a list, or a name
    before its arguments."""
    found = _BEFORE_JSON.match(text, start) or _BLANKS.match(text, start)
    if found is None or text[found.end():found.end() + 1] not in ("{", "["):
        return None
    try:
        _, end = _JSON.raw_decode(text, found.end())
        value = load_json(text[found.end():end])
    except (ValueError, RecursionError):
        return None
    value = value[0] if isinstance(value, list) and value else value
    if found.re is _BLANKS:
        call = _call_of(value, names)
    else:
        call = _new_call(names.own(found["name"]), value) if isinstance(value, dict) else None
    return (call, end) if call else None


def _read_values(body: str, tools: Collection[ToolSpec], names: WireNames) -> ToolCall | None:
    """The call between two tags whose arguments have tags of their own."""
    if found := _FUNCTION.match(body):
        return _call_by_schema(names.own(found[1]), _values(body, _PARAMETER, "</parameter>"), tools)
    found = _BEFORE_KEY.match(body)
    name = names.own(found[1]) if found else ""
    return _call_by_schema(name, _values(body, _KEY, "</arg_value>"), tools) if names.is_offered(name) else None


def _values(body: str, opens: re.Pattern[str], closes: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the values between tags."""
    found = opens.search(body)
    while found:
        end = body.find(closes, found.end())
        value = body[found.end():end if end >= 0 else len(body)]
        yield found[1].strip(), value.removeprefix("\n").removesuffix("\n")
        found = opens.search(body, end) if end >= 0 else None


def _call_by_schema(name: str, values: Iterator[tuple[str, str]], tools: Collection[ToolSpec]) -> ToolCall:
    """The call with values of the types that its tool takes: between tags all are texts."""
    schema = next((tool.parameters for tool in tools if tool.name == name), {})
    properties = schema.get("properties") or {}
    texts = {key for key, kind in properties.items() if isinstance(kind, Mapping) and kind.get("type") == "string"}
    return _new_call(name, {key: value if key in texts else _value_of(value) for key, value in values})


def _value_of(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return text
