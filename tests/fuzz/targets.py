"""What is fuzzed together: readers that get texts of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tests.fuzz.readers.reader import Reader

MODULES = ("replies", "programs", "uses", "verilog", "slang", "plc", "controllers", "diagrams", "simulink", "processes",
           "records")


@cache
def find_readers(names: frozenset[str] = frozenset()) -> dict[str, Reader]:
    """Readers by their names, these at least, or all. What the others read with is not loaded: with what a fuzzer
    counts in it, that takes ten seconds."""
    found: dict[str, Reader] = {}
    for module in MODULES:
        found |= import_module(f"tests.fuzz.readers.{module}").READERS
        if names and names <= found.keys():
            break
    return found


@dataclass(frozen=True, slots=True)
class Target:
    """Readers by name; the folder of tests whose texts it begins with; and whether everything is read in the process
    itself, so that its lines guide the search (otherwise in its child, which may die of a text)."""

    readers: Sequence[str]
    tests: str
    here: bool = True

    def check(self, text: str) -> None:
        """Each reader reads the text."""
        for name in self.readers:
            self._find()[name].read(text)

    @property
    def tokens(self) -> list[str]:
        """Pieces that mean something to one of the readers, and what stands around them."""
        readers = [self._find()[name] for name in self.readers]
        every = [token for reader in readers
                 for token in (*reader.pieces, *(half for frame in reader.frames for half in frame.split("{}")))]
        return [token for token in dict.fromkeys(every) if token]

    def _find(self) -> dict[str, Reader]:
        return find_readers(frozenset(self.readers))


TARGETS = {
    "files": Target(("files", "fences", "fences within files", "spans", "names of files", "search and replace",
                     "patches", "form of one file", "commands", "elisions"), "replies"),
    "markers": Target(("markers", "tool calls", "continued replies"), "replies"),
    "values": Target(("form text", "form choice", "form json", "form list"), "replies"),
    "python": Target(("part of a Python file", "Python file", "Python file with elisions", "Python program"),
                     "departments/software"),
    "software": Target(("page", "placeholders", "paths", "sources", "JSON file", "page of an index", "requirements",
                        "what sources load"),
                       "departments/software"),
    "programs": Target(("request", "plan of sessions", "cases of a request", "traceback", "log of a page"),
                       "departments/software"),
    "uses": Target(("steps of a user", "what a driver tells", "labels of a request"), "departments/software"),
    "pictures": Target(("drawing", "picture"), "runner"),
    "verilog": Target(("Verilog", "specification", "extraction"), "departments/verilog"),
    "plans": Target(("plan of sub-tasks", "columns of a waveform"), "departments/verilog"),
    "slang": Target(("elaborated Verilog",), "departments/verilog", here=False),
    "simulation": Target(("log of the compiler", "report of a bench", "waveform", "two waveforms"),
                         "departments/verilog"),
    "controllers": Target(("Structured Text", "condition of a property"), "departments/plc/st"),
    "scans": Target(("properties", "trace of scans"), "departments/plc/proof"),
    "engineers": Target(("program of a company", "task with an interface", "proposed property", "counterexample",
                         "tasks of the benchmark", "Structured Text for other tools"), "departments/plc"),
    "diagrams": Target(("text form of a model", "line of a model", "investigation", "acceptance",
                        "program that builds a model", "saved model", "script that builds a model", "list of a model",
                        "values of inputs", "classic file", "package file", "value of a parameter",
                        "expression of inputs"),
                       "departments/simulink"),
    "processes": Target(("event log", "table of events", "events of objects", "events of objects in XML",
                         "process model"), "departments/process"),
    "journals": Target(("journal",), "runner"),
    "databases": Target(("pool",), "batch"),
    "companies": Target(("company", "company of 1.x", "changed chain", "settings", "consents", "variables", "template"),
                        "config"),
    "answers": Target(("answer of a server", "server of tools", "text for a person"), "llm"),
}
"""Every target by its name; each reader is in one of them."""
CHECKS: dict[str, Callable[[str], None]] = {name: target.check for name, target in TARGETS.items()}
