"""What every tool is given and gives back (a context, a throwaway copy of the software, a verdict and its report), a
tool made from a typed function, and which tools there are: ours, those of departments and of other packages."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from chatdev.department import ENTRY_POINTS, installed_departments, load
from chatdev.errors import ToolError
from chatdev.sandbox.base import Sandbox, remove_folder
from chatdev.workspace.file_tree import explain_os_errors, write_tree

_COUNTS = ("passed", "of")
_EXAMPLES = "how many hold, of how many: {passed: 2, of: 3}"


@dataclass(frozen=True, slots=True)
class PlaceInput:
    """How a tool takes an input as a place: a file or a database that it opens by itself. `default` is chatdev's own
    place, which is no stranger's word and may hold anything; `check(place, company)` raises ConfigError for another
    that does not hold what the tool needs."""

    default: str
    check: Callable[[str, Any], object]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may see of the run.

    `software` maps relative POSIX paths to file contents (a snapshot; tools return changes, they never write it).
    `values` holds the long-term memory the tool declared to read. `inputs` holds the run's inputs, hidden ones
    included. `run_folder` is the tool's place for caches and evidence; `scratch` is an empty folder of its own.
    `given` is the software that was handed in to the run, as it was then.
    """

    software: Mapping[str, bytes]
    values: Mapping[str, Any]
    inputs: Mapping[str, Any]
    sandbox: Sandbox
    run_folder: Path
    scratch: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A tool's judgement, used as feedback and by `success`.

    `score` orders failing versions (higher is better, passing ones are above all failing ones); `report` is what the
    agents read; `evidence` is for machines and the final report; its `notes`, a list of texts, are told once to whoever
    has the run made. `judged` is False when this machine could not tell, for want of a toolchain, or when nothing that
    was tried confirms the software: such a verdict passes, so that nobody changes sound software, but makes no run a
    success.
    `examples` says how many of the request's own examples hold, of how many; None where it gives none.
    """

    passed: bool
    report: str
    score: float = 0.0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = True
    examples: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values, with `passed` and `report` where expressions and templates find them."""
        examples = {"examples": dict(zip(_COUNTS, self.examples, strict=True))} if self.examples else {}
        return {"passed": self.passed, "report": self.report, "score": self.score, "judged": self.judged,
                **examples, **dict(self.evidence)}

    @classmethod
    def from_value(cls, value: object) -> Self:
        """The verdict of which `to_dict` made `value`: what has no field of its own is its evidence. Without `score`,
        a verdict that passes is worth 1 and one that fails 0; without `judged`, it was judged; `examples` are
        `{"passed": n, "of": m}`. Raises ToolError when `value` is no mapping, or when a field is missing or of the
        wrong kind."""
        if not isinstance(value, Mapping):
            raise ToolError(f"a verdict is needed, with `passed` and `report`; the tool returned {value!r:.80}")
        rest = dict(value)
        passed = _take_field(rest, "passed", bool, "true or false")
        report = _take_field(rest, "report", str, "a text")
        rest.setdefault("score", float(passed))
        rest.setdefault("judged", True)
        score = _take_field(rest, "score", (int, float), "a number")
        judged = _take_field(rest, "judged", bool, "true or false")
        examples = _take_counts(rest) if "examples" in rest else None
        return cls(passed, report, score, rest, judged, examples)


def _take_field(rest: dict[Any, Any], name: str, kind: type | tuple[type, ...], wanted: str) -> Any:
    """Take the field `name` of a verdict out of `rest`; raises ToolError unless it is of `kind`."""
    if name not in rest:
        raise ToolError(f"a verdict needs `{name}` ({wanted}), and the tool returned one without it")
    value = rest.pop(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ToolError(f"`{name}` of a verdict is {wanted}; the tool returned {value!r:.80}")
    return value


def _take_counts(rest: dict[Any, Any]) -> tuple[int, int]:
    """Take `examples` out of `rest`; raises ToolError unless they are a part and a whole."""
    value = _take_field(rest, "examples", Mapping, _EXAMPLES)
    counts = [value.get(name) for name in _COUNTS]
    passed, of = (count if type(count) is int else -1 for count in counts)
    if len(value) != len(_COUNTS) or not 0 <= passed <= of or not of:
        raise ToolError(f"`examples` of a verdict is {_EXAMPLES}; the tool returned {value!r:.80}")
    return passed, of


@contextlib.contextmanager
def throwaway_copy(scratch: Path, files: Mapping[str, bytes]) -> Iterator[Path]:
    """A new folder below `scratch` that holds `files`, and is gone afterwards whatever was done in it."""
    with explain_os_errors("make a throwaway copy in", scratch):
        folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        write_tree(folder, files)
        yield folder
    finally:
        remove_folder(folder)


def render_file(path: Path, /, **facts: Any) -> str:
    """The text of a report's template in a file, without blanks around it."""
    text: str = template(_read(path)).render(facts)
    return text.strip()


@functools.cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def template(source: str) -> Any:
    """A report's template, from its text."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)


# A tool made from a typed function: name, description and argument schema come from the code itself.

OWN_DEPARTMENT = "mine"
"""The department of tools that are in no folder of modules."""
_OURS = (f"{ENTRY_POINTS}.", f"{__package__}.")
"""The packages with a folder for each of our departments."""


class ToolArgumentsError(ToolError):
    """The arguments of a call do not fit the tool; the text is for the agent that wrote them."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a chain or an agent can use. `name` is `department.verb`; `reads` are the long-term names its
    context holds (`name?` when it may be absent); `parameters` is the JSON schema of its arguments, an object.
    `places` are the inputs of a run that it takes as a place: they count only from the user, or by their consent."""

    name: str
    about: str
    reads: tuple[str, ...]
    writes_files: bool
    function: Callable[..., Any]
    arguments: type[BaseModel]
    places: Mapping[str, PlaceInput] = field(default_factory=dict)
    pure: bool = False
    """Whether a rehearsal may call it: it starts nothing, sends nothing and keeps nothing."""
    sample: Any = None
    """What it gives, for example, which stands for its result in a rehearsal that may not call it."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        for argument in schema.get("properties", {}).values():
            argument.pop("title", None)
        return schema

    def call(self, context: Any, arguments: Mapping[str, Any]) -> Any:
        """Run it in a ToolContext, or what else its function takes; raises ToolArgumentsError when `arguments` do
        not fit, and the ToolErrors of the function."""
        try:
            checked = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolArgumentsError(_complaint(self, error)) from None
        return self.function(context, **{name: getattr(checked, name) for name in type(checked).model_fields})


def tool(*, reads: tuple[str, ...] = (), writes_files: bool = False, name: str | None = None,
         places: Mapping[str, PlaceInput] = MappingProxyType({}),
         pure: bool = False, sample: Any = None) -> Callable[[Callable[..., Any]], Tool]:
    """Decorator for `def verb(ctx: ToolContext, *, argument: int = 3) -> Verdict | str | dict`.

    The name is `department.verb` after the folder and the function; the docstring's first paragraph describes it,
    and `Annotated[int, Field(description=…)]` describes an argument. Raises TypeError for any other signature.
    """
    def make(function: Callable[..., Any]) -> Tool:
        return Tool(
            name=name or f"{_department(function)}.{function.__name__}",
            about=inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].replace("\n", " "),
            reads=reads, writes_files=writes_files, function=function, arguments=_arguments(function),
            places=places, pure=pure, sample=sample,
        )

    return make


def _department(function: Callable[..., Any]) -> str:
    """The department of ours that the function is in, or else its folder; that of a script is `mine`. (A tool that is
    found by its name bears that name.)"""
    for ours in _OURS:
        if function.__module__.startswith(ours):
            return function.__module__.removeprefix(ours).split(".")[0]
    return f"{OWN_DEPARTMENT}.{function.__module__}".split(".")[-2]


def _arguments(function: Callable[..., Any]) -> type[BaseModel]:
    """The model of a function's keyword-only parameters; unknown arguments are refused."""
    _context, *parameters = inspect.signature(function).parameters.values()
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY or parameter.name not in hints:
            raise TypeError(f"{function.__qualname__}: {parameter.name} must be keyword-only and typed")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], Field(default))
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _complaint(tool: Tool, error: ValidationError) -> str:
    """One line for each argument that does not fit, and what is allowed."""
    lines = []
    for problem in error.errors(include_url=False):
        place = ".".join(map(str, problem["loc"])) or "arguments"
        given = "" if problem["type"] == "missing" else f" (given: {problem['input']!r:.80})"
        lines.append(f"{place}: {problem['msg']}{given}")
    allowed = ", ".join(tool.arguments.model_fields) or "none"
    return f"the arguments of {tool.name} do not fit: {'; '.join(lines)}. Its arguments: {allowed}."


# Which tools there are: a table of import paths, and what departments and other packages add to it.

_TOOLS = {
    "retrieval.search": "chatdev.tools.retrieval.search:search",
    "value.check": "chatdev.tools.value.check:check",
}
TOOL_ENTRY_POINTS = "chatdev.tools"
"""Entry-point group for tools without a department of their own: `department.verb = "module:tool"`."""


class Registry(Mapping[str, Tool]):
    """Tools by name, each imported when it is first asked for."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = MappingProxyType(dict(sorted(paths.items())))

    def __getitem__(self, name: str) -> Tool:
        return _load(name, self._paths[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths


def registry() -> Registry:
    """The tools of this installation; raises ToolError when two packages bring the same name."""
    return _read_registry(tuple(sys.path))


@functools.cache  # every run asks, and looking into all packages takes longer than a call of a model takes us
def _read_registry(_path: tuple[str, ...]) -> Registry:
    found: dict[str, tuple[str, str]] = {}
    for name, path, owner in _rows():
        other, theirs = found.setdefault(name, (path, owner))
        if other != path:
            raise ToolError(f"the tool {name!r} is there twice: {other} in {theirs} and {path} in {owner}; uninstall "
                            "one of the packages or rename its tool")
    return Registry({name: path for name, (path, _) in found.items()})


def _rows() -> Iterator[tuple[str, str, str]]:
    """Name, import path and owner of every tool."""
    yield from ((name, path, "chatdev itself") for name, path in _TOOLS.items())
    for one in installed_departments():
        yield from ((name, path, one.owner) for name, path in (one.department.tools if one.department else {}).items())
    for point in entry_points(group=TOOL_ENTRY_POINTS):
        yield point.name, point.value, f"the package {point.dist.name if point.dist else point.module}"


@functools.cache
def _load(name: str, path: str) -> Tool:
    found = load(path, f"the tool {name!r}")
    if not isinstance(found, Tool):
        raise ToolError(f"the tool {name!r}: {path} is no tool; decorate the function with @tool")
    return replace(found, name=name)  # whatever the folders of its package are called
