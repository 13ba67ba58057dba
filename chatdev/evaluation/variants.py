"""What is compared: companies, with another model, or with a part left out (ablations)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from chatdev.config.schema import CompanyConfig, PhaseStep, walk
from chatdev.errors import ConfigError
from chatdev.runner.api import Company
from chatdev.workspace.run_folder import slug

STAGES = {"coding": "up to coding", "code_completion": "up to completion", "code_review": "up to review",
          "system_test": "up to testing"}
"""The phases after which the paper's cumulative ablations end (ChatDev, ACL 2024, table 3), and their names."""

REVIEW = "code_review"

MODEL_SIGN = " · "
"""Stands between what a variant is called and its model."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A company as `Company.load` takes it, and the model it works with (None: the user's default).

    The `name` ends with the model where one was named, so that it does not depend on how many were."""

    name: str
    company: str
    sets: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    without_roles: bool = False
    model: str | None = None

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Variant:
        """The variant that `spec` describes."""
        names = ("name", "company", "without_roles", "model")
        return cls(**{name: spec[name] for name in names}, sets=tuple(spec["sets"]), without=tuple(spec["without"]))

    @property
    def short_name(self) -> str:
        """The name without the model."""
        return name_without_model(self.name, self.model)

    @property
    def spec(self) -> dict[str, Any]:
        """The variant as plain values, with the `fingerprint` of its company."""
        return {**asdict(self), "fingerprint": self.fingerprint}

    @property
    def fingerprint(self) -> str:
        """Changes whenever anything in the company's YAML does, prompts included."""
        return hashlib.sha256(self.load().resolved.encode()).hexdigest()[:16]

    @property
    def folder(self) -> str:
        """The name of its folder in a study's."""
        return slug(self.name)

    def load(self) -> Company:
        """The company. Raises ConfigError."""
        return _load(self)


def variants(companies: Sequence[str], *, models: Sequence[str] = (), sets: Sequence[str] = (),
             ablations: bool = False) -> list[Variant]:
    """Every company, with its `paper_ablations` if wanted, with every model (none: the default one). `sets` go for all.
    Raises ConfigError for no company, one that cannot be loaded, or two variants of one name."""
    if not companies:
        raise ConfigError("no company is named; give names or paths, e.g. --companies single,chatdev")
    found: list[Variant] = []
    for name_or_path in companies:
        company = Company.load(name_or_path, sets=sets)
        whole = Variant(company.config.company, company.source["name_or_path"], tuple(sets))
        found += [whole, *(paper_ablations(whole, company.config) if ablations else ())]
    if models:
        found = [replace(variant, name=f"{variant.name}{MODEL_SIGN}{model}", model=model)
                 for variant in found for model in models]
    _refuse_equal_names(found)
    return found


def name_without_model(name: str, model: str | None) -> str:
    """The name of a variant with this model, up to the model."""
    return name.removesuffix(f"{MODEL_SIGN}{model}") if model else name


def names_side_by_side(names: Iterable[str]) -> dict[str, str]:
    """What variants of these names are called beside each other: without the model where all have the same."""
    names = list(names)
    ends = {MODEL_SIGN.join(["", *name.split(MODEL_SIGN)[1:]]) for name in names}
    end = ends.pop() if len(ends) == 1 else ""
    return {name: name.removesuffix(end) for name in names}


def paper_ablations(whole: Variant, company: CompanyConfig) -> Iterator[Variant]:
    """The paper's ablations of a company whose agents talk, and two of ours; nothing for one without dialogues.

    Cumulative: up to coding, completion, review and testing, where it has these phases; without dehallucination, where
    it has it; without roles. Ours: without drafts, without the review, where it has them.
    """
    if not any(phase.instructor for phase in company.phases.values()):
        return
    yield from _stage_ablations(whole, company)
    asking = [name for name, phase in company.phases.items() if phase.dehallucination]
    yield from _without(whole, "dehallucination", [f"phases.{name}.dehallucination=false" for name in asking])
    yield replace(whole, name=f"{whole.name} without roles", without_roles=True)
    drawing = [name for name, phase in company.phases.items() if phase.drafts != 1]
    yield from _without(whole, "drafts", [f"phases.{name}.drafts=1" for name in drawing])
    if REVIEW in company.phases:
        yield replace(whole, name=f"{whole.name} without review", without=(REVIEW,))


def _without(whole: Variant, what: str, sets: Sequence[str]) -> Iterator[Variant]:
    """The variant with these changes; nothing where there are none."""
    if sets:
        yield replace(whole, name=f"{whole.name} without {what}", sets=(*whole.sets, *sets))


def _stage_ablations(whole: Variant, company: CompanyConfig) -> Iterator[Variant]:
    """The company up to each of `STAGES` that it has, where anything comes after it."""
    order = [step.phase for _, step in walk(company.chain) if isinstance(step, PhaseStep)]
    for phase, name in STAGES.items():
        if phase in order and (later := _phases_after(order, phase)):
            yield replace(whole, name=f"{whole.name} {name}", without=later)


def _phases_after(order: Sequence[str], phase: str) -> tuple[str, ...]:
    """The phases that stand only after the last step of `phase`."""
    last = len(order) - 1 - order[::-1].index(phase)
    return tuple(dict.fromkeys(name for name in order[last + 1:] if name not in order[:last + 1]))


def _refuse_equal_names(found: Sequence[Variant]) -> None:
    folders = [variant.folder for variant in found]
    shown = names_side_by_side(variant.name for variant in found)
    for variant in found:
        if folders.count(variant.folder) > 1:
            raise ConfigError(f"two variants are called {shown[variant.name]!r}; a company, and a model, is given once,"
                              " and companies in different folders need different names (their field `company`)")


@cache
def _load(variant: Variant) -> Company:
    return Company.load(variant.company, sets=variant.sets, without=variant.without,
                        without_roles=variant.without_roles)
