"""Scripts and programs build the model that they were written from; of scripts of others, what is constant is read."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from benchmarks.simulink.exchange import ODD, is_placed, nested, same
from chatdev.departments.simulink import views
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.files.matlab_script import parse_script
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.errors import ConfigError

MODELS = [one.diagram for one in reference_models().values()]
SCRIPT = """
clear all; close all, clc
%{
a comment
%}
mdl = 'demo';
if bdIsLoaded(mdl), close_system(mdl, 0); end
new_system(mdl); open_system(mdl);
x = 30; y = 30; w = 30;
add_block('simulink/Sources/Step', [mdl '/Step'], 'Time', '1', ...  % the step
   'Position', [x y x+w y + w]);
g = add_block('simulink/Math Operations/Gain', [mdl, '/Gain'], 'Gain', num2str(2.5));
set_param(g, 'Position', [100 y 130 -y+90]);
add_block('built-in/Scope', strcat(mdl, '/', "Scope"))
add_line(mdl, {'Step/1', 'Gain/1'}, {'Gain/1', "Scope/1"}, 'autorouting', 'on')
set_param(mdl, 'StopTime', sprintf('%d', 5))
save_system(mdl)
"""


def test_a_script_of_a_person_is_read() -> None:
    model, notes = parse_script(SCRIPT, "demo.m")
    assert notes == ()
    assert model == Diagram("demo", {
        "Step": DiagramBlock("Step", {"Time": "1"}, (30, 30, 60, 60)),
        "Gain": DiagramBlock("Gain", {"Gain": "2.5"}, (100, 30, 130, 60)), "Scope": DiagramBlock("Scope")},
        tuple(map(Wire.read, ("Step/1 -> Gain/1", "Gain/1 -> Scope/1"))), settings={"StopTime": "5"})


@pytest.mark.parametrize("ending", [".m", ".json"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_reference_model_comes_back(model: Diagram, ending: str, tmp_path: Path) -> None:
    write_model(ModelFile(model), tmp_path / f"a{ending}")
    assert same(read_model(tmp_path / f"a{ending}").diagram, model)


@pytest.mark.parametrize("ending", [".m", ".json"])
@pytest.mark.parametrize("seed", range(60))
def test_random_models_within_models_come_back(seed: int, ending: str, tmp_path: Path) -> None:
    model, path = nested(seed), tmp_path / f"a{ending}"
    write_model(ModelFile(model), path)
    found = read_model(path)
    assert same(found.diagram, model, placed=ending == ".json" or not is_placed(model))
    assert found.notes == ()


@pytest.mark.tool
@pytest.mark.parametrize("seed", [3, 4])
def test_a_program_is_proved_and_read_in_the_sandbox(seed: int, tmp_path: Path) -> None:
    model, path = nested(seed), tmp_path / "a.py"
    assert write_model(ModelFile(model), path) == ("the program ran in the sandbox, and built the model",)
    assert same(read_model(path).diagram, model, placed=not is_placed(model))


@pytest.mark.tool
def test_a_program_that_builds_nothing_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import matlab.engine\n\nopen('/etc/shadow')\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.py:3: (FileNotFound|Permission)Error"):
        read_model(tmp_path / "a.py")


def test_a_model_that_matlab_would_build_otherwise_is_not_written(tmp_path: Path) -> None:
    model = Diagram("m", {"A": DiagramBlock("Gain"), "B": DiagramBlock("Out1"), "C": DiagramBlock("Out1")})
    with pytest.raises(ConfigError, match="m: MATLAB would build another model: block C: Port is 2, not 1; correct"):
        write_model(ModelFile(model), tmp_path / "a.m")
    assert not (tmp_path / "a.m").exists()
    with pytest.raises(ConfigError, match=r"There is no block named 'Gian'"):
        write_model(ModelFile(Diagram("m", {"A": DiagramBlock("Gian")})), tmp_path / "a.m")


@pytest.mark.parametrize(("text", "told"), [
    ("for k = 1:3\nadd_block('a', 'b')\nend", "1: `for` is no call; nothing of a script is run here; write calls of"),
    ("x = y;", "1: the variable y has no constant value"), ("\n\nsystem('ls');", "3: the function system is not read"),
    ("eval('x')", "1: the function eval is not read"), ("x = a';", "1: ' transposes"), ("!ls", "1: '!' begins no"),
    ("x = 'abc", "1: \"'\" is no value"), ("x.y = 3", "1: x.y is a field"), ("[a, b] = f(1)", "1: '[' begins no"),
    ("x = @() 3", "1: '@' is no value"), ("x = {'a'", "1: '}' is missing"), ("x = 1/0", "1: this is no finite number"),
    ("x = [1 2; 3]", "1: the rows have different lengths"), ("x = char(1e99)", "1: char with these arguments"),
    ("x = sprintf('%5.2f', 3)", "1: sprintf with"), ("x = " + "(" * 100_000, "1: brackets lie in each other more"),
    ("x = " + "-" * 100_000 + "y", "1: the variable y has no"), ("x = 3 4", "1: '4' stands behind"),
    ("if ispc, delete('x'); end", "1: `if` is no call"), ("", "a script builds one model, and this one builds none"),
    ("new_system('a'); new_system('b')", "builds a, b; call new_system once"),
    ("new_system('m')\nadd_block('simulink/Sources/Stp', 'm/a')", "2: MATLAB would refuse this add_block: There is no"),
    ("new_system('m')\nadd_block('built-in/Gain', 'm/a', 'Gain', 2)", "2: MATLAB would refuse this add_block: The"),
    ("new_system('m'); add_line('m', 'a/1', 'b/1')", "object name: 'a/1'.; 'm' has no block named 'a'"),
    ("load_system('other')", "1: MATLAB would refuse this load_system: There is no block diagram or file named"),
    ("new_system(3)", "1: MATLAB would refuse this new_system"), ("add_line()", "add_line needs more arguments"),
    ("new_system('m'); set_param('m', {}, 'x')", "MATLAB would refuse this set_param"), ("\0", "'\\x00' begins no"),
    ("new_system('m'); set_param({}, 'a', 'x')", "MATLAB would refuse this set_param")])
def test_what_is_no_constant_call_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_script(text, "a.m")
    assert told in str(raised.value)


def test_a_million_blocks_are_refused_soon() -> None:
    row = "add_block('built-in/Gain', 'm/G', 'MakeNameUnique', 'on');\n"
    begun = time.monotonic()
    with pytest.raises(ConfigError, match="is longer than 16 MB"):
        parse_script("new_system('m');\n" + row * 1_000_000, "a.m")
    with pytest.raises(ConfigError, match=r"a\.m:10002: .*More than 10000 blocks"):
        parse_script("new_system('m');\n" + row * 20_000, "a.m")
    assert time.monotonic() - begun < 60


def test_texts_are_written_as_matlab_reads_them() -> None:
    for text in (*ODD, "", "''", "a\r\nb\n", "\u2028", "x\x00"):
        script = f"new_system('m'); set_param('m', 'Description', {views.matlab_literal(text)})"
        assert parse_script(script, "a.m")[0].about == text


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("octave-cli"), reason="Octave is not installed")
def test_octave_takes_the_scripts(tmp_path: Path) -> None:
    """Its parser is another one than ours, and its strings are MATLAB's; the functions are stubs."""
    for name in ("new_system", "set_param", "add_block", "add_line", "save_system", "evalin", "arrange", "delete"):
        (tmp_path / f"{name}.m").write_text(f"function varargout = {name}(varargin)\n"
                                            "  printf('%s\\n', varargin{cellfun(@ischar, varargin)});\nend\n",
                                            encoding="utf-8")
    (tmp_path / "get_param.m").write_text("function w = get_param(varargin)\n  w = 1;\nend\n", encoding="utf-8")
    for seed in range(3):
        script = views.write_script(nested(seed)).replace("Simulink.BlockDiagram.arrangeSystem", "arrange").replace(
            "Simulink.SubSystem.deleteContents", "delete")
        (tmp_path / "build_it.m").write_text(script, encoding="utf-8")
        done = subprocess.run(["octave-cli", "--norc", "--quiet", "--eval", "build_it"], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert all(f"nested/{name.replace('/', '//')}" in done.stdout for name in nested(seed).blocks)
