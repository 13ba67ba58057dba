"""Kernels of blocks that hand signals on: switches, vectors and buses; and sinks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chatdev.departments.simulink.hierarchy import split_path
from chatdev.departments.simulink.ports import names_of
from chatdev.departments.simulink.simulation.functions import relate
from chatdev.departments.simulink.simulation.kernel import Site, kernel


@kernel("identity")
@kernel("from")
def _identity(site: Site) -> None:
    site.put(site.u(0, site.width) if site.inputs else ["0.0"])


@kernel("scope", rate="sink")
@kernel("outport", rate="sink")
@kernel("display", rate="sink")
@kernel("terminator", rate="sink")
@kernel("to_workspace", rate="sink")
@kernel("xy_graph", rate="sink")
@kernel("goto", rate="sink")
def _sink(site: Site) -> None:
    """Its input is recorded, or goes elsewhere."""
    if site.guard and site.part.type != "Goto":
        site.shown = [tuple(map(site.hold, port)) for port in site.inputs]


@kernel("switch", lambda site: [max(known) if (known := [
    width for port, width in enumerate(site.input_widths) if width is not None and port != 1]) else None])
def _switch(site: Site) -> None:
    criteria = site.text("Criteria")
    operators = {"u2 >= Threshold": ">=", "u2 > Threshold": ">", "u2 ~= 0": "~="}
    if criteria not in operators:
        raise site.fault(f"Criteria is {criteria!r}; it is one of {', '.join(operators)}")
    limits = ["0.0"] if criteria == "u2 ~= 0" else site.each("Threshold", len(site.u(1)))
    conditions = [relate(site, u, operators[criteria], limit) for u, limit in zip(site.u(1), limits * len(
        site.u(1)), strict=False)]
    if len(conditions) not in (1, site.width):
        raise site.fault(f"its control has {len(conditions)} elements, and its data {site.width}; give one")
    for number, (yes, no) in enumerate(zip(site.u(0, site.width), site.u(2, site.width), strict=True)):
        holds, decide = conditions[number % len(conditions)]
        site.element(0, number, f"{yes} if {holds} else {no}", decide if number < len(conditions) else ())


@kernel("manual_switch")
def _manual_switch(site: Site) -> None:
    site.put(site.u(0 if site.text("sw") == "1" else 1, site.width))


@kernel("multiport_switch", lambda site: [max(known) if (known := [
    width for width in site.input_widths[1:] if width is not None]) else None])
def _multiport_switch(site: Site) -> None:
    order, is_extra = site.text("DataPortOrder"), site.text("DataPortForDefault") != "Last data port"
    data = [site.u(port, site.width) for port in range(1, len(site.inputs))]
    numbered = data[:-1] if is_extra else data
    if order == "Specify indices":
        raise site.fault("indices of its ports that are listed are not simulated; choose One-based contiguous")
    first, is_strict = int(not order.startswith("Zero")), site.text("DiagnosticForDefault") == "Error" and not is_extra

    def pick(control: float, values: Sequence[float]) -> float:
        number = math.trunc(control) - first if math.isfinite(control) else -1
        if 0 <= number < len(numbered):
            return values[number]
        if is_strict:
            raise ValueError(f"the control of {site.name!r} is {control:g}, and it has no such port")
        return values[-1]

    name = site.thing(pick)
    site.put(f"{name}({site.scalar(0)}, ({', '.join(row)},))" for row in zip(*data, strict=True))


def _total_width(site: Site) -> list[int | None]:
    widths = [width for width in site.input_widths if width is not None]
    return [sum(widths) if len(widths) == len(site.input_widths) else None]


@kernel("mux", _total_width)
@kernel("concatenate", _total_width)
@kernel("bus_creator", _total_width)
def _mux(site: Site) -> None:
    site.put(u for port in site.inputs for u in port)


def _demux_widths(site: Site) -> list[int | None]:
    count, width = len(site.outputs), site.input_widths[0]
    given = [int(one) for one in site.vector("Outputs")] if site.matrix("Outputs").size > 1 else []
    if given:
        return [*given]
    return [None] * count if width is None else [width // count + (port < width % count) for port in range(count)]


@kernel("demux", _demux_widths)
def _demux(site: Site) -> None:
    if site.is_on("BusSelectionMode"):
        raise site.fault("its bus selection mode is not simulated; use a Bus Selector")
    widths = [len(output) for output in site.outputs]
    if sum(widths) != len(site.u()) or min(widths) < 1:
        raise site.fault(f"its input has {len(site.u())} elements and cannot be split in {widths}")
    at = 0
    for port, width in enumerate(widths):
        site.put(site.u()[at:at + width], port)
        at += width


_HANDED_ON = ("identity", "from", "outport", "inport", "unit_delay", "memory", "zero_order_hold", "rate_transition")
"""Kernels whose output is a bus where their input is one."""


def _creator(source: Site | None) -> Site | None:
    """The Bus Creator of a signal, through blocks that hand it on; None where there is none."""
    for _ in range(1000):
        if source is None or source.part.kind is None or source.part.kind.sim not in _HANDED_ON:
            break
        source = source.sources[0] if source.sources else None
    return source if source and source.part.kind and source.part.kind.sim == "bus_creator" else None


def _bus(creator: Site) -> dict[str, tuple[int, int | None]]:
    """Where the signals of a bus begin and how wide they are, by name: as Inputs lists them, else signal1, signal2, …,
    and those of their sources. Signals of a bus in it have both names, with a point between them."""
    found: dict[str, tuple[int, int | None]] = {}
    given, at = names_of(creator.text("Inputs")), 0
    for number, (source, width) in enumerate(zip(creator.sources, creator.input_widths, strict=True)):
        names = [f"signal{number + 1}", *([split_path(source.name)[-1]] if source else [])]
        inner = _creator(source)
        for name in given[number:number + 1] or names:
            found[name] = at, width
            found.update({f"{name}.{key}": (at + start, size) for key, (start, size) in (
                _bus(inner).items() if inner else ())})
        at += width or 0
    return found


def _choose_signals(site: Site) -> list[tuple[int, int | None]]:
    creator = _creator(site.sources[0])
    if creator is None:
        raise site.fault("its input comes from no Bus Creator, so the names in the bus are not known")
    signals = _bus(creator)
    names = [name.strip() for name in site.text("OutputSignals").split(",")]
    if missing := [name for name in names if name not in signals]:
        raise site.fault(f"the bus has no signal {missing[0]!r}; it has {', '.join([*signals][:40])}")
    return [signals[name] for name in names]


def _bus_widths(site: Site) -> list[int | None]:
    if site.input_widths[0] is None:
        return [None] * len(site.outputs)
    widths = [width for _, width in _choose_signals(site)]
    if site.is_on("OutputAsBus"):
        return [None if None in widths else sum(width or 0 for width in widths)]
    return [*widths]


@kernel("bus_selector", _bus_widths)
def _bus_selector(site: Site) -> None:
    chosen = [site.u()[at:at + (width or 1)] for at, width in _choose_signals(site)]
    if site.is_on("OutputAsBus"):
        chosen = [tuple(one for row in chosen for one in row)]
    for port, elements in enumerate(chosen):
        site.put(elements, port)


def _selector_width(site: Site) -> list[int | None]:
    how = site.text("IndexOptions")
    if how == "Select all":
        return [site.input_widths[0]]
    if how.startswith("Starting"):
        return [site.whole("OutputSizes", 1)]
    return [len(site.vector("Indices"))] if "dialog" in how else [site.input_widths[1]]


@kernel("selector", _selector_width)
def _selector(site: Site) -> None:
    how, first = site.text("IndexOptions"), 0 if site.text("IndexMode").startswith("Zero") else 1
    inputs = site.u()
    if site.text("NumberOfDimensions") != "1" or how == "Starting and ending indices (port)":
        raise site.fault(f"{how} in {site.text('NumberOfDimensions')} dimensions is not simulated")
    if "port" in how:
        def pick(number: float, values: Sequence[float]) -> float:
            at = int(number) - first
            if not 0 <= at < len(values):
                raise ValueError(f"{site.name!r} is asked for element {number:g} of {len(values)}")
            return values[at]

        name, everything = site.thing(pick), f"({', '.join(inputs)},)"
        places = site.u(1) if how.startswith("Index") else [f"{site.scalar(1)} + {n}" for n in range(site.width)]
        site.put(f"{name}({place}, {everything})" for place in places)
        return
    given = [int(one) - first for one in site.vector("Indices")] if how != "Select all" else [*range(len(inputs))]
    chosen = given if not how.startswith("Starting") else [*range(given[0], given[0] + site.width)]
    if any(not 0 <= at < len(inputs) for at in chosen):
        raise site.fault(f"Indices is {site.text('Indices')}, and the input has {len(inputs)} elements")
    site.put(inputs[at] for at in chosen)
