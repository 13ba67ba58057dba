"""Programs that build models, run as they come from a model: in the sandbox, with the stand-in first on the path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.execute import BuildResult, execute_program, program_of
from chatdev.sandbox.base import Execution, SandboxJob
from chatdev.sandbox.kinds import Unconfined, find_sandbox

pytestmark = pytest.mark.tool
Execute = Callable[..., BuildResult]
START = """import matlab.engine
eng = matlab.engine.start_matlab()
eng.new_system('m', nargout=0)
eng.add_block('simulink/Sources/Step', 'm/Step', nargout=0)
"""
SAVE = "eng.save_system('m', nargout=0)\n"
PAPER_STYLE = r'''Here is the program that builds the circuit.

```python
import sys
sys.path.append(r"C:\Program Files\MATLAB\R2024b\extern\engines\python\build\matlabengine.egg")
import matlab.engine

def build():
    eng = matlab.engine.start_matlab()
    model_name = "low_pass"
    eng.new_system(model_name, nargout=0)
    eng.open_system(model_name, nargout=0)

    # blocks
    eng.add_block("simulink/Sources/Step", f"{model_name}/Step", "After", "5", nargout=0)
    eng.add_block("nesl_utility/Simulink-PS Converter", f"{model_name}/To physics", nargout=0)
    eng.add_block("fl_lib/Electrical/Electrical Sources/Controlled Voltage Source",
                  f"{model_name}/Source", "MakeNameUnique", "on", nargout=0)
    eng.add_block("fl_lib/Electrical/Electrical Elements/Resistor", f"{model_name}/R", nargout=0)
    eng.set_param(f"{model_name}/R", "R", "1e3", nargout=0)
    eng.add_block("fl_lib/Electrical/Electrical Elements/Capacitor", f"{model_name}/C", nargout=0)
    eng.add_block("fl_lib/Electrical/Electrical Elements/Electrical Reference", f"{model_name}/Ground", nargout=0)
    eng.add_block("fl_lib/Electrical/Electrical Sensors/Voltage Sensor", f"{model_name}/Sensor", nargout=0)
    eng.add_block("nesl_utility/PS-Simulink\nConverter", f"{model_name}/To signals", nargout=0)
    eng.add_block("nesl_utility/Solver Configuration", f"{model_name}/Solver", nargout=0)
    eng.add_block("simulink/Sinks/Scope", f"{model_name}/Scope", nargout=0)

    # lines
    for source, target in [("Step/1", "To physics/1"), ("To physics/RConn1", "Source/RConn1"),
                           ("Source/LConn1", "R/LConn1"), ("R/RConn1", "C/LConn1"), ("Source/RConn2", "C/RConn1"),
                           ("Ground/LConn1", "C/RConn1"), ("Solver/RConn1", "C/RConn1"),
                           ("Sensor/LConn1", "C/LConn1"), ("Sensor/RConn2", "Ground/LConn1"),
                           ("Sensor/RConn1", "To signals/LConn1"), ("To signals/1", "Scope/1")]:
        eng.add_line(model_name, source, target, "autorouting", "on", nargout=0)

    eng.Simulink.BlockDiagram.arrangeSystem(model_name, nargout=0)
    eng.save_system(model_name, nargout=0)
    print("built")
    eng.quit()

if __name__ == "__main__":
    build()
```

It saves the model as `low_pass.slx`.
'''


@pytest.fixture
def execute(tmp_path: Path) -> Execute:
    """Runs a program in the real sandbox, and leaves nothing behind."""
    def run(source: str, *, strict: bool = True) -> BuildResult:
        result = execute_program(source, sandbox=find_sandbox(), scratch=tmp_path, strict=strict)
        assert list(tmp_path.iterdir()) == []
        return result

    return run


def test_a_program_in_the_papers_style_runs_unchanged(execute: Execute) -> None:
    result = execute(PAPER_STYLE)
    assert (result.passed, result.output) == (True, "built")
    assert result.message == "The program ran without an error, and saved the model 'low_pass': 10 blocks, 11 lines."
    assert result.diagram is not None
    assert result.diagram.blocks["R"].parameters == {"R": "1e3"}
    assert result.diagram.blocks["To signals"].type == "PS-Simulink Converter"
    assert [len(net) for net in sorted(result.diagram.nets(), key=len)] == [2, 2, 2, 3, 5]
    assert Diagram.parse(result.diagram.text(), "text") == result.diagram


def test_matlabs_message_comes_with_the_programs_line(execute: Execute) -> None:
    result = execute(PAPER_STYLE.replace('("Sensor/LConn1", "C/LConn1")', '("Step/1", "C/LConn1")'))
    assert (result.passed, result.diagram, result.outcome) == (False, None, "raised")
    assert result.message == ("The points input cannot lie on objects that do not share the same Physical Modeling "
                              "domain")
    assert result.line == 31  # of the call, not of its row in the list
    assert "eng.add_line(model_name, source, target" in result.excerpt
    assert "^ line 31" in result.excerpt


def test_a_cause_is_told_with_its_message(execute: Execute) -> None:
    result = execute(f"{START}eng.add_block('simulink/Continuous/Integrator', 'm/1/s', nargout=0)\n{SAVE}")
    assert (result.message, result.line) == ("Invalid Simulink object name: 'm/1'.\nCaused by:\n    Unable to find "
                                             "block '1'.", 5)


def test_warnings_stand_in_the_output(execute: Execute) -> None:
    result = execute(START + SAVE)
    assert result.passed
    assert result.output == "Warning: Output port 1 of 'm/Step' is not connected."


@pytest.mark.parametrize("strict", [True, False])
def test_strictness_reaches_the_sandbox(strict: bool, execute: Execute) -> None:
    resistors = "".join(f"eng.add_block('fl_lib/Electrical/Electrical Elements/Resistor', 'm/R{n}', nargout=0)\n"
                        for n in range(4))
    joins = "".join(f"eng.add_line('m', 'R{one}/LConn1', 'R{two}/LConn1', nargout=0)\n"
                    for one, two in ((0, 1), (2, 3), (0, 2)))
    result = execute(START + resistors + joins + SAVE, strict=strict)
    assert result.passed is not strict
    assert ("Join the nets" in result.message) is strict


FAILING = {
    "no_program": ("```python\n```", "The reply holds no program."),
    "no_syntax": ("import matlab.engine\neng = = 1\n", "SyntaxError: invalid syntax"),
    "nothing_saved": (START, "saved no model: end it with eng.save_system"),
    "empty": ("import matlab.engine as m\neng = m.start_matlab()\neng.new_system('m', nargout=0)\n" + SAVE,
              "saved the model 'm', which has no blocks"),
    "exited": (START + SAVE + "import sys\nsys.exit(3)\n", "ended by itself with status 3"),
    "raised": (START + "print(undefined)\n", "NameError: name 'undefined' is not defined"),
    "killed": (START + "import os\nos.kill(os.getpid(), 9)\n", "ended by signal 9"),
}


@pytest.mark.parametrize("outcome", FAILING)
def test_every_way_to_fail_has_its_words(outcome: str, execute: Execute) -> None:
    source, words = FAILING[outcome]
    result = execute(source)
    assert (result.passed, result.diagram, result.outcome) == (False, None, outcome)
    assert words in result.message


def test_refused_calls_that_were_caught_are_told(execute: Execute) -> None:
    tried = "try: eng.add_block('simulink/Gain', 'm/G')\nexcept matlab.engine.MatlabExecutionError: pass\n"
    result = execute(START + tried + SAVE)
    assert result.passed
    assert result.message.endswith("It went on after calls that were refused (1), first: There is no block named "
                                   "'simulink/Gain'")


def test_the_model_that_was_saved_last_counts(execute: Execute) -> None:
    second = START.partition("\n")[2].replace("'m", "'a")
    result = execute(f"{START}{SAVE}{second}eng.save_system('a', nargout=0)\n")
    assert result.diagram is not None
    assert result.diagram.name == "a"


def test_several_programs_in_a_reply_leave_the_one_that_builds() -> None:
    reply = f"```\npip install matlabengine\n```\nthen\n```python\n{START}{SAVE}```\n"
    assert program_of(reply) == START + SAVE
    assert program_of(START) == START
    fenced = f'"""Usage:\n```\npython build.py\n```\n"""\n{START}'
    assert program_of(fenced) == fenced


HOSTILE = {
    "an endless loop that builds": (
        START + "while True:\n    eng.add_block('built-in/Gain', 'm/G', 'MakeNameUnique', 'on', nargout=0)\n",
        "raised", "More than 10000 blocks"),
    "endless output": (START + "while True: print('x' * 100000)\n", "exceeded", "more output than it may"),
    "endless memory": (START + "x = []\nwhile True: x.append(bytearray(10_000_000))\n", "", ""),
    "a file of the host": (START + "print(open('/etc/shadow').read())\n", "raised", "FileNotFoundError"),
    "an endless message": (START + "raise ValueError('x' * 10_000_000)\n", "raised", "ValueError: xxx"),
    "a link in place of what is saved": (
        START + "import os\nos.symlink('/etc', 'stand-in/saved')\n", "unreadable", "it is a link"),
    "a link in place of a model": (
        START + "import os\nos.mkdir('stand-in/saved')\nos.symlink('/etc/hostname', 'stand-in/saved/m.json')\n",
        "unreadable", "symbolic link"),
    "a pipe in place of a model": (
        START + "import os\nos.mkdir('stand-in/saved')\nos.mkfifo('stand-in/saved/m.json')\n", "unreadable", "a pipe"),
    "a model that is no JSON": (START + SAVE + "open('stand-in/saved/m.json', 'w').write('[' * 100000)\n",
                                "unreadable", "Invalid JSON"),
    "a huge model": (START + SAVE + "open('stand-in/saved/m.json', 'a').write(' ' * 9_000_000)\n", "unreadable",
                     "larger than 8 MiB"),
    "very many models": (START + SAVE + "[open(f'stand-in/saved/{n}.json', 'w').write('') for n in range(60)]\n",
                         "unreadable", "61 models"),
    "a stand-in that is taken away": (START + "import shutil\nshutil.rmtree('stand-in')\n", "unreadable", ""),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_program_comes_to_a_clear_end(case: str, execute: Execute) -> None:
    source, outcome, words = HOSTILE[case]
    result = execute(source)
    assert (result.passed, result.diagram) == (False, None)
    assert result.outcome == (outcome or result.outcome)
    assert words in result.message
    assert len(result.message) < 1000
    assert len(result.output) <= 4000


FORGED = {
    "a block type that is none": ('"type": "Step"', '"type": "Nuke"', "there is no block type 'Nuke'"),
    "a block twice": ('"lines": []', '"blocks": [], "lines": []', ""),
    "a field more": ('"refused": []', '"refused": [], "more": 1', "more: Extra inputs"),
    "a name with a path": ('{"name": "m"', '{"name": "../m"', "name: String should match"),
    "a line from nowhere": ('"lines": []', '"lines": [[["X", "out", "1"], ["Step", "in", "1"]]]', "no ports for"),
    "a line into an output": ('"lines": []', '"lines": [[["Step", "out", "1"], ["Step", "out", "1"]]]', "should be ''"),
    "a position beyond the canvas": ('"position": null', '"position": [0, 0, 1, 99999]', "less than or equal to 32767"),
    "a number for a text": ('"parameters": {}', '"parameters": {"Time": 3}', "valid string"),
    "ports without number": ('"type": "Step", "parameters": {}', '"type": "Sum", "parameters": {"Inputs": "99999"}',
                             "more than 1000 ports"),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_is_saved_is_built_anew_and_not_believed(case: str, execute: Execute) -> None:
    before, after, words = FORGED[case]
    forge = (f"p = 'stand-in/saved/m.json'\nt = open(p).read()\nassert {before!r} in t\n"
             f"open(p, 'w').write(t.replace({before!r}, {after!r}, 1))\n")
    result = execute(START + SAVE + forge)
    assert (result.passed, result.diagram) == (False, None)
    assert words in result.message


class Hasty(Unconfined):
    """The plain sandbox, with less time than the job asks for."""

    def run(self, job: SandboxJob) -> Execution:
        return super().run(replace(job, limits=replace(job.limits, seconds=2.0)))


def test_an_endless_program_is_ended_and_said_so(tmp_path: Path) -> None:
    result = execute_program(START + SAVE + "while True: pass\n", sandbox=Hasty(), scratch=tmp_path)
    assert (result.passed, result.diagram, result.outcome) == (False, None, "timed_out")
    assert "still ran after 20 seconds" in result.message
