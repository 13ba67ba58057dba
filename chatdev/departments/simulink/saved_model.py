"""A model that a program saved in the sandbox: read within limits, believed in nothing, and built anew by the rules."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from chatdev.config.yaml_nodes import StrictModel
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.engine.library import BuildRefused, Library
from chatdev.departments.simulink.engine.rules import LONGEST_NAME, MOST_BLOCKS, MOST_LINES, BlockDiagram, Socket
from chatdev.errors import WorkspaceError
from chatdev.plain_file import read_plain
from chatdev.workspace.file_tree import require_folder

_FOLDER = "saved"
_MOST_FILES = 50
_LARGEST = 8 << 20  # bytes of a file
_LONGEST_REASON = 500

_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
_Pixel = Annotated[int, Field(ge=-32767, le=32767)]
_Source = tuple[_Name, Literal["", "out"], _Name]
_Target = tuple[_Name, Literal["", "in"], _Name]


class UnreadableModel(ValueError):
    """What was saved is no model that the stand-in writes."""


class _SavedBlock(StrictModel):
    name: _Name
    type: _Name
    parameters: dict[_Name, str]
    position: tuple[_Pixel, _Pixel, _Pixel, _Pixel] | None


class SavedModel(StrictModel):
    """What `save_system` wrote of a system: `refused` are the calls before it that were, `order` grows with each."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}$")]
    settings: dict[_Name, str]
    blocks: Annotated[list[_SavedBlock], Field(max_length=MOST_BLOCKS)]
    lines: Annotated[list[tuple[_Source, _Target]], Field(max_length=MOST_LINES)]
    refused: Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=50)]
    order: int

    @classmethod
    def read(cls, content: str | bytes) -> Self:
        """The model of a JSON text. Raises UnreadableModel, which names the field."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise UnreadableModel(f"{'.'.join(map(str, first['loc']))[:100]}: {first['msg'][:300]}") from None

    def rebuild(self, library: Library, *, strict: bool) -> Diagram:
        """The model, built call by call. Raises UnreadableModel where the calls cannot have built it."""
        model = BlockDiagram(self.name, library, strict=strict)
        try:
            for block in self.blocks:
                self._add_block(model, block)
            for source, target in self.lines:
                _add_line(model, Socket(*source), Socket(*target))
            blocks = {block.name: DiagramBlock(block.type, block.parameters, block.position) for block in self.blocks}
            wires = tuple(Wire(End(source[0], source[2]), End(target[0], target[2])) for source, target in self.lines)
            return Diagram(self.name, blocks, wires)
        except (BuildRefused, ValueError) as error:
            raise UnreadableModel(str(error)[:_LONGEST_REASON]) from None

    def _add_block(self, model: BlockDiagram, block: _SavedBlock) -> None:
        kind = model.library.types.get(block.type)
        if kind is None:
            raise UnreadableModel(f"there is no block type {block.type[:80]!r}")
        if model.add_block(kind, block.name, block.parameters) != block.name:
            raise UnreadableModel(f"no block is called {block.name[:80]!r}")


def _add_line(model: BlockDiagram, source: Socket, target: Socket) -> None:
    if any(end.block not in model.blocks or end.key not in model.blocks[end.block].ports for end in (source, target)):
        raise UnreadableModel(f"there are no ports for a line from {str(source)[:80]!r} to {str(target)[:80]!r}")
    model.add_line(source, target)


def last_saved(folder: Path) -> SavedModel | None:
    """The model that was saved last below the stand-in's folder, if any was. Raises UnreadableModel."""
    try:
        require_folder(folder)
        if not os.path.lexists(folder / _FOLDER):
            return None
        require_folder(folder / _FOLDER)
        paths = sorted(path for path in (folder / _FOLDER).iterdir() if path.suffix == ".json")
        if len(paths) > _MOST_FILES:
            raise UnreadableModel(f"{len(paths)} models")
        models = [SavedModel.read(read_plain(path, _LARGEST)) for path in paths]
    except (OSError, WorkspaceError) as error:
        raise UnreadableModel(str(error)[:_LONGEST_REASON]) from None
    return max(models, key=lambda model: model.order, default=None)
