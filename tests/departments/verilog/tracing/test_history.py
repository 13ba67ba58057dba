"""A history of columns says what its rows say, which hold every signal at every step."""

from __future__ import annotations

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.design.records import Part, Trigger
from chatdev.departments.verilog.tracing.trace import History, Past, bits_in

WIDTHS = {"clk": 1, "count": 3, "d": 2}
EDGES: tuple[Literal["posedge", "negedge", "change"], ...] = ("posedge", "negedge", "change")
AFTER, OPPOSITE = {"posedge": "1", "negedge": "0"}, {"posedge": "negedge", "negedge": "posedge"}

values = st.fixed_dictionaries({}, optional={
    name: st.text("01xz", min_size=width, max_size=width) for name, width in WIDTHS.items()})
befores = st.fixed_dictionaries({
    name: st.text("01x", min_size=width, max_size=width) for name, width in WIDTHS.items()})
triggers = st.lists(st.builds(Trigger, st.sampled_from(EDGES), st.sampled_from([
    Part("clk", 0, 1), Part("count", 0, 3), Part("count", 1, 2), Part("d", 1, 1), Part("gone", 0, 1)]),
    st.just(1)), min_size=1, max_size=3)


@st.composite
def pasts(draw: st.DrawFn) -> Past:
    steps, time = [], 0
    for later, step in draw(st.lists(st.tuples(st.integers(1, 3), values), max_size=12)):
        time += later
        steps.append((time, step))
    complete = draw(st.booleans())
    return Past({name: "x" * width for name, width in WIDTHS.items()} if complete else draw(befores), steps, complete)


def rows_of(past: Past) -> list[tuple[int, dict[str, str]]]:
    """What held before the first step, and from each on."""
    rows, now = [(-1, past.before)], past.before
    for time, step in past.steps:
        now = {**now, **step}
        rows.append((time, now))
    return rows


def has_fired(trigger: Trigger, old: dict[str, str], new: dict[str, str]) -> bool:
    was, now = bits_in(old, trigger.part), bits_in(new, trigger.part)
    if trigger.edge == "change":
        return was != now
    return was[-1:] != now[-1:] and (now[-1:] == AFTER[trigger.edge] or was[-1:] == AFTER[OPPOSITE[trigger.edge]])


@given(pasts(), st.integers(0, 40))
def test_the_values_before_a_time_are_those_of_the_rows(past: Past, time: int) -> None:
    rows, until = [row for row in rows_of(past)[1:] if row[0] < time], time
    found = list(History(past).samples_before(time))
    assert len(found) == len(rows)
    for sample, row in zip(found, reversed(rows), strict=True):
        assert (sample.until, dict(sample.values)) == (until, row[1])
        until = row[0]


@given(pasts(), triggers, st.integers(0, 40))
def test_a_process_runs_where_the_rows_have_an_edge(past: Past, some: list[Trigger], time: int) -> None:
    rows = rows_of(past)
    expected = []
    for place in reversed(range(1 if past.complete else 2, len(rows))):
        (_, old), (now, new) = rows[place - 1], rows[place]
        fired = {trigger.part.signal for trigger in some if has_fired(trigger, old, new)}
        if fired and now < time:
            expected.append((now, {**old, **{signal: new[signal] for signal in fired}}, new))
    found = list(History(past).samples_at_triggers(tuple(some), time))
    assert [(sample.until, dict(sample.values), dict(sample.after)) for sample in found] == expected
    for sample in found:
        late = sample.seen_late(frozenset({"d"}))
        assert dict(late.values) == {**sample.values, "d": sample.after["d"]}
