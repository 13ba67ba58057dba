"""Properties and verdicts in words, which are data beside this module (`phrases.yaml`)."""

from __future__ import annotations

import functools
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from chatdev.departments.plc.proof.outcome import RUN_TIME, Outcome, Property
from chatdev.tools.base import template

_INSTANCE = re.compile(r"(?<![\w.])instance\.", re.IGNORECASE)  # PLCverif's name for the program, before variables
_GOALS = ("pattern-reachability", "pattern-repeatability")


def describe_property(asked: Property) -> str:
    """What is asked, in a clause: `never: Red AND Green`, `line 8: no division by zero`."""
    if asked.pattern != RUN_TIME:
        plain = [_INSTANCE.sub("", text) for text in asked.parameters]
        return _render(_phrases()["patterns"][asked.pattern], p=plain)
    faults = _phrases()["faults"]
    kind, place, *_ = asked.parameters
    return _render(faults.get(kind, faults["other"]), p=asked.parameters, line=place.partition(":")[0])


def describe_verdict(outcome: Outcome) -> str:
    """What the verdict means, in a clause whose subject is the property."""
    which = "goals" if outcome.asked.pattern in _GOALS else "verdicts"
    return _render(_phrases()[which][outcome.verdict], k=outcome.k)


def describe_vacuity(outcome: Outcome) -> str:
    """Why a proof says nothing, in a sentence; empty where it says something."""
    return _render(_phrases()["vacuous"], why=outcome.vacuous) if outcome.vacuous else ""


def describe_opinion(outcome: Outcome) -> str:
    """What another verifier says, as `PLCverif: SATISFIED`; empty where none was asked."""
    return _render(_phrases()["opinion"], **asdict(outcome.opinion)) if outcome.opinion else ""


def describe_contradiction(outcome: Outcome) -> str:
    """That another verifier says the contrary; empty where it does not."""
    if not outcome.opinion or not outcome.is_contradicted:
        return ""
    return _render(_phrases()["contradiction"], verdict=outcome.verdict, by=outcome.opinion.by,
                   other=outcome.opinion.verdict)


def show_safely(text: str) -> str:
    """The text without characters that steer a terminal or hide from its reader."""
    return "".join(one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text)


def _render(source: str, **facts: Any) -> str:
    return str(template(source).render(facts)).strip()


@functools.cache
def _phrases() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))
    return found
