"""Test benches: the module at the root of one, where it has the module that is tested, the changes that let us read
what it prints and what the signals did, and names that two texts share.

A bench may end as VerilogEval's do (`Mismatches: 3 in 400 samples`) or say in its own way what went wrong, see
`bench_report.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from chatdev.departments.verilog import cocotb_bench
from chatdev.departments.verilog.bench_report import PrintedLine, checks_of
from chatdev.departments.verilog.compilation import BENCH, REFERENCE, WAVES
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.simulators import time_of
from chatdev.departments.verilog.slang import find_missing, find_parameters
from chatdev.departments.verilog.target import TOP, UNIT, USUAL, Target, blank_comments, unit_names

HIDDEN = "/"  # before the names of files
REFERENCE_MODULE = "RefModule"
"""What VerilogEval's benches call the reference that they compare with."""

_MAY_HAVE_PARAMETERS = re.compile(r"\bparameter\b|[#`]")
_DUMPS = re.compile(r"\$dump(?:vars|file|on|off|all|flush|limit)\b\s*+(?:\((?:[^;$]|\$(?!dump))*?\)\s*+)?;", re.DOTALL)
_CALL = r"\$(?:display|write|strobe|monitor)[bho]?\b"
_PRINT = re.compile(rf'(?P<call>{_CALL}\s*+\(\s*+)"(?P<text>(?:\\.|[^"\\\n])*+)"')
_ANY_PRINT = re.compile(rf"{_CALL}(?!\s*+(?:;|\(\s*+\)))")
_TO_A_FILE = re.compile(r"\$f(?:display|write|strobe|monitor)[bho]?\b")  # which may be the terminal
_UNSEEN = re.compile(
    r"\$(?:f(?:display|write|strobe|monitor)[bho]?\s*+\(\s*+(?![\d']|std)|(?:fopen|dumpfile|(?:read|write)mem[bh]"
    r"|(?:test|value)\$plusargs)\b)"
    r'(?:"(?:\\.|[^"\\\n])*+"|[^;"])*+', re.IGNORECASE)  # a name of a file, or what goes into one
_LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*+)"')
_PART_OF_LINE = re.compile(r'\$write[bho]?\s*+\(\s*+"(?:\\.|[^"\\\n])*+"(?<!\\n")')
_INNER_END = re.compile(r"\\n(?!$)")
_COMPLAINS = re.compile(r"\$(?:error|fatal)\b|\bassert\b")
_OF_SIMULATOR = re.compile(r"VCD info: .*|\S+:\d+: \$(?:finish|stop) called at .*| *Time: \d+ +Scope: .*"
                           r"|(?:ERROR|FATAL|WARNING|INFO): \S+:\d+:.*")
_DRAWS = re.compile(r"\$u?random(?:_range)?\b|\$dist_|\brandomize\b|\brand(?:case|sequence)\b|\.\s*+shuffle\b")
_WITHIN = r"(?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+"  # brackets, two deep
_DRAW_BY_SEED = re.compile(r"\$(?P<draw>u?random|dist_\w+)\s*+\(\s*+(?P<seed>[A-Za-z_][\w.]*+)\s*+"
                           rf"(?:,{_WITHIN})?\)")
_CONSTANT_SEED = re.compile(r"(?:\$u?|\bs)random\s*+\((?=\s*+\d)")
_MOST_RECORDED = 16 << 20
_MOST_BEFORE = 61  # draws before one by a seed
_ROOT, _SCOPE = "tb", "tb.top_module1"  # VerilogEval's


@dataclass(frozen=True, slots=True)
class BenchLayout:
    """The `root` module of a bench, the hierarchical name of the tested module's first instance (`scope`; "" without
    one), the `ports` that are connected to it by name, the modules that it needs and has not (`missing`), and `others`
    that no module instantiates and that have an instance of the tested one too."""

    root: str
    scope: str
    ports: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HiddenBench:
    """What agents never see: the text of the test bench, and of the reference. `target` is what it tests, `mark` is
    what its prints begin with; with a number of `other_draws` it gets other random numbers than usual, those that this
    number leads to. Where it has not come to its end `until` a time, with its unit, it is stopped."""

    text: str
    reference: str | None = None
    target: Target = USUAL
    mark: str = ""
    other_draws: int | None = None
    until: tuple[int, str] | None = None

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> Self | None:
        """From the inputs of a run; None when there is no bench."""
        bench = inputs.get("bench")
        return cls(bench, inputs.get("reference"), read_target(inputs)) if bench else None

    @property
    def layout(self) -> BenchLayout:
        """Where it has what."""
        if self.is_python:
            return BenchLayout(self.target.top, self.target.top, (), (self.target.top,))
        return _find_layout(self.text, self.target)

    @property
    def is_python(self) -> bool:
        """Whether it is one of cocotb, in which the module is the root."""
        return cocotb_bench.is_python(self.text)

    @property
    def complains(self) -> bool:
        """Whether it has words for what is wrong, so that silence says that all is well."""
        return _COMPLAINS.search(self.text) is not None or any(checks_of(text).failed for text in self._texts)

    @property
    def affirms(self) -> bool:
        """Whether it has words for what is right, so that a run without them is no silence."""
        return any(checks_of(text).passed for text in self._texts)

    @property
    def _texts(self) -> list[str]:
        return _LITERAL.findall(_UNSEEN.sub(" ", self.text))

    @property
    def beside(self) -> dict[str, str]:
        """What is compiled with the answer, by names that no given file has."""
        right = {HIDDEN + REFERENCE: self.reference} if self.reference and self.compares else {}
        return {**({} if self.is_python else {HIDDEN + BENCH: self.text}), **right}

    @property
    def compares(self) -> bool:
        """Whether it has an instance of the reference beside that of the answer."""
        return self.reference is not None and REFERENCE_MODULE in self.layout.missing

    def marked(self, mark: str) -> HiddenBench:
        """The bench with a mark and the time before all that it or a given file prints; itself where that cannot be."""
        if self.is_python or not self.can_be_marked:
            return self
        time = time_of(self.target)
        given = tuple((path, _mark_prints(text, mark, time)) for path, text in self.target.given)
        return replace(self, text=_mark_prints(self.text, mark, time), mark=mark,
                       target=replace(self.target, given=given))

    @property
    def draws(self) -> bool:
        """Whether it or a given file draws random numbers."""
        if self.is_python and cocotb_bench.draws(self.text):
            return True
        return any(_DRAWS.search(text) for text in (self.text, *self.target.texts.values()))

    def change_draws(self, number: int) -> HiddenBench:
        """The bench with other random numbers, also where it brings a seed of its own; `number` has at most 31 bits."""
        given = tuple((path, _change_seeds(text, number)) for path, text in self.target.given)
        text = self.text if self.is_python else _change_seeds(self.text, number)
        return replace(self, text=text, target=replace(self.target, given=given), other_draws=number)

    @property
    def can_be_marked(self) -> bool:
        """Whether all that is printed begins with a text of its own, before which a mark can be put, and is a whole
        line, in which nobody else can write."""
        if self.is_python:  # whose results are a file
            return True
        texts = [self.text, *self.target.texts.values()]
        return all(len(_ANY_PRINT.findall(text)) == len(_PRINT.findall(text)) and not _PART_OF_LINE.search(text)
                   and not _TO_A_FILE.search(text) for text in texts)

    def lines_of(self, printed: str) -> list[PrintedLine]:
        """The lines that it printed itself, with their times; without a mark all that are not the simulator's own."""
        if not self.mark:
            return [PrintedLine(line) for line in printed.split("\n") if line and not _OF_SIMULATOR.fullmatch(line)]
        found, time = list[PrintedLine](), 0
        for line in printed.split("\n"):
            if start := self._marks.search(line):  # what an answer wrote before it has no end of its own
                time = int(start["time"] or time)
                found.append(PrintedLine(self._marks.sub("", line[start.start():]), time))
        return found

    def without_marks(self, printed: str) -> str:
        """What was printed as it would have been without a mark."""
        return self._marks.sub("", printed) if self.mark else printed

    @property
    def _marks(self) -> re.Pattern[str]:
        return re.compile(rf"{self.mark} (?:(?P<time>\d+)|~) ")


def add_parameters(bench: HiddenBench, answer: str) -> Target:
    """The bench's target with the parameters that it gives the answer."""
    if not _MAY_HAVE_PARAMETERS.search(answer):
        return bench.target
    try:
        found = find_parameters(answer, bench.text, bench.layout.scope, bench.target)
    except DesignError:
        return bench.target
    return replace(bench.target, parameters=found)


def read_target(inputs: Mapping[str, Any]) -> Target:
    """What is to be written: the module that `top` names, else the one that the bench tests, else `TopModule`."""
    given, named, bench = inputs.get("given"), inputs.get("top"), inputs.get("bench")
    simulator = str(inputs.get("simulator") or "").strip().lower()
    target = Target.named(str(named).strip() if named else None, given, simulator, inputs.get("defines"))
    target = replace(target, may_end=bool(inputs.get("may_end")))
    if named or not bench or re.search(rf"\b{TOP}\b", bench):
        return target
    tested = _tested_modules(bench, target)
    return replace(target, top=tested[0]) if len(tested) == 1 else target


def _tested_modules(bench: str, target: Target) -> list[str]:
    if cocotb_bench.is_python(bench):
        return [cocotb_bench.toplevel_of(bench) or TOP]
    return [name for name in _find_layout(bench, target).missing if name != REFERENCE_MODULE]


def dump_everything(bench: str, root: str) -> tuple[str, str]:
    """The bench's text without its own dumps, its lines where they were, and the text of another root module that
    writes all signals below `root`, those inside the modules included, to `wave.vcd`."""
    dump = f'module {DUMP}; initial begin $dumpfile("{WAVES}"); $dumpvars(0, {root}); end endmodule\n'
    return _DUMPS.sub(_replace_by("begin end"), bench), dump


def dump_signals(bench: str, signals: Iterable[str]) -> tuple[str, str]:
    """The same for these signals alone, and no more than `_MOST_RECORDED` bytes of them."""
    dump = (f'module {DUMP}; initial begin $dumpfile("{WAVES}"); $dumplimit({_MOST_RECORDED}); '
            f"$dumpvars(0, {', '.join(signals)}); end endmodule\n")
    return dump_everything(bench, "")[0], dump


def stop_simulation(time: int, timescale: str) -> str:
    """The text of another root module that ends the simulation at a time, and prints `STOPPED`."""
    return (f"`timescale {timescale}/{timescale}\nmodule {STOP}; initial #(64'd{time}) "
            f'begin $display("{STOPPED}"); $finish; end endmodule\n')


DUMP, STOP = "dump_of_all_signals", "stop_of_simulation"
"""The modules that write the waveform, and that end the simulation."""
STOPPED = "VCD info: the simulation was stopped."


@functools.lru_cache(64)
def _find_layout(bench: str, target: Target) -> BenchLayout:
    """Read the bench, in the child of this process; one that cannot be read is taken for one of VerilogEval's."""
    try:
        tops, missing = find_missing(bench, target)
    except DesignError:
        return BenchLayout(_ROOT, _SCOPE)
    modules = tuple(dict.fromkeys(one.module for one in missing))
    if tested := [one for one in missing if one.module == target.top]:
        own = [one for one in tested if one.root in tops] or tested  # a given module may make one, too
        root, *others = dict.fromkeys(one.root for one in own)
        return BenchLayout(root, own[0].path, own[0].ports, modules, tuple(others))
    return BenchLayout(_ROOT if _ROOT in tops or not tops else tops[-1], "", (), modules)


def _mark_prints(text: str, mark: str, time: str) -> str:
    """The text, changed so that each line of its prints begins with the mark, and the time where it is known."""
    def add_mark(found: re.Match[str]) -> str:
        inner = _INNER_END.sub(lambda _: rf"\n{mark} ~ ", found["text"])
        return f'{found["call"]}"{mark} %0d ", {time}, "{inner}"'

    return _PRINT.sub(add_mark, text)


def _change_seeds(text: str, number: int) -> str:
    """The text, changed so that before each draw by a seed others are made by it, of which nothing is kept, and that
    what is no distribution gets other bits."""
    def change(found: re.Match[str]) -> str:
        before = f"$random({found['seed']}) & 32'd0 | " * (1 + number % _MOST_BEFORE)
        bits = f"32'd{number} ^ " if found["draw"].endswith("random") else ""
        other = f"{{{before}({bits}{found[0]})}}"
        return other if found["draw"] == "urandom" else f"$signed({other})"

    return _CONSTANT_SEED.sub(rf"\g<0>{number}+", _DRAW_BY_SEED.sub(change, text))


def _replace_by(statement: str) -> Callable[[re.Match[str]], str]:
    """Puts a statement in place of another, over as many lines."""
    return lambda found: statement + "\n" * found[0].count("\n")


# Other names for what a text declares beside its module, so that it can stand beside another text, or itself.

_END = re.compile(r"\bend(?:module|program|interface|package|primitive|checker|class)\b")
_BODY = re.compile(r"\b(?P<kind>function|task)\b(?:(?!\bend(?:function|task)\b).)*+", re.DOTALL)
_BRACES = re.compile(r"\{[^{}]*\}")
_ENUM = re.compile(r"\benum\b[^{;]*\{(?P<names>[^{}]*)\}")
_MEMBER = re.compile(r"(?:^|,)\s*(\w+)")
_FUNCTION = re.compile(r"\b(?:function|task)\b[^;(]*?(\w+)\s*[;(]")
_TYPE = re.compile(r"\btypedef\b[^;]*?(\w+)\s*(?:\[[^\]]*\]\s*)*;")
_CONSTANTS = re.compile(r"\b(?:localparam|parameter)\b[^;]*;")
_CONSTANT = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=(?!=)")
_DEFINE = re.compile(r"`define\s+(\w+)")
_DECLARES = (r"(?:module|program|interface|package|primitive|checker|class)(?:\s+(?:static|automatic))?\s+"
             r"|end\w+\s*:\s*")


def names_beside(text: str) -> set[str]:
    """The names that a text declares outside of modules: those of modules, packages and the like, and of types,
    constants, functions and tasks that stand in none of them."""
    return unit_names(text) | set(_outer_names(blank_comments(text)))


def _outer_names(code: str) -> Iterator[str]:
    outside = _outside_of_units(code)
    yield from _FUNCTION.findall(outside)
    outside = _BODY.sub(" ", outside)
    for enum in _ENUM.finditer(outside):
        yield from _MEMBER.findall(enum["names"])
    while (flat := _BRACES.sub(" ", outside)) != outside:
        outside = flat
    yield from _TYPE.findall(outside)
    for constants in _CONSTANTS.findall(outside):
        yield from _CONSTANT.findall(constants)


def _outside_of_units(code: str) -> str:
    """The text without its modules, packages and the like."""
    parts, place = list[str](), 0
    while (begin := UNIT.search(code, place)) and (end := _END.search(code, begin.end())):
        parts.append(code[place:begin.start()])
        place = end.end()
    return " ".join((*parts, code[place:]))


def rename(text: str, names: Iterable[str], ending: str) -> str:
    """The text with an ending behind these names; a port or signal that has the name of a module keeps it."""
    units = unit_names(text)
    for name in names:
        place = _of_unit(name) if name in units else rf"(?<![\w$]){name}\b"
        text = re.sub(place, rf"\g<0>{ending}", text)
    return text


def _of_unit(name: str) -> str:
    """Where a name is that of a module, package or the like: where it is declared, before `::`, and before the name,
    the parameters or the connections of an instance."""
    instance = r"[A-Za-z_]\w*\s*(?:\[[^\]]*\]\s*)*[(;,)=]"
    return (rf"\b(?:{_DECLARES}){name}\b"
            rf"|(?<![.\w$`]){name}\b(?=\s*(?:\#\s*[(\d\w]|::|\(|\.\w+\s+\w|{instance}))")


def undefine_macros(text: str) -> str:
    """What takes back the macros of a text, so that it can be read once more."""
    return "".join(f"\n`undef {name}" for name in dict.fromkeys(_DEFINE.findall(blank_comments(text))))
