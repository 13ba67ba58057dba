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
    if kind is None or given.keys() - {kind, _FIELDS.get(kind)}:
        return None
    texts = [_text(given[kind]), _text(given.get(_FIELDS.get(kind, ""), ""))]
    text, at = texts
    return Step(kind, text, at) if text is not None and at is not None and (text or kind == "type") else None


def _read_request(given: Mapping[Any, Any]) -> Step | None:
    line = given.get("request", f"{given.get('method', 'GET')} {given.get('path', '')}")
    if given.keys() - {"request", *_ANSWER} or not isinstance(line, str):
        return None
    method, _, path = line.strip().partition(" ")
    if method.startswith("/"):
        method, path = str(given.get("method", "GET")), method
    status, form, shows = given.get("status"), given.get("form"), given.get("shows", [])
    texts = [shows] if isinstance(shows, str) else shows
    if method.upper() not in _METHODS or not _is_path(path := path.strip()) or not isinstance(texts, list):
        return None
    if not (status is None or (type(status) is int and 100 <= status <= 599)) or not isinstance(form, Mapping | None):
        return None
    kept = tuple(str(text)[:_LONGEST] for text in texts if str(text).strip())
    fields = None if form is None else {str(name): str(text) for name, text in form.items()}
    return Step("request", f"{method.upper()} {path}", "", given.get("body"), fields, status, kept)


def _is_path(path: str) -> bool:
    return path.startswith("/") and len(path) <= _LONGEST and path.isprintable() and " " not in path


def _text(value: object) -> str | None:
    """A text or a number as a user reads it."""
    if isinstance(value, str) and len(value) <= _LONGEST:
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
