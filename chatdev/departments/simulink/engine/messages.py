"""What the stand-in says: MATLAB's own words where they are known.

`logged` messages stand in the logs of programs that MATLAB R2024b ran; `reported` ones in public reports of people who
got them, or in MATLAB's documentation; `own` ones are ours, because nobody has shown us MATLAB's.
"""

from __future__ import annotations

from typing import NamedTuple


class Notice(NamedTuple):
    """A message with places for what it is about, and where its words are from."""

    words: str
    source: str = "own"

    def about(self, **facts: object) -> BuildRefused:
        """The refusal with this message."""
        return BuildRefused(self.words.format(**facts))


class BuildRefused(Exception):
    """What MATLAB would refuse, or we where it would do harm in silence."""


NO_LIBRARY_BLOCK = Notice("There is no block named '{path}'", "logged")
DESTINATION_TAKEN = Notice("The destination port already has a line connection", "logged")
SECOND_TAKEN = Notice("The second port already has a line connection", "logged")
DOMAINS_DIFFER = Notice("The points input cannot lie on objects that do not share the same Physical Modeling domain",
                        "logged")
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
NO_PORT = Notice("'{block}' has no {wanted} port {port}; it has {there}")
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
NO_SUBSYSTEM = Notice("'{path}' is inside of another block; without MATLAB only models of one level are built")
POINTS = Notice("add_line by points is not possible without MATLAB; write add_line('{model}', 'A/1', 'B/1')")
NOT_EVALUATED = Notice("{statement}: without MATLAB, eval takes assignments of numbers and texts, and calls")
TOO_LARGE = Notice("More than {most} {things} are not built here")

UNKNOWN_PARAMETER = Notice("'{name}' is no parameter of {type} that we know of; '{block}' keeps it unchecked{near}")
NO_SOLVER = Notice("the physical network of {blocks} has no Solver Configuration block")
SOLVERS = Notice("the physical network of {blocks} has more than one Solver Configuration block: {solvers}")
NO_REFERENCE = Notice("the electrical network of {blocks} has no Electrical Reference block")
NOT_SIMULATED = Notice("'{model}' was checked, and not simulated: there is no MATLAB here")
