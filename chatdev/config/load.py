"""From a name to a checked company (design §4): where companies lie, `extends`, the protocol, texts in files of their
own, overrides, validation, checks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatdev.config.check_company import Tools, check_company
from chatdev.config.overrides import CHAIN_CHANGES, chain_changes, change_chain, leave_out, set_drafts, set_value
from chatdev.config.schema import CompanyConfig, walk
from chatdev.config.yaml_nodes import (
    Key,
    KeyPath,
    Node,
    display_path,
    dotted_path,
    merge,
    name_hint,
    node_of,
    parse_mapping,
    place_of,
    read,
    read_text,
    replace_at,
    validate_node,
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
    return _build(_read_extended(file, ()), display_path(file), sets, without, drafts, tools)


def build_company(source: str | Mapping[str, Any], *, sets: Sequence[str] = (), without: Sequence[str] = (),
                  drafts: int | None = None, tools: Tools = None) -> CompanyConfig:
    """`load_company` of what is no file: a YAML text, or its values as a mapping. It may extend an installed company,
    and has no files of its own."""
    name = "the given YAML" if isinstance(source, str) else "the given mapping"
    own = parse_mapping(source, name) if isinstance(source, str) else node_of(source, name)
    return _build(_extend(own, None, ()), name, sets, without, drafts, tools)


def _build(extended: Node, name: str, sets: Sequence[str], without: Sequence[str], drafts: int | None,
           tools: Tools) -> CompanyConfig:
    """The checked company of a YAML whose `extends` is resolved; `name` is what its own places begin with."""
    root = _add_protocol(_resolve_likes(extended))
    for assignment in sets:
        root = set_value(root, assignment)
    root = leave_out(set_drafts(root, drafts), without)
    company = validate_node(CompanyConfig, root)
    findings = check_company(company, tools)
    if errors := [f for f in findings if not f.warning]:
        raise ConfigError("\n".join(f"{place_of(root, f.path)}: {dotted_path(f.path)}: {f.text}" for f in errors))
    return _drop_unused(company, root, name)


def _drop_unused(company: CompanyConfig, root: Node, file: str) -> CompanyConfig:
    """The company without the phases that it only has through `extends` and that its own chain does not run."""
    run = {name for _, step in walk(company.chain) for name in step.phases_run(company.phases)}
    inherited = {name for name in company.phases
                 if _file_of(place_of(root, ("phases", name))) != file}
    kept = {name: phase for name, phase in company.phases.items() if name in run or name not in inherited}
    return company.model_copy(update={"phases": kept})


def _file_of(place: str) -> str:
    """`FILE` of `FILE:LINE`; a mapping that was built in Python has no lines."""
    return place.rpartition(":")[0] or place


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


def _read_extended(file: Path, children: tuple[Path, ...]) -> Node:
    """The company's YAML on top of what it extends."""
    real = file.resolve()
    if real in children:
        circle = " → ".join(display_path(path) for path in (*children[children.index(real):], real))
        raise ConfigError(f"{display_path(file)}: the company extends itself ({circle}); remove one `extends`")
    return _extend(read(file), file.parent, (*children, real))


def _extend(own: Node, folder: Path | None, children: tuple[Path, ...]) -> Node:
    """A company's YAML, of a file in `folder` or of none, on top of what it extends."""
    own = insert_texts(own, folder)
    base, changes = own.value.get("extends"), chain_changes(own)
    if base is None or base.value is None:
        return own
    own = Node({key: child for key, child in own.value.items() if key not in ("extends", *CHAIN_CHANGES)}, own.place)
    file = _base_file(base, folder) if folder else _installed_base(base)
    return change_chain(merge(_read_extended(file, children), own), changes)


def _installed_base(base: Node) -> Path:
    """The file of the company that one without a file extends."""
    if isinstance(base.value, str) and is_installed(base.value):
        return find_company(base.value)
    raise ConfigError(f"{base.place}: extends: there is no installed company {base.value!r:.80}; "
                      f"{name_hint(str(base.value), installed_companies())}; to extend one of your own, load a file")


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
    raise _absence(given, names)


def _absence(given: str, names: Mapping[str, Path]) -> ConfigError:
    """The error for a company that there is not."""
    path = Path(given)
    if _is_file(path / _CHAIN_OF_1X):
        return ConfigError(f"{given!r} is a company of ChatDev 1.x, in JSON; turn it into one of ours: chatdev import "
                           f"{given}")
    if os.sep in given or path.suffix in (".yaml", ".yml"):
        return ConfigError(f"there is no company at {given!r}; give a YAML file, a folder with {COMPANY_FILE}, or the "
                           f"name of a company: {', '.join(names)}")
    return ConfigError(f"there is no company {given!r}; {name_hint(given, names)}{explain_absence()}")


_CHAIN_OF_1X = "ChatChainConfig.json"


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


def insert_texts(root: Node, folder: Path | None) -> Node:
    """The YAML with every template written as `{file: prompts/x.j2}` replaced by the text of that file.

    Files lie inside the company's folder and end with .j2; raises ConfigError when one does not, or cannot be read.
    """
    return _insert_texts(root, folder and folder.resolve(), ())


def _insert_texts(node: Node, folder: Path | None, path: KeyPath) -> Node:
    if not isinstance(node.value, dict) or not _leads_to_template(path):
        return node
    if set(node.value) == {"file"} and _is_template(path):
        return _text_of_file(node.value["file"], folder)
    return Node({key: _insert_texts(child, folder, (*path, key)) for key, child in node.value.items()}, node.place)


def _text_of_file(node: Node, folder: Path | None) -> Node:
    name = node.value
    if folder is None:
        raise ConfigError(f"{node.place}: a company that is no file has none beside it; write the text of {name!r} "
                          "itself")
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
