"""MATLAB's arrays in Python, as far as programs that build models use them: `matlab.double([30, 30, 60, 60])`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class MatlabArray(list[Any]):
    """A row, or rows of the same length."""

    convert: type = float

    def __init__(self, initializer: Any = (), size: Any = None, is_complex: bool = False) -> None:
        rows = initializer if isinstance(initializer, Iterable) else (initializer,)
        super().__init__(self._row(row) if isinstance(row, Iterable) else type(self).convert(row) for row in rows)
        if len({len(row) if isinstance(row, list) else -1 for row in self}) > 1:
            raise ValueError("initializer must be a rectangular nested sequence")

    def _row(self, row: Iterable[Any]) -> list[Any]:
        return [type(self).convert(value) for value in row]

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        nested = bool(self) and isinstance(self[0], list)
        return (len(self), len(self[0])) if nested else (1, len(self))

    def flat(self) -> list[Any]:
        """All values, row by row."""
        return [value for row in self for value in (row if isinstance(row, list) else [row])]


class double(MatlabArray):
    """Numbers with a point."""


class single(MatlabArray):
    """The same, shorter."""


class logical(MatlabArray):
    """Truths."""

    convert = bool


class int8(MatlabArray):
    """Whole numbers."""

    convert = int


class int16(int8):
    """Whole numbers."""


class int32(int8):
    """Whole numbers."""


class int64(int8):
    """Whole numbers."""


class uint8(int8):
    """Whole numbers."""


class uint16(int8):
    """Whole numbers."""


class uint32(int8):
    """Whole numbers."""


class uint64(int8):
    """Whole numbers."""
