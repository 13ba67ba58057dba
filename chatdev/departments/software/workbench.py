"""What the people of a company do with software while they write, read and test it: look around in it, read, search,
start it with words and input of their own, use its window, page or service by steps, and run its tests. Nothing here
changes it: it runs in a throwaway copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from chatdev.departments.software import knowledge
from chatdev.departments.software.cases.case import Start, texts_by_path
from chatdev.departments.software.drivers.step import MOST_STEPS, Driven, Step, read_steps
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain, build_and_start, toolchain_of
from chatdev.departments.software.toolchains.verdict import verdict
from chatdev.departments.software.trial.agreed import UsedCheck, describe_step
from chatdev.tools.base import ToolContext, template, tool
from chatdev.workspace.file_tree import is_test
from chatdev.workspace.python_errors import stable_text

_MOST_FILES, _MOST_LINES, _MOST_HITS = 400, 400, 60
_WIDEST, _LONGEST = 240, 8000  # characters of a line, and of what a program printed

_Words = Annotated[list[str] | None, Field(description="The words behind its command.", max_length=500)]
_Typed = Annotated[str | None, Field(description="What is typed or piped into it.", max_length=20_000)]
_UserFiles = Annotated[dict[str, str] | None,
                       Field(description="Texts of files beside it, by name.", max_length=20)]
_Steps = Annotated[list[dict[str, Any]] | None, Field(description=(
    'Of a window, page or service: {press: label}, {type: text, into: label}, {choose: text, from: label}, '
    '{reads: text}, {title: text}, {open: path}, {request: "POST /a", body or form, status, shows: [text]}; '
    '[] looks.'))]
_Path = Annotated[str, Field(description="A path in the software.")]


@tool(reads=("software",))
def tree(context: ToolContext, *, folder: Annotated[str, Field(description="Only below this.")] = "") -> str:
    """List the files of the software with their lines."""
    below = folder.strip().strip("/")
    paths = [path for path in sorted(context.software) if not below or path.startswith(f"{below}/")]
    rows = [f"{path}  {_size(context.software[path])}" for path in paths[:_MOST_FILES]]
    more = [f"… and {len(paths) - _MOST_FILES} more; name a folder"] if len(paths) > _MOST_FILES else []
    return "\n".join([*rows, *more]) or f"There are no files{f' below {below}' if below else ''}."


def _size(data: bytes) -> str:
    return f"{len(data)} bytes, no text" if b"\0" in data else f"{len(data.splitlines())} lines"


@tool(reads=("software",))
def read(context: ToolContext, *, path: _Path,
         first: Annotated[int, Field(ge=1, description="The first line.")] = 1,
         last: Annotated[int | None, Field(ge=1, description="The last one.")] = None) -> str:
    """Read a file of the software, with numbers of lines; at most 400 lines at a time."""
    if path not in context.software:
        return f"There is no file {path!r}. There are: {', '.join(sorted(context.software)[:_MOST_FILES])}"
    lines = _lines(context.software[path])
    end = min(last or len(lines), first + _MOST_LINES - 1, len(lines))
    shown = [f"{number:5} {lines[number - 1][:_WIDEST]}" for number in range(first, end + 1)]
    rest = [f"… up to line {len(lines)}"] if end < len(lines) else []
    return "\n".join([*shown, *rest]) or f"{path} has {len(lines)} lines."


@tool(reads=("software",))
def search(context: ToolContext, *,
           text: Annotated[str, Field(min_length=1, max_length=200, description="What the lines hold, in any case.")],
           below: Annotated[str, Field(description="Only in this file, or in files below this folder.")] = "") -> str:
    """Find the lines of the software that hold a text."""
    wanted, within = text.lower(), below.strip().strip("/")
    hits = [f"{path}:{number}: {line.strip()[:_WIDEST]}" for path in sorted(context.software)
            if not within or path == within or path.startswith(f"{within}/")
            for number, line in enumerate(_lines(context.software[path]), start=1) if wanted in line.lower()]
    more = [f"… and {len(hits) - _MOST_HITS} more"] if len(hits) > _MOST_HITS else []
    return "\n".join([*hits[:_MOST_HITS], *more]) or f"No line holds {text!r}."


def _lines(data: bytes) -> list[str]:
    return [] if b"\0" in data else data.decode("utf-8", "replace").splitlines()


@tool(reads=("software",), name="software.try")
def try_start(context: ToolContext, *, arguments: _Words = None, stdin: _Typed = None, files: _UserFiles = None,
              steps: _Steps = None) -> str:
    """Start the software once, or use its window, page or service by steps, and see what it shows and how it ends."""
    toolchain, lying = toolchain_of(context), texts_by_path(files)
    if lying is None:
        return "The files cannot be put beside it: give texts by relative paths."
    start = Start(tuple(arguments or ()), stdin)
    if why := start.unfit:
        return f"Nobody can type that ({why})."
    if steps is not None and (arguments or stdin is not None):
        return "Give either steps or what is typed: with steps it is started without arguments and input."
    with build_and_start(toolchain, context) as (bare, built):
        if built is None:
            return verdict(bare).report
        if steps is not None:
            return _use(toolchain, built, lying, steps)
        with built.copy(lying) as folder:
            done = toolchain.start(folder, start, ends=stdin is not None)
    return _tell(done.facts, done.rule)


def _tell(facts: Mapping[str, Any], rule: str) -> str:
    """How a start went."""
    stdout, stderr = (str(text)[-_LONGEST:] for text in facts.get("streams", ("", "")))
    ending = "it did not come to its end" if facts.get("still_running") else f"exit status {facts.get('exit_status')}"
    return _report("tried", command=facts.get("command", ""), stdout=stdout, stderr=stderr, ending=ending, rule=rule)


def _use(toolchain: Toolchain, built: BuiltSoftware, files: Mapping[str, str], given: Sequence[object]) -> str:
    """How steps went, and what was to be seen after the last one."""
    steps = read_steps([*given]) if given else ()
    if steps is None:
        return f"These are no steps that somebody can do: {_first_unfit(given)}"
    with built.copy(files) as folder:
        driven = toolchain.drive(folder, steps)
    return _tell_use(steps, driven) if driven else _report("used", driven=None)


def _tell_use(steps: Sequence[Step], driven: Driven) -> str:
    """How each step went; the answers of a service stand beside its requests."""
    pairs = [(describe_step(step), one.seen if step.kind == "request" else "")
             for step, one in zip(steps, driven.steps, strict=False)]
    last = driven.steps[-1].seen if driven.steps else driven.seen
    is_answer = bool(pairs) and steps[len(pairs) - 1].kind == "request"
    return _report("used", driven=driven, told=pairs, undone=[describe_step(step) for step in steps[len(pairs):]],
                   differs=UsedCheck(tuple(steps), driven).differs, seen="" if is_answer else last[:_LONGEST],
                   stderr=stable_text(driven.stderr, {})[-_LONGEST:])


def _first_unfit(given: Sequence[object]) -> str:
    """The first step that is none, or how many there may be."""
    unfit = [one for one in given if read_steps([one]) is None]
    return f"{unfit[0]!r:.200}" if unfit else f"give at most {MOST_STEPS}"


@tool(reads=("software",))
def test(context: ToolContext) -> str:
    """Run the software's own tests, and see which of them fail."""
    toolchain = toolchain_of(context)
    with build_and_start(toolchain, context) as (bare, built):
        if built is None:
            return verdict(bare).report
        with built.copy({}) as folder:
            tests = toolchain.own_tests(folder)
    if tests is None:
        there = sorted(path for path in context.software if is_test(path))
        return f"No test was found to run{f' in {there}' if there else ''}."
    return _report("own_tests", tests=tests, new=list(tests.failed))


def _report(name: str, **facts: Any) -> str:
    return str(template(knowledge.report_template(name)).render(facts)).strip()
