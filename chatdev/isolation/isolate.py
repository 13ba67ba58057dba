"""Functions that read what others wrote: called here, they run in the child of this process (`parent.py`), which takes
one call after the other within limits, until its parent is gone.

Arguments and results travel as plain data in bytes. What comes back is what the annotation promises, or Garbled: a
child that somebody took over can send other values, but no other kinds of values, and no code.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import resource
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

P = ParamSpec("P")
T = TypeVar("T")
_reads_here = False


def read_here() -> None:
    """From now on everything is read in this process: in the child, and in a process that looks for faults."""
    global _reads_here
    _reads_here = True


def isolate(refusal: type[Exception], *others: type[Exception]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function run in the child. It takes and gives plain data (see `decoder`), annotated with types that its
    module knows when it runs.

    `refusal(why)` is raised for what takes the child down or more than its limits; that and the `others` are what the
    function itself may raise, with plain arguments. Any other error in it is a refusal too: what its reader fails at
    cannot be read, and ends no run.
    """
    def isolated(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> T:
            if _reads_here:
                return function(*args, **options)
            from chatdev.isolation.parent import ask

            given = [function.__module__, function.__qualname__, args, options]
            found: T = call.isolated.take(*ask(encode(given)))  # type: ignore[attr-defined]
            return found

        call.isolated = IsolatedFunction(function, (refusal, *others))  # type: ignore[attr-defined]
        return call
    return isolated


@dataclass(frozen=True)
class IsolatedFunction:
    """A function that runs in the child, and the errors that it may raise, as both sides need them."""

    function: Callable[..., Any]
    errors: tuple[type[Exception], ...]

    def run(self, args: list[Any], options: dict[str, Any]) -> bytes:
        """In the child: call it with what was sent, and give what is to be sent back."""
        hints = self._hints
        names = [name for name in hints if name != "return"]
        try:
            result = self.function(*(decoder(hints[name])(value) for name, value in zip(names, args, strict=False)),
                                   **{name: decoder(hints[name])(value) for name, value in options.items()})
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            kind = next((at for at, one in enumerate(self.errors) if isinstance(error, one)), None)
            return encode(["error", kind, list(error.args) if kind is not None else f"{type(error).__name__}: {error}"])
        return encode(["value", result])

    def take(self, answer: bytes, why: str = "") -> Any:
        """In the parent: the result that came, or its error."""
        if not answer:
            raise self.errors[0](why)
        try:
            what, *rest = decode(answer)
            if what == "value":
                return self._result(*rest)
            kind, given = rest
            error = self.errors[kind](*map(_tuples, given)) if kind is not None else self.errors[0](
                f"what reads the source fails at it ({str(given)[:200]})")
        except (Garbled, TypeError, ValueError, LookupError) as wrong:
            raise self.errors[0](f"what reads the source answers with something else ({wrong})") from None
        raise error

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function)

    @functools.cached_property
    def _result(self) -> Decoder:
        return decoder(self._hints["return"])


def _tuples(value: Any) -> Any:
    """JSON's lists as tuples, which the arguments of errors are."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


# Plain data as bytes and back. What comes back is what the annotation promises, or Garbled: a child that somebody
# took over can send other values, but no other kinds of values, and no code.

Decoder = Callable[[Any], Any]
_SCALARS = (str, int, float, bool, types.NoneType)


class Garbled(Exception):
    """The received value is not of the promised type."""


def encode(value: Any) -> bytes:
    """Strings (lone surrogates too), bytes, numbers, None, dataclasses, and lists, tuples (named ones too), sets,
    mappings of them."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, check_circular=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> Any:
    """The JSON values in `data`; raises Garbled."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise Garbled(f"no JSON ({type(error).__name__})") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        kind: type = type(value)
        return _values_of(kind)(value)
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, Mapping):
        return dict(value)
    return list(value)


@cache
def _values_of(kind: type) -> Callable[[Any], Sequence[Any]]:
    names = [field.name for field in fields(kind)]
    return attrgetter(*names) if len(names) > 1 else lambda value: [getattr(value, names[0])]


@cache
def decoder(kind: Any) -> Decoder:
    """What makes a value of this annotation of the JSON values for it, and raises Garbled for any other."""
    if kind is Any:
        return lambda value: value
    if kind in _SCALARS:
        return _scalar(kind)
    if kind is bytes:
        return _bytes
    if get_origin(kind) is Literal:
        return _one_of(get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return _any_of([decoder(option) for option in get_args(kind)])
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _instance(kind)
    return _container(get_origin(kind), get_args(kind))


def _container(origin: Any, inside: tuple[Any, ...]) -> Decoder:
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(decoder(inside[1]))
    if origin is tuple and inside[-1] is not ...:
        return _row(tuple, [decoder(item) for item in inside])
    make = origin if origin in (tuple, set, frozenset) else list
    return _collection(make, decoder(inside[0]))


def _scalar(kind: type) -> Decoder:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise Garbled(f"{type(value).__name__} where {kind.__name__} was promised")
        return value
    return read


def _bytes(value: Any) -> bytes:
    try:
        return bytes(value, "latin-1")
    except (TypeError, ValueError):
        raise Garbled(f"{type(value).__name__} where bytes were promised") from None


def _one_of(options: tuple[Any, ...]) -> Decoder:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in options:
            raise Garbled(f"none of {', '.join(map(repr, options))}")
        return value
    return read


def _any_of(options: list[Decoder]) -> Decoder:
    def read(value: Any) -> Any:
        for option in options:
            try:
                return option(value)
            except Garbled:
                continue
        raise Garbled(f"{type(value).__name__} where something else was promised")
    return read


def _mapping(read_item: Decoder) -> Decoder:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Garbled(f"{type(value).__name__} where a mapping was promised")
        return {name: read_item(item) for name, item in value.items()}
    return read


def _collection(make: Callable[[list[Any]], Any], read_item: Decoder) -> Decoder:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise Garbled(f"{type(value).__name__} where a list was promised")
        return make([read_item(item) for item in value])
    return read


def _row(make: Callable[[list[Any]], Any], readers: list[Decoder]) -> Decoder:
    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            raise Garbled(f"no list of {len(readers)} values")
        return make([read_item(item) for read_item, item in zip(readers, value, strict=True)])
    return read


def _instance(kind: Any) -> Decoder:
    readers: list[Decoder] = []

    def read(value: Any) -> Any:
        if not readers:  # not before: it may hold others of its own kind
            hints = get_type_hints(kind)
            names = [field.name for field in fields(kind)] if is_dataclass(kind) else kind._fields
            readers.extend(decoder(hints[name]) for name in names)
        return _row(lambda values: kind(*values), readers)(value)
    return read


HEAD = 5
"""Bytes before each message: 1 for what it is (`+`; `!` when the child ends after it), 4 for its length."""
_FULL = 256 << 20  # bytes; a child that has taken this much is not used again, for memory is hardly ever given back
_ROOM = 128 << 20  # bytes, for the parsers themselves
_UNKNOWN = 1 << 30  # bytes; where there is no /proc, its parent watches the memory
_FILES = 32
_NONE = (0, 0)


def serve(memory: int, seconds: int) -> None:
    """Answer calls on standard input, which is a socket, until it is closed. Each call may take `memory` bytes beside
    those of the child itself, and `seconds` of a processor."""
    from chatdev.isolation.seccomp import confine  # it is read here itself

    read_here()
    _limit_everything(memory)
    confine()
    gc.freeze()
    _send(b"+" + bytes(HEAD - 1))  # it has started
    while request := _receive():
        _allow(seconds)
        answer = _answer(request)
        last = not answer or _memory_taken() > _FULL
        _send((b"!" if last else b"+") + len(answer).to_bytes(HEAD - 1, "big") + answer)
        if last:
            return


def _answer(request: bytes) -> bytes:
    """Empty when there is not memory enough for it."""
    try:
        module, name, args, options = decode(request)
        if not module.startswith("chatdev."):
            raise LookupError(module)
        function: IsolatedFunction = getattr(import_module(module), name).isolated
        return function.run(args, options)
    except (MemoryError, RecursionError):
        return b""


def _limit_everything(memory: int) -> None:
    with (contextlib.suppress(OSError),
          open("/proc/self/oom_score_adj", "w", encoding="ascii") as file):  # noqa: PTH123 - no pathlib here
        file.write("1000")  # when memory runs out, the kernel is to end this process and no other
    os.chdir("/")
    most_memory = _taken_addresses() + _ROOM + memory
    for what, most in ((resource.RLIMIT_CORE, _NONE), (resource.RLIMIT_FSIZE, _NONE), (resource.RLIMIT_NPROC, _NONE),
                       (resource.RLIMIT_NOFILE, (_FILES, _FILES)), (resource.RLIMIT_AS, (most_memory, most_memory))):
        with contextlib.suppress(ValueError, OSError):  # macOS knows some of them by name alone
            resource.setrlimit(what, most)


def _taken_addresses() -> int:
    """Bytes of addresses that are taken already."""
    try:
        return _pages(0)
    except OSError:
        return _UNKNOWN


def _pages(field: int) -> int:
    """A field of /proc/self/statm, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[field]) * resource.getpagesize()


def _allow(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _memory_taken() -> int:
    """Bytes in memory; where there is no /proc, the most there ever were. On Linux that figure is no use: it begins
    with what the parent had when it started this process."""
    try:
        return _pages(1)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _receive() -> bytes:
    head = _read(HEAD)
    return _read(int.from_bytes(head[1:], "big")) if head else b""


def _read(count: int) -> bytes:
    pieces = []
    while count:
        piece = os.read(0, min(count, 1 << 20))
        if not piece:
            return b""
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def _send(message: bytes) -> None:
    view = memoryview(message)
    while view:
        view = view[os.write(0, view):]
