"""The steps of somebody who uses software that is not typed: what a model wrote of them, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

StepKind = Literal["press", "type", "choose", "reads", "title", "open", "request"]
"""`request` is made of a service, `open` leads to another page of one, and all others are done in a window or page."""
MOST_STEPS = 30
_LONGEST = 2000  # characters of one text
_FIELDS = {"type": "into", "choose": "from"}
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_ANSWER = ("method", "path", "body", "form", "status", "shows")


@dataclass(frozen=True, slots=True)
class Step:
    """What is done, with the label of the field it is done to (`at`), or what must then be seen. `request` has the
    method and path as its `text`; of its answer, `status` and `shows` must hold."""

    kind: StepKind
    text: str
    at: str = ""
    body: Any = None
    form: Mapping[str, str] | None = None
    status: int | None = None
    shows: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether it does something, and does not only look."""
        return self.kind in ("press", "type", "choose", "request")

    def to_dict(self) -> dict[str, Any]:
        """As a driver reads it."""
        return asdict(self)


def read_steps(value: object) -> tuple[Step, ...] | None:
    """The steps of a JSON value, `[{press: label}, {type: text, into: label}, {reads: text}, {request: "GET /"}, …]`;
    None when one of them is none, or there are too many."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_STEPS:
        return None
    steps = [_read_step(one) for one in value]
    whole = tuple(step for step in steps if step is not None)
    return whole if len(whole) == len(steps) else None


def _read_step(value: object) -> Step | None:
    if not isinstance(value, Mapping):
        return None
    given = {key: part for key, part in value.items() if part is not None}
    if "request" in given or "path" in given:
        return _read_request(given)
    kind: StepKind | None = next((kind for kind in get_args(StepKind) if kind in given), None)
    return _read_act(kind, given) if kind and not given.keys() - {kind, _FIELDS.get(kind)} else None


def _read_act(kind: StepKind, given: Mapping[Any, Any]) -> Step | None:
    text, at = _text(given[kind]), _text(given.get(_FIELDS.get(kind, ""), ""))
    if text is None or at is None:
        return None
    return Step(kind, text, at) if text or kind == "type" else None


def _read_request(given: Mapping[Any, Any]) -> Step | None:
    line, status, form = _request_line(given), given.get("status"), given.get("form")
    if line is None or given.keys() - {"request", *_ANSWER} or not isinstance(form, Mapping | None):
        return None
    shows = given.get("shows", [])
    texts = [shows] if isinstance(shows, str) else shows
    if not isinstance(texts, list) or not (status is None or _is_status(status)):
        return None
    fields = None if form is None else {str(name): str(text) for name, text in form.items()}
    return Step("request", line, "", given.get("body"), fields, status, _whole_texts(texts))


def _is_status(value: object) -> bool:
    return type(value) is int and 100 <= value <= 599


def _whole_texts(values: list[Any]) -> tuple[str, ...]:
    return tuple(text[:_LONGEST] for text in map(str, values) if text.strip())


def _request_line(given: Mapping[Any, Any]) -> str | None:
    """Method and path, `GET /`."""
    line = given.get("request", given.get("path"))
    if not isinstance(line, str):
        return None
    first, _, path = line.strip().partition(" ")
    method, path = (str(given.get("method", "GET")), first) if first.startswith("/") else (first, path.strip())
    return f"{method.upper()} {path}" if method.upper() in _METHODS and _is_path(path) else None


def _is_path(path: str) -> bool:
    return path.startswith("/") and len(path) <= _LONGEST and path.isprintable() and " " not in path


def _text(value: object) -> str | None:
    """A text or a number as a user reads it."""
    if isinstance(value, str) and len(value) <= _LONGEST:
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
