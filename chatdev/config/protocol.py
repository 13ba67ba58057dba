"""The texts that the engine itself says to models, and what each may speak of."""

from __future__ import annotations

from pydantic import Field

from chatdev.config.strict import Strict

_FORM = frozenset({"options", "schema", "most", "file", "only", "writes", "example", "marker"})

PROTOCOL_VARIABLES: dict[str, frozenset[str]] = {
    "system": frozenset({
        "company", "background", "phase", "me", "other", "speaker", "guidance", "tools", "native_tools", "tool_text",
        "form", "form_text", "may_conclude", "other_may_conclude", "dehallucination", "questions", "rounds", "opens",
        "feedback", "marker", "question_marker", "documents_language",
    }),
    "text": _FORM, "choice": _FORM, "files": _FORM, "files_partial": _FORM, "as_file": _FORM, "json": _FORM,
    "list": _FORM,
    "tools": frozenset({"tools"}),
    "observation": frozenset({"tool", "result"}),
    "tool_calls_used_up": frozenset({"limit"}),
    "same_call": frozenset({"tool", "times"}),
    "same_result": frozenset({"tool", "times", "left"}),
    "report": frozenset({"tool", "report", "passed"}),
    "unreadable": frozenset({"problem", "form_text"}),
    "refused": frozenset({"reason", "form_text"}),
    "must_deliver": frozenset({"form_text"}),
    "same_again": frozenset({"times", "report", "passed"}),
    "go_on": frozenset({"tail"}),
    "reflection": frozenset({"dialogue", "form_text", "phase"}),
    "follow_up": frozenset({"task", "request"}),
}
"""Variables by entry, as YAML names the entries."""


class PromptProtocol(Strict):
    """Every text the engine itself says, as templates; `company_config/protocol.yaml` holds the defaults."""

    system: str
    """Inception prompt of one agent (ChatDev eq. 2)."""
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
    unreadable: str
    """A response that does not parse; goes back to the assistant."""
    refused: str
    """A delivery that was not kept (never worse); goes back to the assistant."""
    must_deliver: str
    """After the last question of a round."""
    same_again: str
    """After a delivery that changed nothing."""
    go_on: str
    """After a reply that was cut by the length limit."""
    reflection: str
    """Asks for the conclusion that the pair did not draw."""
    follow_up: str
    """The task of a run that adds to a finished one."""
