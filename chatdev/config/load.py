"""From a name to a checked company (design §4): where companies lie, `extends`, the protocol, texts in files of their
own, overrides, validation, checks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chatdev.config.check_company import Tools, check_company
from chatdev.config.schema import BRANCH_KINDS, CompanyConfig, McpServer, PhaseStep, walk
from chatdev.config.yaml_nodes import (
    Dumper,
    Key,
    KeyPath,
    Node,
    child,
    descend,
    display_path,
    dotted_path,
    merge,
    name_hint,
    names_in,
    parse,
    place_of,
    plain,
    read,
    read_text,
    replace_at,
    union_member,
    validate_node,
    wants_text,
)
from chatdev.department import COMPANY_FILE, company_offers, explain_absence, installed_companies, installed_company
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder


def load_company(name_or_path: str | Path, *, sets: Sequence[str] = (), without: Sequence[str] = (),
                 drafts: int | None = None, tools: Tools = None) -> CompanyConfig:
    """The company, checked completely; no model is called.

    `sets` are `a.b.c=value`, applied to the YAML before validation; `without` names phases to leave out of the chain;
    `drafts` is their number in every phase that draws several.
    `tools` are the tools there are; None leaves their names unchecked. The result is resolved: `extends` and `like`
    are empty, and `dump` writes it as one file. Raises ConfigError with one line for each mistake: file, line, field,
    fix.
    """
    file = find_company(name_or_path)
    root = _add_protocol(_resolve_likes(_resolve_extends(file, ())))
    for assignment in sets:
        root = set_value(root, assignment)
    root = leave_out(set_drafts(root, drafts), without)
    company = validate_node(CompanyConfig, root)
    findings = check_company(company, tools)
    if errors := [f for f in findings if not f.warning]:
        raise ConfigError("\n".join(f"{place_of(root, f.path)}: {dotted_path(f.path)}: {f.text}" for f in errors))
    return _drop_unused(company, root, file)


def _drop_unused(company: CompanyConfig, root: Node, file: Path) -> CompanyConfig:
    """The company without the phases that it only has through `extends` and that its own chain does not run."""
    run = {name for _, step in walk(company.chain) for name in step.phases_run(company.phases)}
    inherited = {name for name in company.phases
                 if not place_of(root, ("phases", name)).startswith(f"{display_path(file)}:")}
    kept = {name: phase for name, phase in company.phases.items() if name in run or name not in inherited}
    return company.model_copy(update={"phases": kept})


def dump(company: CompanyConfig) -> str:
    """The company as YAML that `load_company` reads back equal; defaults are left out."""
    values = company.model_dump(mode="python", by_alias=True, exclude_defaults=True)
    return yaml.dump(values, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


@dataclass(frozen=True, slots=True)
class CompanySummary:
    """A company for listings; `problem` says why it cannot be loaded, if so."""

    name: str
    folder: Path
    about: str = ""
    source: str = ""
    phases: tuple[str, ...] = ()
    problem: str = ""


def companies() -> list[CompanySummary]:
    """Every company by name: those of `./company_config`, then the installed ones, which no other has the name of."""
    ambiguous = [CompanySummary(name, offer.value, problem=offer.problem)
                 for name, offer in company_offers().items() if offer.problem]
    return [*(_summary(folder) for folder in company_folders()), *ambiguous]


def _summary(folder: Path) -> CompanySummary:
    try:
        company = load_company(folder)
    except ConfigError as error:
        return CompanySummary(folder.name, folder, problem=str(error))
    return CompanySummary(folder.name, folder, company.about, company.source, tuple(company.phases))


def _resolve_extends(file: Path, children: tuple[Path, ...]) -> Node:
    """The company's YAML on top of what it extends."""
    real = file.resolve()
    if real in children:
        circle = " → ".join(display_path(path) for path in (*children[children.index(real):], real))
        raise ConfigError(f"{display_path(file)}: the company extends itself ({circle}); remove one `extends`")
    own = insert_texts(read(file), file.parent)
    base = own.value.get("extends")
    if base is None or base.value is None:
        return own
    own = Node({key: child for key, child in own.value.items() if key != "extends"}, own.place)
    return merge(_resolve_extends(_base_file(base, file.parent), (*children, real)), own)


def _base_file(base: Node, folder: Path) -> Path:
    """The file of the company that is extended: an installed one by its name, else one in the company's own folder.
    What lies elsewhere is the user's, and would become text for models."""
    name = base.value
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{base.place}: extends: {name!r} is not the name of a company; write e.g. "
                          "`extends: chatdev`")
    if is_installed(name):
        return find_company(name)
    try:
        place, inside = (folder / name).resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(f"{base.place}: extends: {name!r} cannot be found ({error}); fix the name") from error
    if not place.is_relative_to(inside):
        raise ConfigError(f"{base.place}: extends: {name!r} lies outside the company's folder {display_path(folder)}; "
                          "a company extends an installed one, by its name, or files below its own folder: move it "
                          "there")
    for file in (place / COMPANY_FILE, place):
        if _is_file(file) and file.suffix in (".yaml", ".yml") and file.resolve().is_relative_to(inside):
            return file
    known = list(installed_companies())
    raise ConfigError(f"{base.place}: extends: there is no company {name!r}; {name_hint(name, known)}; a company of "
                      f"your own has to lie below {display_path(folder)}{explain_absence()}")


def _resolve_likes(root: Node) -> Node:
    """The YAML with every phase on top of the one that it is `like`; the company may have come by that through
    `extends`."""
    phases = root.value.get("phases")
    if phases is None or not isinstance(phases.value, dict):
        return root
    resolved = {name: _resolve_like(phases.value, name, ()) for name in phases.value}
    return replace_at(root, ("phases",), Node(resolved, phases.place))


def _resolve_like(phases: Mapping[Key, Node], name: Key, children: tuple[Key, ...]) -> Node:
    own = phases[name]
    like = own.value.get("like") if isinstance(own.value, dict) else None
    if like is None or like.value is None:
        return own
    if like.value in (*children, name):
        raise ConfigError(f"{like.place}: phases.{name}.like: the phase is like itself; remove one `like`")
    if not isinstance(like.value, str) or like.value not in phases:
        raise ConfigError(f"{like.place}: phases.{name}.like: there is no phase {like.value!r}; "
                          f"{name_hint(str(like.value), list(map(str, phases)))}")
    own = Node({key: child for key, child in own.value.items() if key != "like"}, own.place)
    return merge(_resolve_like(phases, like.value, (*children, name)), own)


def _add_protocol(root: Node) -> Node:
    """The YAML with the bundled protocol below the company's own entries."""
    file = bundled_folder("company_config") / "protocol.yaml"
    protocol = insert_texts(Node({"protocol": read(file)}, display_path(file)), file.parent)
    return merge(protocol, root)


_TEMPLATES: tuple[tuple[str, ...], ...] = (
    ("background",), ("roles", "*", "prompt"), ("phases", "*", "opening"), ("phases", "*", "guidance", "*"),
    ("protocol", "*"), ("protocol", "problems", "*"),
)


def find_company(name_or_path: str | Path) -> Path:
    """The YAML file of a company, given as a name, looked for among the installed ones (`company_offers`) and in
    `./company_config`, as a folder with `company.yaml`, or as a YAML file. The name of an installed company means that
    one, whatever lies in the working folder. Raises ConfigError listing the companies there are."""
    given = str(name_or_path)
    path = Path(given)
    if folder := installed_company(given):
        return folder / COMPANY_FILE
    if given and _is_file(path / COMPANY_FILE):
        return path / COMPANY_FILE
    if path.suffix in (".yaml", ".yml") and _is_file(path):
        return path
    names = {folder.name: folder for folder in company_folders()}
    if given in names:
        return names[given] / COMPANY_FILE
    if os.sep in given or path.suffix in (".yaml", ".yml"):
        raise ConfigError(f"there is no company at {given!r}; give a YAML file, a folder with {COMPANY_FILE}, or the "
                          f"name of a company: {', '.join(names)}")
    raise ConfigError(f"there is no company {given!r}; {name_hint(given, names)}{explain_absence()}")


def company_folders() -> Iterator[Path]:
    """The folders that hold a company: those of `./company_config` first, without those that bear the name of an
    installed one, then the installed ones."""
    offered = company_offers()
    own = {file.parent.name: file.parent for file in sorted(Path("company_config").glob(f"*/{COMPANY_FILE}"))}
    yield from (folder for name, folder in own.items() if name not in offered)
    yield from installed_companies().values()


def namesake(name: str) -> Path | None:
    """The folder of a company in the working folder, or its `company_config`, that has the name of an installed one but
    is not it; None when there is none. Only its path names it."""
    folder = installed_companies().get(name)
    if folder is None:
        return None
    real = (folder / COMPANY_FILE).resolve()
    places = (Path("company_config", name), Path(name))
    return next((place for place in places if _is_file(place / COMPANY_FILE)
                 and (place / COMPANY_FILE).resolve() != real), None)


def is_installed(name: str) -> bool:
    """Whether a company of this name comes with chatdev or with a department; its name means nothing else."""
    return name in installed_companies()


def insert_texts(root: Node, folder: Path) -> Node:
    """The YAML with every template written as `{file: prompts/x.j2}` replaced by the text of that file.

    Files lie inside the company's folder and end with .j2; raises ConfigError when one does not, or cannot be read.
    """
    return _insert_texts(root, folder.resolve(), ())


def _insert_texts(node: Node, folder: Path, path: KeyPath) -> Node:
    if not isinstance(node.value, dict) or not _leads_to_template(path):
        return node
    if set(node.value) == {"file"} and _is_template(path):
        return _text_of_file(node.value["file"], folder)
    return Node({key: _insert_texts(child, folder, (*path, key)) for key, child in node.value.items()}, node.place)


def _text_of_file(node: Node, folder: Path) -> Node:
    name = node.value
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"{node.place}: {name!r} is not a file name; write e.g. `file: prompts/coding.j2`")
    try:
        path = (folder / name).resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{node.place}: the file {name!r} cannot be found ({error}); fix the link") from error
    if not path.is_relative_to(folder):
        raise ConfigError(f"{node.place}: the file {name!r} lies outside the company's folder {display_path(folder)}; "
                          "move it there")
    if path.suffix != ".j2":  # a company's YAML may lie among its user's own files, which no prompt may show
        raise ConfigError(f"{node.place}: the file {name!r} is no template; its name has to end with .j2")
    if not _is_file(path):
        raise ConfigError(f"{node.place}: there is no file {name!r} in {display_path(folder)}; create it or fix the "
                          "name")
    return Node(read_text(path), f"{display_path(path)}:1")


def _leads_to_template(path: KeyPath) -> bool:
    return any(_matches_pattern(pattern[: len(path)], path) for pattern in _TEMPLATES)


def _is_template(path: KeyPath) -> bool:
    return any(_matches_pattern(pattern, path) for pattern in _TEMPLATES)


def _matches_pattern(pattern: tuple[str, ...], path: KeyPath) -> bool:
    return len(pattern) == len(path) and all(p in ("*", key) for p, key in zip(pattern, path, strict=True))


def _is_file(path: Path) -> bool:
    """Whether there is such a file; False for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


# Changes to YAML before validation: `--set`, `--without` and `--drafts` (the switches of design §3).


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
        allowed: list[Key] = [name for name in names if name != "extends"]  # resolved before
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
