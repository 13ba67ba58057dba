"""Starting a run from a form: a process of its own, `chatdev run`, which neither needs the server nor ends with it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from chatdev.config.load import company_folders, load_company
from chatdev.config.schema import Input
from chatdev.errors import ChatDevError, ConfigError
from chatdev.safe_text import sanitize
from chatdev.workspace.snapshot import safe_path

MOST = 20 << 20
"""Bytes of a form with all its files."""
_FILES, _FIELDS = 200, 200
_TEXT = 1 << 20  # bytes of a field
_SECONDS = 60.0  # until a run has its folder
_SAID = 4000  # characters of what a run says that does not begin
_BUDGETS = {"max_cost": "US dollars", "max_minutes": "minutes", "max_calls": "calls", "max_tokens": "tokens"}
_APPROVALS = ("deliveries", "tools")
_AMOUNT = re.compile(r"\d{1,12}(\.\d{1,6})?")
_WORD = re.compile(r"[^\s-]\S{0,199}")


def company_names() -> list[str]:
    """The companies that can be started by name."""
    return [folder.name for folder in company_folders()]


def company_form(name: str) -> dict[str, Any]:
    """What a company asks for. Raises ConfigError."""
    company = load_company(_require_company(name))
    inputs = [{"name": key, "about": spec.about, "kind": spec.kind, "required": spec.required,
               "default": spec.default or ""} for key, spec in company.inputs.items()]
    return {"name": name, "about": company.about, "source": company.source, "inputs": inputs, "most": MOST,
            "roles": [{"name": key, "title": role.title} for key, role in company.roles.items()]}


def _require_company(name: str) -> str:
    if name not in company_names():
        raise ConfigError(f"there is no company {name[:100]!r}; known are {', '.join(company_names())}")
    return name


async def start_run(request: Request, warehouse: Path) -> str:
    """Start the run that a form describes; the name of its folder, once it has one. Raises ConfigError, with what
    `chatdev run` says where it does not begin."""
    async with _with_limit(request).form(max_files=_FILES, max_fields=_FIELDS, max_part_size=_TEXT) as form:
        folder = Path(tempfile.mkdtemp(prefix="chatdev-view-"))
        command = [sys.executable, "-m", "chatdev", "run", "--json", "--wait", f"--warehouse={warehouse}",
                   *await _arguments(form, folder)]
    with (folder / "events.jsonl").open("wb") as out, (folder / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)
    return await _wait_for_folder(process, folder)


def _with_limit(request: Request) -> Request:
    """The request, which is refused as soon as it is too large, whatever it says of its size."""
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        message = await request.receive()
        taken += len(message.get("body", b""))
        if taken > MOST:
            raise ConfigError(f"the form with its files is larger than {MOST >> 20} MiB; give smaller files, or start "
                              "the run with `chatdev run`")
        return message

    return Request(request.scope, receive)


async def _arguments(form: FormData, folder: Path) -> list[str]:
    """The options of `chatdev run`. Values go through files, so that none is an option or names a file itself."""
    company = load_company(_require_company(_text(form, "company")))
    arguments = [f"--company={company.company}"]
    for key, spec in company.inputs.items():
        place = await _keep_input(form, key, spec, folder / f"input-{len(arguments)}")
        if place.exists():
            arguments.append(f"--task=@{place}" if key == "task" else f"--input={key}=@{place}")
        elif spec.required:
            raise ConfigError(f"{key}: is needed: {spec.about or 'write something'}")
    arguments += [f"--human={role}" for role in company.roles if f"human.{role}" in form]
    arguments += [f"--approve={what}" for what in _APPROVALS if f"approve.{what}" in form]
    return [*arguments, *_names(form), *(_budget(form, key) for key in _BUDGETS if _text(form, key))]


async def _keep_input(form: FormData, key: str, spec: Input, place: Path) -> Path:
    """Where the value of an input was put, if there is one."""
    if spec.kind != "text":
        return await _keep_files(form, f"input.{key}", place, many=spec.kind == "files")
    if text := _text(form, f"input.{key}"):
        place.write_text(text, encoding="utf-8")
    return place


def _names(form: FormData) -> Iterator[str]:
    if name := _text(form, "name"):
        yield f"--name={name[:200]}"
    if model := _text(form, "model"):
        if not _WORD.fullmatch(model):
            raise ConfigError(f"model: {model[:50]!r} is no name of a model, such as gpt-4o-mini or local")
        yield f"--model={model}"


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def _budget(form: FormData, key: str) -> str:
    value, is_whole = _text(form, key), key in ("max_calls", "max_tokens")
    if not _AMOUNT.fullmatch(value) or float(value) <= 0 or (is_whole and "." in value):
        raise ConfigError(f"{key}: {value[:30]!r} is no number of {_BUDGETS[key]} above 0")
    return f"--{key.replace('_', '-')}={value}"


async def _keep_files(form: FormData, name: str, place: Path, *, many: bool) -> Path:
    """Where the files of a field were put; a picture keeps its ending, by which its kind is known."""
    files = [one for one in form.getlist(name) if isinstance(one, UploadFile) and (one.filename or one.size)]
    if files and not many:
        place = place.with_name(f"{place.name}{Path(files[0].filename or '').suffix[:10]}")
        place.write_bytes(await files[0].read())
    for file in files if many else ():
        target = place / safe_path(file.filename or "file")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(await file.read())
    return place


async def _wait_for_folder(process: subprocess.Popen[bytes], folder: Path) -> str:
    begun = time.monotonic()
    while time.monotonic() - begun < _SECONDS:
        ended = process.poll() is not None
        for line in (folder / "events.jsonl").read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n") and b'"RunStarted"' in line:
                return Path(json.loads(line)["folder"]).name
        if ended:
            said = (folder / "errors.txt").read_text(encoding="utf-8", errors="replace").strip()
            raise ConfigError(sanitize(said.removeprefix("error: ")[-_SAID:]) or
                              f"`chatdev run` ended with status {process.returncode} and said nothing")
        await asyncio.sleep(0.1)
    raise ConfigError(f"the run has not begun after {_SECONDS:.0f} s; what it says is in {folder}")


async def answer_start(request: Request, warehouse: Path) -> dict[str, str]:
    """The same as an answer. Raises ConfigError, also for a form that cannot be read."""
    try:
        return {"run": await start_run(request, warehouse)}
    except HTTPException as error:
        raise ConfigError(f"the form cannot be read: {error.detail}") from error
    except ChatDevError:
        raise
    except OSError as error:
        raise ConfigError(f"the files of the form cannot be kept: {error.strerror}") from error
