"""What `chatdev mcp` offers of this department: `process_mine`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.departments.process.command_options import STARTER_POOL, load_process_company, read_outcomes
from chatdev.errors import ConfigError
from chatdev.tools.base import tool


@tool(name="process_mine")
def mine(served: Served, *,
         pool: Annotated[str, Field(description="Name of the instance pool; `starter` comes with the company")
                         ] = STARTER_POOL,
         ledger: Annotated[str | None, Field(description="Path of the SQLite file with the pool; not for `starter`")
                           ] = None,
         least: Annotated[float, Field(ge=0, le=1, description="Successes from which an instance counts")] = 0.3,
         noise: Annotated[float, Field(ge=0, le=1, description="Leave out what is rarer than this beside its "
                                                               "alternatives")] = 0.0,
         bpmn: Annotated[bool, Field(description="Also the model as BPMN 2.0")] = False) -> dict[str, Any]:
    """Mine the process model of the development processes in a pool that succeed often enough: a process tree with its
    fitness and precision, in words and, if asked for, as BPMN."""
    from chatdev.departments.process.conformance import measure_quality
    from chatdev.departments.process.flow_graph import draw_flow, write_bpmn
    from chatdev.departments.process.pool import choose_best, count_instances, count_outcomes
    from chatdev.departments.process.process_company import mine_pool
    from chatdev.departments.process.process_tree import describe, measure_size, to_plain

    if pool != STARTER_POOL and ledger is None:
        raise ConfigError(f"ledger: the pool {pool!r} is in a SQLite file; name it")
    company = load_process_company("top")
    outcomes = read_outcomes(company, str(served.find(ledger)) if ledger else "", pool)
    entries = count_outcomes(outcomes)
    model = mine_pool(entries, least, noise)
    if model is None:
        raise ConfigError(f"least: no instance of the pool succeeds in at least {least:.0%} of its runs "
                          f"({len(outcomes)} outcomes); lower it")
    quality = measure_quality(model, count_instances(choose_best(entries, least)))
    return {"model": to_plain(model), "tree": str(model), "description": describe(model, company.default),
            **quality._asdict(), **measure_size(model)._asdict(), "outcomes": len(outcomes),
            **({"bpmn": write_bpmn(draw_flow(model), company.config.company)} if bpmn else {})}
