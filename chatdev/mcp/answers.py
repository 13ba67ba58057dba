"""What comes from a server, made fit for agents: the tools that it lists, and the results of calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatdev.errors import ToolError
from chatdev.isolation.parent import read_beside
from chatdev.mcp.schemas import LARGEST_SCHEMA, UnusableSchema, misfit, schema_fault
from chatdev.plain_values import encodable_text, plain_value
from chatdev.safe_text import sanitize
from chatdev.tools.base import ToolArgumentsError, render_file

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock
    from mcp.types import Tool as Offer

LONGEST_ANSWER = 30_000
"""Characters of a result that an agent reads; of a longer one the middle is left out."""
_LONGEST_ABOUT = 2000  # characters of a description
_LONGEST_REFUSAL = 1000
_SECONDS = 15.0  # for a look at a schema
_ANSWER = Path(__file__).parent / "answer.j2"


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server describes it; `parameters` is the JSON schema of its arguments."""

    about: str
    parameters: Mapping[str, Any]

    def to_record(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"about": self.about, "parameters": dict(self.parameters)}

    async def check(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Raise ToolArgumentsError where arguments do not fit."""
        try:
            problem = await read_beside(_SECONDS, misfit, json.dumps(self.parameters), json.dumps(arguments))
        except (UnusableSchema, TimeoutError) as error:
            raise ToolError(f"whether these arguments fit {name} cannot be found out: {error or 'it takes too long'}; "
                            "its server gives a schema that cannot be used") from None
        if problem:
            allowed = ", ".join(map(str, self.parameters.get("properties", {}))) or "none"
            raise ToolArgumentsError(f"the arguments of {name} do not fit: {sanitize(problem)}. Its arguments: "
                                     f"{sanitize(allowed)}.")


async def read_offer(name: str, offer: Offer) -> ServerTool:
    """A tool that a server lists. Raises ToolError, which calls it `name`, where its schema is none."""
    try:
        parameters = plain_value(offer.input_schema)
        text = json.dumps(parameters)
        fault = (f"it has more than {LARGEST_SCHEMA} characters" if len(text) > LARGEST_SCHEMA
                 else await read_beside(_SECONDS, schema_fault, text))
    except (UnusableSchema, ValueError, TimeoutError) as error:
        fault = str(error) or "it takes too long to read"
    if fault:
        raise ToolError(f"the server says that the arguments of {name} have this schema, which is none: "
                        f"{sanitize(fault)}; mend the server, or leave the tool out")
    about = sanitize(encodable_text(offer.description or offer.title or offer.name)).strip()
    return ServerTool(about[:_LONGEST_ABOUT], parameters)


def read_result(server: str, result: CallToolResult) -> str:
    """What an agent reads of a result. Raises ToolError with the text of one that says that the call failed."""
    texts = [text for block in result.content if (text := _text(block)) is not None]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(plain_value(result.structured_content), ensure_ascii=False, indent=1)]
    text = sanitize(encodable_text("\n".join(texts)))
    if result.is_error:
        raise ToolError(f"the server {server} says that the call failed: {text[:_LONGEST_REFUSAL] or 'without a word'}")
    half, left_out = LONGEST_ANSWER // 2, max(0, len(text) - LONGEST_ANSWER)
    shown = f"{text[:half]}\n…\n{text[-half:]}" if left_out else text
    return render_file(_ANSWER, server=server, text=shown, left_out=left_out, others=list(_others(result)))


def _text(block: ContentBlock) -> str | None:
    if block.type == "text":
        return block.text
    return getattr(block.resource, "text", None) if block.type == "resource" else None


def _others(result: CallToolResult) -> Iterator[str]:
    """What is no text, in words."""
    for block in result.content:
        if block.type in ("image", "audio"):
            yield sanitize(f"{block.type}, {block.mime_type:.60}, {len(block.data) * 3 // 4} bytes, not shown")
        elif block.type == "resource_link":
            yield sanitize(f"link to {block.uri!s:.300}")
        elif block.type == "resource" and _text(block) is None:
            yield sanitize(f"data of {block.resource.uri!s:.300}, not shown")
