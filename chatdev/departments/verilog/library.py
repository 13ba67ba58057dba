"""Verilog's tools as functions of files, for programs and for the command line: no model, and no run of a company.

    design = Dut.read("pwm.v", bench="pwm_tb.v", reference="pwm_ref.v")
    for message in design.lint():
        print(message.file, message.line, message.text)
    verdict = design.judge()
    if not verdict.passed:
        print(design.trace().report)
        design.draw("pwm.svg")
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatdev.departments.verilog.design_files import DesignFiles, read_design_files
from chatdev.departments.verilog.target import ANSWER
from chatdev.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from chatdev.departments.verilog.compilation import Message
    from chatdev.tools.base import ToolContext, Verdict

_INPUT = re.compile(r"--input (\w+)=")  # what a run calls an option
_PLACE = re.compile(r"(?:given/)?(?P<file>[^:\s]+):(?P<line>\d+): (?P<text>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Dut:
    """A design under test: a module with the files that it needs. With a bench what is found can be judged, with a
    reference more of it."""

    files: DesignFiles

    @classmethod
    def read(cls, *files: str | Path, bench: str | Path | None = None, reference: str | Path | None = None,
             top: str | None = None, lists: Sequence[str | Path] = (), simulator: str = "icarus",
             use_environment: bool = False) -> Dut:
        """The design in these files and options (`+define+W=4`, `+incdir+rtl`) and in lists (`-f`); `simulator` is
        `icarus` or `verilator`. `top` is the module that is looked at; by default the one that the bench tests, else
        that of the first file which no other one uses. Raises ConfigError, which names the file, and what to give
        instead."""
        return cls(read_design_files([str(one) for one in files], [Path(one) for one in lists], top,
                                     Path(bench) if bench else None, Path(reference) if reference else None, simulator,
                                     use_environment))

    def check(self) -> list[Message]:
        """What is wrong when the module is compiled alone, at its files and lines; warnings among it."""
        from chatdev.departments.verilog.simulation import examine
        from chatdev.tools.base import throwaway_copy

        with self._context(looks_at_bench=False) as context, throwaway_copy(context.scratch, {}) as folder:
            found = examine(self.files.answer, context.sandbox, folder, self.files.target)
        return [self._at_its_file(one) for one in dict.fromkeys(found.messages)]

    def lint(self) -> list[Message]:
        """`check`, and what compiles and is most often a mistake."""
        from chatdev.departments.verilog.answer import undriven_signals

        found = self.check()
        if not any(one.severity == "error" for one in found):
            more = map(self._at_its_file, undriven_signals(self.files.answer, self.files.target))
            found += [one for one in more if one not in found]
        return found

    def simulate(self) -> Verdict:
        """What the bench reports of each output. Raises ConfigError for a bench that cannot be used; so do all others
        that run it."""
        from chatdev.departments.verilog.judge import simulate

        return self._ask(simulate)

    def judge(self) -> Verdict:
        """The same, and the comparison with the reference's own run: other samples, other random inputs, outputs that
        the bench does not look at."""
        from chatdev.departments.verilog.judge import judge

        return self._ask(judge)

    def trace(self, levels: int = 3, outputs: Sequence[str] = ()) -> Verdict:
        """The lines that gave a wrong output its value, `levels` back, and the signals before the first mismatch, in
        the report."""
        from chatdev.departments.verilog.mismatch import trace

        return self._ask(trace, levels=levels, **({"outputs": [*outputs]} if outputs else {}))

    def equivalent(self) -> Verdict:
        """Whether the module does what the reference does for all inputs (Yosys)."""
        from chatdev.departments.verilog.equivalence import equivalent

        return self._ask(equivalent)

    def draw(self, file: str | Path) -> bool:
        """Write a picture (SVG) of the ports as the bench moves them; whether there was anything to draw."""
        from chatdev.departments.verilog.mismatch import draw

        with self._context() as context:
            for name in draw.call(context, {})["pictures"].values():
                shutil.copyfile(context.run_folder / name, file)
                return True
        return False

    def record(self, file: str | Path) -> Path | None:
        """Write all signals as the bench moves them (VCD); beside it what opens them in GTKWave or Surfer, whose path
        it is. None where nothing was recorded."""
        from chatdev.departments.verilog.answer import read_answer
        from chatdev.departments.verilog.bench import HiddenBench
        from chatdev.departments.verilog.simulation import simulate_answer
        from chatdev.departments.verilog.waveform.waves import Waves
        from chatdev.tools.base import throwaway_copy

        out = Path(file)
        with self._context() as context, throwaway_copy(context.scratch, {}) as folder:
            bench = HiddenBench.of(context.inputs)
            assert bench is not None
            result = simulate_answer(read_answer(context.software).text, bench, context.sandbox, folder, dump=True)
            if result.waves is None:
                return None
            shutil.copyfile(result.waves, out)
            names = sorted(name for name in Waves.open(result.waves).signals
                           if name.startswith(f"{bench.layout.scope}."))
        listed = out.with_suffix(".gtkw")
        listed.write_text("\n".join((f'[dumpfile] "{out.name}"', "[timestart] 0", *names, "")), encoding="utf-8")
        return listed

    def _ask(self, tool: Any, **given: Any) -> Verdict:
        with self._context(looks_at_bench="bench" in self.files.inputs) as context:
            found: Verdict = tool.call(context, given)
        return replace(found, report=found.report.replace(ANSWER, self.files.file.name))

    @contextmanager
    def _context(self, *, looks_at_bench: bool = True) -> Iterator[ToolContext]:
        """What the tools of a run are given. A bench, reference or simulator that cannot be used is wrong input."""
        from chatdev.cli.mcp.served import Served
        from chatdev.departments.verilog.judge import check_bench
        from chatdev.tools.base import ToolContext

        with Served([]).open_sandbox() as (sandbox, folder):
            scratch = folder / "scratch"
            scratch.mkdir()
            context = ToolContext(self.files.software, {}, self.files.inputs, sandbox=sandbox, run_folder=folder,
                                  scratch=scratch)
            if looks_at_bench:
                try:
                    check_bench.call(context, {})
                except ToolError as error:
                    raise ConfigError(_INPUT.sub(r"--\1 ", str(error))) from None
            yield context

    def _at_its_file(self, one: Message) -> Message:
        """The message with the file of the user's that it speaks of, which some name in their text alone."""
        named = _PLACE.match(one.text) if not one.line else None
        if named and named["file"] in self.files.files:
            one = replace(one, file=named["file"], line=int(named["line"]), text=named["text"])
        text = one.text.replace(ANSWER, self.files.file.name)
        return replace(one, file=str(self.files.file_of(one.file)), text=text)
