"""What a block saw of signals that changed at its very edge.

It sees what held before the edge, but for what something else changed at once and first: a bench that drives an input
without `<=`, or a blocking assignment of another clocked block. The order is the simulator's; which it was is told by
what the block made of it.
"""

from __future__ import annotations

from dataclasses import replace

from chatdev.tools.verilog.active import Held, Reached, run
from chatdev.tools.verilog.design.decisions import bits
from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.evaluate import Evaluation
from chatdev.tools.verilog.design.records import Part, Process
from chatdev.tools.verilog.history import Sample, bits_in


def as_seen(design: Design, process: Process, part: Part, sample: Sample) -> Sample:
    """The sample with the values that a process saw when it made what became of `part`. Raises DesignError."""
    own = {target.signal for assignment in process.assignments for target in assignment.targets}
    changed = frozenset(signal for signal in process.signals if signal in design.hasty - own
                        and sample.after.get(signal) != sample.values.get(signal))
    became = bits_in(sample.after, part)
    if not changed or _made(design, process, part, sample) in (None, became):
        return sample
    new = {signal: sample.after[signal] for signal in changed}
    late = replace(sample, values={**sample.values, **new}, late=changed)
    return late if _made(design, process, part, late) == became else sample


def _made(design: Design, process: Process, part: Part, sample: Sample) -> str | None:
    """What a process makes of `part` with these values; None when that cannot be told."""
    ran = run(design, process, part, sample, held=False)
    if not ran:
        return bits_in(sample.values, part)
    last = ran[-1]
    if isinstance(last, Held) or not _plain(last) or not last.writes[0].covers(part):
        return None
    value = Evaluation(design, sample.values, process.signals).value(last.assignment.taken)
    if value is None or value.bitWidth != last.writes[0].width:
        return None
    return bits_in({part.signal: bits(value)}, replace(part, low=part.low - last.writes[0].low))


def _plain(one: Reached) -> bool:
    """Whether it surely writes one piece, and what it makes of it does not depend on what the same run did before."""
    return (one.certain and one.exact and len(one.writes) == 1 and one.assignment.taken is not None
            and one.assignment.loop is None and not any(part.signal in one.earlier for part in one.reads))
