"""The tool `run` of `chatdev mcp`: a company works on a task, and whoever asked hears how it goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.config.schema import Input
from chatdev.engine.budget import count_noun
from chatdev.errors import ConfigError
from chatdev.events import DeliveryApplied, Event, Noted, PhaseFinished, PhaseStarted, RunStarted, ToolCalled
from chatdev.runner.api import Company
from chatdev.runner.consent import place_inputs
from chatdev.runner.options import InputValue, RunOptions
from chatdev.runner.report import Run, describe_usage
from chatdev.tools.base import tool

_MOST_FILES = 200  # whose names are in a result
_OF_THE_USER = ("model", "base_url", "warehouse", "sandbox", "install", "runtime")
_LIMITS = ("max_cost", "max_tokens", "max_calls", "max_minutes")


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a client wants to be run."""

    task: str
    company: str
    name: str | None
    path: str | None
    inputs: Mapping[str, str | list[str]]
    limits: Mapping[str, float | int | None]


@tool(name="run")
def run(  # noqa: PLR0913 - what a client may say
    served: Served, *,
    task: Annotated[str, Field(description="What to build or to do, with examples of what it shall print or write")],
    company: Annotated[str, Field(description="Name of an installed company (chatdev, maintain, verilogcoder, "
                                              "agents4plc, …) or path of one")] = "chatdev",
    name: Annotated[str | None, Field(description="Name of the run's folder")] = None,
    path: Annotated[str | None, Field(description="Folder of existing software to start from")] = None,
    inputs: Annotated[dict[str, str | list[str]] | None, Field(
        description="Further inputs of the company; of an input of files its path or paths")] = None,
    max_cost: Annotated[float | None, Field(ge=0, description="US dollars at most")] = None,
    max_calls: Annotated[int | None, Field(ge=1, description="Model calls at most")] = None,
    max_minutes: Annotated[float | None, Field(gt=0, description="Minutes at most")] = None,
) -> RunOrder:
    """Let a company of language-model agents build software, Verilog or a PLC program, and have it judged. Takes
    minutes and costs model calls; cancelling it keeps what was made. Result: status, verdict, folder and summary."""
    return RunOrder(task, company, name, path, inputs or {},
                    {"max_cost": max_cost, "max_calls": max_calls, "max_minutes": max_minutes})


async def perform(order: RunOrder, served: Served, options: RunOptions, on_progress: Callable[[str], None]) -> Any:
    """The result of the run. Raises ConfigError, ConsentMissing and the like before anything is made."""
    company = Company.load(_find_company(order.company, served))
    software = str(served.find(order.path)) if order.path else None

    def follow(event: Event) -> None:
        if text := describe_event(event):
            on_progress(text)

    limits: Any = {name: _lower(order.limits.get(name), getattr(options, name)) for name in _LIMITS}
    own: Any = {name: getattr(options, name) for name in _OF_THE_USER}
    done = await company.arun(order.task, inputs=_inputs(company, order.inputs, served), name=order.name,
                              software=software, on_event=follow, **own, **limits)
    return result_of(done, company)


def _find_company(given: str, served: Served) -> str:
    """The company's name, or its path where one is given, which has to be served."""
    if os.sep in given or given.endswith((".yaml", ".yml")):
        return str(served.find(given))
    return given


def _inputs(company: Company, given: Mapping[str, str | list[str]], served: Served) -> dict[str, InputValue]:
    """The inputs, with paths that are served. Raises ConfigError for one that names a place which a tool opens by
    itself: only the user says that."""
    places = place_inputs(company.config, company.word.tools)
    found: dict[str, InputValue] = {}
    for name, value in given.items():
        if name in places:
            raise ConfigError(f"input {name!r} names a place that a tool opens; only the user may, with `chatdev run "
                              f"--input {name}=…`")
        kind = company.config.inputs.get(name, Input()).kind
        if kind == "text":
            found[name] = value
        else:
            paths: list[str | Path] = [served.find(one) for one in ([value] if isinstance(value, str) else value)]
            found[name] = paths[0] if len(paths) == 1 else paths
    return found


def _lower(given: Any, user: Any) -> Any:
    """The lower one of two limits, of which the client may only lower the user's."""
    limits = [limit for limit in (given, user) if limit is not None]
    return min(limits) if limits else None


def result_of(run: Run, company: Company) -> dict[str, Any]:
    """What a client gets of a run, as JSON values."""
    (verdict_name,) = company.config.chain[-1].names_written(company.config.phases)
    verdict = run.values.get(verdict_name)
    told = {key: verdict[key] for key in ("passed", "judged", "report", "score") if key in verdict} \
        if isinstance(verdict, Mapping) else None
    files, lines = count_noun(len(run.software), "file"), count_noun(run.software.lines, "line")
    return {"status": run.status, "verdict": told, "folder": str(run.folder.resolve()),
            "software_folder": str(run.software_folder.resolve()), "files": sorted(run.software)[:_MOST_FILES],
            "summary": f"{run.status}: {run.reason}. {files}, {lines}; {describe_usage(run.usage)}",
            "notes": run.notes, "change": run.change}


def describe_event(event: Event) -> str:
    """An event in a clause; empty for one that tells nothing of how far a run is."""
    match event:
        case RunStarted():
            return f"{event.company} begins in {event.folder}"
        case PhaseStarted():
            return f"{event.phase}: {event.about}"
        case PhaseFinished():
            return f"{event.phase} ended: {event.ending} ({count_noun(event.calls, 'call')})"
        case ToolCalled():
            word = "" if event.passed is None else " passed" if event.passed else " failed"
            return f"{event.tool}{word}"
        case DeliveryApplied(written=written) if written:
            return f"written: {', '.join(written)}"
        case Noted():
            return event.text
    return ""
