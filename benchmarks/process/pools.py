"""Process trees and pools of instances, made at random from a seed: what the studies of the miner mine."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise
from random import Random

from benchmarks.process.playout import play_out
from chatdev.departments.process.process_tree import (
    SILENT,
    Instance,
    ProcessTree,
    exclusive,
    loop,
    optional,
    parallel,
    phase,
    sequence,
)

Pool = Counter[Instance]
PHASES = ("DemandAnalysis", "LanguageChoose", "DesignReview", "Coding", "CodeComplete", "Annotation", "CodeConclusion",
          "CodeReviewComment", "CommentJudgement", "CodeReviewModification", "TestErrorSummary", "TestModification",
          "EnvironmentDoc", "Manual")
"""The default instance of Think-on-Process (Table 3)."""


def random_tree(chance: Random, names: list[str], plain: bool = False) -> ProcessTree:
    """A tree that names each phase once. `plain` ones have no silence, and in the body of a loop nothing both begins
    and ends it: those the miner promises to find again."""
    if len(names) == 1:
        leaf = phase(names[0])
        chosen = chance.random()
        return leaf if plain or chosen < 0.75 else optional(leaf) if chosen < 0.9 else loop(leaf)
    kind = chance.choices(("sequence", "exclusive", "parallel", "loop"), (4, 3, 2, 1))[0]
    if kind == "loop" and (not plain or len(names) > 2):
        cut = chance.randint(2 if plain else 1, len(names) - 1)
        body = (sequence(*(random_tree(chance, part, plain) for part in _divide(chance, names[:cut])))
                if plain else random_tree(chance, names[:cut]))
        found = loop(body, random_tree(chance, names[cut:], plain) if plain or chance.random() < 0.5 else SILENT)
        return found if plain or found.children[1] != SILENT else loop(random_tree(chance, names))
    parts = [random_tree(chance, part, plain) for part in _divide(chance, names)]
    found = {"sequence": sequence, "exclusive": exclusive, "parallel": parallel}.get(kind, sequence)(*parts)
    return found if plain or chance.random() < 0.85 else optional(found)


def _divide(chance: Random, names: list[str]) -> list[list[str]]:
    """The names in two to four groups, in order."""
    cuts = sorted(chance.sample(range(1, len(names)), min(chance.randint(1, 3), len(names) - 1)))
    return [names[begin:end] for begin, end in pairwise([0, *cuts, len(names)])]


def random_names(chance: Random, fewest: int = 3, most: int = 10) -> list[str]:
    """Letters in a random order, so that the names say nothing of the tree."""
    names = list("abcdefghijklmnopqrst"[:chance.randint(fewest, most)])
    chance.shuffle(names)
    return names


def play_pool(tree: ProcessTree, chance: Random, instances: int) -> Pool:
    """So many instances of a tree."""
    return Counter(play_out(tree, chance) for _ in range(instances))


def rename_pool(pool: Pool, chance: Random) -> tuple[Pool, dict[str, str]]:
    """The pool with its names exchanged among each other at random, and the way back."""
    names = sorted({name for instance in pool for name in instance})
    others = chance.sample(names, len(names))
    there = dict(zip(names, others, strict=True))
    renamed = Counter({tuple(map(there.__getitem__, instance)): count for instance, count in pool.items()})
    return renamed, dict(zip(others, names, strict=True))


def random_strings(chance: Random) -> Pool:
    """A pool without any process behind it."""
    names = "abcdefgh"[:chance.randint(2, 8)]
    return Counter(tuple(chance.choices(names, k=chance.randint(1, 8))) for _ in range(chance.randint(2, 30)))


def add_noise(pool: Pool, chance: Random, share: float) -> Pool:
    """The pool with a share of its instances changed at one place: a phase left out, run twice, moved, or another."""
    names = sorted({name for instance in pool for name in instance})
    found: Pool = Counter()
    for instance, count in sorted(pool.items()):
        for _ in range(count):
            found[_change(instance, names, chance) if instance and chance.random() < share else instance] += 1
    return found


def _change(instance: Instance, names: list[str], chance: Random) -> Instance:
    changed = list(instance)
    place = chance.randrange(len(changed))
    kind = chance.choice(("leave out", "twice", "move", "other"))
    if kind == "twice":
        changed.insert(place, changed[place])
    elif kind == "other":
        changed[place] = chance.choice(names)
    else:
        name = changed.pop(place)
        if kind == "move":
            changed.insert(chance.randint(0, len(changed)), name)
    return tuple(changed)


def change_sequence(chance: Random, variants: int, phases: int = 20) -> Pool:
    """So many variants of one sequence, each with up to three neighbours exchanged and up to two phases left out, as
    the logs of offices have them."""
    names = [f"Step{number}" for number in range(phases)]
    found: Pool = Counter()
    while len(found) < variants:
        instance = names.copy()
        for _ in range(chance.randint(0, 3)):
            place = chance.randrange(phases - 1)
            instance[place:place + 2] = instance[place + 1], instance[place]
        for _ in range(chance.randint(0, 2)):
            instance.pop(chance.randrange(len(instance)))
        found[tuple(instance)] += 1
    return found


def hallucinate(chance: Random, variants: int, instances: int, noise: float = 0.3, phases: int = 20) -> Pool:
    """A pool as a model generates one: so many variants of a process of 20 phases (the paper's 14 and some more), few
    of them frequent; up to three phases of each are left out, repeated, moved or exchanged, the more the more
    `noise`."""
    names = [*PHASES, *(f"Extra{number}" for number in range(1, phases - len(PHASES) + 1))]
    found: dict[Instance, None] = {}
    while len(found) < variants:
        instance = tuple(name for name in names if name in PHASES or chance.random() < 0.3)
        for _ in range(chance.choice((0, 1, 2, 3)) if chance.random() < noise else 1):
            instance = _change(instance, names, chance)
        found[instance] = None
    weights = list(accumulate(1 / (rank + 1) for rank in range(variants)))
    pool: Pool = Counter(found)
    for instance in found:
        pool[instance] = 1
    pool.update(chance.choices(list(found), cum_weights=weights, k=instances - variants))
    return pool


