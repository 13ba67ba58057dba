"""A waveform that was recorded elsewhere: VCD, or FST, of which GTKWave's converter makes a VCD in the sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path

from chatdev.departments.verilog.compilation import SIMULATING
from chatdev.departments.verilog.waveform.comparison import differing_steps, find_pairs
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.errors import MissingProgram
from chatdev.sandbox.base import Sandbox, SandboxJob

ENDINGS = (".vcd", ".fst")
"""Of files with a waveform."""
_FST, _VCD = "run.fst", "run.vcd"
_MOST = 24  # signals that are drawn where none is named
_BEFORE, _CHANGES = 24, 160  # rows before a mismatch; changes of signals from the start where there is none


OpenSandbox = Callable[[], AbstractContextManager[tuple[Sandbox, Path]]]
"""Gives a sandbox, and an empty folder that is there as long."""


@contextmanager
def open_recorded(path: Path, open_sandbox: OpenSandbox) -> Iterator[Waves]:
    """The waveform of a file; the sandbox is only opened for FST. Raises WaveformError, MissingProgram without
    `fst2vcd`, and SandboxError."""
    if path.suffix.lower() != ".fst":
        yield Waves.open(path)
        return
    if shutil.which("fst2vcd") is None:
        raise MissingProgram("fst2vcd not found, which reads FST; install GTKWave: apt-get install gtkwave")
    with open_sandbox() as (sandbox, folder):
        try:
            shutil.copyfile(path, folder / _FST)
        except OSError as error:
            raise WaveformError(f"the waveform {path} cannot be read: {error.strerror}") from None
        done = sandbox.run(SandboxJob(["fst2vcd", "-f", _FST, "-o", _VCD], folder, SIMULATING))
        if done.exceeded or done.timed_out:
            raise WaveformError(f"{path.name}: fst2vcd takes more than it may ({done.exceeded or 'time'}); record less")
        if done.exit_status != 0 or not (folder / _VCD).is_file():
            raise WaveformError(f"{path.name}: fst2vcd cannot read it; it is damaged, or no FST")
        yield Waves.open(folder / _VCD)


def names_in(waves: Waves, wanted: Sequence[str]) -> list[str]:
    """The full names of what is wanted by its full name or a unique end of it (`u1.count`); the first signals of the
    file where nothing is. Raises WaveformError for what is not there, or there twice."""
    if not wanted:
        return waves.readable(waves.signals)[:_MOST]
    found = list[str]()
    for name in wanted:
        ends = [name] if name in waves.signals else [one for one in waves.signals if one.endswith(f".{name}")]
        if len(ends) > 1:
            raise WaveformError(f"{name!r} may be {' or '.join(ends[:4])}; give the full name")
        found += ends or [name]
    waves.require(found)
    return found


def first_difference(waves: Waves, names: Iterable[str]) -> int | None:
    """When a `NAME_ref` among these first differs from its `NAME_dut`; None where none does."""
    sides = {side: pair for pair in find_pairs(names) for side in (pair.reference, pair.answer)}
    steps = differing_steps(waves.steps(sides), sides) if sides else iter(())
    return next((step.time for step in steps if step.outputs), None)


def window(names: Sequence[str], waves: Waves, mismatch: int | None) -> tuple[int, int]:
    """The part of the waveform that is drawn: some rows up to the mismatch and a little more, else the beginning."""
    if mismatch is None:
        times = [time for time, _, _ in islice(waves.changes(names), _CHANGES)]
        return 0, max(times, default=0) + 1
    rows = waves.rows_before(names, mismatch, _BEFORE)
    start = rows[0].time if rows else 0
    return start, mismatch + max(1, (mismatch - start) // 8)
