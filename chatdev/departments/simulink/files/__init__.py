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


def read_model(path: Path, form: str = "") -> ModelFile:
    """The model in a file, of a form (`.mdl`) if its ending does not say that. Raises ConfigError, which names the
    file, the place and the fix."""
    return _choose(_READERS, path, "read", form)(path)


def write_model(model: ModelFile, path: Path, form: str = "") -> tuple[str, ...]:
    """Write a model in a form, that of the file's ending if none is given; what is to be known of the file. Raises
    ConfigError, WorkspaceError."""
    content, notes = _choose(_WRITERS, path, "write", form)(model)
    with explain_os_errors("write", path):
        path.write_bytes(content)
    return notes


def _choose(by_ending: dict[str, _Coder], path: Path, verb: str, form: str) -> _Coder:
    ending = form or path.suffix.lower()
    try:
        return by_ending[ending]
    except KeyError:
        raise ConfigError(f"{path}: nothing here can {verb} a {ending or 'file without an ending'}; the endings are "
                          f"{', '.join(by_ending)}") from None


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


# What is imported only when a file asks for it.


def _read_script(path: Path) -> ModelFile:
    from chatdev.departments.simulink.files.matlab_script import read_script

    return ModelFile(*read_script(path))


def _read_program(path: Path) -> ModelFile:
    from chatdev.departments.simulink.files.programs import read_program

    return ModelFile(*read_program(path))


def _read_list(path: Path) -> ModelFile:
    from chatdev.departments.simulink.files.lists import read_list

    return ModelFile(read_list(path))


def _read_unit(path: Path) -> ModelFile:
    raise ConfigError(f"{path}: a .fmu is written, and not read: it has a model's equations, not its blocks; hand in "
                      "the model it was made from")


def _write_script(model: ModelFile) -> tuple[bytes, tuple[str, ...]]:
    from chatdev.departments.simulink.files.programs import write_script

    return write_script(model.diagram).encode(), ()


def _write_program(model: ModelFile) -> tuple[bytes, tuple[str, ...]]:
    from chatdev.departments.simulink.files.programs import write_program

    return write_program(model.diagram).encode(), ("the program ran in the sandbox, and built the model",)


def _write_list(model: ModelFile) -> tuple[bytes, tuple[str, ...]]:
    from chatdev.departments.simulink.files.lists import write_list

    return write_list(model.diagram).encode(), ()


_READERS: dict[str, Callable[[Path], ModelFile]] = {
    ".yaml": _read_text_form, ".yml": _read_text_form, ".slx": _read_simulink, ".mdl": _read_simulink,
    ".m": _read_script, ".py": _read_program, ".json": _read_list, ".fmu": _read_unit}
_WRITERS: dict[str, Callable[[ModelFile], tuple[bytes, tuple[str, ...]]]] = {
    ".yaml": _write_text_form, ".yml": _write_text_form, ".m": _write_script, ".py": _write_program,
    ".json": _write_list, ".slx": _write_slx, ".mdl": _write_mdl}
