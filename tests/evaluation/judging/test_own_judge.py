"""A judge that is an object of the caller's own, without a server."""

from __future__ import annotations

import asyncio

from chatdev import ScriptedModel
from chatdev.evaluation.judging.judges import open_judge


def test_a_model_object_judges_under_its_name() -> None:
    model = ScriptedModel(["never asked"], name="mine")

    async def look() -> None:
        async with open_judge(model) as judge:
            assert (judge.model, judge.name) == (model, "mine")

    asyncio.run(look())
