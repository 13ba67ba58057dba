"""The texts that the engine itself says to models, and what each may speak of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pydantic import Field

from chatdev.config.yaml_nodes import StrictModel, plain, read
from chatdev.paths import bundled_folder

SOLUTION_MARKER = "<SOLUTION>"
"""Begins an utterance that concludes the phase."""
QUESTION_MARKER = "<QUESTION>"
"""Begins an assistant's question (dehallucination)."""

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
