"""The libraries of blocks, from the catalogue's records as JSON values, and every message of the stand-in."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from chatdev.departments.simulink.ports import BlockPort, expand_ports

PortKey = tuple[str, str]
"""`("in", "1")`, `("out", "1")`, `("", "LConn1")`: what tells a block's ports apart."""
BUILT_IN = "built-in/"
_COMMON = ("Name", "Position", "Orientation", "ShowName", "NamePlacement", "BackgroundColor", "ForegroundColor",
           "Tag", "Description", "SampleTime", "OutDataTypeStr", "Priority", "HideAutomaticName", "FontSize",
           "Commented", "BlockMirror", "BlockRotation", "AttributesFormatString", "UserData", "Selected",
           "ZeroCross", "SaturateOnIntegerOverflow", "OutMin", "OutMax", "RndMeth", "LockScale", "Mask",
           "MaskInitialization")
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
        own = sorted((block for _, block in blocks if block.block_type != "Reference"),
                     key=lambda block: "".join(block.type.split()).lower() == block.block_type.lower())  # Sum after Add
        self._built_in = {block.block_type.lower(): block for block in own}
        self.names = {path.split("/")[0] for path in self._paths}

    def at(self, path: str) -> LibraryBlock | None:
        """The block at a path such as `simulink/Sources/Step` or `built-in/Step`."""
        found = self._paths.get(path) or self._paths.get(one_line(path))
        if found is None and path.startswith(BUILT_IN):
            return self._built_in.get(path.removeprefix(BUILT_IN).lower())
        return found


# What the stand-in says: MATLAB's own words where they are known.


class Notice(NamedTuple):
    """A message with places for what it is about, and where its words are from."""

    words: str
    source: str = "own"

    def about(self, **facts: object) -> BuildRefused:
        """The refusal with this message."""
        return BuildRefused(self.words.format(**facts))


class BuildRefused(Exception):
    """What MATLAB would refuse, or we where it would do harm in silence. The text is all that MATLAB reports on stderr;
    its first line is that of the error in Python. `hint` is what we know beyond that."""

    hint = ""

    def with_hint(self, hint: str) -> Self:
        """The same, with a hint."""
        self.hint = hint
        return self

    @property
    def as_cause(self) -> str:
        """The text as it stands below another one that it is the cause of."""
        return str(self).replace("\nCaused by:\n", "\n").replace("\n", "\n    ")


NO_LIBRARY_BLOCK = Notice("There is no block named '{path}'", "logged")
DESTINATION_TAKEN = Notice("The destination port already has a line connection", "logged")
SECOND_TAKEN = Notice("The second port already has a line connection", "logged")
DOMAINS_DIFFER = Notice("The points input cannot lie on objects that do not share the same Physical Modeling domain",
                        "logged")
RULES_BROKEN = Notice("The points input must only create line connections that follow connection rules of the "
                      "appropriate Physical Modeling domains", "logged")
NO_PORT = Notice("Invalid Simulink object name: '{end}'.", "logged")
NOT_ADDED = Notice("A new block named '{path}' cannot be added.\nCaused by:\n    {cause}", "logged")
NO_OBJECT = Notice("Invalid Simulink object name: '{path}'.\nCaused by:\n    Unable to find block '{block}'.",
                   "logged")
NOT_COMPILED = Notice("Error compiling Simscape network for model {model}.\nCaused by:\n    {cause}", "logged")
UNRECOGNIZED = Notice("Unrecognized function or variable '{name}'.", "logged")

NOT_LOADED = Notice("Invalid Simulink object name: '{path}'.\nCaused by:\n    The block diagram '{model}' is not "
                    "loaded.", "reported")
NO_PARAMETER = Notice("{kind} does not have a parameter named '{name}'", "reported")
NO_OUTPUTS = Notice("Error using {function}\nToo many output arguments.", "reported")
UNRESOLVED = Notice("Unable to resolve the name '{name}'.", "reported")
ENDED = Notice("MATLAB has already terminated.", "reported")
UNCONNECTED = Notice("{direction} port {port} of '{block}' is not connected.", "reported")

BLOCK_EXISTS = Notice("A block named '{path}' already exists. Choose another name, or add 'MakeNameUnique', 'on'")
SYSTEM_EXISTS = Notice("A block diagram named '{model}' is already loaded. Close it first, or choose another name")
BAD_SYSTEM_NAME = Notice("'{model}' is no name of a block diagram: it begins with a letter, goes on with letters, "
                         "digits and _, and has at most 63 characters")
BAD_BLOCK_NAME = Notice("'{path}' names no block; write 'model/block'")
NO_FILE = Notice("There is no block diagram or file named '{name}'; make one with new_system('{name}')")
NO_PORT_SAID = Notice("'{end}' names no port; write 'block/1', or 'block/LConn1' for a physical one")
NO_LINE = Notice("There is no line from '{source}' to '{target}'")
ONE_PORT = Notice("A line cannot lead from '{end}' back to it")
NETS_DIFFER = Notice("'{source}' and '{target}' both have lines already, and these are two different nets; MATLAB "
                     "would lose one of the lines without a word. Join the nets by a line to a port that has none yet")
BAD_PORT_COUNT = Notice("Invalid setting of '{block}': {cause}")
NOT_A_TEXT = Notice("{what} is {given}, and MATLAB takes a text there; write {fix}")
NOT_A_SWITCH = Notice("Parameter '{name}' of '{block}' is 'on' or 'off', not '{given}'")
NO_PAIRS = Notice("{function} takes parameters in pairs of name and value; '{name}' has no value")
BAD_POSITION = Notice("The position of '{block}' is [left top right bottom] with left < right and top < bottom, as "
                      "matlab.double([30, 30, 60, 60]) or '[30 30 60 60]'; given: {given}")
TOO_FEW = Notice("{function} needs more arguments: {wanted}")
NO_SUBSYSTEM = Notice("'{path}' is a {kind}, and has no blocks inside; take a Subsystem")
POINTS = Notice("add_line by points is not possible without MATLAB; write add_line('{model}', 'A/1', 'B/1')")
NOT_EVALUATED = Notice("{statement}: without MATLAB, eval takes assignments of numbers and texts, and calls")
TOO_LARGE = Notice("More than {most} {things} are not built here")

PORTS_THERE = Notice("'{block}' has no {wanted} port {port}; it has {there}")
NO_BLOCK_THERE = Notice("'{model}' has no block named '{block}'")
UNKNOWN_PARAMETER = Notice("'{name}' is no parameter of {type} that we know of; '{block}' keeps it unchecked{near}")
NO_SOLVER = Notice("the physical network of {blocks} has no Solver Configuration block")
SOLVERS = Notice("the physical network of {blocks} has more than one Solver Configuration block: {solvers}")
NO_REFERENCE = Notice("the electrical network of {blocks} has no Electrical Reference block")
NOT_SIMULATED = Notice("'{model}' was checked, and not simulated: there is no MATLAB here")
