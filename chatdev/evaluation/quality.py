"""The quality of software: completeness × executability × consistency (ChatDev, ACL 2024, §4, "Metrics").

Every function is pure. Each value lies between 0 and 1; None says that it could not be judged here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from operator import mul
from typing import Any, Literal

from chatdev.tools.software.placeholders import placeholders

Combination = Literal["product", "mean"]


def completeness(software: Mapping[str, bytes]) -> float:
    """1 when there is software and nothing in it was left for later, else 0 (paper: the share of software without
    placeholder code). A placeholder is a body that is only `pass`, `...` or `raise NotImplementedError` where that is
    not the right body, or a comment that announces missing work (`tools.software.placeholders`)."""
    return float(bool(software) and not placeholders(software))


def executability(verdict: Mapping[str, Any]) -> float | None:
    """1 when the software was built and started by the stated policy, else 0 (paper: the share of software that
    compiles and runs directly). `verdict` is what `software.run` said; None when it could not judge."""
    return float(verdict["passed"]) if verdict.get("judged", True) else None


def consistency(requirement: Iterable[float], code: Iterable[float]) -> float:
    """The cosine of the embeddings of requirement and code without comments, 0 where they point apart (paper: the
    cosine distance of the semantic embeddings of textual requirements and generated code)."""
    one, other = list(requirement), list(code)
    lengths = math.hypot(*one) * math.hypot(*other)
    return max(0.0, math.fsum(map(mul, one, other)) / lengths) if lengths else 0.0


def quality(values: Iterable[float | None], combination: Combination = "product") -> float | None:
    """Completeness, executability and consistency in one number: their product (paper), or their mean. None when one
    of them could not be judged."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return math.prod(known) if combination == "product" else math.fsum(known) / len(known)
