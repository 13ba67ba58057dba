"""What is known of processes, as it is shown to the model that proposes the next one: the text of the model that was
mined from what worked, and some instances (Think-on-Process, §3.3 and figures 5 and 8)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from chatdev.departments.process.describe import describe
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.instances import MOST_PHASES, format_instance, read_instance
from chatdev.departments.process.pool_statistics import LEAST_SUCCESS, PoolEntry, choose_best, count_instances
from chatdev.departments.process.process_tree import Instance, ProcessTree
from chatdev.errors import ConfigError
from chatdev.plain_values import load_json

EXAMPLES = 5
"""Instances that are shown beside a text; the paper shows ten where it has no text."""
_LONGEST_TEXT = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Experience:
    """`text` says what the mined model allows (empty: there is none, or it is not to be shown), `instances` are
    examples, `origin` says in words where both come from."""

    text: str
    instances: tuple[Instance, ...]
    origin: str

    def to_json(self) -> str:
        """As a file that `read_experience` reads."""
        plain = {"text": self.text, "instances": [format_instance(one) for one in self.instances],
                 "origin": self.origin}
        return json.dumps(plain, ensure_ascii=False, indent=1) + "\n"


Filter = Callable[[Sequence[PoolEntry]], Sequence[PoolEntry]]


def mine_pool(entries: Sequence[PoolEntry], least: float = LEAST_SUCCESS, noise: float = 0.0) -> ProcessTree | None:
    """The model of the instances to learn from (`choose_best`); None where there are none."""
    best = count_instances(choose_best(entries, least))
    return mine(best, noise) if best else None


def gather_experience(entries: Sequence[PoolEntry], default: Sequence[str], origin: str, *, chance: Random,
                      choose: Filter = choose_best) -> Experience | None:
    """What a pool teaches: the text of the model of the entries that `choose` takes, its phases in the order of
    `default`, and examples drawn among these entries, the likelier the oftener they succeeded. None where there are
    none."""
    best = choose(entries)
    if not best:
        return None
    return Experience(describe(mine(count_instances(best)), default), _draw(best, chance), origin)


def _draw(entries: Sequence[PoolEntry], chance: Random) -> tuple[Instance, ...]:
    """Some instances without repetition, in the order in which they were drawn."""
    left, drawn = list(entries), list[Instance]()
    while left and len(drawn) < EXAMPLES:
        [entry] = chance.choices(left, [max(entry.successes, 1) for entry in left])
        left.remove(entry)
        drawn.append(entry.instance)
    return tuple(drawn)


def read_experience(text: str, known: Collection[str], where: str) -> Experience:
    """The experience that `to_json` wrote; `known` are the phases there are, `where` names the file in errors. Raises
    ConfigError."""
    try:
        found = load_json(text)
        words, origin = _text_of(found, "text"), _text_of(found, "origin")
        instances = tuple(read_instance(str(one), known) for one in found["instances"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{where} holds no experience ({type(error).__name__}: {str(error)[:120]}); write one with "
                          "`chatdev process describe --json`") from None
    if unknown := sorted({name for one in instances for name in one if name not in known}):
        raise ConfigError(f"{where}: its examples name phases that there are not: {', '.join(unknown)[:200]}; it was "
                          "written for another company")
    if len(words) > _LONGEST_TEXT or any(len(one) > MOST_PHASES for one in instances):
        raise ConfigError(f"{where} is too long to be read by a model (the most are {_LONGEST_TEXT} characters of text "
                          f"and {MOST_PHASES} phases of an example)")
    return Experience(words, instances, origin)


def _text_of(found: Any, name: str) -> str:
    if not isinstance(found[name], str):
        raise TypeError(f"`{name}` is no text")
    return str(found[name])
