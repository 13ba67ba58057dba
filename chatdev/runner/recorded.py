"""A run as its journal has it, to be resumed or replayed: what it was to do, what it did, and what is taken over."""

from __future__ import annotations

import dataclasses
import functools
import os
import shlex
import tempfile
import typing
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from chatdev.config.load import is_installed, load_company
from chatdev.config.phases import Limits
from chatdev.config.profiles import ModelProfile, find_provider
from chatdev.config.schema import CompanyConfig
from chatdev.config.settings import (
    MODEL_VARIABLE,
    URL_VARIABLE,
    UserSettings,
    find_default_model,
    process_environ,
)
from chatdev.connection import LOCAL, without_user
from chatdev.engine.budget import describe_budget
from chatdev.engine.context import (
    SEMANTICS,
    ContextOverflowed,
    Finished,
    Replied,
    ToolFailed,
    ToolReturned,
    result_from_json,
    result_to_json,
)
from chatdev.errors import ConfigError, JournalError, UnsafePath
from chatdev.events import KINDS, Place
from chatdev.journal import Journal, read_journal
from chatdev.llm.base import Image
from chatdev.mcp.servers import ServerTool
from chatdev.packages.imports import POLICIES, strictest_policy
from chatdev.runner.options import RunOptions
from chatdev.runner.toolbox import KnownTools, tools_from_record
from chatdev.safe_text import PLACEHOLDER, check_depth, is_amount
from chatdev.workspace.file_tree import safe_path

JOURNAL = "journal.jsonl"
"""The journal's name in the `run` folder."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """Content of a journal: the newest order, texts by the hash that requests name, finished activities by place in the
    order they ended, and all records."""

    path: Path
    order: Order
    messages: Mapping[str, Mapping[str, Any]]
    finished: Mapping[str, Finished]
    records: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, path: Path) -> RecordedRun:
        """The journal at `path`, or of the run folder `path`. Raises JournalError when it is none, or damaged."""
        file = find_journal(path)
        records = tuple(read_journal(file))
        kinds: dict[str, list[Mapping[str, Any]]] = {"Order": [], "Message": []}
        for record in records:
            kinds.get(record["kind"], []).append(record)
        if not kinds["Order"]:
            raise JournalError(f"{file} does not say what the run was to do (it has no `Order`): it was stopped before "
                               "it began, or is no journal of a run; start the run anew")
        finished: dict[str, Finished] = {}
        for number, record in enumerate(records, start=1):
            if done := check_line(record, file, number):
                finished.pop(record["place"], None)  # of two at one place (the run was resumed differently) the newer
                finished[record["place"]] = done
        try:
            return cls(file, Order.from_record(kinds["Order"][-1]),
                       {record["hash"]: record["message"] for record in kinds["Message"]}, finished, records)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise JournalError(f"{file}: a record lacks what belongs to it ({error!r}); the journal is "
                               "damaged") from error

    @property
    def status(self) -> str:
        """Ending of the newest session; `interrupted` if it left no record of it."""
        ends = [record for record in self.records if record["kind"] in ("RunStarted", "RunFinished")]
        return str(ends[-1].get("status", "interrupted")) if ends else "interrupted"

    @property
    def is_over(self) -> bool:
        """Whether the run came to its end."""
        return self.status in ("success", "failure", "unjudged")

    @property
    def reusable_activities(self) -> dict[str, Finished]:
        """The finished activities without those that ended a session: tools that failed, or gave what the run cannot
        use, and requests that were too long. They are tried again."""
        again = self._ended_sessions
        return {place: done for place, done in self.finished.items() if place not in again}

    @property
    def failed_activities(self) -> dict[str, Finished]:
        """Tools whose failure ended a session: one that fails alike again has its result."""
        return {place: done for place, done in self._ended_sessions.items() if isinstance(done.result, ToolFailed)}

    @property
    def _ended_sessions(self) -> dict[str, Finished]:
        ends = {record["place"] for record in self.records if record["kind"] == "RunFinished"}
        return {place: done for place, done in self.finished.items() if place in ends
                and isinstance(done.result, ToolFailed | ToolReturned | ContextOverflowed) and not _is_result(done)}

    @property
    def models_vary(self) -> bool:
        """Whether the run was resumed with another model than it began with."""
        return len({record["options"].get("model") for record in self.records if record["kind"] == "Order"}) > 1

    def activities_before(self, place: str) -> dict[str, Finished]:
        """The activities that had finished when the one at `place` (or the first below it) did. Raises ConfigError
        when there is none."""
        names = list(self.finished)
        inside = [name for name in names if Place(place).holds(name)]
        if not inside:
            near = get_close_matches(place, names, n=3, cutoff=0.3)
            raise ConfigError(f"there is no activity {place!r} in {self.path}; near it are: {', '.join(near or names)}")
        return {name: self.finished[name] for name in names[:names.index(inside[0])]}

    def copy_to(self, journal: Journal, finished: Mapping[str, Finished]) -> None:
        """Write the order, the messages and the activities `finished` into a new journal."""
        journal.append("Order", "", self.order.to_record())
        for digest, message in self.messages.items():
            journal.message(digest, message)
        for place, done in finished.items():
            journal.append("Activity", place, {"digest": done.digest, "request": done.request,
                                               "result": result_to_json(done.result), "copied": True})


def _is_result(done: Finished) -> bool:
    """Whether a failed tool's failure is its result, because it had failed alike before."""
    return isinstance(done.result, ToolFailed) and done.result.repeated


def find_journal(path: Path) -> Path:
    """The journal at `path` (where the user may have put a link to it), or of the run folder `path` (where a link is a
    stranger's). Raises JournalError for the latter, ConfigError where there is nothing, or no run."""
    if not os.path.lexists(path):
        raise ConfigError(f"there is no run and no journal at {path}; give a folder of the warehouse, like "
                          "warehouse/Name-20260101120000, or a journal")
    if not path.is_dir():
        return path.resolve()
    if (path / "run").is_symlink():
        raise JournalError(f"{path / 'run'} is a link; nothing in a run folder is followed, move it away")
    if not (path / "run").is_dir():
        raise ConfigError(f"{path} is no run folder: it has no run/ in it; give a folder of the warehouse, like "
                          "warehouse/Name-20260101120000, or a journal")
    return path / "run" / JOURNAL


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a run: everything that shapes it, except the replies of models and tools.

    `company` is the resolved YAML and `source` how it was loaded (`name`, `sets`, `without`; empty: from nowhere).
    `inputs` holds all values, hidden ones too. `software` and `values` are what there is at the start: files, and
    long-term memory. `profiles` are those of the models in it, by which a replay goes whatever they are later. `tools`
    names the tools that were given as functions, and `options` says when the model was an object (`own_model`): no
    journal keeps those. `semantics` is the engine's version that the run keeps to its end; 1 where none is named.
    """

    company: str
    source: Mapping[str, Any]
    inputs: Mapping[str, Any]
    images: Mapping[str, Image] = field(default_factory=dict)
    software: Mapping[str, bytes] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    profiles: Sequence[ModelProfile] = ()
    tools: Sequence[str] = ()
    semantics: int = SEMANTICS
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Where `software` comes from: the user's `folder`, its `commit` and `branch`, or the run that it `follows` with
    another `request`."""
    mcp: Mapping[str, ServerTool] = field(default_factory=dict)
    """The tools of servers as these described them when the run began."""

    def to_record(self) -> dict[str, Any]:
        """The order as plain JSON values; bytes in base64."""
        return {
            "company": self.company, "source": dict(self.source), "inputs": dict(self.inputs),
            "images": {name: [image.media_type, b64encode(image.data).decode()] for name, image in self.images.items()},
            "software": {path: b64encode(data).decode() for path, data in self.software.items()},
            "values": dict(self.values), "options": dict(self.options),
            "profiles": [profile.model_dump() for profile in self.profiles],
            **({"tools": list(self.tools)} if self.tools else {}),
            **({"semantics": self.semantics} if self.semantics > 1 else {}),
            **({"origin": dict(self.origin)} if self.origin else {}),
            **({"mcp": {name: tool.to_record() for name, tool in self.mcp.items()}} if self.mcp else {}),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Order:
        """The order that `to_record` wrote. Raises KeyError, TypeError or ValueError for anything else, JournalError
        for that of a later version."""
        record["company"].encode()  # it is written as a file
        _check_texts("source", record["source"], {"name_or_path": str, "sets": list, "without": list,
                                                    "drafts": int})
        if record["source"] and "name_or_path" not in record["source"]:
            raise ValueError("`source` has no name_or_path")
        _check_texts("options", {name: value for name, value in record["options"].items() if name not in LIMITS},
                     {**dict.fromkeys(RESTORED_OPTIONS, str), "own_model": bool})
        _check_limits(record["options"])
        origin = dict(record.get("origin", {}))
        _check_texts("origin", origin, dict.fromkeys(("folder", "commit", "branch", "follows", "request"), str))
        images = {name: Image(b64decode(data), str(kind)) for name, (kind, data) in record["images"].items()}
        software = {_plain_path(path): b64decode(data) for path, data in record["software"].items()}
        profiles = [ModelProfile.model_validate(profile) for profile in record["profiles"]]
        return cls(record["company"], record["source"], record["inputs"], images, software=software,
                   values=record["values"], options=record["options"], profiles=profiles,
                   tools=[str(name) for name in record.get("tools", ())],
                   semantics=_check_semantics(record.get("semantics", 1)), origin=origin,
                   mcp=tools_from_record(record.get("mcp", {})))


def _check_texts(name: str, values: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    """Raise TypeError when a field of an order holds what no order does: it becomes the argument of a function."""
    for key, value in values.items():
        texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
        if not (isinstance(value, kinds.get(key, ())) and texts):
            raise TypeError(f"`{name}` has {key}: {value!r:.80}")


def _check_limits(options: Mapping[str, Any]) -> None:
    """Raise TypeError for a budget that is none."""
    for name in LIMITS:
        value = options.get(name)
        if value is not None and not (is_amount(value) and (value > 0 or name == "max_cost")
                                      and isinstance(value, LIMITS[name])):
            raise TypeError(f"`options` has {name}: {value!r:.80}")


def _check_semantics(version: Any) -> int:
    """The version, if this chatdev can keep to it."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise TypeError(f"`semantics` is {version!r:.80}")
    if version > SEMANTICS:
        raise JournalError(f"the run was made by a later version of chatdev (semantics {version}; this one knows up to "
                           f"{SEMANTICS}); update chatdev to go on with it")
    return version


def _plain_path(path: str) -> str:
    """The path of a file of the software, as it stands. Raises ValueError for one that nothing could have written."""
    try:
        if safe_path(path) == path:
            return path
    except UnsafePath as error:
        raise ValueError(str(error)) from None
    raise ValueError(f"the path {path!r} is not in its plain form")


def options_to_keep(options: RunOptions, model: str | None) -> dict[str, Any]:
    """The options that an order keeps; `model` is the name of the default model."""
    values = {name: getattr(options, name) for name in (*RESTORED_OPTIONS, *LIMITS)} | {"model": model}
    found = {name: value for name, value in values.items() if value is not None}
    return {**found, "own_model": True} if options.own_model is not None else found


def require_given(order: Order, options: RunOptions, tools: KnownTools) -> None:
    """Raise ConfigError when something is missing that was given to the run as an object, which no journal keeps."""
    if order.options.get("own_model") and options.model is None:
        raise ConfigError(f"the run was made with a model of your own ({order.options.get('model')!r}), which no "
                          "journal keeps; give it again, resume(folder, model=…), or name another: --model NAME")
    require_tools(order, tools)


def require_tools(order: Order, tools: KnownTools) -> None:
    """Raise ConfigError when a tool is missing that was given to the run as a function, which no journal keeps."""
    if missing := [name for name in order.tools if name not in tools]:
        raise ConfigError(f"the run has tools of your own, which no journal keeps: {', '.join(missing)}; give the "
                          "functions again: tools=[…] of chatdev.resume and chatdev.replay")


def recorded_company(order: Order, tools: KnownTools) -> CompanyConfig:
    """The company as it was when the order was given."""
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        file = Path(folder) / "company.yaml"
        file.write_text(order.company, encoding="utf-8")
        return load_company(file, tools=tools)


def current_company(order: Order, tools: KnownTools, given: str | Path | None = None) -> tuple[CompanyConfig, str]:
    """The company as it is now, where it is an installed one or the user has `given` its place; else as it was, and
    why: a path on record could be that of any file. Raises ConfigError when it cannot be loaded any more."""
    place = str(order.source.get("name_or_path", ""))
    if given is None and not place:
        return recorded_company(order, tools), ""
    if given is None and not is_installed(place):
        again = f"--company {shlex.quote(place)}"
        return recorded_company(order, tools), (
            f"the journal says that the company was at {place!r}, and a path on record is not followed: it is taken as "
            f"it was when the run began, unless you give {again}")
    try:
        source = order.source if given is None else {**order.source, "name_or_path": given}
        return load_company(**source, tools=tools), ""
    except ConfigError as error:
        raise ConfigError(f"the company of the run cannot be loaded any more:\n{error}\n`--as-it-was` takes it as it "
                          "was when the run began") from error


# Forms of a journal's records, which may be damaged or a stranger's.

_DEEPEST = 150  # levels: those of a value, and of the record around it
_OWN_KINDS: Mapping[str, Mapping[str, Any]] = {
    "Order": {"company": str, "source": dict, "inputs": dict, "images": dict, "software": dict, "values": dict,
              "options": dict, "profiles": list},
    "Message": {"hash": str, "message": dict},
    "Activity": {"place": str, "digest": str, "request": dict, "result": dict},
}


def run_records(journal: Path) -> Iterator[dict[str, Any]]:
    """The records of a run's journal, in order. Raises JournalError for what is no journal of a run, or damaged."""
    for number, record in enumerate(read_journal(journal), start=1):
        check_line(record, journal, number)
        yield record


def check_line(record: Mapping[str, Any], journal: Path, number: int) -> Finished | None:
    """The activity in a line of the journal. Raises JournalError when the record lacks what belongs to it."""
    try:
        return check_record(record)
    except (KeyError, TypeError, ValueError) as error:
        raise JournalError(f"{journal}, line {number}: the record ({record['kind']!r:.40}) lacks what belongs to it "
                           f"({error!s:.200}); the journal is damaged") from error


def check_record(record: Mapping[str, Any]) -> Finished | None:
    """The activity of a record that is one. Raises KeyError, TypeError, ValueError or JournalError when a field is
    missing, or holds another kind of value."""
    check_depth(record, _DEEPEST)
    kind = record["kind"]
    if kind in KINDS:
        check_fields(KINDS[kind], record)
    for name, hint in _OWN_KINDS.get(kind, {}).items():
        _check_field(record, name, _test_of(hint))
    return _activity(record) if kind == "Activity" else None


def check_fields(form: type, record: Mapping[str, Any]) -> None:
    """Raise KeyError or TypeError unless `record` holds what the dataclass `form` declares; what has a default may be
    missing."""
    for name, (fits, required) in _fields(form).items():
        if required or name in record:
            _check_field(record, name, fits)


def _check_field(record: Mapping[str, Any], name: str, fits: Callable[[Any], bool]) -> None:
    if not fits(record[name]):
        raise TypeError(f"{name}: {record[name]!r:.80}")


def _activity(record: Mapping[str, Any]) -> Finished:
    """Of a model's reply it must be known who was asked what: that is counted and compared."""
    request, result = record["request"], result_from_json(record["result"])
    if isinstance(result, Replied):
        model, messages = request["sampling"]["model"], request["messages"]
        if not (isinstance(model, str) and _test_of(tuple[str, ...])(messages)):
            raise TypeError(f"request: {request!r:.80}")
    return Finished(record["digest"], request, result)


@functools.cache
def _fields(form: type) -> Mapping[str, tuple[Callable[[Any], bool], bool]]:
    """The test of each field's type, and whether it has no default."""
    hints = typing.get_type_hints(form)
    return {field.name: (_test_of(hints[field.name]), field.default is field.default_factory is dataclasses.MISSING)
            for field in dataclasses.fields(form)}


@functools.cache
def _test_of(hint: Any) -> Callable[[Any], bool]:
    """Says of a JSON value whether it is of this type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in (int, float):
        return lambda value: is_amount(value) and isinstance(value, int | hint)
    return _generic_test(origin, inner) if origin else lambda value: isinstance(value, hint)


def _generic_test(origin: Any, inner: Sequence[Any]) -> Callable[[Any], bool]:
    """The same for a type with others in its brackets."""
    if origin is Literal:
        return lambda value: isinstance(value, str)  # later versions may know more words
    tests = [_test_of(one) for one in inner if one is not ...]
    if origin is tuple:
        return lambda value: isinstance(value, list) and all(map(tests[0], value))
    if origin is dict:
        return lambda value: isinstance(value, dict) and all(map(tests[1], value.values()))
    return lambda value: any(test(value) for test in tests)  # a union


# What a session takes over from an earlier one.

RESTORED_OPTIONS = ("model", "provider", "base_url", "sandbox", "language", "install", "runtime")
"""The options that an order keeps."""
LIMITS: Mapping[str, Any] = {"max_cost": int | float, "max_tokens": int, "max_calls": int, "max_minutes": int | float}
"""The budget of a run, which an order keeps, too, and the types of its parts."""
_ADDRESSES = (URL_VARIABLE, "AZURE_OPENAI_ENDPOINT")
_DEFAULT_SANDBOX = "bubblewrap"


class Restored(NamedTuple):
    """The options of a session, and what the user is told of those that are not as they were."""

    options: RunOptions
    notes: tuple[str, ...] = ()


def restore_options(recorded: Mapping[str, Any], given: RunOptions, user: UserSettings, *,
                    keep_budget: bool = True) -> Restored:
    """The options as given now, and what the record may add to them. Raises ConfigError where the record names an
    address or a file that only the user can name."""
    runtime, withheld = _runtime(recorded.get("runtime"), given, user)
    limits = {name: recorded[name] for name in LIMITS
              if keep_budget and recorded.get(name) is not None and getattr(given, name) is None}
    notes = (_other_sandbox(recorded.get("sandbox"), given, user), withheld, _describe_limits(limits))
    options = replace(given, **limits, model=given.model or _model(recorded, given, user),
                      provider=_provider(recorded, given, user), base_url=_address(recorded, given, user),
                      language=given.language or recorded.get("language"),
                      install=given.install or _install(recorded.get("install"), user), runtime=runtime)
    return Restored(options, tuple(note for note in notes if note))


def _describe_limits(limits: Mapping[str, Any]) -> str:
    """That the budget is the one of before, and how to give another; empty without one."""
    if not limits:
        return ""
    kept = describe_budget(Limits(**{name.removeprefix("max_"): value for name, value in limits.items()}))
    others = " or ".join(f"--{name.replace('_', '-')} N" for name in limits)
    return f"the run keeps its budget of {kept}; {others} gives another one, --no-budget none"


def _other_sandbox(recorded: str | None, given: RunOptions, user: UserSettings) -> str:
    """That the sandbox is another one; empty where it is the same, or was chosen just now."""
    now = user.sandbox or _DEFAULT_SANDBOX
    if given.sandbox or recorded in (None, now):
        return ""
    return (f"the run had `--sandbox {recorded}`, which a record cannot decide: its programs now run in {now!r}, "
            f"unless you give --sandbox {recorded} again")


def _runtime(recorded: str | None, given: RunOptions, user: UserSettings) -> tuple[str | None, str]:
    """The runtime, and why the one on record is not taken."""
    if given.runtime or recorded is None:
        return given.runtime, ""
    if user.install in (None, "auto"):
        return recorded, ""
    return None, (f"the run had `--runtime {recorded}`, and your settings say `install: {user.install}`; give "
                  f"--runtime {recorded} again to have its packages")


def _install(recorded: str | None, user: UserSettings) -> Any:
    """The stricter of what the record and the user's settings say."""
    if recorded is None:
        return None
    if recorded not in POLICIES:
        raise ConfigError(f"the journal says `install: {recorded}`; known are: {', '.join(POLICIES)}; give --install")
    return strictest_policy(recorded, user.install)


def _model(recorded: Mapping[str, Any], given: RunOptions, user: UserSettings) -> str | None:
    """The model's name. Raises ConfigError for a file, or a provider in the name, that the user's own settings do not
    name."""
    name: str | None = recorded.get("model")
    own = (process_environ().get(MODEL_VARIABLE), user.model)
    place = find_default_model(name, given.base_url, given.provider, user=user)
    if name is not None and place.address is place.provider is None and recorded.get("base_url") is None \
            and recorded.get("provider") is None and name not in own and find_provider(name.partition("/")[0]):
        raise ConfigError(f"the run's model is {name!r}, and a record cannot choose a provider; if prompts and your "
                          f"key may go there, say so: --model {name}")
    if name is not None and name.startswith(f"{LOCAL}:") and name not in own:
        raise ConfigError(f"the run's model is a file, {name.removeprefix(f'{LOCAL}:')!r}, and a record cannot have "
                          f"one read; if you trust this file, say so: --model {name}")
    return name


def _provider(recorded: Mapping[str, Any], given: RunOptions, user: UserSettings) -> str | None:
    """The provider that is asked. Raises ConfigError for one that only the record has."""
    provider: str | None = recorded.get("provider")
    if given.provider or given.base_url or given.own_model is not None or provider in (None, user.provider):
        return given.provider
    raise ConfigError(f"the run asked the provider {provider!r}, which its journal says and your own settings do not. "
                      f"Prompts and your key would go there: if that is right, give --provider {provider}; else give "
                      "another one, or an address")


def _address(recorded: Mapping[str, Any], given: RunOptions, user: UserSettings) -> str | None:
    """The address that is asked. Raises ConfigError for one that only the record has."""
    address: str | None = recorded.get("base_url")
    if given.base_url or given.provider or address is None or given.own_model is not None:
        return given.base_url
    environment = process_environ()
    if address in (*(environment.get(name) for name in _ADDRESSES), user.base_url):
        return address
    shown = without_user(address.replace(PLACEHOLDER, "secret"))
    again = "--base-url with its password" if PLACEHOLDER in address else f"--base-url {shown}"
    raise ConfigError(f"the run asked the model at {shown}, which its journal says and your own settings do not "
                      f"({URL_VARIABLE}, `base_url` in the settings file). Prompts and your key would go there: if you "
                      f"trust it, give {again}; else give another address")
