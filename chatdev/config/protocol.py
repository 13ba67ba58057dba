"""What each text of the protocol may speak of."""

from __future__ import annotations

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
    "report": frozenset({"tool", "report", "passed"}),
    "unreadable": frozenset({"problem", "form_text"}),
    "refused": frozenset({"reason", "form_text"}),
    "must_deliver": frozenset({"form_text"}),
    "same_again": frozenset({"times", "report", "passed"}),
    "go_on": frozenset({"tail"}),
    "reflection": frozenset({"dialogue", "form_text", "phase"}),
}
"""Variables by entry, as YAML names the entries."""
