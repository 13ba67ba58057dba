"""How a program calls MATLAB: `eng.add_block(…, nargout=0)`, `eng.workspace`, and the errors that come back."""

from __future__ import annotations

import sys
from typing import Any

from chatdev.departments.simulink.engine.library import ENDED, NO_OUTPUTS, UNRECOGNIZED, UNRESOLVED, BuildRefused
from chatdev.departments.simulink.engine.session import FUNCTIONS, Session

_LONGEST_REFUSAL = 1000  # characters of it that are saved with a model


class MatlabExecutionError(Exception):
    """What MATLAB said was wrong."""


class RejectedExecutionError(Exception):
    """A call of an engine that has ended."""


for _error in (MatlabExecutionError, RejectedExecutionError):
    _error.__module__ = "matlab.engine"  # as the last line of a traceback names it


class FutureResult:
    """The result of a call in the background, which is there at once."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self, timeout: float | None = None) -> Any:
        """The value."""
        return self._value

    def done(self) -> bool:
        """Always."""
        return True

    def cancel(self) -> bool:
        """Never possible."""
        return False


class MatlabFunction:
    """A function of MATLAB by its name, or a package of them: `Simulink.BlockDiagram`."""

    def __init__(self, engine: MatlabEngine, name: str) -> None:
        self._engine, self._name = engine, name

    def __getattr__(self, name: str) -> MatlabFunction:
        if name.startswith("__"):
            raise AttributeError(name)
        return MatlabFunction(self._engine, f"{self._name}.{name}")

    def __call__(self, *arguments: Any, nargout: int = 1, background: bool = False, stdout: Any = None,
                 stderr: Any = None) -> Any:
        """Call it; raises MatlabExecutionError with what is wrong."""
        if not isinstance(nargout, int) or isinstance(nargout, bool) or nargout < 0:
            raise TypeError("nargout must be a nonnegative integer")
        value = self._engine._call(self._name, arguments, nargout, (stdout or sys.stdout, stderr or sys.stderr))
        return FutureResult(value) if background else value


class MatlabEngine:
    """An engine of MATLAB: its functions are attributes."""

    def __init__(self, session: Session) -> None:
        self.__dict__["_session"] = session

    @property
    def workspace(self) -> dict[str, Any]:
        """The variables."""
        return self._open_session().workspace

    def quit(self, nargout: int = 0) -> None:
        """End it."""
        self.__dict__["_session"] = None

    exit = quit

    def __getattr__(self, name: str) -> MatlabFunction:
        if name.startswith("__"):
            raise AttributeError(name)
        return MatlabFunction(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the engine has no attribute {name!r} to set; a variable is eng.workspace[{name!r}]")

    def _open_session(self) -> Session:
        session: Session | None = self.__dict__["_session"]
        if session is None:
            raise RejectedExecutionError(ENDED.words)
        return session

    def _call(self, name: str, arguments: tuple[Any, ...], nargout: int, streams: tuple[Any, Any]) -> Any:
        session = self._open_session()
        session.output, errors = streams
        failure = None
        try:
            if name not in FUNCTIONS:
                raise (UNRESOLVED if "." in name else UNRECOGNIZED).about(name=name)
            function, outputs = FUNCTIONS[name]
            if nargout > outputs:
                raise NO_OUTPUTS.about(function=name)
            value = function(session, *arguments)
        except BuildRefused as refused:
            failure = refused
        if failure is not None:  # outside, so that the traceback shows one error alone
            session.refused.append(str(failure)[:_LONGEST_REFUSAL])
            if failure.hint:
                session.warn(failure.hint)
            print(failure, end="\n\n", file=errors)
            raise MatlabExecutionError(f"{str(failure).splitlines()[0]}\n")
        return value if nargout else None
