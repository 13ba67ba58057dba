"""From a name to a checked company (design §4): files, `extends`, protocol, overrides, validation, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from chatdev.config.check import ToolFacts, check
from chatdev.config.files import COMPANY_FILE, company_folders, find_company, with_texts
from chatdev.config.overrides import leave_out, set_value
from chatdev.config.schema import CompanyConfig
from chatdev.config.source import Dumper, Node, merge, place_of, read, shown
from chatdev.config.validation import dotted, validated
from chatdev.errors import ConfigError
from chatdev.paths import bundled

__all__ = ["CompanySummary", "companies", "dump", "find_company", "load_company"]


def load_company(name_or_path: str | Path, *, sets: Sequence[str] = (), without: Sequence[str] = (),
                 tools: Mapping[str, ToolFacts] | None = None) -> CompanyConfig:
    """The company, checked completely; no model is called.

    `sets` are `a.b.c=value`, applied to the YAML before validation; `without` names phases to leave out of the chain.
    `tools` are the tools there are; None leaves their names unchecked. The result is resolved: `extends` is empty,
    and `dump` writes it as one file. Raises ConfigError with one line for each mistake: file, line, field, mend.
    """
    root = _with_protocol(_resolved(find_company(name_or_path), ()))
    for assignment in sets:
        root = set_value(root, assignment)
    company = validated(CompanyConfig, leave_out(root, without))
    findings = check(company, tools)
    if errors := [f for f in findings if not f.warning]:
        raise ConfigError("\n".join(f"{place_of(root, f.path)}: {dotted(f.path)}: {f.text}" for f in errors))
    return company


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
    """Every company by name: those in `./company_config`, then the bundled ones."""
    return [_summary(folder) for folder in company_folders()]


def _summary(folder: Path) -> CompanySummary:
    try:
        company = load_company(folder)
    except ConfigError as error:
        return CompanySummary(folder.name, folder, problem=str(error))
    return CompanySummary(folder.name, folder, company.about, company.source, tuple(company.phases))


def _resolved(file: Path, children: tuple[Path, ...]) -> Node:
    """The company's YAML on top of what it extends."""
    real = file.resolve()
    if real in children:
        circle = " → ".join(shown(path) for path in (*children[children.index(real):], real))
        raise ConfigError(f"{shown(file)}: the company extends itself ({circle}); remove one `extends`")
    own = with_texts(read(file), file.parent)
    base = own.value.get("extends")
    if base is None or base.value is None:
        return own
    own = Node({key: child for key, child in own.value.items() if key != "extends"}, own.place)
    return merge(_resolved(_base_file(base, file.parent), (*children, real)), own)


def _base_file(base: Node, folder: Path) -> Path:
    if not isinstance(base.value, str):
        raise ConfigError(f"{base.place}: extends: {base.value!r} is not the name of a company; write e.g. "
                          "`extends: chatdev`")
    if (folder / base.value / COMPANY_FILE).is_file():
        return folder / base.value / COMPANY_FILE
    try:
        return find_company(base.value)
    except ConfigError as error:
        raise ConfigError(f"{base.place}: extends: {error}") from error


def _with_protocol(root: Node) -> Node:
    """The YAML with the bundled protocol below the company's own entries."""
    file = bundled("company_config") / "protocol.yaml"
    protocol = with_texts(Node({"protocol": read(file)}, shown(file)), file.parent)
    return merge(protocol, root)
