"""Constrained decoding for small models, where it helps the format (research: it never helps the judgement)."""

from __future__ import annotations

import json

from chatdev.config.profiles import ModelProfile
from chatdev.config.schema import Solution
from chatdev.engine.solution import SOLUTION
from chatdev.llm.base import Constraint


def constraint_for(solution: Solution, profile: ModelProfile, concludes: bool) -> Constraint | None:
    """What a reply in this form must look like, for models whose profile asks for it; None leaves it free."""
    if not profile.constrained:
        return None
    if solution.form == "choice":
        options = " | ".join(json.dumps(option, ensure_ascii=False) for option in solution.options)
        marker = json.dumps(f"{SOLUTION} ") + " " if concludes else ""
        return Constraint(grammar=f"root ::= {marker}( {options} )")
    if solution.form == "json" and solution.schema_:
        return Constraint(schema=solution.schema_)
    return None
