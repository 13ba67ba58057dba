"""Every message of the stand-in, from the call that gets it; those of MATLAB's logs letter by letter.

MATLAB writes a report with its causes to stderr, and raises its first line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from chatdev.departments.simulink.engine import library
from chatdev.departments.simulink.engine.arguments import double
from chatdev.departments.simulink.engine.library import Notice
from chatdev.departments.simulink.engine.program import MatlabEngine, MatlabExecutionError, RejectedExecutionError

Calls = Callable[[MatlabEngine], Any]
STEP, GAIN, SCOPE = "simulink/Sources/Step", "simulink/Math Operations/Gain", "simulink/Sinks/Scope"
SUM = "simulink/Math Operations/Sum"
ELECTRICAL = "fl_lib/Electrical/Electrical Elements"
RESISTOR, REFERENCE = f"{ELECTRICAL}/Resistor", f"{ELECTRICAL}/Electrical Reference"
SENSOR = "fl_lib/Electrical/Electrical Sensors/Voltage Sensor"
SOLVER, TO_SIGNAL = "nesl_utility/Solver Configuration", "nesl_utility/PS-Simulink Converter"
BUSBAR = "ee_lib/Connectors & References/Busbar"


def signals(eng: MatlabEngine) -> None:
    for name, path in {"A": STEP, "B": STEP, "G": GAIN, "S": SCOPE}.items():
        eng.add_block(path, f"m/{name}", nargout=0)


def network(eng: MatlabEngine) -> None:
    signals(eng)
    for name, path in {"R1": RESISTOR, "R2": RESISTOR, "R3": RESISTOR, "V": SENSOR, "C": SOLVER, "P": TO_SIGNAL,
                       "Bus": BUSBAR}.items():
        eng.add_block(path, f"m/{name}", nargout=0)


def line(source: str, target: str, *before: tuple[str, str], model: Calls = network) -> Calls:
    def call(eng: MatlabEngine) -> None:
        model(eng)
        for ends in before:
            eng.add_line("m", *ends, "autorouting", "on", nargout=0)
        eng.add_line("m", source, target, nargout=0)

    return call


def block(path: str, name: str, *parameters: Any) -> Calls:
    return lambda eng: eng.add_block(path, name, *parameters, nargout=0)


def then(*calls: Calls) -> Calls:
    return lambda eng: [call(eng) for call in calls]


def call(function: str, *arguments: Any, nargout: int = 0) -> Calls:
    return lambda eng: getattr(eng, function)(*arguments, nargout=nargout)


TAKEN = "The destination port already has a line connection"
SECOND = "The second port already has a line connection"
RULES = ("The points input must only create line connections that follow connection rules of the appropriate Physical "
         "Modeling domains")
DOMAINS = "The points input cannot lie on objects that do not share the same Physical Modeling domain"
LOGGED: dict[str, tuple[Calls, str]] = {
    "a wrong library path": (block("simscape/Utilities/PS-Simulink Converter", "m/P"),
                             "There is no block named 'simscape/Utilities/PS-Simulink Converter'"),
    "the same line twice": (line("A/1", "G/1", ("A/1", "G/1")), TAKEN),
    "a second signal into an input": (line("B/1", "G/1", ("A/1", "G/1")), TAKEN),
    "two ports of one net": (line("R1/LConn1", "R3/LConn1", ("R1/LConn1", "R2/LConn1"), ("R2/LConn1", "R3/LConn1")),
                             SECOND),
    "the same physical line turned": (line("R2/LConn1", "R1/LConn1", ("R1/LConn1", "R2/LConn1")), SECOND),
    "a signal to an electrical port": (line("A/1", "R1/LConn1"), DOMAINS),
    "an electrical port to a signal": (line("R1/RConn1", "S/1"), DOMAINS),
    "a physical signal to a signal": (line("V/RConn1", "S/1"), DOMAINS),
    "an electrical port to a physical signal": (line("R1/RConn1", "P/LConn1"), RULES),
    "three phases to one": (line("Bus/RConn1", "R1/LConn1"), RULES),
    "a solver between two domains": (line("C/RConn1", "P/LConn1", ("R1/LConn1", "C/RConn1")), RULES),
    "a port of a busbar that it has not": (line("Bus/LConn2", "R1/LConn1"),
                                           "Invalid Simulink object name: 'Bus/LConn2'."),
    "a slash in a block's name": (block(GAIN, "m/1/s 1"),
                                  "A new block named 'm/1/s 1' cannot be added.\nCaused by:\n    Invalid Simulink "
                                  "object name: 'm/1'.\n        Unable to find block '1'."),
    "a function that is none": (call("add_blocks", "m"), "Unrecognized function or variable 'add_blocks'."),
    "no solver in a simulation": (
        then(line("R1/LConn1", "R2/LConn1"), call("sim", "m")),
        "Error compiling Simscape network for model m.\nCaused by:\n    the physical network of 'R1', 'R2' has no "
        "Solver Configuration block\n    the electrical network of 'R1', 'R2' has no Electrical Reference block"),
}
REPORTED: dict[str, tuple[Calls, str]] = {
    "a model that is not open": (call("set_param", "n/G", "Gain", "2"), "Invalid Simulink object name: 'n/G'.\nCaused "
                                 "by:\n    The block diagram 'n' is not loaded."),
    "a block that is not there": (call("set_param", "m/G", "Gain", "2"), "Invalid Simulink object name: 'm/G'.\nCaused "
                                  "by:\n    Unable to find block 'G'."),
    "a parameter to read": (then(signals, call("get_param", "m/G", "Gian", nargout=1)),
                            "Gain block does not have a parameter named 'Gian'"),
    "a parameter without a name": (block(GAIN, "m/G", "", "2"), "Gain block does not have a parameter named ''"),
    "a model's parameter": (call("get_param", "m", "Gian", nargout=1),
                            "block_diagram does not have a parameter named 'Gian'"),
    "a value of what gives none": (call("set_param", "m", "StopTime", "10", nargout=1),
                                   "Error using set_param\nToo many output arguments."),
    "a package that is none": (lambda eng: eng.Simulink.BlockDiagram.arrange("m", nargout=0),
                               "Unable to resolve the name 'Simulink.BlockDiagram.arrange'."),
}
OWN: dict[str, tuple[Calls, str]] = {
    "a name that is taken": (then(block(GAIN, "m/G"), block(GAIN, "m/G")), "'m/G' already exists"),
    "a model that is open": (call("new_system", "m"), "'m' is already loaded"),
    "a name of no model": (call("new_system", "my model"), "'my model' is no name"),
    "a path without a block": (block(GAIN, "m"), "'m' names no block"),
    "a file that is not there": (call("open_system", "n"), "no block diagram or file named 'n'"),
    "a port without a number": (line("A", "G/1"), "'A' names no port"),
    "a line that is not there": (then(signals, call("delete_line", "m", "A/1", "G/1")), "no line from 'A/1' to 'G/1'"),
    "a port with itself": (line("R1/LConn1", "R1/LConn1"), "cannot lead from 'R1/LConn1' back to it"),
    "two nets": (line("R2/LConn1", "R3/LConn1", ("R1/LConn1", "R2/LConn1"), ("R3/LConn1", "R1/RConn1")),
                 "two different nets; MATLAB would lose"),
    "ports without a number of them": (block(SUM, "m/S", "Inputs", "two"), "Inputs is 'two', which says no number"),
    "a number for a text": (block(GAIN, "m/G", "Gain", 2.5), "write '2.5'"),
    "a whole number for a text": (block(GAIN, "m/G", "Gain", 5), "write '5'"),
    "truth for on": (block("simulink/Continuous/Integrator", "m/I", "LimitOutput", True), "write 'on'"),
    "an array for a text": (block(GAIN, "m/G", "Gain", double([1, 2])), "write '[1 2]'"),
    "a list for a text": (block(GAIN, "m/G", "Gain", [1, 2]), "write '[1 2]'"),
    "no text for a path": (call("add_block", 5, "m/G"), "write a text in quotation marks"),
    "Python's truth in quotation marks": (block("simulink/Continuous/Integrator", "m/I", "LimitOutput", "True"),
                                          "'LimitOutput' of 'm/I' is 'on' or 'off', not 'True'"),
    "a parameter without a value": (block(GAIN, "m/G", "Gain"), "''Gain'' has no value"),
    "a list for a position": (block(GAIN, "m/G", "Position", [30, 30, 60, 60]), "matlab.double([30, 30, 60, 60])"),
    "a position turned inside out": (block(GAIN, "m/G", "Position", "[60 30 30 60]"), "given: '[60 30 30 60]'"),
    "a name without an end": (block(GAIN, f"m/{'x' * 1001}"), "More than 1000 characters of a name"),
    "a parameter without an end": (block(GAIN, "m/G", "x" * 1001, "2"), "More than 1000 characters of a name"),
    "no new name": (then(block(GAIN, "m/G"), call("set_param", "m/G", "Name", " ")), "'m/' names no block"),
    "too few values": (call("add_block", GAIN), "add_block needs more arguments"),
    "a block inside of another": (then(block(GAIN, "m/G"), block(GAIN, "m/G/H")), "and has no blocks inside"),
    "a line by points": (call("add_line", "m", double([[1, 2], [3, 4]])), "add_line by points"),
    "what eval cannot do": (call("eval", "for k=1:3, disp(k), end"), "eval takes assignments"),
}
HINTS: dict[str, tuple[Calls, str]] = {
    "an output that is not there": (line("A/2", "G/1"), "'m/A' has no output port 2; it has output 1"),
    "an input that is not there": (line("A/1", "G/2"), "'m/G' has no input port 2; it has input 1; output 1"),
    "a sink as a source": (line("S/1", "G/1"), "'m/S' has no output port 1; it has input 1"),
    "a number for a physical port": (line("A/1", "R1/1"), "'m/R1' has no input port 1; it has physical LConn1, RConn1"),
    "a block that is not there": (line("Nobody/1", "G/1"), "'m' has no block named 'Nobody'"),
}
ALL = {**LOGGED, **REPORTED, **OWN}


@pytest.mark.parametrize("case", [*LOGGED, *REPORTED])
def test_matlabs_own_words_are_given(case: str, eng: MatlabEngine, capsys: pytest.CaptureFixture[str]) -> None:
    calls, words = {**LOGGED, **REPORTED}[case]
    with pytest.raises(MatlabExecutionError) as raised:
        calls(eng)
    assert capsys.readouterr().err == f"{words}\n\n"
    assert str(raised.value) == f"{words.splitlines()[0]}\n"


@pytest.mark.parametrize("case", OWN)
def test_where_matlabs_words_are_unknown_ours_name_the_fix(case: str, eng: MatlabEngine,
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    calls, words = OWN[case]
    with pytest.raises(MatlabExecutionError):
        calls(eng)
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("case", HINTS)
def test_a_warning_says_what_matlab_leaves_open(case: str, eng: MatlabEngine,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    calls, words = HINTS[case]
    with pytest.raises(MatlabExecutionError, match=r"Invalid Simulink object name: '\w+/\d'"):
        calls(eng)
    assert capsys.readouterr().out == f"Warning: {words}\n"


def test_every_message_is_tried(start: Callable[..., MatlabEngine], capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = {"ENDED", "UNKNOWN_PARAMETER", "SOLVERS", "NOT_SIMULATED"}
    told = []
    for calls, _ in [*ALL.values(), *HINTS.values()]:
        engine = start()
        engine.new_system("m", nargout=0)
        with pytest.raises(MatlabExecutionError):
            calls(engine)
        out, err = capsys.readouterr()
        told += [err.strip(), *re.findall(r"    (.*)", err), *re.findall(r"Warning: (.*)", out)]
    table = {name: value for name, value in vars(library).items() if isinstance(value, Notice)}
    untold = {name for name, message in table.items() if not any(map(_pattern(message).fullmatch, told))}
    assert untold == elsewhere
    assert {message.source for message in table.values()} == {"logged", "reported", "own"}


def _pattern(message: Notice) -> re.Pattern[str]:
    """What fits a message, whatever it is about."""
    return re.compile(".*".join(map(re.escape, re.split(r"\{\w+\}", message.words))), re.DOTALL)


def test_the_error_has_the_name_that_matlabs_has(eng: MatlabEngine) -> None:
    assert (MatlabExecutionError.__module__, MatlabExecutionError.__qualname__) == ("matlab.engine",
                                                                                   "MatlabExecutionError")
    with pytest.raises(MatlabExecutionError) as raised:
        eng.nothing_of_the_kind()
    assert raised.value.__context__ is None


def test_an_engine_that_has_ended_takes_no_calls(eng: MatlabEngine) -> None:
    eng.quit()
    with pytest.raises(RejectedExecutionError, match="MATLAB has already terminated"):
        eng.new_system("n", nargout=0)


def test_an_endless_model_comes_to_an_end(eng: MatlabEngine) -> None:
    with pytest.raises(MatlabExecutionError, match="More than 10000 blocks are not built here"):
        repeat(eng, 10_001, GAIN)


def test_ports_without_number_come_to_an_end(eng: MatlabEngine) -> None:
    with pytest.raises(MatlabExecutionError, match="More than 200000 ports are not built here"):
        repeat(eng, 200, SUM, "Inputs", "1000")


def repeat(eng: MatlabEngine, times: int, *block: str) -> None:
    for _ in range(times):
        eng.add_block(block[0], "m/B", "MakeNameUnique", "on", *block[1:], nargout=0)
