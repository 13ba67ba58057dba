"""Files, folders, TwinCAT objects and projects, PLCopen XML and CODESYS exports as one program, with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.plc.containers import read_container
from chatdev.departments.plc.project import check_project, read_project
from chatdev.departments.plc.source_file import NoText
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.xml_tree import WrongContainer
from chatdev.errors import ConfigError
from tests.departments.plc.latch import plc

DOUBLE = """FUNCTION Double : INT
VAR_INPUT x : INT; END_VAR
Double := x + x;
END_FUNCTION
"""
MAIN = """PROGRAM Main
VAR_INPUT level : INT; END_VAR
VAR_OUTPUT shown : INT; END_VAR
shown := Double(level);
END_PROGRAM
"""
POU = """<?xml version="1.0" encoding="utf-8"?>
<TcPlcObject Version="1.1.0.1">
  <POU Name="Main" Id="{0}" SpecialFunc="None">
    <Declaration><![CDATA[PROGRAM Main
VAR_INPUT level : INT; END_VAR
VAR_OUTPUT shown : INT; END_VAR]]></Declaration>
    <Implementation>
      <ST><![CDATA[shown := level;
shown := Double(level);]]></ST>
    </Implementation>
  </POU>
</TcPlcObject>
"""
FUNCTION_POU = """<?xml version="1.0" encoding="utf-8"?>
<TcPlcObject Version="1.1.0.1">
  <POU Name="Double" Id="{1}">
    <Declaration><![CDATA[FUNCTION Double : INT
VAR_INPUT x : INT; END_VAR]]></Declaration>
    <Implementation>
      <ST><![CDATA[Double := x + x;]]></ST>
    </Implementation>
  </POU>
</TcPlcObject>
"""
TASK = """<?xml version="1.0" encoding="utf-8"?>
<TcPlcObject Version="1.1.0.1">
  <Task Name="PlcTask" Id="{2}">
    <CycleTime>20000</CycleTime>
    <PouCall><Name>Main</Name></PouCall>
  </Task>
</TcPlcObject>
"""
PROJECT = """<?xml version="1.0" encoding="utf-8"?>
<Project xmlns="http://schemas.microsoft.com/developer/msbuild/2003">
  <ItemGroup>
    <Compile Include="POUs\\Main.TcPOU"><SubType>Code</SubType></Compile>
    <Compile Include="POUs\\Double.TcPOU"><SubType>Code</SubType></Compile>
    <Compile Include="PlcTask.TcTTO"><SubType>Code</SubType></Compile>
  </ItemGroup>
  <ItemGroup>
    <PlaceholderReference Include="Tc2_Standard"><Namespace>Tc2_Standard</Namespace></PlaceholderReference>
  </ItemGroup>
</Project>
"""
PLCOPEN = """<?xml version="1.0" encoding="utf-8"?>
<project xmlns="http://www.plcopen.org/xml/tc6_0201" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <types>
    <dataTypes>
      <dataType name="Mode"><baseType><enum><values><value name="Idle"/><value name="Busy"/></values></enum></baseType>
      </dataType>
      <dataType name="Pair"><baseType><struct>
        <variable name="a"><type><INT/></type><initialValue><simpleValue value="3"/></initialValue></variable>
        <variable name="b"><type><array><dimension lower="0" upper="3"/><baseType><BOOL/></baseType></array></type>
        </variable></struct></baseType></dataType>
    </dataTypes>
    <pous>
      <pou name="Double" pouType="function"><interface><returnType><INT/></returnType>
        <inputVars><variable name="x"><type><INT/></type></variable></inputVars></interface>
        <body><ST><xhtml:p><![CDATA[Double := x + x;]]></xhtml:p></ST></body></pou>
      <pou name="Main" pouType="program"><interface>
        <inputVars><variable name="level"><type><INT/></type></variable></inputVars>
        <outputVars><variable name="shown"><type><INT/></type></variable></outputVars>
        <localVars constant="true"><variable name="Most"><type><INT/></type>
          <initialValue><simpleValue value="9"/></initialValue></variable></localVars>
        <localVars><variable name="mode"><type><derived name="Mode"/></type></variable>
          <variable name="pair"><type><derived name="Pair"/></type></variable></localVars></interface>
        <body><ST><xhtml:p>mode := Busy;
IF pair.a &lt; Most THEN shown := Double(level); END_IF;</xhtml:p></ST></body></pou>
    </pous>
  </types>
  <instances><configurations><configuration name="c"><resource name="r">
    <task name="t" interval="T#50ms" priority="0"><pouInstance name="i" typeName="Main"/></task>
  </resource></configuration></configurations></instances>
</project>
"""
EXPORT = """
(* @NESTEDCOMMENTS := 'Yes' *)
(* @PATH := '' *)
PROGRAM Main
VAR_INPUT
  level : INT;
END_VAR
VAR_OUTPUT
  shown : INT;
END_VAR
(* @END_DECLARATION := '0' *)
shown := Double(level);
END_PROGRAM

LIBRARY
Standard.lib 5.9.95
END_LIBRARY

FUNCTION Double : INT
VAR_INPUT x : INT; END_VAR
Double := x + x;
END_FUNCTION

FUNCTIONBLOCK Drawn
VAR_INPUT x : INT; END_VAR
_LD_BODY
_NETWORKS : 1
END_FUNCTION_BLOCK
"""


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def twincat(tmp_path: Path) -> Path:
    return fill(tmp_path / "plc", {"Plc.plcproj": PROJECT, "POUs/Main.TcPOU": POU, "POUs/double.TcPOU": FUNCTION_POU,
                                   "PlcTask.TcTTO": TASK})


def test_a_name_of_one_file_is_known_in_the_other(tmp_path: Path) -> None:
    fill(tmp_path, {"main.st": MAIN, "double.st": DOUBLE})
    done = plc("check", tmp_path / "main.st", tmp_path / "double.st")
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "2 files: Main")
    assert plc("check", tmp_path).exit_code == 0
    assert plc("check", "--each", tmp_path / "main.st", tmp_path / "double.st").exit_code == 1
    assert plc("check", tmp_path / "main.st", "--library", tmp_path / "double.st").exit_code == 0


def test_a_program_of_several_files_is_run_and_proved(tmp_path: Path) -> None:
    fill(tmp_path, {"src/main.st": MAIN, "src/double.st": DOUBLE, "in.csv": "level,shown\n3,6\n5,11\n"})
    done = plc("run", tmp_path / "src", "--inputs", tmp_path / "in.csv")
    assert (done.exit_code, "scan 2: shown is 10, not 11" in done.output) == (1, True)
    assert plc("verify", tmp_path / "src", "--overflow").exit_code == 1
    shown = plc("explain", tmp_path / "src", "--overflow").output
    assert "line 3 of double.st: no integer overflow" in shown
    assert "#   4 of main.st shown := Double(level);" in shown
    data = json.loads(plc("verify", tmp_path / "src", "--overflow", "--json").output)
    assert [Path(one["file"]).name for one in data["files"]] == ["double.st", "main.st"]
    assert "3 of double.st" in data["properties"][0]["cycles"][0]["lines"]
    log = json.loads(plc("verify", tmp_path / "src", "--overflow", "--sarif").output)
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"][-9:], place["region"]["startLine"]) == ("double.st", 3)


def test_two_units_of_one_name_are_told_with_both_places(tmp_path: Path) -> None:
    fill(tmp_path, {"a.st": f"\n\n{DOUBLE}", "b.st": DOUBLE, "main.st": MAIN})
    done = plc("check", tmp_path)
    assert done.exit_code == 1
    assert f"{tmp_path / 'b.st'}:1:10: error: the routine 'Double' is declared twice (first at line 3 of" in done.output
    assert f"OK {tmp_path / 'main.st'}" in done.output


def test_one_file_full_of_errors_hides_no_other(tmp_path: Path) -> None:
    wrong = "PROGRAM Other\n" + "".join(f"x{number} := 1;\n" for number in range(60)) + "END_PROGRAM\n"
    fill(tmp_path, {"a.st": wrong, "b.st": MAIN.replace("Double(level)", "Twice(level)")})
    checks = check_project(read_project([tmp_path]))
    counts = {file.name: len(one.errors) for file, one in checks.items()}
    assert counts == {"a.st": 25, "b.st": 1}


def test_a_twincat_project_is_one_program_with_its_task(twincat: Path) -> None:
    project = read_project([twincat / "Plc.plcproj"])
    assert (project.cycle_ms, project.entry, project.libraries) == (20, "Main", ["Tc2_Standard"])
    assert plc("check", twincat).exit_code == 0
    done = plc("run", twincat, "--cycles", 2, "--json")
    assert json.loads(done.output)["milliseconds"] == [20, 20]


def test_an_error_stands_at_its_line_of_the_file_and_of_the_editor(twincat: Path) -> None:
    file = twincat / "POUs" / "Main.TcPOU"
    file.write_text(POU.replace("level : INT", "level : Word_"), encoding="utf-8")
    assert f"{file}:5:19: error: unknown type Word_ [declaration, line 2]" in plc("check", twincat).output
    file.write_text(POU.replace("shown := Double(level);", "shown := Twice(level);"), encoding="utf-8")
    found = [line for line in plc("check", twincat).output.splitlines() if ": error: " in line]
    assert len(found) == 1
    assert found[0].startswith(f"{file}:9:10: error: ")
    assert "[body, line 2]" in found[0]
    file.write_text(POU.replace("shown := level;", "show := level;"), encoding="utf-8")
    assert f"{file}:8:20: error: " in plc("check", twincat).output


def test_a_project_names_what_is_missing_and_nothing_outside(twincat: Path) -> None:
    project = twincat / "Plc.plcproj"
    project.write_text(PROJECT.replace("POUs\\Double", "POUs\\Gone").replace("PlcTask", "..\\..\\secret"),
                       encoding="utf-8")
    done = plc("check", project)
    assert f"{project}:5:5: error: the project names the file POUs\\Gone.TcPOU, which is not there" in done.output
    assert f"{project}:6:5: warning: the project names a file outside of its folder" in done.output
    assert "undeclared" in done.output or "unknown function" in done.output
    assert done.exit_code == 1


def test_a_folder_with_two_projects_asks_which(twincat: Path) -> None:
    fill(twincat.parent, {"more/Other.plcproj": PROJECT})
    with pytest.raises(ConfigError, match=r"holds 2 projects \(more/Other\.plcproj, plc/Plc\.plcproj\); name one"):
        read_project([twincat.parent])


def test_plcopen_xml_is_a_program_with_its_types_and_task(tmp_path: Path) -> None:
    file = fill(tmp_path, {"plant.xml": PLCOPEN, "other.xml": "<a/>"}) / "plant.xml"
    assert plc("check", tmp_path).exit_code == 0
    run = json.loads(plc("run", file, "--cycles", 1, "--json").output)
    assert (run["milliseconds"], run["passed"]) == ([50], True)
    file.write_text(PLCOPEN.replace("mode := Busy", "mode := Lazy"), encoding="utf-8")
    assert f"{file}:23:36: error: undeclared variable 'Lazy'" in plc("check", file).output


def test_a_place_behind_what_xml_writes_otherwise_is_that_of_the_file(tmp_path: Path) -> None:
    file = fill(tmp_path, {"plant.xml": PLCOPEN.replace("pair.a &lt; Most", "pair.a &lt; Lost")}) / "plant.xml"
    line = next(one for one in file.read_text(encoding="utf-8").splitlines() if "Lost" in one)
    assert f":{line.index('Lost') + 1}: error: undeclared variable 'Lost' [body, line 2]" in plc("check", file).output


def test_a_codesys_export_is_read_without_what_is_no_program(tmp_path: Path) -> None:
    file = fill(tmp_path, {"plant.EXP": EXPORT}) / "plant.EXP"
    done = plc("check", file)
    assert f"{file}:15:1: warning: LIBRARY is no program, and not read" in done.output
    assert f"{file}:26:1: warning: the body of Drawn is in LD" in done.output
    file.write_text(EXPORT.replace("Double(level)", "Twice(level)"), encoding="utf-8")
    assert f"{file}:12:10: error" in plc("check", file).output


@pytest.mark.parametrize(("name", "text", "code"), [
    ("a.TcPOU", "<?xml version='1.0'?><TcPlcObject><POU>", "broken-xml"),
    ("a.TcPOU", POU[:len(POU) // 2], "broken-xml"),
    ("a.xml", "<?xml version='1.0'?><svg/>", "foreign-xml"),
    ("a.xml", "<?xml version='1.0'?><!DOCTYPE project SYSTEM 'x.dtd'><project/>", "document-type"),
    ("a.xml", "<?xml version='1.0' encoding='no-such'?><project/>", "broken-xml"),
    ("a.xml", f"<?xml version='1.0'?>{'<a>' * 300}{'</a>' * 300}", "large-xml"),
    ("a.xml", PLCOPEN.replace('name="Most"', 'name="Most; x"'), "wrong-xml-name"),
    ("a.xml", PLCOPEN.replace('value="9"', 'value="9; END_VAR"'), "wrong-xml-name"),
    ("a.xml", PLCOPEN.replace("<baseType><BOOL/></baseType>", "<baseType/>"), "no-xml-type")])
def test_a_broken_container_is_refused_by_name(name: str, text: str, code: str) -> None:
    with pytest.raises(WrongContainer) as told:
        read_container(text.encode(), name)
    assert told.value.diagnostic.code == code


def test_a_broken_file_leaves_the_others_answered(twincat: Path) -> None:
    (twincat / "POUs" / "double.TcPOU").write_text(FUNCTION_POU[:150], encoding="utf-8")
    done = plc("check", twincat)
    assert done.exit_code == 2
    assert "this is broken XML" in done.output
    assert f"{twincat / 'POUs' / 'Main.TcPOU'}:9:10: error" in done.output


@pytest.mark.parametrize("text", [POU, PLCOPEN, EXPORT, TASK, PROJECT])
@given(data=st.data())
def test_a_spoilt_container_is_read_or_refused(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(len(text), at + 40)))
    spoilt = text[:at] + data.draw(st.sampled_from(["", "<", "]]>", "&amp;", '"', "END_VAR", "\x00", "é"])) + text[end:]
    try:
        found = read_container(spoilt.encode(), "a.exp")
    except (WrongContainer, NoText):
        return
    lines = spoilt.count("\n") + 1
    assert all(1 <= piece.line <= lines for piece in found.pieces)


def test_places_of_pieces_are_those_of_the_file(twincat: Path) -> None:
    project = read_project([twincat / "POUs" / "Main.TcPOU"])
    text = (twincat / "POUs" / "Main.TcPOU").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(project.text.splitlines(), 1):
        file, span = project.find(Span(number, 1, number, 1))
        assert file.name == "Main.TcPOU"
        if line and line != "END_PROGRAM":
            assert text[span.line - 1][span.column - 1:].startswith(line)


HALF = "PROGRAM Half\nVAR a : INT; END_VAR\na := (1"


@pytest.mark.parametrize("half", [HALF, "(* never closed", "{IF defined (X)}\n", "TYPE T : STRUCT a : INT;",
                                  "{attribute 'strict'\nPROGRAM Half", "VAR_GLOBAL g : INT;",
                                  "FUNCTION F : INT\nVAR_INPUT x : STRING := 'open", "/* "])
def test_half_a_file_spoils_no_other(tmp_path: Path, half: str) -> None:
    fill(tmp_path, {"a_half.st": half, "double.st": f"{{warning 'to be done'}}\n{DOUBLE}",
                    "main.st": f"(* a comment *)\n{MAIN}"})
    checks = check_project(read_project([tmp_path]))
    wrong = {file.name: one.errors for file, one in checks.items() if one.errors}
    assert [*wrong] == ["a_half.st"]
    lines = half.count("\n") + 1
    assert all(one.span.line <= lines for one in wrong["a_half.st"])


@pytest.mark.parametrize("text", ["<svg xmlns='http://www.w3.org/2000/svg'><rect/></svg>", "<!-- a note --><html/>",
                                  "<list><of/></list>"])
def test_xml_of_another_kind_is_called_so(tmp_path: Path, text: str) -> None:
    fill(tmp_path, {"Main.TcPOU": text, "double.st": DOUBLE})
    checks = check_project(read_project([tmp_path]))
    assert {file.name: [one.code for one in check.errors] for file, check in checks.items()} == {
        "Main.TcPOU": ["foreign-xml"], "double.st": []}


def test_one_file_by_two_names_is_read_once(tmp_path: Path) -> None:
    fill(tmp_path, {"double.st": DOUBLE, "main.st": MAIN})
    (tmp_path / "same.st").symlink_to("main.st")
    project = read_project([tmp_path, tmp_path / "main.st", tmp_path / "." / ".." / tmp_path.name / "double.st"],
                           [tmp_path])
    assert [file.name for file in project.files] == ["double.st", "main.st"]


def test_a_link_out_of_the_folder_is_told_and_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.st", tmp_path / "plant"
    outside.write_text("secret : the words of another file", encoding="utf-8")
    folder.mkdir()
    fill(folder, {"double.st": DOUBLE})
    (folder / "linked.st").symlink_to(outside)
    (folder / "nothing.st").symlink_to(tmp_path / "gone.st")
    for each in ((), ("--each",)):
        done = plc("check", *each, folder)
        assert (done.exit_code, done.output.count("the link leads out of the folder")) == (0, 2)
        assert "secret" not in done.output


def test_characters_of_no_text_spoil_only_their_file(tmp_path: Path) -> None:
    fill(tmp_path, {"a.st": "\0\1", "double.st": DOUBLE, "main.st": MAIN})
    checks = check_project(read_project([tmp_path]))
    assert {file.name: [one.code for one in check.errors] for file, check in checks.items()} == {
        "a.st": ["no-text"], "double.st": [], "main.st": []}


def test_three_thousand_files_of_no_program_are_passed(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number}.txt").write_text("no program", encoding="utf-8")
    with pytest.raises(ConfigError, match="no program; a folder is searched for files with the endings"):
        read_project([tmp_path])
    fill(tmp_path, {"double.st": DOUBLE})
    assert [file.name for file in read_project([tmp_path]).files] == ["double.st"]


def test_libraries_that_need_each_other_are_read(tmp_path: Path) -> None:
    fill(tmp_path, {"a.st": "FUNCTION_BLOCK A\nVAR b : B; END_VAR\nb();\nEND_FUNCTION_BLOCK\n",
                    "b.st": "FUNCTION_BLOCK B\nVAR a : A; END_VAR\na();\nEND_FUNCTION_BLOCK\n"})
    checks = check_project(read_project([tmp_path / "a.st"], [tmp_path / "b.st", tmp_path / "a.st"]))
    assert "recursion: A contains B contains A" in [one.message for check in checks.values() for one in check.errors]
