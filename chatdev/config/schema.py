"""Fields of a company's YAML (design §4): the company, its inputs, its roles, the steps of its chain (design §3), and
the texts that the engine itself says to models. Phases are in `phases`, models in `profiles`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from chatdev.config.phases import Approve, Phase
from chatdev.config.profiles import ModelSettings
from chatdev.config.templates import compile_expression
from chatdev.config.yaml_nodes import KeyPath, StrictModel, plain, read
from chatdev.paths import bundled_folder

# The texts that the engine itself says to models, and what each may speak of.


_FORM = frozenset({"options", "schema", "most", "file", "only", "writes", "example", "marker", "sizes"})

PROTOCOL_VARIABLES: dict[str, frozenset[str]] = {
    "system": frozenset({
        "company", "background", "phase", "me", "other", "speaker", "guidance", "tools", "native_tools", "tool_text",
        "form", "form_text", "may_conclude", "other_may_conclude", "dehallucination", "questions", "rounds", "opens",
        "feedback", "code", "marker", "question_marker", "documents_language", "sizes", "self_evident",
    }),
    "text": _FORM, "choice": _FORM, "files": _FORM, "files_partial": _FORM, "as_file": _FORM, "json": _FORM,
    "list": _FORM,
    "tools": frozenset({"tools", "sizes"}),
    "observation": frozenset({"tool", "result"}),
    "tool_calls_used_up": frozenset({"limit"}),
    "same_call": frozenset({"tool", "times"}),
    "same_result": frozenset({"tool", "times", "left"}),
    "report": frozenset({"tool", "report", "passed"}),
    "unreadable": frozenset({"problem", "form_text"}),
    "refused": frozenset({"reason", "form_text"}),
    "must_deliver": frozenset({"form_text"}),
    "same_again": frozenset({"times", "report", "passed", "alone", "writes"}),
    "unchanged": frozenset({"writes"}),
    "go_on": frozenset({"tail"}),
    "reflection": frozenset({"dialogue", "form_text", "phase"}),
    "follow_up": frozenset({"task", "request"}),
}
"""Variables by entry, as YAML names the entries."""

PROBLEM_VARIABLES: dict[str, frozenset[str]] = {code: frozenset(facts.split()) for code, facts in {
    "too_many_blocks": "most", "no_block": "", "cut_off": "path", "shell_commands": "path", "diff": "path",
    "patch": "", "span_open": "path line mark", "reading_slow": "seconds",
    "too_much_work": "path word", "block_too_large": "path word most", "unsafe_path": "why", "not_allowed": "path only",
    "acts_alone": "path why", "makes_repository": "folder files",
    "which_file": "files", "which_file_searched": "count", "deletion_not_empty": "path",
    "nothing_to_delete": "path files", "empty_block": "path", "two_nameless": "path", "given_twice": "path",
    "same_spelling": "one other", "too_many_files": "count most", "change_elided": "path line",
    "file_elided": "path line", "nothing_to_change": "path", "change_breaks_file": "path why",
    "block_broken": "path why", "file_broken": "path why", "too_many_statements": "path count", "no_code": "path",
    "unclear_place": "path line", "different_count": "path name in_file in_block",
    "method_of_several": "path name classes", "method_without_class": "path name classes",
    "class_on_one_line": "path name", "definition_elided": "path name", "line_shared": "path name",
    "too_deep": "path columns", "outside_search": "path line", "search_incomplete": "path missing",
    "too_many_searches": "path count", "search_empty": "path", "search_not_found": "path line",
    "search_ambiguous": "path line count more", "patch_cut": "", "patch_torn": "path", "patch_empty": "path",
    "patch_two_names": "one other", "patch_target_exists": "path", "patch_keeps_lines": "path",
    "patch_of_binary": "path", "which_file_patched": "count", "too_many_hunks": "path count",
    "hunk_only_adds": "path hunk line", "hunk_not_found": "path hunk line at lines",
    "hunk_ambiguous": "path hunk line places more", "hunk_elided": "path hunk line",
    "empty_answer": "", "empty_file": "path",
    "several_blocks": "path count", "no_choice": "options", "no_json": "", "not_json": "why",
    "not_of_schema": "field why", "no_list": "", "broke_python": "path why", "new_file_broken": "path why",
    "broke_json": "path why", "only_commands_left": "path", "only_prose_left": "path",
    "shrank": "path before after lost", "lost_file": "path emptied", "unwanted": "", "unwanted_call": "tool why",
    "several": "problems more", "question": "",
    "unknown_tool": "tool tools", "arguments_not_json": "why", "arguments_no_object": "", "tool_failed": "why",
}.items()}
"""Facts by code of what can be wrong with a reply; a text on each is in `problems`."""


class PromptProtocol(StrictModel):
    """Every text the engine itself says, as templates; `company_config/protocol.yaml` holds the defaults."""

    system: str
    """Inception prompt of one agent (ChatDev eq. 2)."""
    person: str
    """The same for a person who plays a role."""
    text: str
    choice: str
    files: str
    """How to write files when the software is still empty."""
    files_partial: str
    """How to change files that exist."""
    as_file: str
    json_: str = Field(alias="json")
    list_: str = Field(alias="list")
    tools: str
    """How to call tools, for models without native tool calls."""
    observation: str
    """A tool's result, for models without native tool calls."""
    tool_calls_used_up: str
    same_call: str
    """Instead of the result of a tool call that was made again and again."""
    same_result: str
    """Instead of a result that is, word for word, the one just before it; `left` says whether tools are left."""
    report: str
    """A feedback tool's report."""
    remark: str
    """What a person says who approves of the phase; the pair reads it before it begins."""
    unreadable: str
    """A response that does not parse; goes back to the assistant."""
    refused: str
    """A delivery that was not kept (never worse); goes back to the assistant."""
    problems: dict[str, str]
    """Faults of a reply by code: the `problem` of `unreadable` and the `reason` of `refused`."""
    must_deliver: str
    """After the last question of a round."""
    same_again: str
    """After a delivery that changed nothing: to the instructor, or to an assistant alone."""
    unchanged: str
    """After an answer that changed nothing: to the assistant, which then does not see that answer any more."""
    go_on: str
    """After a reply that was cut by the length limit."""
    reflection: str
    """Asks for the conclusion that the pair did not draw."""
    follow_up: str
    """The task of a run that adds to a finished one."""


@cache
def bundled_problems() -> Mapping[str, str]:
    """The bundled words of `problems`, for a reader without a company. Raises ConfigError."""
    problems: Mapping[str, str] = plain(read(bundled_folder("company_config") / "protocol.yaml"))["problems"]
    return problems


# Fields of a company's YAML (design §4): the company, its inputs, its roles and the steps of its chain (design §3).

# Steps of a chain: what every kind answers, and walks through a chain.

Phases = Mapping[str, Phase]


class Step(StrictModel):
    """Fields of every step, and the methods of every kind."""

    kind: ClassVar[str]
    """The word that begins the step in YAML; events name the kind by it."""
    inner_path: ClassVar[KeyPath] = ()
    """Where the inner steps lie below this one; empty: there are none."""
    loops: ClassVar[bool] = False
    """Whether its inner steps run again and again."""
    side_by_side: ClassVar[bool] = False
    """Whether its inner steps run at the same time, not one after the other."""
    announced: ClassVar[bool] = True
    """Whether events of its own tell where it starts and finishes."""

    when: str | None = None
    """Expression; false skips the step."""
    optional: bool = False
    """In `parallel`: a failure of this branch is reported, not raised."""

    @property
    def name(self) -> str:
        """Name in the place of the run; empty: none of its own."""
        return self.kind

    @property
    def detail(self) -> str:
        """What the event of its start says beside the kind."""
        return ""

    @property
    def caption(self) -> str:
        """One line for drawings."""
        return self.name

    @property
    def children(self) -> Sequence[Step]:
        """Its inner steps."""
        inner: Any = self if self.inner_path else ()
        for key in self.inner_path:
            inner = getattr(inner, str(key))
        return inner  # type: ignore[no-any-return]  # the schema has a list of steps there

    @property
    def until(self) -> str | None:
        """Expression that ends its loop."""
        return None

    @property
    def item(self) -> str | None:
        """The name that only its inner steps see."""
        return None

    @property
    def most_passes(self) -> int | None:
        """How often its inner steps run at most; None: that shows only when it runs."""
        return 1

    @property
    def phase_named(self) -> str | None:
        """The phase that it names."""
        return None

    def phases_run(self, phases: Phases) -> list[str]:
        """The phases among `phases` that it may run itself; inner steps not counted."""
        return [name for name in phases if name == self.phase_named]

    def names_read(self, phases: Phases) -> list[str]:
        """Names it reads from long-term memory, as in YAML (`name`, or `name?` if optional)."""
        return []

    def names_written(self, phases: Phases) -> frozenset[str]:
        """The long-term names that it may write itself; inner steps not counted."""
        return frozenset(phases[name].writes for name in self.phases_run(phases))


def walk(steps: Sequence[Step], path: KeyPath = ("chain",)) -> Iterator[tuple[KeyPath, Step]]:
    """Every step with its key path, outer ones first."""
    for n, step in enumerate(steps):
        yield (*path, n), step
        yield from walk(step.children, (*path, n, *step.inner_path))


def phases_in_order(steps: Sequence[Step], phases: Phases) -> list[str]:
    """The phases that these steps, inner ones included, may run, each where it comes first."""
    return list(dict.fromkeys(name for _, step in walk(steps) for name in step.phases_run(phases)))


def names_written(steps: Sequence[Step], phases: Phases) -> frozenset[str]:
    """The names that these steps, inner ones included, may write."""
    return frozenset(name for _, step in walk(steps) for name in step.names_written(phases))


def names_written_only_in(steps: Sequence[Step], chain: Sequence[Step], phases: Phases) -> frozenset[str]:
    """The names that no step of the chain outside `steps` may write (`software` is never one of them)."""
    inside, everywhere = (Counter(name for _, step in walk(part) for name in step.names_written(phases))
                          for part in (steps, chain))
    return frozenset(name for name, count in inside.items() if everywhere[name] <= count) - {"software"}


def files_declared(steps: Sequence[Step], phases: Phases) -> frozenset[str]:
    """The files that these steps, inner ones included, name as theirs."""
    named = {step.phase_named for _, step in walk(steps)}
    return frozenset(file for name, phase in phases.items() if name in named for file in phase.solution.files_named)


# The kinds of steps: what YAML says of each, and its answers.


def _rounds(given: Any) -> str:
    return "expression" if isinstance(given, str) else "number"


Rounds = Annotated[
    Annotated[Annotated[int, Field(ge=1)] | None, Tag("number")] | Annotated[str, Tag("expression")],
    Discriminator(_rounds),
]


class PhaseStep(Step):
    """Run one phase."""

    kind = "phase"
    announced = False  # the phase's own events do
    phase: str
    rounds: Rounds = None
    """Most rounds here, overriding the phase: a number, or an expression for one."""
    fresh: Literal["software"] | None = None
    """`software`: the phase writes anew, as if there were no files yet; what it leaves stands only if its guard finds
    it better than what was there."""

    @property
    def name(self) -> str:
        return self.phase

    @property
    def phase_named(self) -> str:
        return self.phase

    def names_read(self, phases: Phases) -> list[str]:
        return phases[self.phase].reads if self.phase in phases else []


class ToolStep(Step):
    """Call a tool, without a model."""

    kind = "tool"
    tool: str
    writes: str
    reads: list[str] | None = None
    """Long-term names handed to the tool; unset: the tool's own declaration."""
    approve: Approve = None
    """`before`: a person says whether the tool is called."""

    @property
    def name(self) -> str:
        return self.tool

    @property
    def detail(self) -> str:
        return self.tool

    @property
    def caption(self) -> str:
        return f"tool {self.tool} → {self.writes}"

    def names_read(self, phases: Phases) -> list[str]:
        return self.reads or []

    def names_written(self, phases: Phases) -> frozenset[str]:
        return frozenset({self.writes})


class Repeat(StrictModel):
    """The body of `repeat`."""

    until: str | None = None
    max: int = Field(ge=1)
    steps: list[ChainStep] = Field(min_length=1)


class RepeatStep(Step):
    """Run steps until an expression holds, `max` times at most."""

    kind = "repeat"
    inner_path = ("repeat", "steps")
    loops = True
    repeat: Repeat

    @property
    def detail(self) -> str:
        return f"until {self.until or 'max'}, at most {self.repeat.max}"

    @property
    def caption(self) -> str:
        return f"repeat until {self.until or 'the end'}, at most {self.repeat.max} times"

    @property
    def until(self) -> str | None:
        return self.repeat.until

    @property
    def most_passes(self) -> int:
        return self.repeat.max


class Foreach(StrictModel):
    """The body of `foreach`."""

    over: str
    """Expression that yields a list."""
    as_: str = Field(alias="as")
    id: str = "id"
    """Field of an item that names it, for `depends_on`; an item without it is named by its position."""
    depends_on: str | None = None
    """Field of an item that lists the ids of its parents."""
    until: str | None = None
    fresh: Literal["software"] | None = None
    """`software`: every item starts from the software as it was before the loop."""
    steps: list[ChainStep] = Field(min_length=1)


class ForeachStep(Step):
    """Run steps once for each item of a list."""

    kind = "foreach"
    inner_path = ("foreach", "steps")
    loops = True
    foreach: Foreach

    @property
    def detail(self) -> str:
        return f"{self.item} of {self.foreach.over}"

    @property
    def caption(self) -> str:
        until = f", until {self.until}" if self.until else ""
        return f"for each {self.item} in {self.foreach.over}{until}"

    @property
    def until(self) -> str | None:
        return self.foreach.until

    @property
    def item(self) -> str:
        return self.foreach.as_

    @property
    def most_passes(self) -> None:
        return None

    def names_read(self, phases: Phases) -> list[str]:
        """The names of `over`; raises ExpressionError when it is broken."""
        return sorted(compile_expression(self.foreach.over).names)


class Branch(Step):
    """Several steps as one branch of `parallel`."""

    kind = "steps"
    inner_path = ("steps",)
    announced = False
    steps: list[ChainStep] = Field(min_length=1)

    @property
    def name(self) -> str:
        return ""

    @property
    def caption(self) -> str:
        return "branch"


class ParallelStep(Step):
    """Run branches at the same time; their writes meet at the end."""

    kind = "parallel"
    inner_path = ("parallel",)
    side_by_side = True
    parallel: list[BranchStep] = Field(min_length=1)

    @property
    def detail(self) -> str:
        return f"{len(self.parallel)} branches"


class ProcessStep(Step):
    """Run the phases that a list in long-term memory names."""

    kind = "process"
    inner_path = ("supplies",)
    process: str
    """Long-term name that holds a list of phase names to run in order."""
    phases: list[str] = Field([])
    """The phases that the list may name, in their default order; unset: all of the company."""
    supplies: list[ToolStep] = Field([])
    """Tools for what phases of the list read and no phase writes: each is called before a phase that reads what it
    writes."""

    @property
    def detail(self) -> str:
        return self.process

    @property
    def caption(self) -> str:
        return f"process {self.process}"

    @property
    def most_passes(self) -> None:
        return None

    def phases_run(self, phases: Phases) -> list[str]:
        return [name for name in phases if name in self.phases or not self.phases]

    def names_read(self, phases: Phases) -> list[str]:
        return [self.process]


STEP_KINDS: tuple[type[Step], ...] = (PhaseStep, ToolStep, RepeatStep, ForeachStep, ParallelStep, ProcessStep)
BRANCH_KINDS: tuple[type[Step], ...] = (*STEP_KINDS, Branch)


def _kind(step: Any) -> str | None:
    """Which step a mapping (or a step already built) is; None when it is none of them."""
    if isinstance(step, Step):
        return step.kind
    return next((cls.kind for cls in BRANCH_KINDS if isinstance(step, dict) and cls.kind in step), None)


_AnyStep = (
    Annotated[PhaseStep, Tag("phase")] | Annotated[ToolStep, Tag("tool")] | Annotated[RepeatStep, Tag("repeat")]
    | Annotated[ForeachStep, Tag("foreach")] | Annotated[ParallelStep, Tag("parallel")]
    | Annotated[ProcessStep, Tag("process")]
)
ChainStep = Annotated[
    _AnyStep,
    Discriminator(_kind, custom_error_type="step",
                  custom_error_message=f"a step is one of: {', '.join(cls.kind for cls in STEP_KINDS)}"),
]
BranchStep = Annotated[
    _AnyStep | Annotated[Branch, Tag("steps")],
    Discriminator(_kind, custom_error_type="step",
                  custom_error_message=f"a branch is one of: {', '.join(cls.kind for cls in BRANCH_KINDS)}"),
]
for _model in (Repeat, Foreach, Branch, ParallelStep):
    _model.model_rebuild()


# What a company changes in the chain of the one that it extends.


class Insertion(StrictModel):
    """Steps that are put `before` or `after` a step of the chain."""

    after: str | None = None
    """A phase or a tool of the chain; `NAME#2` is the second step of that name."""
    before: str | None = None
    steps: list[ChainStep] = Field(min_length=1)


class ChainChanges(StrictModel):
    """The fields of a company that change the chain that it has by `extends`."""

    insert: list[Insertion] = Field([])
    without: list[str] = Field([])
    """Phases that are left out."""


# The company, its inputs and its roles.

Install = Literal["auto", "ask", "never"]


class Input(StrictModel):
    """Something the user hands in with `--input name=value` (`task` also as `--task`)."""

    about: str = ""
    kind: Literal["text", "file", "files", "image", "data"] = "text"
    """`files`: a folder, or a file each time that it is given; the value is text by path. `data`: a file that may be no
    text; then the value is a `data:` URL (`paths.data_of`)."""
    required: bool = False
    hidden: bool = False
    """True: tools only; no template may name it."""
    default: str | None = None


class Role(StrictModel):
    """Somebody of the company."""

    title: str
    prompt: str = ""
    """Template: who this is; may use `task` and other inputs."""
    tools: list[str] = Field([])
    tools_when: Literal["always", "strong"] = "always"
    """`strong`: the tools are offered only to models whose `sizes.program` is not `small`."""
    approve: Approve = None
    """`before`: a person accepts, refuses or edits each tool call of this role before it is made."""
    model: ModelSettings = ModelSettings()


class McpServer(StrictModel):
    """A server of tools (Model Context Protocol): a program of this machine, or an address. Agents know its tools as
    `NAME.tool`."""

    command: list[str] = Field([])
    """The program and its arguments. It runs outside of the sandbox, with an environment of its own."""
    url: str | None = None
    tools: list[str] = Field(min_length=1)
    """The tools that roles may be given; the server's others are not there."""
    env: list[str] = Field([])
    """Variables of the user that the program gets."""
    key_env: str | None = None
    """Variable with the key that the address gets as its bearer token."""
    seconds: float = Field(60.0, gt=0, le=3600)
    """What a call may take."""

    @property
    def place(self) -> str:
        """Its address, or the command as a shell takes it."""
        return self.url or shlex.join(self.command)


class CompanyConfig(ChainChanges):
    """A company: roles, phases and a chain. Once it is loaded, `extends` and the changes to its chain are in it."""

    company: str
    about: str
    source: str = ""
    extends: str | None = None
    background: str = ""
    """Template: what the company is; both agents of every phase read it."""
    inputs: dict[str, Input]
    model: ModelSettings = ModelSettings()
    mcp: dict[str, McpServer] = Field({})
    """Servers of tools, by name."""
    roles: dict[str, Role]
    phases: dict[str, Phase]
    changes: bool = False
    """Whether it only changes software that is there (`--path`), and makes none."""
    chain: list[ChainStep] = Field(min_length=1)
    success: str
    """Expression over long-term memory; reads what the last tool step wrote."""
    protocol: PromptProtocol
    install: Install = "auto"
    """Whether packages that programs import are installed; a user may be stricter."""
    with_roles: bool = True
    """False leaves the role prompts out (an ablation of the paper)."""

    @property
    def server_tools(self) -> list[str]:
        """The tools of its servers, as roles name them."""
        return [f"{name}.{tool}" for name, server in self.mcp.items() for tool in server.tools]
