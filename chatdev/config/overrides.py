"""Changes to a company's YAML before validation: `--set`, `--without` and `--drafts` (the switches of design §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chatdev.config.schema import CompanyConfig
from chatdev.config.step_kinds import BRANCH_KINDS, PhaseStep
from chatdev.config.validation import child, name_hint, names_in, union_member, wants_text
from chatdev.config.yaml_nodes import Key, Node, descend, parse, plain, replace_at
from chatdev.errors import ConfigError


def set_value(root: Node, assignment: str) -> Node:
    """The YAML with one `a.b.c=value` applied. Raises ConfigError for a path that the schema does not know, naming the
    nearest one.

    The value is YAML; where the schema wants a text, it is taken as it stands unless YAML makes it a text or null.
    Entries of `roles`, `phases` and `inputs` must exist; steps are numbered from 0.
    """
    path, equals, text = assignment.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"--set {assignment!r} is not `path=value`; write e.g. --set phases.coding.rounds=3")
    place = f"--set {assignment}"
    try:
        assignment.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{place!r} is not UTF-8 at character {error.start}; write it in that encoding") from error
    return _set(root, _Target(CompanyConfig, path.strip().split("."), 0, place), text.strip())


def _value(kind: Any, text: str, place: str) -> Node:
    if not wants_text(kind):
        return parse(text, place)
    try:
        node = parse(text, place)
    except ConfigError:
        return Node(text, place)
    return node if node.value is None or isinstance(node.value, str) else Node(text, place)


class _Target:
    """Where an assignment leads: the rest of the path, the type there, and how to name it."""

    def __init__(self, kind: Any, keys: list[str], depth: int, place: str) -> None:
        self.kind, self.keys, self.depth, self.place = kind, keys, depth, place

    @property
    def key(self) -> str:
        return self.keys[self.depth]

    @property
    def last(self) -> bool:
        return self.depth == len(self.keys) - 1

    def enter(self, kind: Any) -> _Target:
        return _Target(kind, self.keys, self.depth + 1, self.place)

    def refusal(self, allowed: Sequence[Key]) -> ConfigError:
        above = ".".join(self.keys[: self.depth]) or "the company"
        return ConfigError(f"{self.place}: {above} has no {self.key!r}; {name_hint(self.key, map(str, allowed))}")


def _set(node: Node, target: _Target, text: str) -> Node:
    if isinstance(node.value, list):
        return _set_in_list(node, target, text)
    kind = union_member(target.kind, plain(node))
    entries = node.value if isinstance(node.value, dict) else {}
    if names := names_in(kind):
        allowed: list[Key] = [name for name in names if name != "extends"]  # resolved before
    elif kind is None or child(kind, target.key) is Any:
        allowed = [target.key]
    else:
        allowed = list(entries)
    if target.key not in allowed:
        raise target.refusal(allowed)
    return Node({**entries, target.key: _entry(entries.get(target.key), target, child(kind, target.key), text)},
                node.place)


def _entry(old: Node | None, target: _Target, kind: Any, text: str) -> Node:
    """The new value of the entry that `target` names: what was given, or the old value with the rest of the path
    set in it."""
    if target.last:
        return _value(kind, text, target.place)
    return _set(old or Node({}, target.place), target.enter(kind), text)


def _set_in_list(node: Node, target: _Target, text: str) -> Node:
    positions: list[Key] = list(range(len(node.value)))
    if target.key not in map(str, positions):
        raise target.refusal(positions)
    n = int(target.key)
    value = _entry(node.value[n], target, child(target.kind, n), text)
    return Node([*node.value[:n], value, *node.value[n + 1:]], node.place)


def set_drafts(root: Node, number: int | None) -> Node:
    """The YAML with `number` drafts in every phase that draws several; None changes nothing. Raises ConfigError
    when there is no such phase."""
    phases = root.value.get("phases")
    if number is None or phases is None or not isinstance(phases.value, dict):
        return root
    drawn = Node(number, f"--drafts {number}")
    changed = {name: Node({**phase.value, "drafts": drawn}, phase.place) for name, phase in phases.value.items()
               if isinstance(phase.value, dict) and "drafts" in phase.value and phase.value["drafts"].value != 1}
    if not changed:
        raise ConfigError(f"--drafts {number}: no phase of the company draws drafts; choose a phase with a guard or "
                          f"feedback: --set phases.NAME.drafts={number}")
    return Node({**root.value, "phases": Node({**phases.value, **changed}, phases.place)}, root.place)


def leave_out(root: Node, names: Sequence[str]) -> Node:
    """The YAML without the phase steps of these names, wherever they stand in the chain; loops and branches that are
    empty then go too. Raises ConfigError for a name that is no step, and when nothing would be left."""
    chain = root.value.get("chain")
    if not names or chain is None:
        return root
    present = set(_phases(chain))
    for name in names:
        if name not in present:
            raise ConfigError(f"--without {name}: the chain has no such phase; {name_hint(name, sorted(present))}")
    left = _remove_phases(chain, set(names))
    if left is None:
        raise ConfigError(f"--without {', '.join(names)}: nothing is left of the chain; leave out less")
    return Node({**root.value, "chain": left}, root.place)


def _phases(steps: Node) -> Iterator[str]:
    for step in steps.value if isinstance(steps.value, list) else []:
        if name := _phase(step):
            yield name
        for path in _INNER_PATHS:
            if inner := descend(step, path):
                yield from _phases(inner)


def _phase(step: Node) -> str:
    """The phase that a step runs; empty when it runs none."""
    named = descend(step, (PhaseStep.kind,))
    return named.value if named and isinstance(named.value, str) else ""


def _remove_phases(steps: Node, names: set[str]) -> Node | None:
    """The list without steps of these phases; None when it became empty."""
    if not isinstance(steps.value, list):
        return steps  # validation will say what is wrong
    left = [kept for step in steps.value if (kept := _remove_from_step(step, names)) is not None]
    return Node(left, steps.place) if left or not steps.value else None


def _remove_from_step(step: Node, names: set[str]) -> Node | None:
    """The step without these phases; None when nothing is left of it."""
    if _phase(step) in names:
        return None
    for path in _INNER_PATHS:
        if inner := descend(step, path):
            left = _remove_phases(inner, names)
            if left is None:
                return None
            step = replace_at(step, path, left)
    return step


_INNER_PATHS = [kind.inner_path for kind in BRANCH_KINDS if kind.inner_path]
