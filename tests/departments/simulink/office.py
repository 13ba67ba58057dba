"""A scripted office: agents who make one mistake, and then repair only what the feedback that they read names.

The Investigator looks at the model itself, but only at the block, parameter or connection that a report names; the
reviewer passes on what the checks say; the builder copies the investigation that it reads; the locator goes by what
stands before it. They are asked over HTTP, as any model is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev import Company, Run
from chatdev.departments.simulink.agreement import agreed_model, to_investigation
from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.views import write_program
from tests.support.chat_server import ChatServer, Received

Investigation = dict[str, Any]
Spoil = Callable[[Investigation], Any]
Miswrite = Callable[[str, Diagram], str]

_FINDING = re.compile(r"^- ([a-z ]+), (?:error|warning): (.*)$", re.MULTILINE)
_REPORT = re.compile(r"There (?:is|are) \d+ errors? to mend|There is no error; look at these|All eight checks pass")
_BLOCK = re.compile(r"^block (?P<name>.*?)(?:, parameter (?P<parameter>\w+))?: ")
_CONNECTION = re.compile(r"^connection (?P<wire>.*?): (?=there is no block|the connection|the input|the ports|each end|"
                         r"both ends|.* (?:has no port|is an? (?:in|out)put))")
_NO_PORT = re.compile(r"the (?:input|terminal) (?P<port>\w+).* of .* is not connected")
_SIMULATED = re.compile(r"^(?:blocks?|signal) (?P<names>.*?): ")
_NO_BLOCK = re.compile(r"there is no block '(?P<name>.*?)'")


@dataclass
class Office:
    """Answers for all roles of `simugen` about one model. `spoil` is the mistake of the Investigator's second round,
    `spoil_list` that of the first, `miswrite` that of the Block Builder."""

    truth: Diagram
    spoil: Spoil | None = None
    spoil_list: Spoil | None = None
    miswrite: Miswrite | None = None
    seen: Investigation = field(default_factory=dict)
    """The investigation as the Investigator has it now."""
    first: Investigation = field(default_factory=dict)
    """As it was at first."""
    named: set[str] = field(default_factory=set)
    """The checks whose findings the Investigator repaired by."""
    routes: list[str] = field(default_factory=list)
    """Where the locator sent each fault."""
    writes_python: bool = False
    passed_on: list[tuple[str, str]] = field(default_factory=list)
    """What simulating showed, and the reviewer told the Investigator."""

    def __call__(self, request: Received) -> str:
        """The reply to a request."""
        phase, role = request.headers["X-ChatDev-Phase"], request.headers["X-ChatDev-Role"]
        said = [_text(message) for message in request.body["messages"] if message["role"] != "system"]
        if role == "investigator":
            return getattr(self, f"_{phase}", self._repair)(said)
        return str(getattr(self, f"_{role}")(said))

    def _investigate_blocks(self, _said: list[str]) -> str:
        found = self._look(self.spoil_list)
        blocks = [{key: block[key] for key in ("name", "type")} for block in found["blocks"]]
        return json.dumps({"diagram": True, "why": "", "model": self.truth.name, "blocks": blocks})

    def _investigate_connections(self, _said: list[str]) -> str:
        self.seen = self._look(self.spoil or self.spoil_list)
        self.first = json.loads(json.dumps(self.seen))
        text = json.dumps(self.seen, indent=1)
        return self.as_python(text) if self.writes_python else text

    @staticmethod
    def as_python(text: str) -> str:
        """JSON as a Python programmer writes it, in a fence and with a last comma."""
        plain = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))
        return f"Here it is:\n```python\n{plain.rstrip()[:-1].rstrip()},\n}}\n```"

    def _look(self, spoil: Spoil | None) -> Investigation:
        found: Investigation = json.loads(json.dumps(to_investigation(self.truth)))
        return (spoil(found) or found) if spoil else found

    def _reviewer(self, said: list[str]) -> str:
        report = _last_report(said)
        found = [one for one in _FINDING.findall(report) if one not in self.passed_on]
        self.passed_on += [one for one in found[:1] if one[0] in ("simulation", "acceptance")]
        return "Mend what the checks name: " + found[0][1] if found else "<SOLUTION>"

    def _repair(self, said: list[str]) -> str:
        for check, finding in _FINDING.findall(_last_report(said)):
            self._mend(check.strip(), finding)
        return json.dumps(self.seen)

    def _mend(self, check: str, finding: str) -> None:
        """Look again at what the finding names, and at nothing else."""
        before = json.dumps(self.seen)
        if check in ("simulation", "acceptance"):
            self._mend_behaviour(_SIMULATED.match(finding)["names"].split(", "))  # type: ignore[index]  # so it begins
        elif found := _CONNECTION.match(finding):
            self._mend_connections(found["wire"], finding)
        elif found := _BLOCK.match(finding):
            self._mend_block(found["name"], finding)
        if json.dumps(self.seen) != before:
            self.named.add(check)

    def _mend_behaviour(self, names: list[str]) -> None:
        """Look again at these blocks, and at all that leads to them, as far as that is there in truth."""
        waiting, done = list(names), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in done and name in self.truth.blocks:
                done.add(name)
                waiting += [wire.source.block for wire in self.truth.wires if wire.target.block == name]
        real = to_investigation(self.truth)
        others = [block for block in self.seen["blocks"] if block["name"] not in done]
        self.seen["blocks"] = [*(block for block in real["blocks"] if block["name"] in done), *others]
        self.seen["connections"] = [
            *(line for line in real["connections"] if done & {*_names(line)}),
            *(line for line in self.seen["connections"] if not done & {*_names(line)})]

    def _mend_block(self, name: str, finding: str) -> None:
        blocks, lines = self.seen["blocks"], self.seen["connections"]
        real = next((block for block in to_investigation(self.truth)["blocks"] if block["name"] == name), None)
        if real is None:
            self.seen["blocks"] = [block for block in blocks if block["name"] != name]
            self.seen["connections"] = [line for line in lines if name not in _names(line)]
            return
        if found := _NO_PORT.search(finding):
            end = (name, found["port"])
            lines += [str(wire) for wire in self.truth.wires
                      if end in (tuple(wire.target), tuple(wire.source)) and str(wire) not in lines]
            return
        there = [number for number, block in enumerate(blocks) if block["name"] == name]
        if there:
            blocks[there[0]] = real
            for number in reversed(there[1:]):
                del blocks[number]
        else:
            blocks.append(real)
        if "missing" in finding:
            lines += [str(wire) for wire in self.truth.wires if name in _names(str(wire)) and str(wire) not in lines]

    def _mend_connections(self, text: str, finding: str) -> None:
        lines, real = self.seen["connections"], list(map(str, self.truth.wires))
        if (found := _NO_BLOCK.search(finding)) and found["name"] in self.truth.blocks:
            self._mend_block(found["name"], "")
            return
        where = [number for number, line in enumerate(lines) if _same(line, text)]
        for number in reversed(where[1:] if text in real else where):
            del lines[number]
        turned = " -> ".join(reversed(text.split(" -> ")))
        for line in real:  # the line itself is looked at again: where does it lead?
            if (line == turned != text) or (set(_names(line)) == set(_names(text)) and line not in lines):
                lines.append(line)

    def _builder(self, said: list[str]) -> str:
        shown = "\n".join(said)
        model = agreed_model(_investigation_in(shown))
        program = write_program(model)
        if self.miswrite:
            wrong = self.miswrite(program, model)
            if self._is_told(wrong, program, shown):
                self.miswrite = None
            else:
                program = wrong
        return f"build_model.py\n```python\n{program}```" if "The program:" in shown else f"```python\n{program}```"

    @staticmethod
    def _is_told(wrong: str, right: str, shown: str) -> bool:
        """Whether the report names what is wrong in the program: a path or name of a changed line."""
        _, tried, report = shown.partition("It was tried:")
        changed = set(wrong.splitlines()) ^ set(right.splitlines())
        words = {word for line in changed for word in re.findall(r"'([^']+)'", line) if len(word) > 2}
        return bool(tried) and any(word in report or word.rpartition("/")[0] in report for word in words)

    def _locator(self, said: list[str]) -> str:
        shown = "\n".join(said)
        checked = shown.partition("What the checks found in it:")[2].partition("The program that builds it:")[0]
        errors = [finding for finding in _FINDING.findall(checked) if f"- {finding[0]}, error" in checked]
        where = "investigation" if errors or "builds exactly what was written down" in shown else "code"
        self.routes.append(where)
        return json.dumps({"why": (errors[0][1] if errors else f"it is in the {where}"),
                           "where": where, "fix": "mend what is named"})

    def _writer(self, _said: list[str]) -> str:
        return "# The model\n\n## What it is for\n\nIt is for a test.\n"


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def _last_report(said: list[str]) -> str:
    """The newest report of the checks among all that was said."""
    whole = "\n".join(said)
    starts = [found.start() for found in _REPORT.finditer(whole)]
    return whole[starts[-1]:] if starts else ""


def _names(line: str) -> list[str]:
    try:
        return [end.block for end in Wire.read(line)]
    except ValueError:
        return []


def _same(line: str, text: str) -> bool:
    return line == text or (" -- " in line and sorted(line.split(" -- ")) == sorted(text.split(" -- ")))


def _investigation_in(shown: str) -> Investigation:
    """The investigation that stands in a prompt."""
    start = shown.index("{", shown.index("The model:"))
    found: Investigation = json.JSONDecoder().raw_decode(shown[start:])[0]
    return found


def miss_block(found: Investigation) -> None:
    """A block that others are joined to is left out."""
    ends = [name for line in found["connections"] for name in _names(line)]
    name = next(block["name"] for block in found["blocks"] if ends.count(block["name"]) > 1)
    found["blocks"] = [block for block in found["blocks"] if block["name"] != name]
    found["connections"] = [line for line in found["connections"] if name not in _names(line)]


def flip_direction(found: Investigation) -> None:
    """A connection leads the other way."""
    number = next(number for number, line in enumerate(found["connections"]) if " -> " in line)
    source, target = found["connections"][number].split(" -> ")
    found["connections"][number] = f"{target} -> {source}"


def double_connection(found: Investigation) -> None:
    """A connection is there twice."""
    found["connections"].append(found["connections"][0])


def invent_type(found: Investigation) -> None:
    """A block is of a type that there is not."""
    found["blocks"][0]["type"] = "Signal Conjurer"


def write_truth_as_python(found: Investigation) -> None:
    """A parameter is True."""
    kind = next((block for block in found["blocks"] if block["type"] == "Integrator"), found["blocks"][0])
    kind["parameters"]["ShowName"] = True


def wrong_path(program: str, model: Diagram) -> str:
    """The builder takes a block from a library where it is not."""
    return re.sub(r"\('(simulink|fl_lib)/[^']*/([^/']+)',", r"('\1/Sorcery/\2',", program, count=1)


def forget_line(program: str, model: Diagram) -> str:
    """The builder leaves a line out."""
    head, lines = program.split("LINES = [\n")
    return head + "LINES = [\n" + lines.split("\n", 1)[1]


def wrong_port(program: str, model: Diagram) -> str:
    """The builder counts the first line's output wrongly."""
    wire = model.wires[0]
    return program.replace(f"('{wire.source}',", f"('{wire.source.block}/7',", 1)


MISTAKES: dict[str, dict[str, Any]] = {
    "misses a block": {"spoil": miss_block},
    "misses a block in both rounds": {"spoil_list": miss_block},
    "flips a direction": {"spoil": flip_direction},
    "doubles a connection": {"spoil": double_connection},
    "invents a block type": {"spoil": invent_type},
    "writes True for true": {"spoil": write_truth_as_python, "writes_python": True},
    "takes a wrong path": {"miswrite": wrong_path},
    "forgets a line": {"miswrite": forget_line},
    "counts a port wrongly": {"miswrite": wrong_port},
}
"""What an agent does wrong at first: five mistakes of the Investigator, and three of the Block Builder."""


# How the company is run with such an office.


def run_company(server: ChatServer, folder: Path, office: Any, company: str = "simugen", *,
                task: str = "A bouncing ball.", without: Sequence[str] = (), sets: Sequence[str] = (),
                **inputs: Any) -> Run:
    """A whole run; inputs that are None are not given."""
    server.route(office)
    return Company.load(company, without=without, sets=sets).run(
        task, model="m", base_url=server.url, warehouse=folder / "warehouse", name="Model",
        inputs={name: value for name, value in inputs.items() if value is not None})


def phases(server: ChatServer) -> list[str]:
    """The phase of each call."""
    return [request.headers["X-ChatDev-Phase"] for request in server.requests]


def said(server: ChatServer, phase: str) -> str:
    """All that agents read in a phase."""
    return "\n".join(str(message["content"]) for request in server.requests
                     if request.headers["X-ChatDev-Phase"] == phase for message in request.body["messages"])
