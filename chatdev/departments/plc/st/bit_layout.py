"""Where the bits of a value lie in memory, by dialect.

CODESYS and TwinCAT: the first byte of a number is its lowest one, a BOOL takes a byte, numbers lie in an array one
behind another, and parts of a structure behind each other where alignment leaves no holes (CODESYS Development System,
"Structure", attribute pack_mode). TIA Portal, standard access: the first byte of a number is its highest one, BOOLs lie
in the bits of a byte, words, arrays and structures begin at an even byte ("Overlaying tags with AT", STEP 7 V17). The
standard leaves all of that open: there only what has one place and size is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.st.core import Array, Constant, Expression, Field, Record, Scalar, Type, Value
from chatdev.departments.plc.st.functions import DINT, bits_of_real, keep_bits, real_of_bits

MOST_LEAVES = 256
"""So many scalars may lie in one memory."""
_BOOL_IN_BYTE = ("codesys", "twincat")


class NoLayout(Exception):
    """It is not known where the bits lie; the text says of what."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar in a value: the way to it, its type, the first of its bits in memory (8 times the byte, and the bit in
    it), and how many it takes. `outer` is the way without what lies within a UNION."""

    steps: tuple[str | Expression, ...]
    type: Scalar
    first: int
    size: int
    outer: tuple[str | Expression, ...]

    @property
    def end(self) -> int:
        """The first bit behind it."""
        return self.first + self.size


@dataclass(frozen=True, slots=True)
class Layout:
    """The rules of a dialect."""

    dialect: str
    is_packed: bool = False

    @property
    def is_little(self) -> bool:
        """Whether the first byte of a number is its lowest one."""
        return self.dialect != "siemens"

    def number(self, leaf: Leaf, position: int) -> int:
        """The number of the bit of a leaf that lies at a position in memory."""
        byte, bit = divmod(position - leaf.first, 8)
        return 8 * (byte if self.is_little or leaf.size < 8 else leaf.size // 8 - 1 - byte) + bit

    def place(self, type_: Type, first: int, steps: tuple[str | Expression, ...] = (), is_bit: bool = False,
              every: bool = False) -> Iterator[Leaf]:
        """The scalars of a value whose first bit is `first`; of a UNION in it those of its widest part, or of `every`
        part. Raises NoLayout."""
        if isinstance(type_, Scalar):
            yield Leaf(steps, type_, first, self.size(type_, is_bit), steps)
        elif isinstance(type_, Array):
            if type_.high - type_.low >= MOST_LEAVES:
                raise NoLayout(f"more than {MOST_LEAVES} values in one memory")
            stride = self._stride(type_)
            for index in range(type_.low, type_.high + 1):
                at = first + (index - type_.low) * stride
                yield from self.place(type_.element, at, (*steps, Constant(index, DINT)), every=every)
        elif type_.is_union:
            parts = type_.fields if every else (self.widest(type_),)
            for field in parts:
                for leaf in self.place(field.type, first, (*steps, field.name), field.is_bit, every):
                    yield Leaf(leaf.steps, leaf.type, leaf.first, leaf.size, steps)
        else:
            for name, part, at, is_bit_ in self._parts(type_):
                yield from self.place(part, first + at, (*steps, name), is_bit_, every)

    def size(self, type_: Type, is_bit: bool = False) -> int:
        """How many bits a value takes. Raises NoLayout."""
        if isinstance(type_, Array):
            length = (type_.high - type_.low + 1) * self._stride(type_)
            return _round_up(length, 16) if self.dialect == "siemens" else length
        if isinstance(type_, Record):
            return self._size_of_record(type_)
        if type_.kind == "bool":
            return 8 if self.dialect in _BOOL_IN_BYTE and not is_bit else 1
        if type_.kind not in ("int", "bits", "real", "time") or type_.low is not None:
            raise NoLayout(f"the type {type_.name}")
        return type_.bits

    def _size_of_record(self, record: Record) -> int:
        if record.block:
            raise NoLayout("the data of a function block")
        if record.is_union:
            return _round_up(max(self.size(part.type) for part in record.fields), self._step(record))
        ends = [at + self.size(part, is_bit) for _, part, at, is_bit in self._parts(record)]
        return _round_up(max(ends, default=0), self._step(record))

    def _parts(self, record: Record) -> Iterator[tuple[str, Type, int, bool]]:
        """The parts of a structure with their first bits."""
        if record.block:
            raise NoLayout("the data of a function block")
        if self.dialect == "iec" and len(record.fields) > 1:
            raise NoLayout("where the parts of a structure lie, which the standard leaves open")
        at = 0
        for part in record.fields:
            at = _round_up(at, 1 if part.is_bit else self._step(part.type))
            yield part.name, part.type, at, part.is_bit
            at += self.size(part.type, part.is_bit)

    def _step(self, type_: Type) -> int:
        """At multiples of how many bits a value may begin."""
        if self.dialect == "siemens":
            return 16 if not isinstance(type_, Scalar) else min(self.size(type_), 16)
        if self.is_packed:
            return 8
        if isinstance(type_, Array):
            return self._step(type_.element)
        if isinstance(type_, Record):
            return max((8 if part.is_bit else self._step(part.type) for part in type_.fields), default=8)
        return self.size(type_)

    def widest(self, union: Record) -> Field:
        """The part of a UNION that takes most; of several one that tells all patterns of bits, if there is one."""
        return max(union.fields, key=lambda part: (self.size(part.type), is_exact(part.type)))

    def _stride(self, array: Array) -> int:
        if self.dialect == "siemens" and not isinstance(array.element, Scalar):
            return _round_up(self.size(array.element), 16)
        return self.size(array.element)



@dataclass(frozen=True, slots=True)
class Window:
    """A value at the end of a way into a variable, and the bit of a memory where it begins."""

    root: str
    steps: tuple[str | Expression, ...]
    type: Type
    first: int = 0
    is_bit: bool = False

    def leaves(self, dialect: str, every: bool = False) -> list[Leaf]:
        """The scalars of it, of a UNION in it those of its widest part, or of `every` part. Raises NoLayout, also where
        it depends on how the parts of a structure are aligned."""
        found = self._leaves(Layout(dialect), every)
        if dialect in _BOOL_IN_BYTE and found != self._leaves(Layout(dialect, is_packed=True), every):
            raise NoLayout("how the parts of a structure are aligned")
        return found

    def _leaves(self, layout: Layout, every: bool) -> list[Leaf]:
        return _take(layout.place(self.type, self.first, is_bit=self.is_bit, every=every))


def find_parts(union: Record, root: str = "", steps: tuple[str | Expression, ...] = ()) -> list[Window]:
    """The parts of a UNION at the end of a way into a variable."""
    return [Window(root, (*steps, part.name), part.type, 0, part.is_bit) for part in union.fields]


def _take(leaves: Iterable[Leaf]) -> list[Leaf]:
    found: list[Leaf] = []
    for leaf in leaves:
        found.append(leaf)
        if len(found) > MOST_LEAVES:
            raise NoLayout(f"more than {MOST_LEAVES} values in one memory")
    return found


def check_overlap(windows: Sequence[Window], dialect: str) -> None:
    """Raises NoLayout if it is not known how the bits of values are those of the others."""
    leaves = [one.leaves(dialect, every=True) for one in windows]
    for targets in leaves:
        for sources in leaves:
            for leaf in targets if sources is not targets else ():
                find_chunks(leaf, sources, dialect)


def is_exact(type_: Type) -> bool:
    """Whether each pattern of bits is a value of its own: there is no REAL in it, and no BOOL that takes a byte."""
    if isinstance(type_, Array):
        return is_exact(type_.element)
    if isinstance(type_, Record):
        return all(is_exact(part.type) or part.is_bit for part in type_.fields)
    return type_.kind not in ("bool", "real")


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step


@dataclass(frozen=True, slots=True)
class Chunk:
    """So many bits of a leaf, from its bit `index` on, that are the bits of another one from `to` on."""

    leaf: Leaf
    index: int
    to: int
    width: int


def find_chunks(target: Leaf, sources: Iterable[Leaf], dialect: str) -> list[Chunk]:
    """What of other leaves lies where the target does. Raises NoLayout where the order of bytes would count and is not
    known."""
    layout = Layout(dialect)
    found: list[Chunk] = []
    for source in sources:
        low, high = max(source.first, target.first), min(source.end, target.end)
        if low >= high:
            continue
        if (source.first, source.size) == (target.first, target.size):
            found.append(Chunk(source, 0, 0, source.size))
            continue
        if dialect == "iec":
            raise NoLayout("the order of bytes, which the standard leaves open")
        step = 8 if high - low >= 8 else 1
        found += [Chunk(source, layout.number(source, at), layout.number(target, at), step)
                  for at in range(low, high, step)]
    return found


# Values as bits, for what variables begin with.


def carry(value: Value, written: Window, before: Value, target: Window, dialect: str) -> Value:
    """The value of what lies in the same memory as a written value; each stands in a window. What is not covered stays
    as `before`. Raises NoLayout."""
    sources = written.leaves(dialect)
    for leaf in target.leaves(dialect, every=True):
        number = _encode(_value_at(before, leaf.steps, target.type), leaf.type)
        chunks = find_chunks(leaf, sources, dialect)
        for one in chunks:
            mask = (1 << one.width) - 1
            part = _encode(_value_at(value, one.leaf.steps, written.type), one.leaf.type) >> one.index & mask
            number = number & ~(mask << one.to) | part << one.to
        if chunks:
            before = _put(before, leaf.steps, target.type, _decode(number, leaf.type))
    return before


def share_parts(value: Value, name: str, union: Record, dialect: str) -> Value:
    """The value of a UNION of which one part has been given its value. Raises NoLayout."""
    parts = {one.steps[0]: one for one in find_parts(union)}
    return {key: value[key] if key == name else carry(value[name], parts[name], value[key], one, dialect)
            for key, one in parts.items()}


def _value_at(value: Value, steps: Sequence[str | Expression], type_: Type) -> Value:
    for step in steps:
        if isinstance(type_, Array):
            assert isinstance(step, Constant)
            value, type_ = value[step.value - type_.low], type_.element
        else:
            assert isinstance(type_, Record)
            value, type_ = value[step], next(part.type for part in type_.fields if part.name == step)
    return value


def _put(value: Value, steps: Sequence[str | Expression], type_: Type, new: Value) -> Value:
    """A value with a new one at the end of a way into it."""
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if isinstance(type_, Record):
        inner = next(part.type for part in type_.fields if part.name == step)
        return {**value, step: _put(value[step], rest, inner, new)}
    assert isinstance(type_, Array)
    assert isinstance(step, Constant)
    at = step.value - type_.low
    return [*value[:at], _put(value[at], rest, type_.element, new), *value[at + 1:]]


def _encode(value: Value, type_: Scalar) -> int:
    if type_.kind == "real":
        return bits_of_real(value, type_)
    return int(value) & (1 << type_.bits) - 1


def _decode(number: int, type_: Scalar) -> Value:
    if type_.kind == "real":
        return real_of_bits(number, type_)
    if type_.kind != "bool":
        return keep_bits(number, type_)
    if number > 1:
        raise NoLayout("a BOOL whose byte is neither 0 nor 1")
    return bool(number)
