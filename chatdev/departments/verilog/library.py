"""Modules in files are checked, linted, simulated, judged, traced, drawn and compared, without any model: what programs
call, and what `chatdev verilog` stands on.

Files are paths, lists (`rtl.f`), and options as simulators have them (`+define+W=4`, `-y DIR`). Every call raises
ConfigError for files that do not go together, a bench that does not accept its own reference, and other wrong input,
and SandboxError where nothing may be run.
"""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from chatdev.cli.mcp.served import Served
from chatdev.cli.shared_options import write_file
from chatdev.departments.verilog import equivalence, mismatch
from chatdev.departments.verilog import judge as judging
from chatdev.departments.verilog.answer import lint as look_through
from chatdev.departments.verilog.answer import undriven_signals
from chatdev.departments.verilog.compilation import Message
from chatdev.departments.verilog.design_files import DesignFiles, read_design_files
from chatdev.departments.verilog.lint_off import find_switches, is_switched_off
from chatdev.departments.verilog.simulation import examine
from chatdev.departments.verilog.target import ANSWER
from chatdev.departments.verilog.waveform.picture import TimeUnit, draw_diagram, resolve_colours, viewer_files
from chatdev.departments.verilog.waveform.recorded import first_difference, names_in, open_recorded, window
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.errors import ConfigError, ToolError
from chatdev.tools.base import ToolContext, Verdict, throwaway_copy

PICTURES = (".svg", ".vcd")
"""What `draw` writes, by the ending of its file."""
_INPUT = re.compile(r"--input (\w+)=")  # what a run calls an option
_GIVEN = re.compile(r"with --input given=@?FILE")
_PLACE = re.compile(r"(?:given/)?(?P<file>[^:\s]+):(?P<line>\d+): (?P<text>.*)", re.DOTALL)

OnePath = str | os.PathLike[str]
Files = OnePath | Sequence[OnePath]
Reference = Files | None


@dataclass(frozen=True, slots=True)
class FileVerdict(Verdict):
    """A verdict on files, which prints as its report."""

    def __str__(self) -> str:
        return self.report


@dataclass(frozen=True, slots=True)
class FileMessage(Message):
    """A message with its file, which prints as `file:line: error: …`."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.text}" if self.line else \
            f"{self.file}: {self.severity}: {self.text}"


def check(files: Files, *, top: str | None = None, simulator: str = "icarus") -> list[FileMessage]:
    """What the simulator says of the module alone; without errors it compiles."""
    return messages_of(_read(files, top=top, simulator=simulator))


def lint(files: Files, *, top: str | None = None, simulator: str = "icarus", strict: bool = False
         ) -> list[FileMessage]:
    """The same with what compiles and is most often a mistake: latches, loops, signals that nothing drives, races; of
    all files. `strict`: also what is a matter of style."""
    return messages_of(_read(files, top=top, simulator=simulator), lints="strict" if strict else "usual")


def simulate(files: Files, bench: OnePath, reference: Reference = None, *, top: str | None = None,
             simulator: str = "icarus") -> FileVerdict:
    """What the bench reports of each output."""
    return verdict_of(_read(files, bench, reference, top, simulator), judging.simulate)


def judge(files: Files, bench: OnePath, reference: Reference = None, *, top: str | None = None,
          simulator: str = "icarus") -> FileVerdict:
    """Whether the module is right: the bench's word, and with a reference its own run as well."""
    return verdict_of(_read(files, bench, reference, top, simulator), judging.judge)


def trace(files: Files, bench: OnePath, reference: Reference = None, *, top: str | None = None,
          simulator: str = "icarus", levels: int = 3, outputs: Sequence[str] | None = None) -> FileVerdict:
    """The lines that gave a wrong output its value; `evidence["lines"]` has their numbers in the module's own file,
    `evidence["places"]` those of all files (`half.v:7`). Raises ToolError where none of the `outputs` is wrong."""
    return trace_of(_read(files, bench, reference, top, simulator), levels, outputs)


def equivalent(files: Files, reference: Files, *, top: str | None = None) -> FileVerdict:
    """Whether Yosys proves that the module does what the reference does for all inputs; not `judged` where it cannot
    tell."""
    return verdict_of(_read(files, None, reference, top, "icarus"), equivalence.equivalent)


def draw(files: Files, bench: OnePath, out: OnePath, reference: Reference = None, *, top: str | None = None,
         simulator: str = "icarus", signals: Sequence[str] = ()) -> list[Path]:
    """The files that were written: a picture (`.svg`) of the ports and of inner `signals`, by default those behind the
    first mismatch; or the waveform (`.vcd`) with what GTKWave and Surfer read to show them. None where nothing was
    recorded."""
    return draw_to(_read(files, bench, reference, top, simulator), Path(out), signals)


def _read(files: Files, bench: OnePath | None = None, reference: Reference = None, top: str | None = None,
          simulator: str = "icarus") -> DesignFiles:
    words, right = _paths(files), _paths(reference or ())
    lists = [Path(one) for one in words if one.endswith(".f")]
    return read_design_files([one for one in words if not one.endswith(".f")], lists, top,
                             Path(bench) if bench else None, [*map(Path, right)], simulator)


def _paths(files: Files) -> list[str]:
    return [os.fspath(one) for one in ([files] if isinstance(files, str | os.PathLike) else files)]


# The same of a design that was read.


def messages_of(design: DesignFiles, *, lints: Literal["", "usual", "strict"] = "") -> list[FileMessage]:
    """What is said of the module alone, each thing once, at the place in the user's file."""
    with _open_context(design, looks_at_bench=False) as context, throwaway_copy(context.scratch, {}) as folder:
        found = list(examine(design.answer, context.sandbox, folder, design.target).messages)
    if lints and not any(one.severity == "error" for one in found):
        found += [*look_through(design.answer, design.target, lints, everywhere=True),
                  *undriven_signals(design.answer, design.target, everywhere=True)]
    return [*_leave_switched_off((_at_its_file(one, design) for one in dict.fromkeys(found)), design)]


def _leave_switched_off(messages: Iterable[FileMessage], design: DesignFiles) -> Iterator[FileMessage]:
    """Errors, and the remarks that no `lint_off` of the file speaks of."""
    given = design.inputs.get("given", {})
    texts = {design.file: design.answer} | {path: given[name] for name, path in design.files.items() if name in given}
    off = {str(path): find_switches(text) for path, text in texts.items() if "lint_o" in text}
    for one in messages:
        codes = off.get(one.file, {}).get(one.line, frozenset())
        if one.severity == "error" or not is_switched_off(one.text, codes):
            yield one


def _at_its_file(one: Message, design: DesignFiles) -> FileMessage:
    """The message with the file of the user's that it speaks of, which some name in their text alone."""
    named = _PLACE.match(one.text) if not one.line else None
    if named and named["file"] in design.files:
        return FileMessage(named["text"], str(design.file_of(named["file"])), int(named["line"]), one.severity)
    text = one.text.replace(ANSWER, design.file.name)
    return FileMessage(text, str(design.file_of(one.file)), one.line, one.severity)


def verdict_of(design: DesignFiles, tool: Any) -> FileVerdict:
    """What a tool of the department says, in the names of the user's files."""
    with _open_context(design, looks_at_bench="bench" in design.inputs) as context:
        found: Verdict = tool.call(context, {})
    return _in_its_names(found, design)


def trace_of(design: DesignFiles, levels: int, outputs: Sequence[str] | None = None) -> FileVerdict:
    """As `trace`; the report has all signals, however many these are."""
    with _open_context(design) as context:
        found = _in_its_names(mismatch.trace_software(context, levels, outputs, longest=math.inf), design)
    places = [f"{design.file.name}:{place}" if place.isdigit() else place for place in found.evidence.get("places", ())]
    return replace(found, evidence={**found.evidence, "places": places} if places else found.evidence)


def _in_its_names(found: Verdict, design: DesignFiles) -> FileVerdict:
    return FileVerdict(found.passed, found.report.replace(ANSWER, design.file.name), found.score, found.evidence,
                       found.judged, found.examples)


def draw_recorded(recorded: OnePath, out: OnePath, *, signals: Sequence[str] = ()) -> list[Path]:
    """As `draw`, of a waveform that was recorded elsewhere (`.vcd`, `.fst`): these signals, by full name or a unique
    end of it, or its first ones, up to where a `NAME_ref` among them first differs from its `NAME_dut`."""
    path, out = Path(recorded), Path(out)
    _check_ending(out)
    try:
        with open_recorded(path, Served([]).open_sandbox) as waves:
            names = names_in(waves, signals)
            mismatch = first_difference(waves, names)
            if out.suffix.lower() == ".vcd":
                return _keep(waves.path, out, viewer_files(waves, out.name, names, mismatch))
            start, end = window(names, waves, None if mismatch is None else mismatch + 1)
            times = [] if mismatch is None else [mismatch]
            picture = draw_diagram(waves, names, times, start=start, end=end, unit=TimeUnit(waves.timescale))
            write_file(out, resolve_colours(picture))
            return [out]
    except WaveformError as error:
        raise ConfigError(str(error)) from None


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in PICTURES:
        raise ConfigError(f"--out: {out} is neither a .vcd nor a .svg file; give it one of these endings")


def _keep(dump: Path, out: Path, beside: Mapping[str, str]) -> list[Path]:
    """Write a waveform with what viewers read beside it, by their endings."""
    if not (out.exists() and out.samefile(dump)):
        shutil.copyfile(dump, out)
    for ending, text in beside.items():
        write_file(out.with_suffix(ending), text)
    return [out, *(out.with_suffix(ending) for ending in beside)]


def draw_to(design: DesignFiles, out: Path, signals: Sequence[str] = ()) -> list[Path]:
    """As `draw`."""
    _check_ending(out)
    with _open_context(design) as context, mismatch.record_simulation(context) as recorded:
        if recorded is None:
            return []
        try:
            names = recorded.names_to_draw(signals)
            recorded.waveform.waves.require(names)
        except WaveformError as error:
            raise ConfigError(f"--signals: {error}") from None
        if out.suffix.lower() == ".svg":
            if not names:
                return []
            write_file(out, resolve_colours(recorded.draw(names)[1]))
            return [out]
        return _keep(recorded.dump, out, recorded.viewer_files(out.name, names))


@contextmanager
def _open_context(design: DesignFiles, *, looks_at_bench: bool = True) -> Iterator[ToolContext]:
    """What the tools of a run are given. A bench, reference or simulator that cannot be used is wrong input."""
    with Served([]).open_sandbox() as (sandbox, folder):
        scratch = folder / "scratch"
        scratch.mkdir()
        context = ToolContext(design.software, {}, design.inputs, sandbox=sandbox, run_folder=folder, scratch=scratch)
        if looks_at_bench:
            try:
                judging.check_bench.call(context, {})
            except ToolError as error:
                raise ConfigError(_INPUT.sub(r"--\1 ", _GIVEN.sub("on the command line", str(error)))) from None
        yield context
