"""What a user says about a run: its options, as keyword arguments and as one value, and the inputs, read and checked
against what the company declares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypedDict

from chatdev.config.schema import CompanyConfig, Input
from chatdev.engine.budget import Budget
from chatdev.errors import ConfigError
from chatdev.events import Event
from chatdev.llm.base import Image, Model
from chatdev.llm.rate import RateLimit
from chatdev.secrets import scrub

Ask = Callable[[str], bool | Awaitable[bool]]
InstallPolicy = Literal["auto", "ask", "never"]


class Options(TypedDict, total=False):
    """The fields of `RunOptions` as keyword arguments of `run`, `resume` and `replay`."""

    inputs: Mapping[str, str | bytes | Path]
    name: str | None
    org: str | None
    model: str | Model | None
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


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Settings of one run; an unset one falls back to the environment, the user's settings file, then the default."""

    inputs: Mapping[str, str | bytes | Path] = field(default_factory=dict)
    """Values of the company's inputs beside `task`; for `kind: file` and `kind: image` a path."""
    name: str | None = None
    """Name of the run's folder; unset: made from the task."""
    org: str | None = None
    """Organisation, put behind the name as ChatDev 1.x did."""
    model: str | Model | None = None
    """The default model: a name, or any object that is a `Model` (a journal keeps only its name, so that `resume` needs
    the object again)."""
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

    @property
    def own_model(self) -> Model | None:
        """The model that was given as an object."""
        return None if isinstance(self.model, str) else self.model


@dataclass(frozen=True, slots=True)
class ResumeChoices:
    """What to do where the run would not do now what it did. By default it is refused.

    `from_here`: go on live from there. `as_it_was`: take the company as it was when the run began. Raises ConfigError
    for both at once.
    """

    from_here: bool = False
    as_it_was: bool = False

    def __post_init__(self) -> None:
        if self.from_here and self.as_it_was:
            raise ConfigError("--from-here takes the company as it is now, and --as-it-was as it was; leave one out")


_MEDIA_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
                ".webp": "image/webp"}


@dataclass(frozen=True, slots=True)
class InputValues:
    """`visible` for templates and expressions, `images` for requests, `everything` (hidden ones too) for tools."""

    visible: Mapping[str, Any]
    images: Mapping[str, Image]
    everything: Mapping[str, Any]


def gather_inputs(company: CompanyConfig, task: str, given: Mapping[str, str | bytes | Path]) -> InputValues:
    """The values of all declared inputs; an optional one that is missing is None. Raises ConfigError.

    A key that somebody wrote into one (a task that quotes a whole configuration, say) is replaced here: no model and
    no record gets it."""
    declared = company.inputs
    for name in given:
        if name not in declared:
            raise ConfigError(f"unknown input {name!r}{_suggest_nearest(name, declared)}; company {company.company!r} "
                              f"takes: {', '.join(declared)}")
    raw: dict[str, str | bytes | Path] = {"task": task, **given} if "task" in declared else dict(given)
    everything: dict[str, Any] = {}
    images: dict[str, Image] = {}
    for name, spec in declared.items():
        value = raw.get(name, spec.default)
        if value is None or (isinstance(value, str) and not value.strip()):
            if spec.required:
                raise ConfigError(_missing_input_text(name, spec))
            everything[name] = None
        elif spec.kind == "image":
            images[name] = _read_image(name, Path(str(value)))
            everything[name] = str(value)
        else:
            everything[name] = _read_text(name, spec, value)
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


def _read_text(name: str, spec: Input, value: str | bytes | Path) -> str:
    data: str | bytes = value if isinstance(value, str | bytes) else b""
    if isinstance(value, Path) or (spec.kind == "file" and isinstance(value, str)):
        data = _read_file(name, Path(value))
    try:
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")  # bytes of a command line that are no text are surrogates
        return scrub(data.decode("utf-8-sig"))
    except UnicodeError as error:
        place = f"byte {error.start}" if isinstance(error, UnicodeDecodeError) else "characters are cut in half"
        raise ConfigError(f"input {name!r} is not UTF-8 text (its {place}); convert it to UTF-8") from None


def _read_file(name: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"input {name!r}: cannot read {path}: {error.strerror}") from error


def _read_image(name: str, path: Path) -> Image:
    media_type = _MEDIA_TYPES.get(path.suffix.lower())
    if media_type is None:
        raise ConfigError(f"input {name!r}: {path.name} is not an image of a known kind; give one of: "
                          f"{', '.join(_MEDIA_TYPES)}")
    return Image(_read_file(name, path), media_type)


def _missing_input_text(name: str, spec: Input) -> str:
    about = f" ({spec.about})" if spec.about else ""
    if name == "task":
        return "the task is empty: say what to build, e.g. chatdev run \"a command-line to-do list\""
    return f"input {name!r}{about} is missing: give it as --input {name}=…"


def _suggest_nearest(name: str, known: Mapping[str, Any]) -> str:
    match = get_close_matches(name, known, n=1)
    return f" (did you mean {match[0]!r}?)" if match else ""
