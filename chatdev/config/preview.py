"""A company before its run: its chain as a drawing (text for the terminal, graphviz for pictures), and for `--dry-run`
its prompts, as far as they are known before the first reply, and its cost."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from chatdev.config.json_schema import call_schema
from chatdev.config.phases import Phase, Surroundings, ToolDescription, bare_name, phase_limits, system_prompt, tools_of
from chatdev.config.profiles import ModelProfile, ModelSettings, Sizes
from chatdev.config.schema import CompanyConfig, PhaseStep, Step, walk
from chatdev.config.settings import profile_of
from chatdev.config.templates import render, variables
from chatdev.errors import ConfigError, MissingProgram, ToolError
from chatdev.events import Speaker


@dataclass(frozen=True, slots=True)
class PhasePreview:
    """The prompts of one side of one phase. `place` is the key path of its step; `tools` are those that its model is
    given through the API (others are in `system`, in words); not `known`: the opening holds ‹placeholders› for what
    earlier steps will have written."""

    place: str
    phase: str
    role: str
    speaker: Speaker
    system: str
    opening: str
    known: bool
    tools: tuple[ToolDescription, ...] = ()


class Placeholder:
    """A value that is not there yet; entries of it are placeholders too, and it shows as ‹name›."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return f"‹{self._name}›"

    def __getattr__(self, entry: str) -> Placeholder:
        if entry.startswith("_"):
            raise AttributeError(entry)
        return Placeholder(f"{self._name}.{entry}")

    def __getitem__(self, entry: object) -> Placeholder:
        return Placeholder(f"{self._name}.{entry}")

    def __call__(self, *_: object) -> Placeholder:
        return self

    def __iter__(self) -> Iterator[Placeholder]:
        yield self["…"]

    def __len__(self) -> int:
        return 1


def preview(company: CompanyConfig, inputs: Mapping[str, Any],
            tools: Mapping[str, ToolDescription] | None = None, *, default: ModelSettings | None = None,
            profiles: Sequence[ModelProfile] = (), software: Mapping[str, bytes] | None = None,
            language: str = "") -> list[PhasePreview]:
    """The prompts of every phase step of the chain, in order, instructor before assistant; loops once.

    `inputs` are the visible inputs by name; `tools` are the tools by name (those that are not given are left out).
    `default` is the default model, by whose profile the prompts go; `profiles` are the user's own. `software` is what
    is handed in, by path; `language` is that of the documents.
    """
    show = _Show(company, inputs, tools or {}, default or ModelSettings(), profiles, software or {}, language)
    return [shown for path, step in walk(company.chain) if step.phase_named
            for shown in _of_step(show, ".".join(map(str, path)), step.phase_named)]


@dataclass(frozen=True, slots=True)
class _Show:
    company: CompanyConfig
    inputs: Mapping[str, Any]
    tools: Mapping[str, ToolDescription]
    default: ModelSettings
    profiles: Sequence[ModelProfile]
    software: Mapping[str, bytes]
    language: str

    def profile(self, phase: Phase, role: str) -> ModelProfile:
        """What is known of the model of `role`."""
        return profile_of(self.company, phase, role, self.default, self.profiles)

    def values(self, phase: Phase) -> dict[str, Any]:
        """What the phase reads, as far as it is known."""
        values = known_values(self.company, phase, self.inputs)
        return {**values, "software": self.software} if self.software and "software" in values else values


def _of_step(show: _Show, place: str, name: str) -> Iterator[PhasePreview]:
    phase = show.company.phases[name]
    values = show.values(phase)
    unknown = {key for key, value in values.items() if isinstance(value, Placeholder)}
    given = {"sizes": show.profile(phase, phase.assistant).sizes, **values}
    opening = shown_text(phase.opening, given, f"phases.{name}.opening")
    sides: list[tuple[Speaker, str | None]] = [("instructor", phase.instructor), ("assistant", phase.assistant)]
    for speaker, role in sides:
        if role is None or (speaker == "instructor" and not _speaks(show, phase)):
            continue
        text = phase.guidance.instructor if speaker == "instructor" else phase.guidance.assistant
        profile = show.profile(phase, role)
        tools = () if profile.is_person else _tools_for(show, phase, speaker, profile.sizes)
        yield PhasePreview(place, name, role, speaker, _system(show, name, speaker, values, tools), opening,
                           not unknown & (variables(phase.opening) | variables(text)),
                           tools if profile.native_tools else ())


def _speaks(show: _Show, phase: Phase) -> bool:
    """Whether there is a round in which the instructor says something."""
    rounds = phase_limits(phase, show.profile(phase, phase.assistant)).rounds
    return phase.opens == "instructor" or rounds > 1 or phase.dehallucination


def known_values(company: CompanyConfig, phase: Phase, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Values a phase reads: inputs as given (None if absent), everything else as placeholders."""
    visible = {name: inputs.get(name) for name, declared in company.inputs.items() if not declared.hidden}
    visible.setdefault("task", inputs.get("task"))
    read = {name: Placeholder(name) for name in map(bare_name, phase.reads)}
    feedback = {"feedback": Placeholder("feedback")} if phase.feedback else {}
    return {**read, **feedback, **visible, "inputs": visible}


def shown_text(template: str, values: Mapping[str, Any], where: str) -> str:
    """The rendered template; where a placeholder cannot stand for a value, the template with its expressions named."""
    try:
        return render(template, values, where)
    except ConfigError:
        return _EXPRESSION.sub(r"‹\1›", _STATEMENT.sub("", template))


_STATEMENT = re.compile(r"\{%.*?%\}\n?|\{#.*?#\}\n?", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)


def _tools_for(show: _Show, phase: Phase, speaker: Speaker, sizes: Sizes) -> tuple[ToolDescription, ...]:
    """What one side of a phase may use, as a model of these sizes gets it."""
    offered = (show.tools[tool] for tool in tools_of(show.company, phase, speaker, sizes) if tool in show.tools)
    return tuple(tool._replace(parameters=call_schema(tool.parameters, sizes)) for tool in offered)


def _system(show: _Show, name: str, speaker: Speaker, values: Mapping[str, Any],
            tools: Sequence[ToolDescription]) -> str:
    company, phase = show.company, show.company.phases[name]
    role = phase.assistant if speaker == "assistant" else phase.instructor or phase.assistant
    profile = show.profile(phase, role)
    try:
        found = Surroundings(values, tools, profile.native_tools, has_software="software" in phase.reads,
                             documents_language=show.language, sizes=profile.sizes, is_person=profile.is_person)
        return system_prompt(company, name, speaker, found)
    except ConfigError:
        return company.protocol.system


# Estimate of calls, tokens and cost, by simple rules.

CHARACTERS = 4  # of a token, roughly, in English and code
REPLY = 400  # tokens of a reply, a round figure for short programs and reviews


@dataclass(frozen=True, slots=True)
class Load:
    """Calls, prompt and completion tokens, and US dollars (None: unknown)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: Load) -> Load:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Load(self.calls + other.calls, self.prompt_tokens + other.prompt_tokens,
                    self.completion_tokens + other.completion_tokens, cost)

    def __mul__(self, times: int) -> Load:
        return Load(self.calls * times, self.prompt_tokens * times, self.completion_tokens * times,
                    None if self.cost is None else self.cost * times)


@dataclass(frozen=True, slots=True)
class Estimate:
    """From the shortest to the longest run; `most` is None when the chain holds a `foreach` or a `process`, whose
    length is only known when it runs."""

    least: Load
    most: Load | None


@dataclass(frozen=True, slots=True)
class _Rules:
    company: CompanyConfig
    prompts: Mapping[str, int]  # tokens of system prompt and opening by phase
    default: ModelSettings
    profiles: Sequence[ModelProfile]


def estimate(company: CompanyConfig, shown: Iterable[PhasePreview], default: ModelSettings | None = None,
             profiles: Sequence[ModelProfile] = ()) -> Estimate:
    """The estimate for a run with the default model `default` whose prompts are `shown` (`preview`); `profiles` are
    the user's own.

    Least: conditional steps are skipped, loops leave after their first step, feedback passes at once (no call), an
    instructor who opens concludes at once and any other phase ends with its first response (one call, or those drafts
    that are asked for at once). Most: every loop and every round is used up, with all drafts, questions and their
    answers as far as the phase's budget of calls lets them, and the reflections. Not counted:
    repeated requests, unreadable responses, tool calls within a turn. A token is 4 characters, a reply 400 tokens,
    and every call reads the system prompt, its tools, the opening and what was said before it in the phase (at most
    `window` exchanges; where memory is fresh, what was said in its round).
    """
    sizes = {one.phase: _prompt_tokens(one) for one in shown}
    rules = _Rules(company, sizes, default or ModelSettings(), profiles)
    return Estimate(_sum(_least(rules, step) for step in company.chain), _most_of(rules, company.chain))


def _prompt_tokens(shown: PhasePreview) -> int:
    tools = sum(len(tool.description) + len(json.dumps(tool.parameters)) for tool in shown.tools)
    return (len(shown.system) + len(shown.opening) + tools) // CHARACTERS


def _calls(rules: _Rules, name: str, instructor: int, assistant: int) -> int:
    """Those calls of a phase that are no turns of a person."""
    phase = rules.company.phases[name]
    sides = ((phase.instructor, instructor), (phase.assistant, assistant))
    return sum(calls for role, calls in sides if role is None or not profile_of(
        rules.company, phase, role, rules.default, rules.profiles).is_person)


def _first_call(rules: _Rules, name: str) -> int:
    """The one call of a phase that ends at once; none where it is a person's turn."""
    by_instructor = int(rules.company.phases[name].opens == "instructor")
    return _calls(rules, name, by_instructor, 1 - by_instructor)


def _least(rules: _Rules, step: Step) -> Load:
    if step.when is not None or step.most_passes is None:
        return Load()
    phases = rules.company.phases
    own = _sum(_dialogue(rules, name, _first_call(rules, name)) + _drafts(rules, name, _first_drafts(rules, name) - 1)
               for name in step.phases_run(phases) if not phases[name].feedback)
    if step.until is not None:
        return own + _least(rules, step.children[0])
    return own + _sum(_least(rules, inner) for inner in step.children) * step.most_passes


def _most(rules: _Rules, step: Step) -> Load | None:
    inner = _most_of(rules, step.children)
    if step.most_passes is None or inner is None:
        return None
    rounds = step.rounds if isinstance(step, PhaseStep) and isinstance(step.rounds, int) else None
    own = _sum(_phase_at_most(rules, name, rounds) for name in step.phases_run(rules.company.phases))
    return own + inner * step.most_passes


def _most_of(rules: _Rules, steps: Sequence[Step]) -> Load | None:
    loads = [_most(rules, step) for step in steps]
    return None if None in loads else _sum(load for load in loads if load is not None)


def _phase_at_most(rules: _Rules, name: str, rounds: int | None) -> Load:
    """A phase with every instruction, response, question and answer that fits its budget, the reflections, and the
    drafts for which these leave room; `rounds` are the most by the step."""
    phase = rules.company.phases[name]
    limits = phase_limits(phase, _profile(rules, phase))
    most = min(limits.rounds, rounds or limits.rounds)
    instructions = 0 if phase.instructor is None else most - (phase.opens == "brief")
    calls = _calls(rules, name, instructions + most * limits.questions, most * (1 + limits.questions))
    reflections = _calls(rules, name, 0, limits.reflections)
    drafts = (limits.drafts - 1) * (most if phase.memory.fresh else 1)
    if room := limits.budget.calls:
        calls, drafts = min(calls, room), min(drafts, max(0, room - calls))
    return _dialogue(rules, name, calls + reflections) + _drafts(rules, name, drafts)


def _first_drafts(rules: _Rules, name: str) -> int:
    """The drafts that a phase asks for at least: those of the first wave, unless the instructor concludes before."""
    phase = rules.company.phases[name]
    profile = _profile(rules, phase)
    if phase.opens == "instructor" or tools_of(rules.company, phase, "assistant", profile.sizes):
        return 1
    return phase_limits(phase, profile).drafts_at_once


def _drafts(rules: _Rules, name: str, drafts: int) -> Load:
    """Load of `drafts` drafts, each with the prompt of the first."""
    profile = _profile(rules, rules.company.phases[name])
    prompt, completion = drafts * rules.prompts[name], drafts * REPLY
    return Load(drafts, prompt, completion, profile.cost(prompt, completion))


def _dialogue(rules: _Rules, name: str, calls: int) -> Load:
    """Load of `calls` calls of a phase, each with the dialogue before it."""
    phase = rules.company.phases[name]
    profile = _profile(rules, phase)
    limits = phase_limits(phase, profile)
    most = 1 + 2 * limits.questions if phase.memory.fresh else 2 * limits.window if limits.window else calls
    remembered = sum(min(n, most) for n in range(calls))
    prompt, completion = calls * rules.prompts[name] + remembered * REPLY, calls * REPLY
    return Load(calls, prompt, completion, profile.cost(prompt, completion))


def _profile(rules: _Rules, phase: Phase) -> ModelProfile:
    """The profile of the assistant's model, which stands for both sides."""
    return profile_of(rules.company, phase, phase.assistant, rules.default, rules.profiles)


def _sum(loads: Any) -> Load:
    return reduce(add, loads, Load())


# Drawings of a chain: text for the terminal, graphviz for pictures.

_PICTURES = (".svg", ".png", ".dot")


def chain_text(company: CompanyConfig) -> str:
    """The chain as an indented drawing: who instructs ⇄ whom, what is written, loops, branches, success."""
    lines = [company.company, *_lines(company, company.chain, "")]
    return "\n".join([*lines, f"success: {company.success}"])


def _lines(company: CompanyConfig, steps: Sequence[Step], indent: str) -> Iterator[str]:
    for n, step in enumerate(steps):
        last = n == len(steps) - 1
        yield f"{indent}{'└─' if last else '├─'} {_label(company, step)}"
        yield from _lines(company, step.children, indent + ("   " if last else "│  "))


def _label(company: CompanyConfig, step: Step) -> str:
    notes = [f"when {step.when}"] if step.when is not None else []
    if step.optional:
        notes.append("optional")
    pair = f": {_pair(company, step.phase_named)}" if step.phase_named else ""
    return step.caption + pair + (f"   [{', '.join(notes)}]" if notes else "")


def _pair(company: CompanyConfig, name: str) -> str:
    phase = company.phases[name]
    titles = [company.roles[role].title for role in (phase.instructor, phase.assistant) if role is not None]
    uses = {"mends": phase.mends, "feedback": phase.feedback, "guard": phase.guard}
    tools = ", ".join(f"{use}: {tool}" for use, tool in uses.items() if tool)
    return f"{' ⇄ '.join(titles)} → {phase.solution.as_file or phase.writes}{f'   ({tools})' if tools else ''}"


def chain_dot(company: CompanyConfig) -> str:
    """The chain in graphviz's language."""
    drawing = _Dot(company)
    ends = drawing.steps(company.chain, ["start"], "  ")
    edges = [*drawing.edges, *(f"  {end} -> success;" for end in ends)]
    head = ["digraph chain {", f"  label={_quote(company.company)}; labelloc=t; fontname=Helvetica;",
            "  node [shape=box, style=rounded, fontname=Helvetica]; edge [fontname=Helvetica];",
            "  start [shape=circle, label=\"\"];",
            f"  success [shape=ellipse, peripheries=2, label={_quote(company.success)}];"]
    return "\n".join([*head, *drawing.lines, *edges, "}"]) + "\n"


class _Dot:
    """Collects nodes in clusters, and edges apart (an edge inside a cluster would pull its nodes into it); `steps`
    returns the nodes that the next step follows."""

    def __init__(self, company: CompanyConfig) -> None:
        self.company = company
        self.lines: list[str] = []
        self.edges: list[str] = []
        self._count = 0

    def steps(self, steps: Sequence[Step], before: list[str], indent: str) -> list[str]:
        for step in steps:
            before = self.step(step, before, indent)
        return before

    def step(self, step: Step, before: list[str], indent: str) -> list[str]:
        self._count += 1
        name = f"n{self._count}"
        label = _quote(_label(self.company, step).replace(": ", "\n", 1))
        if not step.children:
            shape = ", shape=component" if step.kind == "tool" else ""
            self.lines.append(f"{indent}{name} [label={label}{shape}];")
            self.edges += [f"  {node} -> {name};" for node in before]
            return [name]
        self.lines.append(f"{indent}subgraph cluster_{name} {{ label={label};")
        after = self._inner_steps(step, before, indent + "  ")
        self.lines.append(f"{indent}}}")
        return after

    def _inner_steps(self, step: Step, before: list[str], indent: str) -> list[str]:
        if step.side_by_side:
            return [end for branch in step.children for end in self.step(branch, before, indent)]
        first = self._count + 1
        after = self.steps(step.children, before, indent)
        if step.loops:
            target = self._leaf(step.children[0], first)
            self.edges += [f"  {end} -> n{target} [style=dashed, constraint=false];" for end in after]
        return after

    def _leaf(self, step: Step, number: int) -> int:
        """Number of the first node drawn for a step; clusters are no nodes."""
        return self._leaf(step.children[0], number + 1) if step.children else number


def chain_picture(company: CompanyConfig, path: Path) -> None:
    """Draw the chain into `path` (.svg, .png, or .dot for the source).

    Raises MissingProgram without graphviz, ConfigError for another ending or a folder that cannot be written.
    """
    if path.suffix not in _PICTURES:
        raise ConfigError(f"{path.name!r} is not a picture this can draw; let the name end in {', '.join(_PICTURES)}")
    source = chain_dot(company)
    try:
        path.write_bytes(source.encode() if path.suffix == ".dot" else _draw(source, path.suffix[1:]))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}; choose another place") from error


def _draw(source: str, kind: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise MissingProgram("drawing needs graphviz, which is not installed; install it (Debian, Ubuntu: `apt install "
                             "graphviz`), or write a .dot file")
    done = subprocess.run([program, f"-T{kind}"], input=source.encode(), capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise ToolError(f"graphviz failed: {done.stderr.decode('utf-8', 'replace').strip()}; write a .dot file instead")
    return done.stdout


def _quote(text: str) -> str:
    """A graphviz string; JSON's escapes of quotes, backslashes and line ends are graphviz's too."""
    return json.dumps(text, ensure_ascii=False)
