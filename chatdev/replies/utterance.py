"""Parts of an utterance beside its solution: marker and thoughts; and the joining of a cut one with its
continuation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from chatdev.replies.fences import NEWEST, Fence, closes, fence_of, lines_of, scan

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
