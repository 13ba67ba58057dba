"""Every kernel against its definition: those without memory for constant and for continuous inputs, sources and sampled
blocks by their values at all hits, continuous ones by formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy
import pytest

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.simulation.compile import RECORDED
from chatdev.departments.simulink.simulation.kernel import KERNELS, ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.solve import Results
from tests.departments.simulink.simulation.models import Blocks, constant, run, sampled

Parameters = dict[str, str]

STATIC: list[tuple[str, Parameters, list[str], Sequence[float]]] = [
    ("Gain", {"Gain": "[3 4]"}, ["[1 2]"], [3, 8]), ("Gain", {"Gain": "-2"}, ["[1 2]"], [-2, -4]),
    ("Gain", {"Gain": "[1 2;3 4]", "Multiplication": "Matrix(K*u)"}, ["[1 2]"], [5, 11]),
    ("Gain", {"Gain": "[1 2;3 4]", "Multiplication": "Matrix(u*K)"}, ["[1 2]"], [7, 10]),
    ("Slider Gain", {"gain": "3"}, ["2"], [6]), ("Sum", {"Inputs": "|+-+"}, ["[1 2]", "5", "[10 20]"], [6, 17]),
    ("Sum", {"Inputs": "--"}, ["1", "2"], [-3]), ("Sum", {"Inputs": "3"}, ["1", "2", "3"], [6]),
    ("Sum of Elements", {}, ["[1 2 4]"], [7]), ("Add", {}, ["1", "2"], [3]), ("Subtract", {}, ["1", "2"], [-1]),
    ("Product", {"Inputs": "*/*"}, ["6", "[2 3]", "5"], [15, 10]), ("Divide", {}, ["1", "0"], [math.inf]),
    ("Divide", {}, ["0", "0"], [math.nan]), ("Product of Elements", {}, ["[2 3 4]"], [24]),
    ("Product", {"Inputs": "/"}, ["[2 4]"], [0.125]), ("Dot Product", {}, ["[1 2 3]", "[4 5 6]"], [32]),
    ("Bias", {"Bias": "[1 2]"}, ["5"], [6, 7]), ("Unary Minus", {}, ["[1 -2]"], [-1, 2]),
    ("Abs", {}, ["[-3 0 2]"], [3, 0, 2]), ("Sign", {}, ["[-3 0 2]"], [-1, 0, 1]),
    ("Saturation", {"UpperLimit": "1", "LowerLimit": "[-1 -2 -3]"}, ["-5"], [-1, -2, -3]),
    ("Saturation Dynamic", {}, ["1", "[-5 0.5 5]", "-1"], [-1, 0.5, 1]),
    ("Dead Zone", {"LowerValue": "-1", "UpperValue": "2"}, ["[-3 0 5]"], [-2, 0, 3]),
    ("Dead Zone Dynamic", {}, ["2", "[-3 0 5]", "-1"], [-2, 0, 3]),
    ("Coulomb & Viscous Friction", {"offset": "2", "gain": "0.5"}, ["[-4 0 4]"], [-4, 0, 4]),
    ("Quantizer", {"QuantizationInterval": "0.5"}, ["[0.3 -0.8 0.25]"], [0.5, -1, 0.5]),
    ("Wrap To Zero", {"Threshold": "3"}, ["[3 4]"], [3, 0]),
    *[("Relational Operator", {"Operator": operator}, ["[1 2 3]", "2"], expected) for operator, expected in (
        ("==", [0, 1, 0]), ("~=", [1, 0, 1]), ("<", [1, 0, 0]), ("<=", [1, 1, 0]), (">=", [0, 1, 1]),
        (">", [0, 0, 1]))],
    ("Relational Operator", {"Operator": "isInf"}, ["[1 inf]"], [0, 1]),
    ("Compare To Zero", {"relop": "<="}, ["[-1 0 1]"], [1, 1, 0]),
    ("Compare To Constant", {"relop": ">", "const": "[1 5]"}, ["3"], [1, 0]),
    ("Interval Test", {"lowlimit": "-1", "uplimit": "1", "IntervalClosedRight": "off"}, ["[-1 0 1 2]"], [1, 1, 0, 0]),
    ("Interval Test Dynamic", {}, ["1", "[-1 0 1 2]", "-1"], [1, 1, 1, 0]),
    *[("Logical Operator", {"Operator": operator}, ["[0 0 1 1]", "[0 2 0 2]"], expected) for operator, expected in (
        ("AND", [0, 0, 0, 1]), ("OR", [0, 1, 1, 1]), ("NAND", [1, 1, 1, 0]), ("NOR", [1, 0, 0, 0]),
        ("XOR", [0, 1, 1, 0]), ("NXOR", [1, 0, 0, 1]))],
    ("Logical Operator", {"Operator": "NOT"}, ["[0 3]"], [1, 0]),
    ("Logical Operator", {"Operator": "AND", "Inputs": "1"}, ["[1 1 0]"], [0]),
    ("Combinatorial Logic", {"TruthTable": "[0 0;0 1;0 1;1 0]"}, ["[1 0]"], [0, 1]),
    ("Math Function", {"Operator": "exp"}, ["[0 1000]"], [1, math.inf]),
    ("Math Function", {"Operator": "log"}, ["[1 0 -1]"], [0, -math.inf, math.nan]),
    ("Math Function", {"Operator": "log10"}, ["1000"], [3]), ("Math Function", {"Operator": "10^u"}, ["3"], [1000]),
    ("Math Function", {"Operator": "square"}, ["-3"], [9]), ("Math Function", {"Operator": "pow"}, ["2", "10"], [1024]),
    ("Math Function", {"Operator": "reciprocal"}, ["4"], [0.25]),
    ("Math Function", {"Operator": "hypot"}, ["3", "4"], [5]),
    ("Math Function", {"Operator": "rem"}, ["-7", "3"], [-1]),
    ("Math Function", {"Operator": "mod"}, ["-7", "3"], [2]), ("Math Function", {"Operator": "mod"}, ["5", "0"], [5]),
    ("Sqrt", {}, ["[4 -1]"], [2, math.nan]), ("Signed Sqrt", {}, ["-9"], [-3]), ("Reciprocal Sqrt", {}, ["4"], [0.5]),
    ("Trigonometric Function", {"Operator": "sin"}, ["1"], [math.sin(1)]),
    ("Trigonometric Function", {"Operator": "asin"}, ["2"], [math.nan]),
    ("Trigonometric Function", {"Operator": "atan2"}, ["1", "-1"], [3 * math.pi / 4]),
    ("MinMax", {"Function": "max", "Inputs": "2"}, ["[1 5]", "3"], [3, 5]),
    ("MinMax", {"Function": "min", "Inputs": "1"}, ["[4 2 3]"], [2]),
    *[("Rounding Function", {"Operator": operator}, ["[-1.5 2.5]"], expected) for operator, expected in (
        ("floor", [-2, 2]), ("ceil", [-1, 3]), ("round", [-2, 3]), ("fix", [-1, 2]))],
    ("Polynomial", {"Coefs": "[1 2 3]"}, ["[2 -1]"], [11, 2]),
    ("Fcn", {"Expr": "sin(u(1)*exp(2.3*(-u(2))))+u[1]^2"}, ["[1 2]"], [math.sin(math.exp(-4.6)) + 1]),
    ("Fcn", {"Expr": "(u(1)>0) && u(2)/2 == 1"}, ["[1 2]"], [1]),
    ("1-D Lookup Table", {"Table": "[0 10 40]", "BreakpointsForDimension1": "[0 1 2]"}, ["[-1 0.5 1.5 3]"],
     [-10, 5, 25, 70]),
    ("1-D Lookup Table", {"Table": "[0 10 40]", "BreakpointsForDimension1": "[0 1 2]", "ExtrapMethod": "Clip",
                          "InterpMethod": "Flat"}, ["[-1 0.9 1 3]"], [0, 0, 10, 40]),
    ("1-D Lookup Table", {"Table": "[0 1 8 27]", "BreakpointsForDimension1": "[0 1 2 3]",
                          "InterpMethod": "Cubic spline", "ExtrapMethod": "Cubic spline"}, ["[1.5 4]"], [3.375, 64]),
    ("2-D Lookup Table", {}, ["[1 1.5 3]", "[1 2.5 3]"], [4, (5 + 6 + 19 + 20) / 4, 23]),
    ("Switch", {"Threshold": "2"}, ["[1 2]", "2", "[3 4]"], [1, 2]),
    ("Switch", {"Criteria": "u2 > Threshold", "Threshold": "2"}, ["[1 2]", "2", "3"], [3, 3]),
    ("Switch", {"Criteria": "u2 ~= 0"}, ["[1 2]", "[0 -1]", "[3 4]"], [3, 2]),
    ("Manual Switch", {"sw": "0"}, ["1", "2"], [2]), ("Multiport Switch", {}, ["2", "10", "20", "30"], [20]),
    ("Multiport Switch", {"DataPortOrder": "Zero-based contiguous", "DiagnosticForDefault": "None"},
     ["7", "10", "20", "30"], [30]),
    ("Mux", {"Inputs": "2"}, ["[1 2]", "3"], [1, 2, 3]), ("Vector Concatenate", {}, ["[1 2]", "3"], [1, 2, 3]),
    ("Selector", {"Indices": "[3 1]"}, ["[5 6 7]"], [7, 5]),
    ("Selector", {"IndexOptions": "Starting index (dialog)", "Indices": "2", "OutputSizes": "2"}, ["[5 6 7]"], [6, 7]),
    ("Selector", {"IndexOptions": "Index vector (port)", "IndexMode": "Zero-based"}, ["[5 6 7]", "[2 0]"], [7, 5]),
    ("Width", {}, ["[1 2 3]"], [3]), ("Signal Conversion", {}, ["[1 2]"], [1, 2]),
    ("Data Type Conversion", {"OutDataTypeStr": "boolean"}, ["[0 -2]"], [0, 1]),
    ("Data Type Conversion", {"OutDataTypeStr": "int8"}, ["[1.7 -1.2 200]"], [1, -2, -56]),
    ("Data Type Conversion", {"OutDataTypeStr": "uint8", "SaturateOnIntegerOverflow": "on"}, ["[300 -4]"], [255, 0]),
    ("Data Type Conversion", {"OutDataTypeStr": "single"}, ["0.1"], [float(numpy.float32(0.1))]),
    ("Rate Transition", {}, ["3"], [3])]


def steady(value: str) -> tuple[str, Parameters]:
    """A continuous source of a value that may be a vector."""
    return "Sine Wave", {"Amplitude": "0", "Bias": value}


@pytest.mark.parametrize("source", [constant, steady])
@pytest.mark.parametrize(("kind", "parameters", "inputs", "expected"), STATIC)
def test_blocks_without_memory(kind: str, parameters: Parameters, inputs: list[str], expected: list[float],
                               source: Callable[[str], tuple[str, Parameters]]) -> None:
    if source is steady and "inf" in str(inputs):
        return
    blocks: Blocks = {"y": (kind, parameters), "Scope": "Scope",
                      **{f"u{number}": source(value) for number, value in enumerate(inputs, 1)}}
    lines = [f"u{number}/1 -> y/{number}" for number in range(1, len(inputs) + 1)]
    found = run(blocks, "y/1 -> Scope/1", *lines, stop=1)
    assert found.values[-1].tolist() == pytest.approx(expected, nan_ok=True, rel=1e-12)


def seen(found: Results, name: str = "y") -> list[float]:
    """The values of a signal, the last one of each time."""
    return [*dict(zip(found.times.tolist(), found[name].tolist(), strict=True)).values()]


U = [3.0, 1.0, -2.0, 4.0, 0.0, 5.0]  # the input of sampled blocks
SAMPLED: list[tuple[str, Parameters, list[float]]] = [
    ("Unit Delay", {"InitialCondition": "7"}, [7, 3, 1, -2, 4, 0]), ("Zero-Order Hold", {}, U),
    ("Delay", {"DelayLength": "2", "InitialCondition": "9"}, [9, 9, 3, 1, -2, 4]), ("Delay", {"DelayLength": "0"}, U),
    ("Difference", {"ICPrevInput": "1"}, [2, -2, -3, 6, -4, 5]), ("Discrete Derivative", {}, [3, -2, -3, 6, -4, 5]),
    ("Discrete-Time Integrator", {}, [0, 3, 4, 2, 6, 6]),
    ("Discrete-Time Integrator", {"IntegratorMethod": "Integration: Backward Euler"}, [3, 4, 2, 6, 6, 11]),
    ("Discrete-Time Integrator", {"IntegratorMethod": "Integration: Trapezoidal"}, [1.5, 3.5, 3, 4, 6, 8.5]),
    ("Discrete-Time Integrator", {"gainval": "2", "LimitOutput": "on", "UpperSaturationLimit": "5"},
     [0, 5, 5, 1, 5, 5]),
    ("Discrete Transfer Fcn", {"Numerator": "[1]", "Denominator": "[1 0.5]"}, [0, 3, -0.5, -1.75, 4.875, -2.4375]),
    ("Discrete Filter", {"Numerator": "[1]", "Denominator": "[1 0.5]"},
     [3, -0.5, -1.75, 4.875, -2.4375, 6.21875]),
    ("Discrete FIR Filter", {"Coefficients": "[0.5 0.5]"}, [1.5, 2, -0.5, 1, 2, 2.5]),
    ("Discrete Zero-Pole", {"Zeros": "[]", "Poles": "[-0.5]"}, [0, 3, -0.5, -1.75, 4.875, -2.4375]),
    ("Discrete State-Space", {"A": "-0.5", "B": "1", "C": "1", "D": "0"}, [0, 3, -0.5, -1.75, 4.875, -2.4375]),
    ("Transfer Fcn First Order", {"PoleZ": "0.5"}, [1.5, 1.25, -0.375, 1.8125, 0.90625, 2.953125]),
    ("Detect Change", {"vinit": "3"}, [0, 1, 1, 1, 1, 1]), ("Detect Increase", {}, [1, 0, 0, 1, 0, 1]),
    ("Detect Decrease", {}, [0, 1, 1, 0, 1, 0]), ("Detect Rise Positive", {}, [1, 0, 0, 1, 0, 1]),
    ("Detect Fall Negative", {}, [0, 0, 1, 0, 0, 0]), ("Backlash", {"BacklashWidth": "2"}, [2, 2, -1, 3, 1, 4]),
    ("Relay", {"OnSwitchValue": "2", "OffSwitchValue": "0"}, [1, 1, 0, 1, 0, 1]),
    ("Rate Limiter", {}, [1, 1, 0, 1, 0, 1]),
    ("Discrete PID Controller", {"P": "2", "I": "1", "D": "0"}, [6, 5, 0, 10, 6, 16]),
    ("Discrete PID Controller", {"P": "0", "I": "0", "D": "1", "N": "0.5"}, [1.5, -0.25, -1.625, 2.1875, -0.90625,
                                                                            2.046875]),
    ("Discrete PID Controller", {"P": "1", "I": "1", "LimitOutput": "on", "UpperSaturationLimit": "3",
                                 "AntiWindupMode": "clamping"}, [3, 3, 1, 3, 1, 3])]


@pytest.mark.parametrize(("kind", "parameters", "expected"), SAMPLED)
def test_sampled_blocks(kind: str, parameters: Parameters, expected: list[float]) -> None:
    known = catalogue().types[kind].parameters
    own = {"SampleTime": "1"} if "SampleTime" in known else {}
    found = run({"u": ("Repeating Sequence Stair", {"OutValues": str(U), "tsamp": "1"}), "y": (kind, own | parameters),
                 "Scope": "Scope"}, "u/1 -> y/1", "y/1 -> Scope/1", stop=5)
    assert seen(found) == pytest.approx(expected)


SOURCES: list[tuple[str, Parameters, Callable[[float], float]]] = [
    ("Step", {"Time": "2", "Before": "-1", "After": "3"}, lambda t: 3 if t >= 2 else -1),
    ("Ramp", {"slope": "2", "start": "1", "InitialOutput": "5"}, lambda t: 5 + 2 * max(t - 1, 0)),
    ("Sine Wave", {"Amplitude": "2", "Bias": "1", "Frequency": "3", "Phase": "0.5"},
     lambda t: 2 * math.sin(3 * t + 0.5) + 1),
    ("Pulse Generator", {"Amplitude": "2", "Period": "0.3", "PulseWidth": "50", "PhaseDelay": "0.1"},
     lambda t: 2.0 if t > 0.1 - 1e-9 and (t - 0.1 + 1e-9) % 0.3 < 0.15 else 0.0),
    ("Clock", {}, lambda t: t), ("Ground", {}, lambda t: 0), ("Constant", {"Value": "4"}, lambda t: 4),
    ("In1", {}, lambda t: 0), ("Chirp Signal", {"f1": "1", "f2": "2", "T": "4"},
                               lambda t: math.sin(2 * math.pi * t * (1 + t / 8))),
    ("Signal Generator", {"Frequency": "2"}, lambda t: math.sin(4 * math.pi * t)),
    ("Signal Generator", {"WaveForm": "square"}, lambda t: 1 if (t + 1e-9) % 1 < 0.5 else -1),
    ("Signal Generator", {"WaveForm": "sawtooth"}, lambda t: 2 * ((t + 1e-9) % 1) - 1),
    ("Repeating Sequence", {"rep_seq_t": "[0 1 3]", "rep_seq_y": "[0 2 1]"},
     lambda t: 2 * ((t + 1e-9) % 3) if (t + 1e-9) % 3 < 1 else 2 - 0.5 * ((t + 1e-9) % 3 - 1)),
    ("From Workspace", {"VariableName": "[0 0;1 2;3 1]"}, lambda t: 2 * t if t < 1 else 2.5 - 0.5 * t),
    ("From Workspace", {"VariableName": "[0 5;1 2]", "Interpolate": "off",
                        "OutputAfterFinalValue": "Setting to zero"}, lambda t: 5 if t < 1 else 2 if t == 1 else 0),
    ("Digital Clock", {"SampleTime": "0.5"}, lambda t: math.floor(2 * t + 1e-9) / 2),
    ("Counter Free-Running", {"NumBits": "2", "tsamp": "1"}, lambda t: math.floor(t + 1e-9) % 4),
    ("Counter Limited", {"uplimit": "2", "tsamp": "1"}, lambda t: math.floor(t + 1e-9) % 3),
    ("Repeating Sequence Stair", {"OutValues": "[3 1]", "tsamp": "1"}, lambda t: [3, 1][math.floor(t + 1e-9) % 2]),
    ("Pulse Generator", {"PulseType": "Sample based", "Period": "3", "PulseWidth": "1", "SampleTime": "1"},
     lambda t: float(math.floor(t + 1e-9) % 3 == 0)),
    ("Sine Wave", {"SineType": "Sample based", "Samples": "8", "SampleTime": "1"},
     lambda t: math.sin(math.pi / 4 * math.floor(t + 1e-9)))]


@pytest.mark.parametrize(("kind", "parameters", "expected"), SOURCES)
@pytest.mark.parametrize("solver", ["auto", "ode1"])
def test_sources_follow_their_formula(kind: str, parameters: Parameters, expected: Callable[[float], float],
                                      solver: str) -> None:
    found = run({"y": (kind, parameters), "Scope": "Scope"}, "y/1 -> Scope/1", stop=6, solver=solver, step=0.05)
    last = dict(zip(found.times.tolist(), found["y"].tolist(), strict=True))
    assert [*last.values()] == pytest.approx([expected(time) for time in last], abs=1e-6)


def test_random_sources_have_their_moments() -> None:
    found = run({"n": ("Random Number", {"Mean": "2", "Variance": "4", "SampleTime": "1"}),
                 "u": ("Uniform Random Number", {"Minimum": "1", "Maximum": "3", "SampleTime": "1"}),
                 "w": ("Band-Limited White Noise", {"Cov": "0.5", "Ts": "0.5"}), "a": "Display", "b": "Display",
                 "c": "Display"}, "n/1 -> a/1", "u/1 -> b/1", "w/1 -> c/1", stop=5000)
    assert (found["n"].mean(), found["n"].std()) == pytest.approx((2, 2), rel=0.1)
    assert 1 <= found["u"].min() < 1.01 < 2.99 < found["u"].max() <= 3
    assert found["w"].std() == pytest.approx(1, rel=0.1)


CONTINUOUS: list[tuple[str, Parameters, Callable[[float], float]]] = [
    ("Integrator", {"InitialCondition": "2"}, lambda t: 2 + t), ("Integrator Limited", {}, lambda t: min(t, 1)),
    ("Integrator", {"WrapState": "on"}, lambda t: (t + math.pi) % (2 * math.pi) - math.pi),
    ("Integrator, Second-Order", {"ICX": "1", "ICDXDT": "-1"}, lambda t: 1 - t + t * t / 2),
    ("Transfer Fcn", {"Numerator": "[1 2]", "Denominator": "[2 2]"}, lambda t: 1 - 0.5 * math.exp(-t)),
    ("State-Space", {"A": "[0 1;0 0]", "B": "[0;1]", "C": "[1 0]", "D": "0", "InitialCondition": "[1;2]"},
     lambda t: 1 + 2 * t + t * t / 2),
    ("Zero-Pole", {"Zeros": "[]", "Poles": "[-1 -2]", "Gain": "2"}, lambda t: 1 - 2 * math.exp(-t) + math.exp(-2 * t)),
    ("PID Controller", {"P": "2", "I": "3", "D": "0"}, lambda t: 2 + 3 * t),
    ("PID Controller", {"P": "1", "I": "0", "D": "2", "N": "5"}, lambda t: 1 + 10 * math.exp(-5 * t)),
    ("PID Controller", {"Form": "Ideal", "P": "2", "I": "3", "D": "0"}, lambda t: 2 + 6 * t),
    ("PID Controller", {"P": "2", "I": "3", "D": "0", "LimitOutput": "on", "UpperSaturationLimit": "4"},
     lambda t: min(2 + 3 * t, 4)), ("IC", {"Value": "5"}, lambda t: 1 if t else 5)]


@pytest.mark.parametrize(("kind", "parameters", "expected"), CONTINUOUS)
def test_continuous_blocks_answer_a_step(kind: str, parameters: Parameters, expected: Callable[[float], float]) -> None:
    found = run({"u": steady("1"), "y": (kind, parameters), "Scope": "Scope"}, "u/1 -> y/1", "y/1 -> Scope/1", stop=7,
                relative=1e-9)
    name = found.columns[0]
    last = dict(zip(found.times.tolist(), found[name].tolist(), strict=True))
    assert [*last.values()] == pytest.approx([expected(time) for time in last], abs=1e-6)


@pytest.mark.parametrize(("kind", "parameters", "expected"), [
    ("Derivative", {}, lambda t: 2 if t else 0), ("Rate Limiter", {}, lambda t: t),
    ("Transport Delay", {"DelayTime": "1", "InitialOutput": "-1"}, lambda t: -1 if t < 1 - 1e-9 else 2 * (t - 1)),
    ("Backlash", {"BacklashWidth": "2"}, lambda t: max(2 * t - 1, 0)), ("Memory", {}, lambda t: max(2 * t - 0.2, 0)),
    ("Hit Crossing", {"HitCrossingOffset": "5"}, lambda t: 0), ("Rate Limiter Dynamic", {}, lambda t: t)])
def test_blocks_that_look_back_follow_a_ramp(kind: str, parameters: Parameters,
                                             expected: Callable[[float], float]) -> None:
    port = 2 if kind == "Rate Limiter Dynamic" else 1
    rates = {"one": constant("1"), "minus": constant("-1")} if port == 2 else {}
    found = run({"t": "Clock", "u": ("Gain", {"Gain": "2"}), "y": (kind, parameters), "Scope": "Scope", **rates},
                "t/1 -> u/1", f"u/1 -> y/{port}", "y/1 -> Scope/1",
                *(["one/1 -> y/1", "minus/1 -> y/3"] if rates else []), stop=5)
    last = dict(zip(found.times.tolist(), found["y"].tolist(), strict=True))
    assert [*last.values()] == pytest.approx([expected(time) for time in last], abs=1e-6)
    if kind == "Hit Crossing":
        assert found.times[found["y"] == 1].tolist() == pytest.approx([2.5])


def test_the_second_order_integrator_resets() -> None:
    found = run({"u": constant("2"), "r": ("Step", {"Time": "1.5"}), "y": ("Integrator, Second-Order", {
        "ExternalReset": "rising"}), "Scope": "Scope"}, "u/1 -> y/1", "r/1 -> y/2", "y/1 -> Scope/1", stop=3)
    assert found["y/1"][found.times < 1.5] == pytest.approx(found.times[found.times < 1.5]**2)
    assert found["y/1"][-1] == pytest.approx(1.5**2)


@pytest.mark.parametrize(("reset", "expected"), [
    ("rising", 1.5), ("falling", 0.5), ("either", 0.5), ("level", 0.5), ("level hold", 0.5)])
def test_an_integrator_resets_at_the_edges_it_is_set_to(reset: str, expected: float) -> None:
    """The input is 1 from 0.5 to 1.5 s."""
    found = run({"u": constant("1"), "on": ("Step", {"Time": "0.5"}), "off": ("Step", {"Time": "1.5"}),
                 "r": ("Sum", {"Inputs": "+-"}), "y": ("Integrator", {"ExternalReset": reset}), "Scope": "Scope"},
                "u/1 -> y/1", "on/1 -> r/1", "off/1 -> r/2", "r/1 -> y/2", "y/1 -> Scope/1", stop=2)
    assert found["y"][-1] == pytest.approx(expected)


def test_a_tapped_delay_lists_the_last_values() -> None:
    found = run({"t": sampled("Digital Clock"), "y": ("Tapped Delay", {"NumDelays": "2", "samptime": "1",
                                                                       "vinit": "9"}), "Scope": "Scope"},
                "t/1 -> y/1", "y/1 -> Scope/1", stop=3)
    assert found.values.tolist() == [[9, 9], [9, 0], [0, 1], [1, 2]]


def test_vectors_are_split_and_buses_chosen_by_name() -> None:
    found = run({"u": constant("[1 2 3]"), "d": ("Demux", {"Outputs": "2"}), "speed": constant("7"),
                 "b": ("Bus Creator", {"Inputs": "2"}), "s": ("Bus Selector", {"OutputSignals": "speed,signal2"}),
                 "Scope": ("Scope", {"NumInputPorts": "4"})},
                "u/1 -> d/1", "d/1 -> Scope/1", "d/2 -> Scope/2", "speed/1 -> b/1", "u/1 -> b/2", "b/1 -> s/1",
                "s/1 -> Scope/3", "s/2 -> Scope/4")
    assert dict(zip(found.columns, found.values[-1].tolist(), strict=True)) == {
        "d/1[1]": 1, "d/1[2]": 2, "d/2": 3, "s/1": 7, "s/2[1]": 1, "s/2[2]": 2, "s/2[3]": 3}


def test_tags_lead_on_and_sincos_has_two_outputs() -> None:
    found = run({"u": constant("2"), "g": ("Goto", {"GotoTag": "A"}), "f": ("From", {"GotoTag": "A"}),
                 "T": "Terminator", "s": ("Trigonometric Function", {"Operator": "sincos"}), "x": "XY Graph",
                 "o": "Out1", "w": "To Workspace"},
                "u/1 -> g/1", "f/1 -> s/1", "s/1 -> x/1", "s/2 -> x/2", "f/1 -> o/1", "f/1 -> w/1", "f/1 -> T/1")
    assert found.values[-1].tolist() == pytest.approx([2, math.sin(2), math.cos(2)])
    assert found.sinks["x"] == ("s/1", "s/2")


def test_a_stop_block_ends_the_simulation() -> None:
    found = run({"t": "Clock", "late": ("Compare To Constant", {"relop": ">=", "const": "3.3"}), "s": "Stop Simulation",
                 "Scope": "Scope"}, "t/1 -> late/1", "late/1 -> s/1", "t/1 -> Scope/1")
    assert found["t"][-1] == pytest.approx(3.3)


def test_a_rate_transition_holds_or_delays() -> None:
    """From 1 s to 2 s it holds, from 2 s to 1 s it is one slow sample late."""
    found = run({"t": sampled("Digital Clock"), "slow": ("Rate Transition", {"OutPortSampleTime": "2"}),
                 "fast": ("Rate Transition", {"OutPortSampleTime": "1", "InitialCondition": "-1"}),
                 "Scope": ("Scope", {"NumInputPorts": "2"})},
                "t/1 -> slow/1", "slow/1 -> fast/1", "slow/1 -> Scope/1", "fast/1 -> Scope/2", stop=5)
    assert found["slow"].tolist() == [0, 0, 2, 2, 4, 4]
    assert found["fast"].tolist() == [-1, -1, 0, 0, 2, 2]


def test_every_kernel_is_tried_here_or_named() -> None:
    tables = {kind for table in (STATIC, SAMPLED, SOURCES, CONTINUOUS) for kind, *_ in table}
    tried = {catalogue().types[kind].sim for kind in tables} | {*RECORDED} | {
        "derivative", "transport_delay", "memory", "hit_crossing", "rate_limiter_dynamic", "random_number",
        "uniform_random_number", "white_noise", "tapped_delay", "demux", "bus_creator", "bus_selector", "goto", "from",
        "terminator", "stop", "algebraic_constraint",  # the last one in test_solve.py
        "network", "ps_simulink", "simulink_ps",  # in test_network.py
        "subsystem", "if", "switch_case", "merge", "control_port", "tag_visibility", "store_memory",
        "store_read", "store_write"}  # in test_subsystems.py
    assert KERNELS.keys() - tried == set()
    assert {block.sim for block in catalogue().types.values() if block.sim} == KERNELS.keys()


BAD: list[tuple[Blocks, list[str], str]] = [
    ({"g": ("Gain", {"Gain": "nan"})}, [], "Gain 'g': Gain is 'nan', which is not a number"),
    ({"g": ("Gain", {"Gain": "K"})}, [], "Gain 'g': Gain is 'K': the variable 'K' has no value"),
    ({"g": ("Gain", {"Gain": "inf"}), "t": ("Transfer Fcn", {"Denominator": "[inf 1]"})}, [],
     "'t': Denominator is infinite"),
    ({"a": constant("[1 2]"), "b": constant("[1 2 3]"), "s": ("Sum", {"Inputs": "++"})}, ["a/1 -> s/1", "b/1 -> s/2"],
     "Sum 's': input 1 has 2 elements, where 3 are needed"),
    ({"a": constant("[1 2]"), "t": "Transfer Fcn"}, ["a/1 -> t/1"], "'t': input 1 has 2 elements, where 1 are needed"),
    ({"m": ("Mux", {"Inputs": "2"}), "c": constant("1")}, ["m/1 -> m/1", "c/1 -> m/2"], "'m': the width.*without end"),
    ({"t": ("Transfer Fcn", {"Numerator": "[1 0 0]"})}, [], "'t': its numerator is of order 2"),
    ({"d": ("Unit Delay", {"SampleTime": "0"})}, [], "'d': SampleTime is 0 .continuous."),
    ({"t": "Clock", "d": "Unit Delay"}, ["t/1 -> d/1"], "'d': it inherits continuous time"),
    ({"d": ("Unit Delay", {"SampleTime": "[1 2]"})}, [], "'d': SampleTime is '\\[1 2\\]'; give a time"),
    ({"d": ("Unit Delay", {"SampleTime": "-3"})}, [], "'d': SampleTime is '-3'"),
    ({"a": sampled("Gain", "2"), "b": sampled("Gain", "1")}, ["a/1 -> b/1", "b/1 -> a/1"],
     "loop .* has blocks of different sample times"),
    ({"r": "Busbar", "s": ("Subsystem", {})}, [], "not simulated: Busbar 'r', Subsystem 's'"),
    ({"x": "Nonsense"}, [], "'x' is of the type 'Nonsense', which is no block"),
    ({"f": "From"}, [], "From 'f': there is no Goto with the tag 'A'"),
    ({"g": "Goto", "h": "Goto"}, [], "have one tag"),
    ({"g": "Gain"}, ["g/1 -> z/1"], "there is no block 'z'"), ({"g": "Gain"}, ["g/2 -> g/1"], "'g' has no output 2"),
    ({"a": constant("1"), "g": "Gain"}, ["a/1 -> g/1", "g/1 -> g/1"], "input 1 of 'g' has two sources"),
    ({"s": ("Saturation", {"UpperLimit": "[1 2]", "LowerLimit": "[1 2 3]"})}, [], "'s': UpperLimit has 2 elements"),
    ({"r": ("Relay", {"OnSwitchValue": "0", "OffSwitchValue": "1"})}, [], "'r': OnSwitchValue is below"),
    ({"l": ("1-D Lookup Table", {"Table": "[1 2]", "BreakpointsForDimension1": "[2 1]"})}, [], "'l': .*not increase"),
    ({"f": ("Fcn", {"Expr": "u(3)+1"})}, [], "'f': Expr: u has 1 elements"),
    ({"m": ("Math Function", {"Operator": "hermitian"}), "c": constant("[1 2]")}, ["c/1 -> m/1"], "'m': the operator"),
    ({"d": ("Delay", {"DelayLength": "1e9"})}, [], "'d': DelayLength is 1e.09; give a whole number"),
    ({"c": constant("ones(1, 20000)")}, [], "'c': Value is .*more than 10000 elements"),
    ({"p": ("Pulse Generator", {"Period": "0"})}, [], "'p': Period is not above 0")]


@pytest.mark.parametrize(("blocks", "lines", "message"), BAD)
def test_what_cannot_be_is_refused_before_it_runs(blocks: Blocks, lines: list[str], message: str) -> None:
    with pytest.raises(ModelFault, match=message) as refused:
        run(blocks, *lines)
    assert {*refused.value.blocks} & {*blocks, "z"}


def test_a_switch_beyond_its_ports_fails_by_name() -> None:
    with pytest.raises(SimulationFailed, match="the control of 'm' is 9"):
        run({"c": constant("9"), "m": "Multiport Switch"}, "c/1 -> m/1")
