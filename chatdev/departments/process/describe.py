"""A process model in words, for the prompt of a model that shall follow it.

As in the three steps of Think-on-Process (arXiv 2409.06568, section 3.3), the text is planned (which part of the tree
is a sentence, which a list of its own), its sentences are planned (single phases beside each other become one sentence,
each sentence has a place: first, then, finally), and then it is written. A list stands below the sentence that ends
with a colon. Names stand in quotes as they are, because whoever reads them has to copy them. Every form of sentence
means one thing, so `read_description` gets the same process back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from chatdev.departments.process.process_tree import SILENT, ProcessTree, normalise

RUN = "run {}"
ONE_OF = "run exactly one of {}"
ANY_ORDER = "run {} in any order; all of them are required"
REPEAT_ONE = "run {} once or several times"
IF_NEEDED = "only if it is needed, {}"
LEFT_OUT = "the following part may be left out as a whole:"
WAYS = "follow exactly one of these {} ways:"
STRANDS = "follow all of these {} strands, whose phases may be mixed with each other in any order:"
REPEAT = "run the following part once or several times:"
REDO = "To repeat that part, first do this and start it over:"
NOTHING = "Run nothing at all."


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What is said of one part: words without their place, and the lists below them."""

    words: str
    lists: tuple[ProcessTree, ...] = ()
    redo: ProcessTree | None = None


def describe(tree: ProcessTree, order: Sequence[str] = ()) -> str:
    """The model as text; equal models give equal texts. Where the process leaves the order open, phases come as in
    `order`, the names that are usual first."""
    if normalise(tree) == SILENT:
        return NOTHING + "\n"
    return "\n".join(_write_block(_sort(normalise(tree), order))) + "\n"


def quote(name: str) -> str:
    """A name as the text has it: verbatim, but for quotes, backslashes and control characters in it."""
    return json.dumps(name, ensure_ascii=False)


def _sort(tree: ProcessTree, order: Sequence[str]) -> ProcessTree:
    children = [_sort(child, order) for child in tree.children]
    if tree.operator in ("exclusive", "parallel"):
        children.sort(key=lambda child: _earliest(child, order))
    return ProcessTree(tree.operator, tree.name, tuple(children))


def _earliest(tree: ProcessTree, order: Sequence[str]) -> int:
    """The place of a tree's earliest phase; silence first, names that are not usual last."""
    places = [order.index(node.name) if node.name in order else len(order)
              for node in tree.walk() if node.operator == "phase"]
    return min(places, default=-1)


def _write_block(tree: ProcessTree) -> list[str]:
    """The lines of a part: sentences without lists beside each other, each other one with its list below."""
    steps = tree.children if tree.operator == "sequence" else (tree,)
    lines: list[str] = []
    is_open = False
    for number, sentence in enumerate(map(_plan, steps)):
        text = _place(sentence.words, number, len(steps))
        if is_open and not sentence.lists:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
        is_open = not sentence.lists
        for part in sentence.lists:
            lines += _write_list(part)
        if sentence.redo is not None:
            lines += [REDO, *_write_list(sentence.redo)]
    return lines


def _write_list(tree: ProcessTree) -> list[str]:
    first, *more = _write_block(tree)
    return [f"- {first}", *(f"  {line}" for line in more)]


def _place(words: str, number: int, count: int) -> str:
    """The words as a sentence at its place in a sequence."""
    text = words if words.endswith(":") else f"{words}."
    if count == 1:
        return text[0].upper() + text[1:]
    connective = "First" if number == 0 else "Finally" if number == count - 1 > 1 else "Then"
    return f"{connective}{' ' if words.startswith(('run', 'follow')) else ', '}{text}"


def _plan(tree: ProcessTree) -> _Sentence:
    """What is said of one step."""
    if tree.operator == "exclusive" and SILENT in tree.children:
        ways = tuple(child for child in tree.children if child != SILENT)
        rest = ways[0] if len(ways) == 1 else ProcessTree("exclusive", children=ways)
        inner = _plan(rest)
        has_lists = inner.lists or rest.operator == "sequence"
        return _Sentence(LEFT_OUT, (rest,)) if has_lists else _Sentence(IF_NEEDED.format(inner.words))
    if tree.operator == "loop":
        return _plan_loop(*tree.children)
    return _plan_phases(tree)


def _plan_loop(body: ProcessTree, redo: ProcessTree) -> _Sentence:
    if redo == SILENT and body.operator == "phase":
        return _Sentence(REPEAT_ONE.format(quote(body.name)))
    return _Sentence(REPEAT, (body,), None if redo == SILENT else redo)


def _plan_phases(tree: ProcessTree) -> _Sentence:
    """A phase, a choice or a parallel part; phases alone are one sentence. (A sequence is a block.)"""
    if tree.operator == "phase":
        return _Sentence(RUN.format(quote(tree.name)))
    is_choice = tree.operator == "exclusive"
    if all(child.operator == "phase" for child in tree.children):
        return _Sentence((ONE_OF if is_choice else ANY_ORDER).format(_enumerate(tree, "or" if is_choice else "and")))
    return _Sentence((WAYS if is_choice else STRANDS).format(len(tree.children)), tree.children)


def _enumerate(tree: ProcessTree, word: str) -> str:
    *names, last = (quote(child.name) for child in tree.children)
    return f"{', '.join(names)} {word} {last}"
