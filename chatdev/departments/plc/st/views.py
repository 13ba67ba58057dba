"""Other views of a variable: `bits AT word : ARRAY[0..15] OF BOOL`, as in a block with standard access of TIA Portal.

On controllers of Siemens the first byte of a number is its highest one ("Overlaying tags with AT", STEP 7 V17): element
0 of that array is bit 0 of that byte, which is bit 8 of the word. A part whose index is a number is so a part of the
variable; of others nothing is known, and a write to one may change any variable.
"""

from __future__ import annotations

from chatdev.departments.plc.st.core import Array, Bit, Place, Record, Scalar, Type, Variable
from chatdev.departments.plc.st.functions import SCALARS

_PARTS = tuple(SCALARS[name] for name in ("bool", "byte", "word", "dword"))


def find_part(view: Type, step: int | str, over: Variable) -> Bit | Place | None:
    """The part of a variable that an element or a member of a view of it is; nothing where that is not known."""
    if not isinstance(over.type, Scalar) or over.type.kind not in ("bits", "int") or over.type.low is not None:
        return None
    position, part = _locate(view, step)
    if part is None or part.bits > over.type.bits:
        return None
    place = Place(over.name, (), over.type)
    if part.bits == over.type.bits and part == over.type:
        return place if position == 0 else None
    first = _first_bit(position, part, over.type.bits)
    return Bit(place, first, part) if first is not None else None


def _locate(view: Type, step: int | str) -> tuple[int, Scalar | None]:
    """The how manieth part it is of parts of one type, and that type."""
    types: tuple[Type, ...]
    if isinstance(view, Array):
        position, types = int(step) - view.low, (view.element,)
    elif isinstance(view, Record):
        names = [part.name for part in view.fields]
        position, types = names.index(str(step)) if step in names else -1, tuple(one.type for one in view.fields)
    else:
        return 0, None
    first = types[0] if types else None
    is_known = isinstance(first, Scalar) and all(one == first for one in types) and first in _PARTS and position >= 0
    return position, first if is_known else None  # type: ignore[return-value]  # it is a Scalar then


def _first_bit(position: int, part: Scalar, bits: int) -> int | None:
    """The lowest bit of a part within a number of so many bits; nothing behind its end."""
    if part.kind == "bool":
        byte, bit = divmod(position, 8)
        first = bits - 8 * (byte + 1) + bit
    else:
        first = bits - part.bits * (position + 1)
    return first if first >= 0 else None
