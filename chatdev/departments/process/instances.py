"""Process instances: the list of phases that a model proposes for one software, read from its reply and checked before
anything is paid for (Think-on-Process, §3.1; its hallucinations: §4.4)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from chatdev.config.phases import Phase, names_read
from chatdev.departments.process.process_tree import Instance

ARROW = " → "
MOST_PHASES = 60
"""Longer instances are refused: the paper's default has fourteen phases."""

_LONGEST_REPLY = 20_000  # characters that are looked at
_SIGN = r"(?:[→⇒➔➜⟶⟹]|-{1,3}>|={1,2}>)"
_ARROW = re.compile(rf"\s*{_SIGN}\s*")
_DRESS = re.compile(r"^[\s>*#\-•|\d.)(`'\"\[\]]+|[\s`'\"*|.;,)\]]+$")  # bullets, numbers, quotes, cells around a name
_COMMAS = re.compile(r"[,;，、]")
_SPACES = re.compile(r"[\s_\-]+")

Kind = Literal["empty", "too long", "unknown phase", "missing solution", "no software"]


@dataclass(frozen=True, slots=True)
class Hallucination:
    """Why an instance cannot run. `phase` is the one at fault, or empty; `missing` what it reads and nobody wrote."""

    kind: Kind
    phase: str = ""
    missing: str = ""

    def describe(self) -> str:
        """In words, for people and for the model that proposed it."""
        return {"empty": "it names no phase", "too long": f"it has more than {MOST_PHASES} phases",
                "unknown phase": f"there is no phase {self.phase}", "no software": "no phase of it writes the software",
                "missing solution": f"{self.phase} reads `{self.missing}`, which nothing before it writes"}[self.kind]


def format_instance(instance: Sequence[str]) -> str:
    """`A → B → C`: as it stands in prompts, pools and reports."""
    return ARROW.join(instance)


def read_instance(reply: str, known: Collection[str]) -> Instance:
    """The instance that a reply proposes: its longest line of names with arrows between them, else its lines, cells
    and parts between commas that are a known name. Names are found whatever their case, spaces or quotes; one that is
    not known stays as it is written. An empty instance where the reply proposes none."""
    spelling = {_plain(name): name for name in known}
    lines = _join_broken(reply[:_LONGEST_REPLY])
    chains = [names for line in lines if len(names := _split(line)) > 1]
    if chains:
        names = max(chains, key=len)
    else:
        names = [name for line in lines for part in _COMMAS.split(line)
                 if _plain(name := _DRESS.sub("", part)) in spelling]
    return tuple(spelling.get(_plain(name), name) for name in names)


def check_instance(instance: Instance, phases: Mapping[str, Phase],
                   given: Collection[str]) -> tuple[Hallucination, ...]:
    """Everything for which an instance could not run or would make nothing; `given` are the names that are there before
    it begins. An unknown phase writes nothing, so what would follow from it is not told."""
    if not instance:
        return (Hallucination("empty"),)
    if len(instance) > MOST_PHASES:
        return (Hallucination("too long"),)
    unknown = [Hallucination("unknown phase", name[:80]) for name in dict.fromkeys(instance) if name not in phases]
    return tuple(unknown or dict.fromkeys(_find_missing([(name, phases[name]) for name in instance], given)))


def _find_missing(steps: Sequence[tuple[str, Phase]], given: Collection[str]) -> Iterator[Hallucination]:
    """What phases read that is not there when they run; and the software, if none writes it."""
    there = set(given)
    for name, phase in steps:
        needed = names_read([read for read in phase.reads if not read.endswith("?")])
        yield from (Hallucination("missing solution", name, missing) for missing in sorted(needed - there))
        there.add(phase.writes)
    if "software" not in there:
        yield Hallucination("no software")


def _join_broken(reply: str) -> list[str]:
    """The lines; one that ends or goes on with an arrow is joined with its neighbour."""
    lines: list[str] = []
    for line in reply.splitlines():
        text = line.strip()
        if lines and text and (_ARROW.match(text) or re.search(rf"{_SIGN}$", lines[-1])):
            lines[-1] = f"{lines[-1]} {text}"
        elif text:
            lines.append(text)
    return lines


def _split(line: str) -> list[str]:
    """The names between the arrows of a line; what is said before the first of them, up to a colon, is none."""
    head, colon, rest = line.replace("：", ":").partition(":")
    text = rest if colon and not _ARROW.search(head) else line
    return [name for part in _ARROW.split(text) if (name := _DRESS.sub("", part))]


def _plain(name: str) -> str:
    return _SPACES.sub("", name).casefold()
