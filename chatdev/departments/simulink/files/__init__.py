"""Models as files of any kind, read and written by their endings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chatdev.departments.simulink.diagram import Diagram
from chatdev.errors import ConfigError
from chatdev.workspace.file_tree import explain_os_errors

_Coder = TypeVar("_Coder")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model and what else its file holds.

    `notes` names once, with counts, what was not understood; `source` is all that the file holds, so that a change of
    the model writes the rest back untouched.
    """

    diagram: Diagram
    notes: tuple[str, ...] = ()
    source: object = None


def read_model(path: Path) -> ModelFile:
    """The model in a file. Raises ConfigError, which names the file, the place and the fix."""
    return _choose(_READERS, path, "read")(path)


def write_model(model: ModelFile, path: Path) -> tuple[str, ...]:
    """Write a model in the form of the file's ending; what is to be known of the file. Raises ConfigError,
    WorkspaceError."""
    content, notes = _choose(_WRITERS, path, "write")(model)
    with explain_os_errors("write", path):
        path.write_bytes(content)
    return notes


def _choose(by_ending: dict[str, _Coder], path: Path, verb: str) -> _Coder:
    try:
        return by_ending[path.suffix.lower()]
    except KeyError:
        raise ConfigError(f"{path}: nothing here can {verb} a {path.suffix or 'file without an ending'}; the endings "
                          f"are {', '.join(by_ending)}") from None


def _read_text_form(path: Path) -> ModelFile:
    return ModelFile(Diagram.read(path))


def _read_simulink(path: Path) -> ModelFile:
    from chatdev.departments.simulink.files.reader import read_file

    return ModelFile(*read_file(path))


def _write_slx(model: ModelFile) -> tuple[bytes, tuple[str, ...]]:
    from chatdev.departments.simulink.files.writer import write_file

    return write_file(model.diagram, model.source, ".slx")


def _write_mdl(model: ModelFile) -> tuple[bytes, tuple[str, ...]]:
    from chatdev.departments.simulink.files.writer import write_file

    return write_file(model.diagram, model.source, ".mdl")


def _write_text_form(model: ModelFile) -> tuple[bytes, tuple[str, ...]]:
    return model.diagram.text().encode(), ()


_READERS: dict[str, Callable[[Path], ModelFile]] = {".yaml": _read_text_form, ".yml": _read_text_form,
                                                    ".slx": _read_simulink, ".mdl": _read_simulink}
_WRITERS: dict[str, Callable[[ModelFile], tuple[bytes, tuple[str, ...]]]] = {
    ".yaml": _write_text_form, ".yml": _write_text_form,
    ".slx": _write_slx, ".mdl": _write_mdl}
