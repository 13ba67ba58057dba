"""How long a model of a thousand blocks in a row takes to build, without MATLAB.

    python -m benchmarks.simulink.chain

Two chains: of signals (Step, Gains, Scope) and of resistors, which are one electrical net after the other. `build`: the
calls of the program alone, in milliseconds of the processor (median of nine; at most 50 are promised). `whole`: the
program in the sandbox, from its text to the checked diagram, in milliseconds that pass (median of three), the start of
Python included. Writes benchmarks/results/simulink_chain.json.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.engine.program import MatlabEngine
from chatdev.departments.simulink.engine.session import Session
from chatdev.departments.simulink.execute import execute_program
from chatdev.sandbox.kinds import find_sandbox

BLOCKS = 1000
_GAIN, _RESISTOR = "simulink/Math Operations/Gain", "fl_lib/Electrical/Electrical Elements/Resistor"


def signals(eng: Any) -> None:
    """Build a chain of signals."""
    eng.new_system("chain", nargout=0)
    eng.add_block("simulink/Sources/Step", "chain/B0", nargout=0)
    for n in range(1, BLOCKS - 1):
        eng.add_block(_GAIN, f"chain/B{n}", "Gain", "2", nargout=0)
        eng.add_line("chain", f"B{n - 1}/1", f"B{n}/1", "autorouting", "on", nargout=0)
    eng.add_block("simulink/Sinks/Scope", f"chain/B{BLOCKS - 1}", nargout=0)
    eng.add_line("chain", f"B{BLOCKS - 2}/1", f"B{BLOCKS - 1}/1", nargout=0)


def resistors(eng: Any) -> None:
    """Build a chain of resistors."""
    eng.new_system("chain", nargout=0)
    eng.add_block(_RESISTOR, "chain/B0", nargout=0)
    for n in range(1, BLOCKS):
        eng.add_block(_RESISTOR, f"chain/B{n}", "R", "10", nargout=0)
        eng.add_line("chain", f"B{n - 1}/RConn1", f"B{n}/LConn1", nargout=0)


CHAINS: dict[str, Callable[[Any], None]] = {"signals": signals, "resistors": resistors}


def build_times(chain: Callable[[Any], None], times: int) -> Iterator[float]:
    """Milliseconds of the processor that the calls take."""
    library = Library(catalogue().plain())
    for _ in range(times):
        eng = MatlabEngine(Session(library, Path(tempfile.gettempdir())))
        started = time.process_time()
        chain(eng)
        yield 1000 * (time.process_time() - started)


def _whole_times(chain: Callable[[Any], None], times: int) -> Iterator[float]:
    """Milliseconds that pass until a program has become a diagram."""
    program = _program_of(chain)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            result = execute_program(program, sandbox=find_sandbox(), scratch=Path(folder))
            yield 1000 * (time.perf_counter() - started)
        assert result.diagram is not None, result.message
        assert len(result.diagram.blocks) == BLOCKS


class _Writer:
    """An engine that writes down what it is told, as a program."""

    def __init__(self) -> None:
        self.lines = ["import matlab.engine", "eng = matlab.engine.start_matlab()"]

    def __getattr__(self, name: str) -> Callable[..., None]:
        def call(*arguments: str, nargout: int) -> None:
            self.lines.append(f"eng.{name}({', '.join(map(repr, arguments))}, nargout={nargout})")

        return call


def _program_of(chain: Callable[[Any], None]) -> str:
    writer = _Writer()
    chain(writer)
    return "\n".join([*writer.lines, "eng.save_system('chain', nargout=0)", ""])


def measure() -> dict[str, Any]:
    """Milliseconds of the processor by kind of chain."""
    rows = {name: {"build": round(statistics.median(build_times(chain, 9)), 1),
                   "whole": round(statistics.median(_whole_times(chain, 3)))} for name, chain in CHAINS.items()}
    return {"machine": machine(), "blocks": BLOCKS, "milliseconds": rows}


def tables(study: Mapping[str, Any]) -> str:
    """How long a chain takes."""
    return markdown_table([f"{study['blocks']} blocks", "build (ms)", "whole (ms)"],
                          [(name, row["build"], row["whole"]) for name, row in study["milliseconds"].items()])


STUDY = KeptStudy(tables, RESULTS_FOLDER / "simulink_chain.json", DOCS / "simulink.md",
                  marks("chain", "simulink.chain"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
