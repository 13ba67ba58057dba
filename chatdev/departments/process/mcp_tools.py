"""What `chatdev mcp` offers of this department, `process_mine`; and what `chatdev view` shows of the pool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.departments.process.run_commands import STARTER_POOL, load_process_company, read_outcomes
from chatdev.errors import ConfigError
from chatdev.tools.base import tool

if TYPE_CHECKING:
    from chatdev.web.views import RunView

_COMPANY = "top"


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
    from chatdev.departments.process.bpmn import write_bpmn
    from chatdev.departments.process.chart import draw_flow
    from chatdev.departments.process.conformance import measure_quality
    from chatdev.departments.process.pool import choose_best, count_instances, count_outcomes
    from chatdev.departments.process.process_company import mine_pool
    from chatdev.departments.process.process_tree import describe, measure_size, to_plain

    if pool != STARTER_POOL and ledger is None:
        raise ConfigError(f"ledger: the pool {pool!r} is in a SQLite file; name it")
    company = load_process_company(_COMPANY)
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


def boards(studies: Path) -> Iterator[RunView]:
    """The pool of the company `top` in the ledger of the studies, or else the one that comes with it: its instances,
    how often each succeeded, and the process model of those that did."""
    from chatdev.departments.process.chart import draw_flow, draw_picture
    from chatdev.departments.process.pool import LEAST_SUCCESS, count_outcomes, format_instance
    from chatdev.departments.process.process_company import mine_pool
    from chatdev.departments.process.process_tree import describe
    from chatdev.web.views import RunView

    company, ledger, name, outcomes = load_process_company(_COMPANY), studies / "ledger.sqlite", _COMPANY, list[Any]()
    if ledger.is_file():
        with suppress(ConfigError):  # there is a ledger, and no such pool in it
            outcomes = read_outcomes(company, str(ledger), name)
    if not outcomes:
        name, outcomes = STARTER_POOL, read_outcomes(company, "", STARTER_POOL)
    entries = count_outcomes(outcomes)
    rows = [(format_instance(one.instance), str(one.frequency), str(one.successes), f"{one.success_rate:.0%}")
            for one in entries]
    yield RunView(f"The pool {name!r} of processes", about=f"{len(outcomes)} runs by {len(entries)} processes.",
                  table=[("process", "runs", "successes", "success"), *rows])
    if model := mine_pool(entries, LEAST_SUCCESS):
        yield RunView("The process model of those that succeed", picture=draw_picture(draw_flow(model), "svg"),
                      text=describe(model, company.default), about=str(model))
