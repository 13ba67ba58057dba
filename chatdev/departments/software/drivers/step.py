"""The steps of somebody who uses software that is not typed, and what its driver saw of them: what a model or a program
wrote, read strictly; and pictures of what programs show, read as strange files."""

from __future__ import annotations

import json
import os
import secrets
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatdev.errors import ChatDevError
from chatdev.paths import open_plain
from chatdev.sandbox.base import BOX, Execution, Sandbox, SandboxJob
from chatdev.workspace.file_tree import require_folder, write_file

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


# Software that is driven by steps in the sandbox: what is put beside it, and what its driver saw, read strictly.

FOLDER = ".driven"
"""Where a driver lies, in the copy of the software."""
VISIT = ("-P", "-m", "chatdev.departments.software.drivers.visit")
"""What follows the interpreter to use a page or a service."""
_SCRIPTS = ("texts", "window", "visit")
_HERE = Path(__file__).parent
_PACKAGE = "/".join((FOLDER, *__package__.split(".")))
_BEGIN = f"from {__package__}.window import begin\nbegin()\n"
_SECONDS, _SECONDS_FOR_STEP = 15.0, 3.0
_MOST_TOLD = 1 << 20
_MOST_PICTURE = 8 << 20


class StepSeen(BaseModel):
    """How a step went: what is wrong, empty where nothing is; what there was to read then; and whether it is `new`, not
    shown before the first step."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    problem: str = Field(max_length=2000)
    seen: str = Field(max_length=2000)
    new: bool


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    nonce: str
    begun: bool
    ended: bool
    steps: list[StepSeen] = Field(max_length=100)
    names: list[str] = Field(max_length=400)
    seen: str = Field(max_length=2000)
    trouble: str = Field(max_length=2000)


@dataclass(frozen=True, slots=True)
class Driven:
    """How software was used: each step that was tried, the labels of what could be pressed then, and a picture (PNG) of
    it. `trouble` says why nothing could be tried, or what it died of; `stderr` is what it wrote."""

    steps: tuple[StepSeen, ...]
    names: tuple[str, ...] = ()
    picture: bytes | None = None
    trouble: str = ""
    stderr: str = ""
    seen: str = ""


def drive(sandbox: Sandbox, job: SandboxJob, steps: Sequence[Step], *, page: str = "", program: Sequence[str] = (),
          browser: Sequence[str] = (), seconds: float = 0) -> Driven:
    """Run `job`, which starts a driver, with these steps; `page`, `program` and `browser` are what `visit` uses. It has
    `seconds`, by default as many as its steps may take."""
    nonce = secrets.token_hex(8)
    task = {"nonce": nonce, "steps": [step.to_dict() for step in steps], "page": page, "program": list(program),
            "browser": list(browser)}
    write_file(job.folder, f"{FOLDER}/task.json", json.dumps(task).encode())
    write_file(job.folder, f"{FOLDER}/sitecustomize.py", b"" if page or program else _BEGIN.encode())
    for name in _SCRIPTS:
        write_file(job.folder, f"{_PACKAGE}/{name}.py", (_HERE / f"{name}.py").read_bytes())
    here = str(job.folder.resolve()) if sandbox.name == "none" else BOX
    env = {**job.env, "PYTHONPATH": f"{here}/{FOLDER}", "DRIVEN": f"{here}/{FOLDER}"}
    limits = replace(job.limits, seconds=seconds or _SECONDS + _SECONDS_FOR_STEP * len(steps))
    execution = sandbox.run(replace(job, env=env, limits=limits))
    return read_driven(job.folder, nonce, steps, execution)


def read_driven(folder: Path, nonce: str, steps: Sequence[Step], execution: Execution) -> Driven:
    """What the driver left in `folder`."""
    picture = _picture(folder)
    try:
        told = _Told.model_validate_json(_read(folder, "told.json", _MOST_TOLD))
    except (OSError, ChatDevError, ValidationError):
        return Driven((), picture=picture, trouble=_ending(execution), stderr=execution.stderr)
    if told.nonce != nonce or len(told.steps) > len(steps):
        return Driven((), picture=picture, trouble="its driver was disturbed", stderr=execution.stderr)
    is_whole = told.ended or len(told.steps) == len(steps)
    trouble = told.trouble or ("" if is_whole else _ending(execution))
    return Driven(tuple(told.steps), tuple(told.names), picture, trouble, execution.stderr, told.seen)


def _ending(execution: Execution) -> str:
    if execution.exceeded:
        return f"it took too much {execution.exceeded}"
    return "it does not answer any more" if execution.timed_out else "it has ended"


def _picture(folder: Path) -> bytes | None:
    for name, convert in (("screen.png", plain_png), ("screen.xwd", png_of_display), ("Xvfb_screen0", png_of_display)):
        try:
            found = convert(_read(folder, name, _MOST_PICTURE))
        except (OSError, ChatDevError):
            continue
        if found:
            return found
    return None


def _read(folder: Path, name: str, most: int) -> bytes:
    """The content of a file of the driver's. Raises OSError and WorkspaceError: it may be anything of the program's."""
    require_folder(folder / FOLDER)
    with os.fdopen(open_plain(folder / FOLDER / name), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"{name} is too long")
    return content


# Pictures of what programs show: the memory of a virtual display, and the PNG of a browser, read as strange files.

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEPT = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}
_MOST = 4 << 20  # bytes of a picture
_MOST_PIXELS = 4096  # wide and high
_XWD, _HEADER = 7, 25  # the version of the format (X11/XWDFile.h), and the numbers in its header


def png_of_display(data: bytes) -> bytes | None:
    """The PNG of an X window dump of 32 bits a pixel (what `Xvfb -fbdir` keeps), without the black around what is
    shown; None where it is no such dump, or all black."""
    rows = _rows_of_display(data)
    shown = [y for y, row in enumerate(rows) if row.strip(b"\0")]
    if not shown:
        return None
    rows = rows[shown[0]:shown[-1] + 1]
    left = min((len(row) - len(row.lstrip(b"\0"))) // 3 for row in rows)
    right = max(-(-len(row.rstrip(b"\0")) // 3) for row in rows)
    return _png(right - left, [row[3 * left:3 * right] for row in rows])


def _rows_of_display(data: bytes) -> list[bytes]:
    """The rows of a dump, three bytes a pixel; none where it is no such dump."""
    if len(data) < 4 * _HEADER:
        return []
    header = struct.unpack(f">{_HEADER}I", data[:4 * _HEADER])
    size, version, width, height, bits, stride, colours = (header[place] for place in (0, 1, 4, 5, 11, 12, 19))
    start = size + 12 * colours
    is_sane = 0 < width <= _MOST_PIXELS and 0 < height <= _MOST_PIXELS and stride >= 4 * width
    if version != _XWD or bits != 32 or not is_sane or len(data) < start + stride * height:
        return []
    return [_colours(data[start + y * stride:start + y * stride + 4 * width]) for y in range(height)]


def _colours(row: bytes) -> bytes:
    """Red, green and blue of pixels in the order of a display: blue, green, red, nothing."""
    found = bytearray(len(row) // 4 * 3)
    found[0::3], found[1::3], found[2::3] = row[2::4], row[1::4], row[0::4]
    return bytes(found)


def _png(width: int, rows: list[bytes]) -> bytes:
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return _SIGNATURE + b"".join(_chunk(*part) for part in ((b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def plain_png(data: bytes) -> bytes | None:
    """The picture alone of a PNG, without what else such a file may hold; None where it is none."""
    if len(data) > _MOST or not data.startswith(_SIGNATURE):
        return None
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if not {b"IHDR", b"IDAT", b"IEND"} <= {*kinds} or not _is_head(*chunks[0]):
        return None
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks if kind in _KEPT)


def _is_head(kind: bytes, content: bytes) -> bool:
    return kind == b"IHDR" and len(content) == 13 and all(
        0 < side <= _MOST_PIXELS for side in struct.unpack(">II", content[:8]))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each whole chunk, up to the end of the picture."""
    place = len(_SIGNATURE)
    while place + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        content = data[place + 8:place + 8 + length]
        place += 12 + length
        if place > len(data):
            return
        yield kind, content
        if kind == b"IEND":
            return
