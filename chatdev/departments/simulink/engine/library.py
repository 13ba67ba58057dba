"""The libraries of blocks, from the catalogue's records as JSON values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from chatdev.departments.simulink.engine.messages import BAD_PORT_COUNT
from chatdev.departments.simulink.ports import BlockPort, expand_ports

PortKey = tuple[str, str]
"""`("in", "1")`, `("out", "1")`, `("", "LConn1")`: what tells a block's ports apart."""
BUILT_IN = "built-in/"
_MASKED = ("Reference", "SubSystem")
_COMMON = ("Name", "Position", "Orientation", "ShowName", "NamePlacement", "BackgroundColor", "ForegroundColor",
           "Tag", "Description", "SampleTime", "OutDataTypeStr", "Priority", "HideAutomaticName", "FontSize",
           "Commented", "BlockMirror", "BlockRotation", "AttributesFormatString", "UserData", "Selected",
           "ZeroCross", "SaturateOnIntegerOverflow", "OutMin", "OutMax", "RndMeth", "LockScale")
"""Parameters that all or many blocks have."""


def one_line(name: str) -> str:
    """A name with each run of blanks and line breaks as one blank: libraries write either."""
    return " ".join(name.split()) if not name.isalnum() else name


class LibraryBlock:
    """A block of a library: its record, and the ports it has at its parameters."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.type: str = record["type"]
        self.block_type: str = record["block_type"]
        self.defaults: Mapping[str, str] = record["parameters"]
        self._records: Sequence[Mapping[str, Any]] = record["ports"]
        self._names = {name.lower(): name for name in (*_COMMON, *self.defaults)}
        self._deciding = list(dict.fromkeys(name for port in self._records
                                            for name in (*(port.get("when") or ()), port.get("count"), port.get("each"))
                                            if name))
        self._ports: dict[tuple[str | None, ...], dict[PortKey, BlockPort]] = {}

    def ports(self, parameters: Mapping[str, str]) -> dict[PortKey, BlockPort]:
        """The ports at these parameters, in their order; raises ValueError where their number cannot be told."""
        deciding = tuple(map(parameters.get, self._deciding)) if self._deciding else ()
        found = self._ports.get(deciding)
        if found is None:
            ports = expand_ports(self._records, {**self.defaults, **parameters})
            found = self._ports[deciding] = {port_key(port): port for port in ports}
        return found

    def checked_ports(self, path: str, parameters: Mapping[str, str]) -> dict[PortKey, BlockPort]:
        """The same; raises BuildRefused for the block at this path."""
        try:
            return self.ports(parameters)
        except ValueError as error:
            raise BAD_PORT_COUNT.about(block=path, cause=error) from None

    def parameter(self, name: str) -> str | None:
        """A parameter's name as it is spelt, whatever its letters' case; None of one that we do not know."""
        return self._names.get(name.lower())

    def near(self, name: str) -> str:
        """The parameter that an unknown name may mean, or nothing."""
        found = difflib.get_close_matches(name.lower(), [known.lower() for known in self.defaults], n=1)
        return self._names[found[0]] if found else ""


def port_key(port: BlockPort) -> PortKey:
    """What tells a port from the others of its block."""
    return ("" if port.is_physical else port.direction, port.name)


class Library:
    """All blocks, by their paths."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        blocks = [(record, LibraryBlock(record)) for record in records]
        self.types = {block.type: block for _, block in blocks}
        self._paths = {one_line(path): block for record, block in blocks for path in record["paths"]}
        own = sorted((block for _, block in blocks if block.block_type not in _MASKED),
                     key=lambda block: "".join(block.type.split()) == block.block_type)  # Sum after Add
        self._built_in = {block.block_type: block for block in own}
        self.names = {path.split("/")[0] for path in self._paths}

    def at(self, path: str) -> LibraryBlock | None:
        """The block at a path such as `simulink/Sources/Step` or `built-in/Step`."""
        found = self._paths.get(path) or self._paths.get(one_line(path))
        if found is None and path.startswith(BUILT_IN):
            return self._built_in.get(path.removeprefix(BUILT_IN))
        return found
