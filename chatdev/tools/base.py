"""What every tool is given and gives back: a context, a throwaway copy of the software, a verdict and its report."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chatdev.errors import ToolError
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.job_folder import remove_folder
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
