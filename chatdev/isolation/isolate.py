"""Functions that read what others wrote: called here, they run in the child of this process (`parent.py`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, get_type_hints

from chatdev.isolation.codec import Decoder, Garbled, decode, decoder, encode

P = ParamSpec("P")
T = TypeVar("T")
_reads_here = False


def read_here() -> None:
    """From now on everything is read in this process: in the child, and in a process that looks for faults."""
    global _reads_here
    _reads_here = True


def isolate(refusal: type[Exception], *others: type[Exception]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function run in the child. It takes and gives plain data (see `codec.py`), annotated with types that its
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
