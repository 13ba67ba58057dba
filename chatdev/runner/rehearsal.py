"""A rehearsal of a run (`chatdev run --dry-run`): the engine itself, with a model that answers in the form that is
asked for, and tools that find nothing wrong. What it sends is what a run sends, as far as that is known before the
first reply: what would come from a model or a program is ‹named›. No model is asked, no program runs, nothing is
kept."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from chatdev.config.phases import SOLUTION_MARKER, Limits, Phase, names_read
from chatdev.config.preview import Load
from chatdev.config.schema import CompanyConfig, Step, ToolStep, walk
from chatdev.config.settings import find_default_model
from chatdev.config.templates import compile_expression
from chatdev.connection import HUMAN, NamedProvider, Origin, Sourced
from chatdev.engine.people import PersonAnswer
from chatdev.errors import ExpressionError
from chatdev.events import Event, ModelCalled, Place
from chatdev.llm.base import Model, Reply, Request, Usage, model_name, prompt_tokens
from chatdev.llm.registry import DEFAULT_NAME, Models
from chatdev.mcp.servers import ToolServers
from chatdev.runner.execute import execute
from chatdev.runner.options import RunOptions, gather_inputs
from chatdev.runner.plan import NewFolder, RunPlan, refuse_oversize, software_at
from chatdev.runner.recorded import Order
from chatdev.runner.resources import Equipment, Resources, RoleModels, open_resources, replay_equipment
from chatdev.runner.toolbox import KnownTools
from chatdev.tools.base import Tool, ToolContext, Verdict

if TYPE_CHECKING:
    from chatdev.runner.api import Company

_TOKENS = {"text": 250, "choice": 5, "list": 120, "json": 350, "files": 1000, "as_file": 400, "instruction": 150,
           "marker": 5}
"""Tokens of a reply by its form: round figures of runs with large models on small programs."""
_PROGRAM = "‹the program›"
"""What stands in files that a rehearsed model writes; where it is shown, a program of `_TOKENS["files"]` would be."""


@dataclass(slots=True)
class RehearsedPhase:
    """One execution of a phase: what it sends, and what that takes."""

    place: str
    phase: str
    load: Load = field(default_factory=Load)
    requests: dict[str, Request] = field(default_factory=dict)
    """The first request of each side, by `instructor` and `assistant`."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The typical run: every phase that it has, in order, and the ones that it leaves out."""

    company: CompanyConfig
    model: str
    phases: Sequence[RehearsedPhase]
    left_out: Mapping[str, str]
    """Phases that other replies or verdicts may lead to, with the condition of their step."""
    problem: str = ""
    """Why the rehearsal ended before the run would have; empty if it came to the end."""

    @property
    def load(self) -> Load:
        """Calls, tokens and cost of all phases."""
        return sum((one.load for one in self.phases), Load())


async def rehearse(company: Company, task: str, options: RunOptions) -> Rehearsal:
    """The rehearsal of `company` on `task`. Raises ConfigError for what a run would refuse at once."""
    played = replace(options, on_event=None, model=None, answer=lambda question: PersonAnswer("accept"))
    async with open_resources(played, company.tools) as resources:
        model = _RehearsedModel(company.config, task)
        plan, events = _plan(company, task, options, resources, model), list[Event]()
        resources.options = replace(resources.options, on_event=events.append)
        resources.tools = _RehearsedTools(company.tools)
        run = await execute(replace(plan, equipment=replace(plan.equipment, options=resources.options)), resources)
        problem = run.reason if run.status in ("error", "stopped", "interrupted") else ""
        phases = _phases_of(events, model)
        known = {**run.values, **plan.inputs.visible, "software": plan.order.software}
        left_out = _other_phases(company.config, {one.phase for one in phases}, known, plan.equipment.role_models,
                             KnownTools(company.tools))
        return Rehearsal(company.config, plan.order.options["model"], phases, left_out, problem)


def _plan(company: Company, task: str, options: RunOptions, resources: Resources, model: _RehearsedModel) -> RunPlan:
    """The plan of a run whose models are played, in a folder that goes with the session."""
    inputs, handed_in = gather_inputs(company.config, task, options.inputs), software_at(options.software)
    named = None if options.model is None else model_name(options.model)
    default = find_default_model(named, options.base_url, options.provider, user=resources.user)
    if not (default.name or company.config.model.name):
        first = resources.models.default_name(default.address or default.provider)
        default = replace(default, name=Sourced(first, Origin.DEFAULT))
    role_models = RoleModels(company.config, default, _RehearsedModels(model), resources.user.models)
    usual = (default.name.value if default.name else company.config.model.name) or DEFAULT_NAME
    order = Order(company.resolved, {}, inputs.everything, inputs.images, software=handed_in.files,
                  options={"model": usual})
    refuse_oversize(company.config, handed_in.files, role_models)
    equipment = replace(replay_equipment(company.config, order, options), role_models=role_models, limits=Limits(),
                        servers=ToolServers())
    return RunPlan(company.config, order, inputs, _complete(equipment), NewFolder(resources.temporary_folder(), "dry"))


def _complete(equipment: Equipment) -> Equipment:
    return replace(equipment, options=replace(equipment.options, warehouse=None, otel=False))


def _phases_of(events: Sequence[Event], model: _RehearsedModel) -> list[RehearsedPhase]:
    found: dict[str, RehearsedPhase] = {}
    for event in events:
        if isinstance(event, ModelCalled):
            place = Place(event.place)
            row = found.setdefault(place.nearest_step, RehearsedPhase(place.nearest_step, place.step_name))
            if event.model != HUMAN:
                row.load += Load(1, event.prompt_tokens, event.completion_tokens, event.cost)
            row.requests.setdefault(place.speaker, model.asked[event.place])
    return list(found.values())


# What is left out, and may come.

_VERDICTS: Sequence[Any] = ({"passed": True, "report": "", "examples": {"passed": 1, "of": 1}},
                            {"passed": False, "report": "", "examples": {"passed": 0, "of": 1}}, None, "‹text›")
"""What a name may hold that a model or a program decides."""
_MOST_TRIED = 5000  # combinations of what the names of a condition may hold


def _other_phases(company: CompanyConfig, ran: set[str], known: Mapping[str, Any], role_models: RoleModels,
              tools: KnownTools) -> dict[str, str]:
    """The phases that did not run and may run in another run, with their conditions."""
    certain, given = {*company.inputs, "task", "inputs", "software"}, set[str]()
    found: dict[str, str] = {}
    for _, step in walk(company.chain):
        if isinstance(step, ToolStep):
            (set.add if _is_settled(step, tools, certain) else set.discard)(certain, step.writes)
            given |= {step.writes} & known.keys()
        elif name := step.phase_named:
            fixed = {one: known.get(one) for one in certain}
            if name not in ran and _may_run(step, company, fixed, given, role_models):
                found[name] = step.when or ""
            certain -= _opens_up(company.phases[name], known) if name in {*ran, *found} else set()
    return found


def _is_settled(step: ToolStep, tools: KnownTools, certain: set[str]) -> bool:
    """Whether what the tool gives is known before the run."""
    found = tools.tool(step.tool)
    return found.pure and names_read(found.reads if step.reads is None else step.reads) <= certain


def _opens_up(phase: Phase, known: Mapping[str, Any]) -> set[str]:
    """The name that a phase leaves open; software that was handed in stays there."""
    return set() if phase.writes == "software" and known["software"] else {phase.writes}


def _may_run(step: Step, company: CompanyConfig, fixed: Mapping[str, Any], given: set[str],
             role_models: RoleModels) -> bool:
    """Whether the condition of a phase's step holds for some of what is not `fixed` yet; names that are `given` have
    some value in any case."""
    if step.when is None or step.phase_named is None:
        return True
    sizes = role_models(step.phase_named, company.phases[step.phase_named].assistant).profile.sizes
    fixed = {**fixed, "sizes": sizes}
    condition = compile_expression(step.when)
    open_ones = {name: [*_options_of(company, name), *(one for one in _VERDICTS if one or name not in given)]
                 for name in condition.names - fixed.keys()}
    for guess in islice(product(*open_ones.values()), _MOST_TRIED):
        try:
            if condition.evaluate({**dict(zip(open_ones, guess, strict=True)), **fixed}):
                return True
        except ExpressionError:
            continue
    return False


def _options_of(company: CompanyConfig, name: str) -> list[str]:
    """What the phases that write a name may choose."""
    return [option for phase in company.phases.values() if phase.writes == name for option in phase.solution.options]


# The model: an answer in the form of the phase.


class _RehearsedModel:
    """Answers every request as a capable model would that is content at once; `asked` has all requests by place."""

    name = "rehearsal"

    def __init__(self, company: CompanyConfig, task: str) -> None:
        self.asked: dict[str, Request] = {}
        self._company = company
        self._task = task
        self._delivered: dict[str, int] = {}

    async def complete(self, request: Request) -> Reply:
        place = Place(unquote(request.headers["X-ChatDev-Activity"]))
        self.asked[place] = request
        phase = self._company.phases[unquote(request.headers["X-ChatDev-Phase"])]
        text, kind = self._answer(phase, place)
        shown = sum(message.content.count(_PROGRAM) for message in request.messages)
        usage = Usage(prompt_tokens(request) + shown * _TOKENS["files"], _TOKENS[kind])
        return Reply(text, usage=usage, model=request.sampling.model)

    def _answer(self, phase: Phase, place: Place) -> tuple[str, str]:
        """The text, and what it counts as."""
        step = place.nearest_step
        if place.speaker == "instructor":
            if self._delivered.get(step):
                return SOLUTION_MARKER, "marker"
            return "‹what is to be done›", "instruction"
        self._delivered[step] = self._delivered.get(step, 0) + 1
        form = phase.solution.form
        if form == "choice":
            return _likely_option(phase.solution.options, self._task, self.asked[place].messages[-1].content), form
        kind = "as_file" if phase.solution.as_file else form
        return _IN_FORM[form](phase, sum(self._delivered.values())), kind

    async def close(self) -> None:
        """Nothing is open."""


def _likely_option(options: Sequence[str], task: str, asked: str) -> str:
    """The option whose line in what was asked has most words of the task; the first of several."""
    words = set(re.findall(r"\w{5,}", task.lower()))
    lines = {option: " ".join(line for line in asked.lower().splitlines() if option.lower() in line and line != task)
             for option in options}
    return max(options, key=lambda option: len(words & set(re.findall(r"\w{5,}", lines[option]))))


def _write_files(phase: Phase, number: int) -> str:
    """A file that the phase may write; each delivery differs from the one before."""
    solution = phase.solution
    if solution.as_file:
        return f"{_PROGRAM} {number}\n"
    name = next(iter(solution.only), "main.py").replace("**/", "").replace("*", "main").replace("?", "x")
    mark = "#" if name.endswith((".py", ".md", ".yaml", ".sh")) else "//"
    return f"{name}\n```\n{mark} {_PROGRAM} {number}\n```"


_IN_FORM: Mapping[str, Callable[[Phase, int], str]] = {
    "text": lambda phase, _: f"{SOLUTION_MARKER}\n‹{phase.writes}›",
    "list": lambda phase, _: f"- ‹one of {phase.writes}›",
    "json": lambda phase, _: _json(least_value(phase.solution.schema_)),
    "files": _write_files,
}


def _json(value: Any) -> str:
    return f"```json\n{json.dumps(value, ensure_ascii=False)}\n```"


def least_value(schema: Mapping[str, Any]) -> Any:
    """A small value that fits a JSON schema: the fields that are required, one item of a list."""
    if "const" in schema:
        return schema["const"]
    if options := schema.get("enum"):
        return options[0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return least_value(schema[choice][0])
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return _LEAST[kind[0] if isinstance(kind, list) else kind](schema)


_LEAST: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "object": lambda schema: {name: least_value(schema.get("properties", {}).get(name, {}))
                              for name in schema.get("required", ())},
    "array": lambda schema: [least_value(schema.get("items", {}))] * max(1, schema.get("minItems", 1)),
    "string": lambda schema: "‹text›".ljust(schema.get("minLength", 0), "…"),
    "integer": lambda schema: schema.get("minimum", 1), "number": lambda schema: schema.get("minimum", 1),
    "boolean": lambda _: True, "null": lambda _: None}


class _RehearsedModels(Models):
    """The same model behind every name; no address is looked at."""

    def __init__(self, model: _RehearsedModel) -> None:
        super().__init__({})
        self._model = model

    def get(self, name: Sourced | str | None, base_url: Sourced | str | None = None,
            key_env: Sourced | str | None = None, provider: NamedProvider | None = None) -> tuple[Model, str]:
        """The rehearsed model, under the name of the real one."""
        return self._model, (name.value if isinstance(name, Sourced) else name) or DEFAULT_NAME

    def served(self, base_url: Sourced | None, key_env: Sourced | None, provider: NamedProvider | None) -> list[str]:
        """No server is asked."""
        return []


# The tools: those that only read what they are given are called; the others find nothing wrong.


class _RehearsedTools(KnownTools):
    """The installed tools and given ones, played."""

    def tool(self, name: str) -> Tool:
        found = super().tool(name)
        return replace(found, function=_play(found))


def _play(tool: Tool) -> Callable[..., Any]:
    """What stands for the tool's function."""
    def play(context: ToolContext, **arguments: Any) -> Any:
        if tool.pure:
            try:
                return tool.function(context, **arguments)
            except Exception:  # noqa: BLE001 - it was given what a rehearsed model wrote, of which anything may be wrong
                pass
        return _stand_in(tool, context)

    return play


def _stand_in(tool: Tool, context: ToolContext) -> Any:
    """What a tool gives that finds nothing wrong."""
    if tool.sample is not None:
        return tool.sample
    if tool.writes_files:
        return {"files": {}}
    kind = typing.get_type_hints(tool.function).get("return")
    if kind is Verdict:
        there = {**context.values, "software": context.software or None}
        ready = all(there.get(name) is not None for name in tool.reads if not name.endswith("?"))
        return Verdict(ready, f"‹the report of {tool.name}›", score=float(ready))
    empty: Any = typing.get_origin(kind) or kind
    return empty() if empty in (bool, int, float, dict, list) else f"‹what {tool.name} gives›"
