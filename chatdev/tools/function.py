"""A tool made from a typed function: name, description and argument schema come from the code itself."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from chatdev.department import ENTRY_POINTS
from chatdev.errors import ToolError
from chatdev.tools.base import PlaceInput, ToolContext

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

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        for argument in schema.get("properties", {}).values():
            argument.pop("title", None)
        return schema

    def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
        """Run it; raises ToolArgumentsError when `arguments` do not fit, and the ToolErrors of the function."""
        try:
            checked = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolArgumentsError(_complaint(self, error)) from None
        return self.function(context, **{name: getattr(checked, name) for name in type(checked).model_fields})


def tool(*, reads: tuple[str, ...] = (), writes_files: bool = False, name: str | None = None,
         places: Mapping[str, PlaceInput] = MappingProxyType({})) -> Callable[[Callable[..., Any]], Tool]:
    """Decorator for `def verb(ctx: ToolContext, *, argument: int = 3) -> Verdict | str | dict`.

    The name is `department.verb` after the folder and the function; the docstring's first paragraph describes it,
    and `Annotated[int, Field(description=…)]` describes an argument. Raises TypeError for any other signature.
    """
    def make(function: Callable[..., Any]) -> Tool:
        return Tool(
            name=name or f"{_department(function)}.{function.__name__}",
            about=inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].replace("\n", " "),
            reads=reads, writes_files=writes_files, function=function, arguments=_arguments(function),
            places=places,
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
