"""Changes to a company's YAML before validation: `--set`, `--without` and `--drafts` (the switches of design §3), and
the `insert` and `without` of a company that extends another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chatdev.config.schema import (
    BRANCH_KINDS,
    Branch,
    ChainChanges,
    CompanyConfig,
    McpServer,
    ParallelStep,
    PhaseStep,
    ToolStep,
)
from chatdev.config.yaml_nodes import (
    Key,
    KeyPath,
    Node,
    child,
    descend,
    name_hint,
    names_in,
    parse,
    place_of,
    plain,
    replace_at,
    union_member,
    validate_node,
    wants_text,
)
from chatdev.errors import ConfigError

CHAIN_CHANGES = tuple(ChainChanges.model_fields)
"""Fields of a company that change the chain of the one that it extends."""


def set_value(root: Node, assignment: str) -> Node:
    """The YAML with one `a.b.c=value` applied. Raises ConfigError for a path that the schema does not know, naming the
    nearest one.

    The value is YAML; where the schema wants a text, it is taken as it stands unless YAML makes it a text or null.
    Entries of `roles`, `phases` and `inputs` must exist, one of `mcp` may be new; steps are numbered from 0.
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
        allowed: list[Key] = [name for name in names if name not in ("extends", *CHAIN_CHANGES)]  # resolved before
    elif kind in (None, Any) or child(kind, target.key) in (Any, str, McpServer):
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


def leave_out(root: Node, names: Sequence[str], told: str = "--without") -> Node:
    """The YAML without the phase steps of these names, wherever they stand in the chain; loops and branches that are
    empty then go too. Raises ConfigError, in which they are `told`, for a name that is no step, and when nothing would
    be left."""
    chain = root.value.get("chain")
    if not names or chain is None:
        return root
    present = set(_phases(chain))
    for name in names:
        if name not in present:
            raise ConfigError(f"{told} {name}: the chain has no such phase; {name_hint(name, sorted(present))}")
    left = _remove_phases(chain, set(names))
    if left is None:
        raise ConfigError(f"{told} {', '.join(names)}: nothing is left of the chain; leave out less")
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


# `insert` and `without` of a company that extends another.


def chain_changes(own: Node) -> Node | None:
    """What a company's own YAML changes in the chain that it has by `extends`; None: nothing. Raises ConfigError where
    there is no such chain."""
    given = {name: own.value[name] for name in CHAIN_CHANGES if name in own.value}
    if not given:
        return None
    name, node = next(iter(given.items()))
    if own.value.get("extends") is None:
        raise ConfigError(f"{node.place}: {name}: changes the chain of another company, and the company extends none; "
                          "add `extends: NAME`, or write the steps into `chain`")
    if "chain" in own.value:
        raise ConfigError(f"{node.place}: {name}: the company has a chain of its own ({own.value['chain'].place}); "
                          "write the steps there, or remove it")
    if (insert := given.get("insert")) and isinstance(insert.value, dict):
        given["insert"] = Node([insert], insert.place)
    return Node(given, node.place)


def change_chain(root: Node, changes: Node | None) -> Node:
    """The YAML whose chain has the steps of `insert` beside the ones that they name, in their order, and not the phases
    of `without`. Raises ConfigError for a step that the chain has not, or that it has more than once."""
    if changes is None:
        return root
    found = validate_node(ChainChanges, changes)
    chain = root.value.get("chain", Node([], root.place))
    for n in range(len(found.insert)):
        chain = _insert(chain, changes.value["insert"].value[n].value)
    return leave_out(Node({**root.value, "chain": chain}, root.place), found.without,
                     f"{place_of(changes, ('without',))}: without:")


def _insert(chain: Node, insertion: dict[str, Node]) -> Node:
    steps = insertion["steps"]
    sides = [side for side in ("before", "after") if side in insertion and insertion[side].value is not None]
    if len(sides) != 1:
        raise ConfigError(f"{steps.place}: insert: say where the steps go: either `after: NAME` or `before: NAME`")
    named = insertion[sides[0]]
    path = _anchor(chain, named.value, f"{named.place}: insert.{sides[0]}")
    return _insert_at(chain, path, steps.value, after=sides[0] == "after")


def _anchor(chain: Node, given: str, place: str) -> KeyPath:
    """Where the step that is named stands, `NAME` of a phase or a tool, or `NAME#2` for the second of them."""
    name = given.partition("#")[0]
    steps: dict[str, list[KeyPath]] = {}
    for path in _paths(chain):
        steps.setdefault(_step_name(descend(chain, path)), []).append(path)
    paths = steps.get(name, [])
    if not paths:
        raise ConfigError(f"{place}: the chain has no step {name!r}; {name_hint(name, filter(None, steps))}")
    chosen = {f"{name}#{n}": path for n, path in enumerate(paths, start=1)}
    if len(paths) == 1:
        chosen[name] = paths[0]
    if given not in chosen:
        where = ", ".join(f"{one} ({place_of(chain, path)})" for one, path in chosen.items() if "#" in one)
        raise ConfigError(f"{place}: {given!r} is not one step of the chain; say which: {where}")
    return chosen[given]


def _paths(steps: Node, above: KeyPath = ()) -> Iterator[KeyPath]:
    """The key path of every step, outer ones first."""
    for n, step in enumerate(steps.value if isinstance(steps.value, list) else []):
        yield (*above, n)
        for path in _INNER_PATHS:
            if inner := descend(step, path):
                yield from _paths(inner, (*above, n, *path))


def _step_name(step: Node | None) -> str:
    """The phase or the tool of a step; empty for other steps."""
    named = [descend(step, (kind,)) for kind in (PhaseStep.kind, ToolStep.kind)] if step else []
    return next((node.value for node in named if node and isinstance(node.value, str)), "")


def _insert_at(node: Node, path: KeyPath, new: list[Node], *, after: bool, in_parallel: bool = False) -> Node:
    """The steps put beside the one at `path`; a branch of `parallel` becomes one of several steps."""
    key, rest = path[0], path[1:]
    if not isinstance(key, int):
        return replace_at(node, (key,), _insert_at(node.value[key], rest, new, after=after,
                                                   in_parallel=key == ParallelStep.kind))
    step = node.value[key]
    if rest:
        there = [_insert_at(step, rest, new, after=after)]
    elif in_parallel:
        there = [_branch(step, new, after=after)]
    else:
        there = [step, *new] if after else [*new, step]
    return Node([*node.value[:key], *there, *node.value[key + 1:]], node.place)


def _branch(step: Node, new: list[Node], *, after: bool) -> Node:
    """The step and its new neighbours as one branch, optional where the step was."""
    alone = Node({key: value for key, value in step.value.items() if key != "optional"}, step.place)
    optional = {key: value for key, value in step.value.items() if key == "optional"}
    return Node({Branch.kind: Node([alone, *new] if after else [*new, alone], step.place), **optional}, step.place)
