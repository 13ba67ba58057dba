"""The Jinja2 environment of templates and expressions: sandboxed, data only, nothing to call but filters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from jinja2 import TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

FAILURES = (TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What evaluating a template or an expression on odd values may raise."""


class DataEnvironment(ImmutableSandboxedEnvironment):
    """Reads `plan.items` as the entry `items` of the mapping, not as the method of the same name."""

    def __init__(self, undefined: type[Undefined]) -> None:
        super().__init__(undefined=undefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
        self.globals.clear()
        self.filters["tojson"] = to_json
        self.filters["listing"] = listing

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`, entries of mappings first."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def to_json(value: Any, indent: int | None = 2) -> str:
    """Filter: `value` as JSON for readers, without the HTML escapes of Jinja2's own filter."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=str)


def listing(software: Any) -> str:
    """Filter: a software (path → text or bytes) as path lines above fenced blocks, sorted by path.

    A fence is longer than any row of backticks inside; files that are not UTF-8 are only named. Anything but a
    mapping is shown as it is, so that a template may list what is not there yet.
    """
    if not isinstance(software, Mapping):
        return "" if software is None else str(software)
    return "\n\n".join(_listed(path, software[path]) for path in sorted(software))


def _listed(path: str, content: str | bytes) -> str:
    text = _decoded(content)
    if text is None:
        return f"{path} ({len(content)} bytes, binary)"
    fence = "`" * max(3, _longest_row(text) + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{path}\n{fence}{_LANGUAGES.get(path.rpartition('.')[2].lower(), '')}\n{text}{end}{fence}"


def _decoded(content: str | bytes) -> str | None:
    """The text of a file; None when it is binary."""
    if isinstance(content, str):
        return content
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _longest_row(text: str) -> int:
    """Length of the longest row of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


_LANGUAGES = {
    "c": "c", "cpp": "cpp", "cs": "csharp", "css": "css", "go": "go", "h": "c", "html": "html", "java": "java",
    "js": "javascript", "json": "json", "m": "matlab", "md": "markdown", "py": "python", "rb": "ruby", "rs": "rust",
    "sh": "bash", "sql": "sql", "st": "iecst", "sv": "systemverilog", "toml": "toml", "ts": "typescript",
    "v": "verilog", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}
