"""A model that a program saved in the sandbox: read within limits, believed in nothing, and built anew by the rules."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from chatdev.config.yaml_nodes import StrictModel
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.engine.library import BuildRefused, Library, one_line
from chatdev.departments.simulink.engine.rules import LONGEST_NAME, MOST_BLOCKS, MOST_LINES, BlockDiagram, Socket
from chatdev.errors import WorkspaceError
from chatdev.paths import read_plain
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
    system: _SavedSystem | None = None


class _SavedSystem(StrictModel):
    blocks: Annotated[list[_SavedBlock], Field(max_length=MOST_BLOCKS)]
    lines: Annotated[list[tuple[_Source, _Target]], Field(max_length=MOST_LINES)]
    variables: dict[_Name, str] = Field(default_factory=dict)

    def build(self, model: BlockDiagram, name: str, settings: Mapping[str, str]) -> Diagram:
        """The system, built call by call in an empty one. Raises UnreadableModel, BuildRefused, ValueError."""
        blocks, titles = dict[str, DiagramBlock](), dict[str, str]()
        for block in self.blocks:
            kind = model.library.types.get(block.type)
            if kind is None:
                raise UnreadableModel(f"there is no block type {block.type[:80]!r}")
            added = model.add_block(kind, block.name, block.parameters)
            if added != one_line(block.name):
                raise UnreadableModel(f"no block is called {block.name[:80]!r}")
            inside, own = None, block.parameters
            if block.system is not None:
                model.empty(added)
                inside = block.system.build(model.inside(added), block.name, {})
                variables, own = mask_variables(block.parameters)
                inside = replace(inside, variables={**inside.variables, **variables})
            titles[added] = block.name
            blocks[block.name] = DiagramBlock(block.type, own, block.position, inside)
        for source, target in self.lines:
            _add_line(model, Socket(*source), Socket(*target))
        wires = tuple(Wire(End(titles[source[0]], source[2]), End(titles[target[0]], target[2]))
                      for source, target in self.lines)
        return Diagram(name, blocks, wires, settings=settings, variables=self.variables)


class SavedModel(_SavedSystem):
    """What `save_system` wrote of a system: `refused` are the calls before it that were, `order` grows with each."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}$")]
    settings: dict[_Name, str]
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
        try:
            settings = {name: value for name, value in self.settings.items() if name != DESCRIPTION}
            built = self.build(BlockDiagram(self.name, library, strict=strict), self.name, settings)
            return replace(built, about=self.settings.get(DESCRIPTION, ""))
        except (BuildRefused, ValueError, RecursionError) as error:
            raise UnreadableModel(str(error)[:_LONGEST_REASON]) from None


DESCRIPTION = "Description"
"""The parameter of a model that says what it is for."""
MASK = "MaskInitialization"
"""The parameter of a subsystem in which programs give the variables of its mask, `name = expression;` line by line."""
_STATEMENT = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*(.*?)\s*;?\s*")


def mask_variables(parameters: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The variables of a mask, and the parameters without them; none where its text is more than assignments."""
    found = [_STATEMENT.fullmatch(line) for line in parameters.get(MASK, "").splitlines() if line.strip()]
    if not found or not all(found):
        return {}, dict(parameters)
    rest = {name: value for name, value in parameters.items() if name not in (MASK, "Mask")}
    return {one[1]: one[2] for one in found if one}, rest


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
