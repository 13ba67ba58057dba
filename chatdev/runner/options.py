"""Options of a run, as keyword arguments and as one value, and its inputs."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict

from chatdev.config.schema import CompanyConfig, Input
from chatdev.engine.budget import Budget
from chatdev.engine.people import PersonAnswer
from chatdev.errors import ConfigError, WorkspaceError
from chatdev.events import Event, PersonAsked
from chatdev.llm.base import Image, Model, RateLimit
from chatdev.paths import data_url, read_named
from chatdev.runner.raster import read_picture
from chatdev.safe_text import scrub
from chatdev.workspace.file_tree import read_tree

# The inputs, read and checked against what the company declares.

InputValue = str | bytes | Path | Sequence[str | Path]
"""A value of an input, or the path of its file, or several paths."""

_MOST_FILES, _LARGEST = 200, 4 << 20  # of an input of several files; bytes


@dataclass(frozen=True, slots=True)
class InputValues:
    """`visible` for templates and expressions, `images` for requests, `everything` (hidden ones too) for tools."""

    visible: Mapping[str, Any]
    images: Mapping[str, Image]
    everything: Mapping[str, Any]


def gather_inputs(company: CompanyConfig, task: str, given: Mapping[str, InputValue]) -> InputValues:
    """The values of all declared inputs; an optional one that is missing is None. Raises ConfigError.

    A key that somebody wrote into one (a task that quotes a whole configuration, say) is replaced here: no model and
    no record gets it."""
    declared = company.inputs
    for name in given:
        if name not in declared:
            raise ConfigError(f"unknown input {name!r}{_suggest_nearest(name, declared)}; company {company.company!r} "
                              f"takes: {', '.join(declared)}")
    raw: dict[str, InputValue] = {"task": task, **given} if "task" in declared else dict(given)
    everything: dict[str, Any] = {}
    images: dict[str, Image] = {}
    for name, spec in declared.items():
        value = raw.get(name, spec.default)
        if value is None or (isinstance(value, str) and not value.strip()):
            if spec.required:
                raise ConfigError(_missing_input_text(name, spec))
            everything[name] = None
            continue
        if spec.kind == "image":
            images[name] = read_picture(name, _picture_of(name, value))
        everything[name] = _READERS[spec.kind](name, value)
    return split_inputs(company, everything, images)


def split_inputs(company: CompanyConfig, everything: Mapping[str, Any], images: Mapping[str, Image]) -> InputValues:
    """All values, split into what agents and tools may see; inputs that the company takes only now have their defaults.
    Raises ConfigError where one has none and is required."""
    everything = {**everything, **_new_defaults(company, everything)}
    hidden = {name for name, spec in company.inputs.items() if spec.hidden}
    return InputValues({name: value for name, value in everything.items() if name not in hidden},
                       {name: image for name, image in images.items() if name not in hidden}, everything)


def _new_defaults(company: CompanyConfig, known: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of the inputs that are not among the known ones."""
    added = {name: spec for name, spec in company.inputs.items() if name not in known}
    for name, spec in added.items():
        if spec.required and spec.default is None:
            raise ConfigError(f"the company now needs an input {name!r}, which the run does not have; `--as-it-was` "
                              "takes the company as it was when the run began")
    return {name: spec.default for name, spec in added.items()}


def _read_files(name: str, value: InputValue) -> dict[str, str]:
    """Text by path; what is in a folder is named from there."""
    found: dict[str, str] = {}
    for path in [value] if isinstance(value, str | bytes | Path) else value:
        for key, data in _files_at(name, Path(os.fsdecode(path))).items():
            if key in found:
                raise ConfigError(f"input {name!r}: {key} is given twice; give the folder that both are in")
            found[key] = _decode(f"{name}: {key}", data)
    return found


def _files_at(name: str, path: Path) -> dict[str, bytes]:
    try:
        found = read_tree(path) if path.is_dir() else {path.name: _read_file(name, path)}
    except WorkspaceError as error:
        raise ConfigError(f"input {name!r}: {error}") from error
    if len(found) > _MOST_FILES or sum(map(len, found.values())) > _LARGEST:
        raise ConfigError(f"input {name!r}: {path} holds more than {_MOST_FILES} files or {_LARGEST >> 20} MiB; give "
                          "only what is needed")
    return found


def _read_text(name: str, value: InputValue) -> str:
    if not isinstance(value, str | bytes | Path):
        raise ConfigError(f"input {name!r} is given {len(value)} times, and takes one value")
    return _decode(name, _read_file(name, value) if isinstance(value, Path) else value)


def _read_text_file(name: str, value: InputValue) -> str:
    """The text of a file, or the text itself."""
    return _read_text(name, Path(value) if isinstance(value, str) and _is_path(value) else value)


def _read_data(name: str, value: InputValue) -> str:
    """The text of a file, or a `data:` URL of one that is no text."""
    path = Path(value) if isinstance(value, str) and _is_path(value) else value
    content = _read_file(name, path) if isinstance(path, Path) else value
    if isinstance(content, bytes):
        try:
            content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data_url(path.name if isinstance(path, Path) else name, content)
    return _read_text(name, content)


def _is_path(value: InputValue) -> bool:
    """Whether a text names a file: one that has several lines or begins with a brace is the content itself."""
    return isinstance(value, str) and "\n" not in value and not value.lstrip().startswith("{")


def _decode(name: str, data: str | bytes) -> str:
    try:
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")  # bytes of a command line that are no text are surrogates
        return scrub(data.decode("utf-8-sig"))
    except UnicodeError as error:
        place = f"byte {error.start}" if isinstance(error, UnicodeDecodeError) else "characters are cut in half"
        raise ConfigError(f"input {name!r} is not UTF-8 text (its {place}); convert it to UTF-8") from None


def _read_file(name: str, path: Path) -> bytes:
    try:
        return read_named(path)
    except OSError as error:
        raise ConfigError(f"input {name!r}: cannot read {path}: {error.strerror}") from error


def _picture_of(name: str, value: InputValue) -> bytes | Path:
    """The bytes of a picture, or the path of its file. Raises ConfigError."""
    if not isinstance(value, str | bytes | Path):
        raise ConfigError(f"input {name!r} is given {len(value)} times, and takes one picture")
    return Path(value) if isinstance(value, str) else value


def _missing_input_text(name: str, spec: Input) -> str:
    about = f" ({spec.about})" if spec.about else ""
    if name == "task":
        return "the task is empty: say what to build, e.g. chatdev run \"a command-line to-do list\""
    return f"input {name!r}{about} is missing: give it as --input {name}=…"


_READERS: Mapping[str, Callable[[str, InputValue], str | dict[str, str]]] = {
    "text": _read_text, "file": _read_text_file, "files": _read_files, "data": _read_data,
    "image": lambda name, value: name if isinstance(value, bytes) else str(value)}
"""Converter of a value, by the kind of its input."""


def _suggest_nearest(name: str, known: Mapping[str, Any]) -> str:
    match = get_close_matches(name, known, n=1)
    return f" (did you mean {match[0]!r}?)" if match else ""


# The options.

Ask = Callable[[str], bool | Awaitable[bool]]


Given = PersonAnswer | str | None
AnswerFunction = Callable[[PersonAsked], Given | Awaitable[Given]]


class SpanTaker(Protocol):
    """An `opentelemetry.sdk.trace.export.SpanExporter`, or what has its methods."""

    def export(self, spans: Sequence[Any], /) -> Any:
        """Send the spans."""

    def shutdown(self) -> Any:
        """Close it."""


InstallPolicy = Literal["auto", "ask", "never"]


class Options(TypedDict, total=False):
    """The fields of `RunOptions` as keyword arguments of `run`, `resume` and `replay`."""

    inputs: Mapping[str, InputValue]
    name: str | None
    org: str | None
    model: str | Model | None
    provider: str | None
    base_url: str | None
    api_key: str | None
    trust: bool | Collection[str]
    warehouse: str | Path | None
    sandbox: str | None
    install: InstallPolicy | None
    ask: Ask | None
    runtime: str | None
    stream: bool
    language: str | None
    software: str | Path | None
    max_cost: float | None
    max_tokens: int | None
    max_calls: int | None
    max_minutes: float | None
    rate_limit: RateLimit | None
    shared_budget: Budget | None
    on_event: Callable[[Event], None] | None
    otel: bool | SpanTaker | None
    human: Sequence[str]
    approve: Sequence[str]
    answer: AnswerFunction | None
    wait: bool


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Settings of one run; an unset one falls back to the environment, the user's settings file, then the default."""

    inputs: Mapping[str, InputValue] = field(default_factory=dict)
    """Values of the company's inputs beside `task`; for `kind: file` a path (or the text itself, where it has
    several lines or begins with a brace), for `kind: image` a path, for `kind: files` a folder or several paths."""
    name: str | None = None
    """Name of the run's folder; unset: made from the task."""
    org: str | None = None
    """Organisation, put behind the name as ChatDev 1.x did."""
    model: str | Model | None = None
    """The default model: a name, or any object that is a `Model` (a journal keeps only its name, so that `resume` needs
    the object again)."""
    provider: str | None = None
    """Who is asked, by a name of `models.yaml`: it gives the address and the variable of the key. A name of a model may
    begin with it (`anthropic/claude-sonnet-4-6`) where no address is given."""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """Goes before the key in the environment; it is a secret and shows in no journal, error or log."""
    trust: bool | Collection[str] = False
    """Consent, for this run, to the addresses, keys and model files that the company or the working folder's `.env`
    names (or consent to those with these digests). Without it what is on record counts: `chatdev trust`."""
    warehouse: str | Path | None = None
    sandbox: str | None = None
    """`bubblewrap`, `docker`, or `none` as explicit consent to run what models write without one."""
    install: InstallPolicy | None = None
    """Whether packages that programs import are installed; a company may be stricter. Unset: `auto`."""
    ask: Ask | None = None
    """With `install="ask"`: called on the event loop with the name of each package, once a run, and says whether it may
    be installed. Without it nothing is."""
    runtime: str | None = None
    """A set of packages that programs always find, e.g. `top`; prepared once for all runs."""
    stream: bool = False
    """Emit `TextStreamed` events as replies arrive."""
    language: str | None = None
    """Language that the agents write documents in; unset: English."""
    software: str | Path | None = None
    """A folder of existing software to start from."""
    max_cost: float | None = None
    """US dollars that the run may cost; needs the prices of all its models."""
    max_tokens: int | None = None
    """Tokens in and out."""
    max_calls: int | None = None
    """Model calls."""
    max_minutes: float | None = None
    """Time that passes; what is under way then is ended."""
    rate_limit: RateLimit | None = None
    """One object for all runs of a process that share a provider's limits a minute."""
    shared_budget: Budget | None = None
    """One object for all runs of an event loop that may spend so much together, beside what each of them may."""
    on_event: Callable[[Event], None] | None = None
    """Called with every event. What it raises is noted in the run, which goes on."""
    otel: bool | SpanTaker | None = None
    """Whether spans are sent to an OTLP endpoint, or the OpenTelemetry exporter that takes them. Unset: as the standard
    variables OTEL_… say."""
    human: Sequence[str] = ()
    """Roles that people play."""
    approve: Sequence[str] = ()
    """What people approve of before it happens: names of phases, `deliveries` (all changes of the software), `tools`
    (all tools that steps or agents call)."""
    answer: AnswerFunction | None = None
    """Answers for people, one question at a time: a text, a `PersonAnswer`, or None to leave the question to others. A
    plain function is called in a thread of its own."""
    wait: bool = False
    """Whether the run waits for an answer that is left in its folder (`chatdev answer`, a web view); otherwise what
    nobody answers is skipped, with a note."""

    @property
    def own_model(self) -> Model | None:
        """The model that was given as an object."""
        return None if isinstance(self.model, str) else self.model


_OF_COMMANDS = {"path": "software", "input": "inputs", "quiet": "on_event", "verbose": "on_event", "json": "on_event"}
"""Options of the command line that the library has under another name."""


def run_options(given: Mapping[str, Any]) -> RunOptions:
    """The options as one value. Raises ConfigError for a name that is none, with the one that is meant."""
    names = RunOptions.__dataclass_fields__
    for name in given:
        if name not in names:
            other = _OF_COMMANDS.get(name)
            meant = f"; in the library it is {other}=…" if other else _suggest_nearest(name, names)
            raise ConfigError(f"there is no option {name!r}{meant}; the options are the fields of chatdev.RunOptions: "
                              f"{', '.join(names)}")
    return RunOptions(**given)


@dataclass(frozen=True, slots=True)
class ResumeChoices:
    """Choice where the run would deviate from its record; by default it is refused.

    `from_here`: go on live from there. `as_it_was`: take the company as it was when the run began; `company`: as it is
    now at this place, or under this name. `keep_budget`: the limits of before hold where no others are given. Raises
    ConfigError for two that do not go together.
    """

    from_here: bool = False
    as_it_was: bool = False
    company: str | Path | None = None
    keep_budget: bool = True

    def __post_init__(self) -> None:
        if self.company is not None and self.as_it_was:
            raise ConfigError("--company takes a company as it is now, and --as-it-was as it was; leave one out")
        if self.from_here and self.as_it_was:
            raise ConfigError("--from-here takes the company as it is now, and --as-it-was as it was; leave one out")
