"""A stage for engine tests: a small company run over the scripted server, its replies looked up by activity.

The protocol's texts are short and telling here, so that a test can say exactly what is in a request and what is not.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from chatdev import Company, Run
from chatdev.events import Event, PhaseFinished, ToolCalled, Uttered
from tests.support.chat_server import ChatServer, Received, Scripted

FAST = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
PROTOCOL = {
    "system": "SYSTEM for {{ speaker }}\nbackground: {{ background }}\nobjective: {{ phase.about }}\n"
              "me: {{ me.title }} {{ me.prompt }}\nother: {{ other.title if other else 'nobody' }}\n"
              "guidance: {{ guidance }}\ntools: {{ tools | map(attribute='name') | join(',') }}\n{{ tool_text }}\n"
              "form: {{ form_text }}\nconclude: {{ may_conclude }}/{{ other_may_conclude }}\n"
              "ask: {{ dehallucination }} {{ questions }}\nrounds: {{ rounds }}\nwrite in {{ documents_language }}",
    "text": "TEXT", "choice": "CHOICE {{ options | join('/') }}", "files": "WHOLE FILES",
    "files_partial": "CHANGED PARTS", "as_file": "CONTENT OF {{ file }}", "json": "JSON", "list": "LIST",
    "tools": "TOOLS", "observation": "OBSERVATION {{ tool }}: {{ result }}", "tool_calls_used_up": "NO MORE CALLS",
    "same_call": "SAME CALL {{ tool }} {{ times }}",
    "same_result": "SAME RESULT {{ tool }} {{ times }}{{ '' if left else ', NO MORE' }}",
    "report": "REPORT {{ report }}", "unreadable": "UNREADABLE {{ problem }}", "refused": "REFUSED {{ reason }}",
    "same_again": "SAME AGAIN {{ times }}{% if report and not passed %} STILL {{ report }}{% endif %}",
    "unchanged": "UNCHANGED {{ writes }}", "must_deliver": "NOW DELIVER", "go_on": "GO ON",
    "reflection": "REFLECT ON {{ dialogue }}",
}

ROLES = {"chief": {"title": "Chief", "prompt": "leads the work on {{ task }}"},
         "maker": {"title": "Maker", "prompt": "makes things"}}

TALK = {"about": "Agree on a name.", "instructor": "chief", "assistant": "maker", "reads": ["task"], "writes": "title",
        "opening": "OPENING about {{ task }}"}
WRITE = {"about": "Write the program.", "instructor": "chief", "assistant": "maker", "reads": ["task"],
         "writes": "software", "solution": {"form": "files"}, "opening": "WRITE {{ task }}"}
CHANGE = {**WRITE, "about": "Improve the program.", "reads": ["task", "software"],
          "opening": "CHANGE\n{{ software | listing }}"}

def talk(name: str, reads: list[str] | None = None, **fields: Any) -> dict[str, Any]:
    """A phase that writes `name`, whose opening shows all it reads."""
    opening = " ".join(f"{r.rstrip('?')}={{{{ {r.rstrip('?')} }}}}" for r in reads or []) or "OPENING"
    return {**TALK, "reads": reads or [], "writes": name, "opening": opening, **fields}


def solutions(*places: str) -> dict[str, str]:
    """Every place concludes with its own name."""
    return {f"{place}/round-1/assistant": f"<SOLUTION> {place}" for place in places}


CHECK = {"tool": "software.complete", "writes": "test"}


def program(body: str = "print('hello')", path: str = "main.py") -> str:
    """A reply that delivers one file."""
    return f"{path}\n```python\n{body}\n```\n"


@dataclass
class Studio:
    """Runs companies whose every reply is written down by place, e.g. `talk#1/round-1/assistant`."""

    folder: Path
    server: ChatServer
    events: list[Event] = field(default_factory=list)

    def company(self, phases: Mapping[str, Any], chain: list[Any] | None = None, **fields: Any) -> Path:
        """Write a company of the given phases; the chain runs each once and ends with a check, unless it is given."""
        content = {
            "company": "stage", "about": "A company for tests.", "background": "We test.",
            "inputs": {"task": {"about": "What to do.", "required": True}}, "roles": ROLES, "phases": dict(phases),
            "chain": chain or [*({"phase": name} for name in phases), CHECK], "success": "test is defined",
            "protocol": PROTOCOL, **fields,
        }
        path = self.folder / "stage" / "company.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.dump(content, Dumper=FAST, sort_keys=False), encoding="utf-8")
        return path.parent

    def run(self, company: Path, replies: Mapping[str, Any], **options: Any) -> Run:
        """Run the company; a call at a place without a reply fails the run, naming the place."""
        self.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"]))
        loaded = Company.load(company, sets=options.pop("sets", ()), without=options.pop("without", ()),
                              without_roles=options.pop("without_roles", False))
        task = options.pop("task", "TASK")
        return loaded.run(task, model="scripted-model", base_url=self.server.url, sandbox="none",
                          warehouse=self.folder / "warehouse", on_event=self.events.append, **options)

    @property
    def places(self) -> list[str]:
        """The places of all requests, in order."""
        return [request.headers["X-ChatDev-Activity"] for request in self.server.requests]

    def request(self, place: str) -> Received:
        """The one request that was made at a place."""
        (found,) = [r for r in self.server.requests if r.headers["X-ChatDev-Activity"] == place]
        return found

    def messages(self, place: str) -> list[tuple[str, str]]:
        """Role and text of the messages of the request made at a place."""
        return [(m["role"], m["content"]) for m in self.request(place).body["messages"]]

    def said(self, place: str) -> str:
        """All text of a request, the system message left out."""
        return "\n".join(text for role, text in self.messages(place) if role != "system")

    def system(self, place: str) -> str:
        """The system message of a request."""
        return self.messages(place)[0][1]

    def endings(self) -> dict[str, str]:
        """How each phase ended, by place."""
        return {e.place: e.ending for e in self.events if isinstance(e, PhaseFinished)}

    def utterances(self) -> list[tuple[str, str]]:
        """Kind and text of everything said."""
        return [(e.utterance, e.text) for e in self.events if isinstance(e, Uttered)]

    def finished(self, place: str) -> PhaseFinished:
        """The end of one phase."""
        (event,) = [e for e in self.events if isinstance(e, PhaseFinished) and e.place == place]
        return event

    def tool_calls(self, prefix: str = "") -> list[str]:
        """The places of all tool calls below a place."""
        return [e.place for e in self.events if isinstance(e, ToolCalled) and e.place.startswith(prefix)]

    def git_log(self, run: Run) -> list[str]:
        """The subjects of all commits, oldest first."""
        return _git(run, "log", "--reverse", "--format=%s").splitlines()

    def git_show(self, run: Run) -> str:
        """Everything that was ever committed."""
        return _git(run, "log", "-p")


def _git(run: Run, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(run.software_folder), *arguments], check=True, capture_output=True,
                          text=True).stdout

OVERFLOW = Scripted("", status=400, body={"error": {"message": "maximum context length is 10 tokens",
                                                    "code": "context_length_exceeded"}})


def with_tools(**fields: Any) -> dict[str, Any]:
    """Fields of a company whose maker has a tool."""
    roles = {**ROLES, "maker": {**ROLES["maker"], "tools": ["software.complete"]}}
    return {"roles": roles, **fields}


def action(tool: str = "software.complete", **arguments: Any) -> str:
    """A reply that calls a tool by a JSON block."""
    return "I look first.\n```json\n" + json.dumps({"tool": tool, "arguments": arguments}) + "\n```"
