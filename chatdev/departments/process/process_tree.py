"""Process trees: which orders of phases a process model allows, and that in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from chatdev.errors import ConfigError

Operator = Literal["phase", "silent", "sequence", "exclusive", "parallel", "loop"]
Instance = tuple[str, ...]
"""One ordered list of phase names: a trace, in the words of process mining."""

MOST_DEPTH = 60
"""So deep may trees be that are mined or read. Nobody follows a deeper one, and Python's stack has an end."""

_SIGNS = {"sequence": "->", "exclusive": "X", "parallel": "+", "loop": "*"}


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """One node with what is below it; equal trees are equal values. A loop has two children: body and redo."""

    operator: Operator
    name: str = ""
    """Of a phase; otherwise empty."""
    children: tuple[ProcessTree, ...] = ()
    depth: int = field(init=False, compare=False, repr=False)
    is_nullable: bool = field(init=False, compare=False, repr=False)
    """Whether the tree allows that nothing at all is run."""
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((child.depth for child in self.children), default=0))
        object.__setattr__(self, "is_nullable", _is_nullable(self))
        object.__setattr__(self, "_hash", hash((self.operator, self.name, self.children)))

    def __hash__(self) -> int:
        return self._hash  # kept: trees are keys of many tables, and a deep one is slow to go through

    def __str__(self) -> str:
        if self.operator == "phase":
            return repr(self.name)
        if self.operator == "silent":
            return "tau"
        return f"{_SIGNS[self.operator]}({', '.join(map(str, self.children))})"

    def walk(self) -> Iterator[ProcessTree]:
        """The node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def _is_nullable(tree: ProcessTree) -> bool:
    if tree.operator in ("phase", "silent"):
        return tree.operator == "silent"
    if tree.operator == "exclusive":
        return any(child.is_nullable for child in tree.children)
    return all(child.is_nullable for child in tree.children[:1 if tree.operator == "loop" else None])


SILENT = ProcessTree("silent")


def phase(name: str) -> ProcessTree:
    """The tree that runs one phase."""
    return ProcessTree("phase", name)


def sequence(*children: ProcessTree) -> ProcessTree:
    """One after another."""
    return ProcessTree("sequence", children=children)


def exclusive(*children: ProcessTree) -> ProcessTree:
    """Exactly one of them."""
    return ProcessTree("exclusive", children=children)


def parallel(*children: ProcessTree) -> ProcessTree:
    """All of them, freely interleaved."""
    return ProcessTree("parallel", children=children)


def loop(body: ProcessTree, redo: ProcessTree = SILENT) -> ProcessTree:
    """The body, and any number of times the redo part and the body again."""
    return ProcessTree("loop", children=(body, redo))


def optional(tree: ProcessTree) -> ProcessTree:
    """The tree, or nothing."""
    return exclusive(SILENT, tree)


def normalise(tree: ProcessTree) -> ProcessTree:
    """The normal form: the same instances in fewer nodes, and the children of choices and parallels sorted.

    Nested operators of one kind become one, silence stays only where it makes a choice optional, and `loop(tau, x)` is
    written as what it is: x once or several times, or nothing. Trees of equal normal form allow the same; the other
    way round this need not hold (`conformance.find_difference` decides it).
    """
    return join_normal(tree.operator, *map(normalise, tree.children)) if tree.operator in _FORMS else tree


def join_normal(operator: Operator, *children: ProcessTree) -> ProcessTree:
    """The normal form of a node over children that are in normal form."""
    return _FORMS[operator](children)


def _form_sequence(children: tuple[ProcessTree, ...]) -> ProcessTree:
    return _join("sequence", [child for child in _flatten("sequence", children) if child != SILENT])


def _form_parallel(children: tuple[ProcessTree, ...]) -> ProcessTree:
    return _join("parallel", sorted((c for c in _flatten("parallel", children) if c != SILENT), key=str))


def _form_exclusive(children: tuple[ProcessTree, ...]) -> ProcessTree:
    ways = set(_flatten("exclusive", children))
    loud = sorted(ways - {SILENT}, key=str)
    if SILENT in ways and not any(child.is_nullable for child in loud):
        return _join("exclusive", [SILENT, *loud])
    return _join("exclusive", loud)


def _form_loop(children: tuple[ProcessTree, ...]) -> ProcessTree:
    body, redo = children
    if body == SILENT:
        return SILENT if redo == SILENT else _form_exclusive((SILENT, _form_loop((redo, SILENT))))
    if redo == SILENT and SILENT in body.children and body.operator == "exclusive":  # any number of times
        return _form_exclusive((SILENT, _form_loop((_form_exclusive(body.children[1:]), SILENT))))
    if redo == SILENT and body.operator == "loop" and body.children[1] == SILENT:
        return body
    return loop(body, redo)


_FORMS: dict[str, Callable[[tuple[ProcessTree, ...]], ProcessTree]] = {
    "sequence": _form_sequence, "parallel": _form_parallel, "exclusive": _form_exclusive, "loop": _form_loop}


def _flatten(operator: Operator, children: Sequence[ProcessTree]) -> list[ProcessTree]:
    """The children, with the grandchildren in the place of a child of the same operator."""
    return [part for child in children for part in (child.children if child.operator == operator else (child,))]


def _join(operator: Operator, children: Sequence[ProcessTree]) -> ProcessTree:
    if len(children) < 2:
        return children[0] if children else SILENT
    return ProcessTree(operator, children=tuple(children))


def rename(tree: ProcessTree, names: Mapping[str, str]) -> ProcessTree:
    """The tree with other names for its phases."""
    if tree.operator == "phase":
        return phase(names[tree.name])
    return ProcessTree(tree.operator, children=tuple(rename(child, names) for child in tree.children))


class ModelSize(NamedTuple):
    """How large a model is to its reader, as Think-on-Process counts it (arXiv 2409.06568, Figure 12)."""

    phases: int
    exclusive_gateways: int
    parallel_gateways: int

    @property
    def gateways(self) -> int:
        """All of them."""
        return self.exclusive_gateways + self.parallel_gateways


def measure_size(tree: ProcessTree) -> ModelSize:
    """Phases and gateways of the chart of the tree: a choice, a loop and a parallel part have two gateways each, where
    ways part and where they meet."""
    operators = [node.operator for node in normalise(tree).walk()]
    return ModelSize(operators.count("phase"), 2 * (operators.count("exclusive") + operators.count("loop")),
                     2 * operators.count("parallel"))


def to_plain(tree: ProcessTree) -> Any:
    """The tree as JSON writes it: a phase's name, None for silence, or a list of the operator and its children."""
    if tree.operator == "phase":
        return tree.name
    return None if tree.operator == "silent" else [tree.operator, *map(to_plain, tree.children)]


def from_plain(value: Any, depth: int = 1) -> ProcessTree:
    """The tree that `to_plain` gave. Raises ConfigError for anything else."""
    if depth > MOST_DEPTH:
        raise ConfigError(f"a process tree may be {MOST_DEPTH} levels deep, not more")
    if value is None:
        return SILENT
    match value:
        case str() if value:
            return phase(value)
        case ["sequence" | "exclusive" | "parallel", _, *_] | ["loop", _, _]:
            return ProcessTree(value[0], children=tuple(from_plain(child, depth + 1) for child in value[1:]))
    raise ConfigError(f"a process tree is the name of a phase, null, or a list of an operator ({', '.join(_SIGNS)}) "
                      f"and its children, of which a loop has two; not {value!r:.80}")


_TOKEN = re.compile(r"""\s*(?:->|[X+*](?=\s*\()|[(),]|tau|τ|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*""", re.DOTALL)
_OPERATORS: dict[str, Operator] = {"->": "sequence", "X": "exclusive", "+": "parallel", "*": "loop"}


def parse_tree(text: str, place: str = "the process tree") -> ProcessTree:
    """The tree that its `str` gives; `place` names it in errors. Raises ConfigError."""
    tokens, at = list[tuple[str, int]](), 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise ConfigError(f"{place}: {text[at:at + 30]!r} at character {at + 1} is no part of a tree; it is "
                              "written ->(…), X(…), +(…), *(body, redo), tau, or a name in quotes")
        tokens.append((found[0].strip(), at + 1))
        at = found.end()
    tokens.append(("", len(text) + 1))
    if max(accumulate((token == "(") - (token == ")") for token, _ in tokens)) >= MOST_DEPTH:
        raise ConfigError(f"{place}: a process tree may be {MOST_DEPTH} levels deep, not more")
    tree, end = _parse(tokens, 0, place)
    if tokens[end][0]:
        raise ConfigError(f"{place}: the tree ends before character {tokens[end][1]}, and {tokens[end][0]!r} follows")
    return tree


_ESCAPE = re.compile(r"\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U(000[\da-fA-F]{5}|0010[\da-fA-F]{4})|(.))",
                     re.DOTALL | re.ASCII)
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}


def _unquote(text: str) -> str:
    """A name without the escapes that its `repr` has."""
    return _ESCAPE.sub(lambda found: chr(int(code, 16)) if (code := found[1] or found[2] or found[3])
                       else _SHORT.get(found[4], found[4]), text)


def _parse(tokens: Sequence[tuple[str, int]], at: int, place: str) -> tuple[ProcessTree, int]:
    """The tree that begins at a token, and the number of the token behind it."""
    token, character = tokens[at]
    if token in ("tau", "τ"):
        return SILENT, at + 1
    if token[:1] in ("'", '"') and len(token) > 2:
        return phase(_unquote(token[1:-1])), at + 1
    if token not in _OPERATORS:
        raise ConfigError(f"{place}: a tree is missing at character {character}, before {token!r}")
    children: list[ProcessTree] = []
    at += 1
    while tokens[at][0] == ("," if children else "("):
        child, at = _parse(tokens, at + 1, place)
        children.append(child)
    if tokens[at][0] != ")" or (token == "*" and len(children) != 2):
        raise ConfigError(f"{place}: {token!r} at character {character} needs trees in parentheses, with commas; "
                          "'*' has two, a body and a redo part")
    return ProcessTree(_OPERATORS[token], children=tuple(children)), at + 1


# A process model in words, for the prompt of a model that shall follow it.

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
