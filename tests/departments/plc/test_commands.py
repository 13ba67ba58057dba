"""`chatdev plc` as an engineer and a CI job use it: lines with places, exit codes, JSON, SARIF, reports."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.departments.plc.latch import LATCH, plc

FAULTY = LATCH.replace("END_IF;", "END_IF;\nCount := 10 / (5 - Count);")


def asked(name: str, *texts: str) -> dict[str, object]:
    return {"property_description": "As told.", "property": {
        "job_req": "pattern", "pattern_id": f"pattern-{name}",
        "pattern_params": {str(number): text for number, text in enumerate(texts)}}}


CLEARED = asked("implication", "Clear", "NOT Out")
SET = asked("implication", "Set", "Out")


def write(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


@pytest.fixture
def latch(tmp_path: Path) -> Path:
    return write(tmp_path, "latch.st", LATCH)


def test_errors_have_file_line_and_column(latch: Path, tmp_path: Path) -> None:
    wrong = write(tmp_path, "wrong.st", LATCH.replace("Out := TRUE", "Outt := TRUE").replace("+ 1", "+ TRUE"))
    done = plc("check", "--each", latch, wrong)
    assert done.exit_code == 1
    assert done.output.splitlines()[0] == f"OK {latch}: Latch"
    assert f"\n{wrong}:8:3: error: undeclared variable 'Outt'" in done.output
    assert f"\n{wrong}:9:" in done.output


def test_a_check_is_told_to_machines(tmp_path: Path) -> None:
    wrong = write(tmp_path, "wrong one.st", LATCH.replace("Out := TRUE", "Outt := TRUE"))
    told = json.loads(plc("check", wrong, "--json").output)["files"][0]
    assert (told["ok"], told["diagnostics"][0]["line"], told["diagnostics"][0]["code"]) == (False, 8, "undeclared")
    log = json.loads(plc("check", wrong, "--sarif").output)
    result = log["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert (log["version"], result["ruleId"], result["level"]) == ("2.1.0", "undeclared", "error")
    assert place["artifactLocation"]["uri"] == wrong.as_uri()
    assert place["region"] == {"startLine": 8, "startColumn": 3, "endLine": 8, "endColumn": 7}
    assert [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]] == ["undeclared"]


def test_a_run_writes_its_trace_and_tells_what_is_not_as_expected(latch: Path, tmp_path: Path) -> None:
    inputs = write(tmp_path, "in.csv", "Set,Clear,Out\n1,0,TRUE\n0,0,\n,1,TRUE\n")
    done = plc("run", latch, "--inputs", inputs, "--out", tmp_path / "out.csv", "--plot", tmp_path / "seen.png")
    assert done.exit_code == 1
    assert done.output == f"{latch}: scan 3: Out is FALSE, not TRUE\n"
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "Set,Clear,Out,Count", "TRUE,FALSE,TRUE,1", "FALSE,FALSE,TRUE,1", "FALSE,TRUE,FALSE,1"]
    assert (tmp_path / "seen.png").read_bytes().startswith(b"\x89PNG")
    assert plc("run", latch, "--cycles", 2).output.count("\n") == 3


def test_a_fault_of_a_run_has_its_place(tmp_path: Path) -> None:
    inputs = write(tmp_path, "in.csv", "Set\n1\n1\n0\n1\n")
    done = plc("run", write(tmp_path, "faulty.st", FAULTY), "--inputs", inputs, "--json")
    assert done.exit_code == 1
    assert "error: division by zero in scan 3" in json.loads(done.stdout)["problems"][0]


def test_verdicts_decide_the_exit_code(latch: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = plc("verify", latch, "--properties", write(tmp_path, "p.json", [CLEARED]), "--report", report)
    assert done.exit_code == 0, done.output
    assert "1  PROVED" in done.output
    assert "whenever Clear, then NOT Out" in done.output
    assert "<h2>Verdicts</h2>" in report.read_text(encoding="utf-8")
    repeat = write(tmp_path, "r.json", [CLEARED, asked("repeatability", "Out")])
    assert plc("verify", latch, "--properties", repeat).exit_code == 7


def test_a_violation_is_explained(latch: Path, tmp_path: Path) -> None:
    properties = write(tmp_path, "p.json", [CLEARED, SET])
    done = plc("explain", latch, "--properties", properties)
    assert done.exit_code == 1
    assert "2: VIOLATED  whenever Set, then Out" in done.output
    assert "input  Clear" in done.output
    assert "#    6   Out := FALSE;" in done.output
    told = json.loads(plc("verify", latch, "--properties", properties, "--json").output)
    assert [one["verdict"] for one in told["properties"]] == ["PROVED", "VIOLATED"]
    assert told["properties"][1]["cycles"][0]["changed"] == {"Set": "TRUE", "Clear": "TRUE"}


def test_a_fault_is_found_without_properties(tmp_path: Path) -> None:
    faulty = write(tmp_path, "faulty.st", FAULTY)
    done = plc("verify", faulty, "--sarif", "--cycle-ms", 100)
    assert done.exit_code == 1
    result = json.loads(done.output)["runs"][0]["results"][0]
    assert (result["ruleId"], result["kind"], result["level"]) == ("division", "fail", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 11


def test_a_program_with_errors_is_not_verified(tmp_path: Path) -> None:
    done = plc("verify", write(tmp_path, "wrong.st", LATCH.replace("END_IF;", "")))
    assert done.exit_code == 1
    assert "wrong.st:11:1: error: expected END_IF" in done.output


@pytest.mark.parametrize(("content", "message"), [
    ({"properties": []}, "p.json: the properties are a list of objects, not dict"),
    ("[" * 100_000, "p.json: the properties are no JSON"), ("", "p.json: the file is empty")])
def test_wrong_properties_are_named(latch: Path, tmp_path: Path, content: object, message: str) -> None:
    done = plc("verify", latch, "--properties", write(tmp_path, "p.json", content))
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.parametrize(("item", "message"), [
    (asked("invariant", "Clar"), "in `Clar`: undeclared variable"),
    (asked("never", "Out"), "the item: there is no pattern_id 'pattern-never'"),
    ({"job_req": "pattern", "pattern_id": ["x"]}, "the item: there is no pattern_id ['x']"),
    ({"job_req": "bla", "pattern_id": "pattern-invariant"}, "the item: job_req is pattern or assertion"),
    (7, "the item is an object")])
def test_a_property_that_cannot_be_read_spoils_no_other(latch: Path, tmp_path: Path, item: object,
                                                        message: str) -> None:
    properties = write(tmp_path, "p.json", [item, CLEARED])
    done = plc("verify", latch, "--properties", properties, "--json")
    first, second = json.loads(done.output)["properties"][:2]
    assert (done.exit_code, first["verdict"], second["verdict"]) == (7, "UNKNOWN", "PROVED")
    assert message in first["reason"]
    assert f"1: is neither proved nor refuted; nothing is known: {first['reason']}" in plc(
        "verify", latch, "--properties", properties).output
    results = json.loads(plc("verify", latch, "--properties", properties, "--sarif").output)["runs"][0]["results"]
    assert [one["kind"] for one in results] == ["open", "pass"]


def test_a_file_that_cannot_be_read_spoils_no_other(latch: Path, tmp_path: Path) -> None:
    text = latch.read_text(encoding="utf-8").replace("\n", "\n(* Größe *)\n", 1)
    for name, data in {"cp1252.st": text.encode("cp1252"), "utf16.st": text.encode("utf-16"), "no.st": b"\x00\x81\xff"
                       }.items():
        (tmp_path / name).write_bytes(data)
    files = [tmp_path / name for name in ("cp1252.st", "no.st", "utf16.st", "nowhere.st")] + [latch]
    done = plc("check", "--each", *files)
    assert done.exit_code == 2
    assert f"{files[0]}:2:6: warning: the file is not UTF-8 from here on" in done.output
    assert f"{files[1]}:1:1: error: the file holds no text" in done.output
    assert f"{files[2]}:1:1: warning: the file is UTF-16" in done.output
    assert [f"OK {file}: Latch" in done.output for file in files] == [True, False, True, False, True]
    checks = json.loads(plc("check", "--each", *files, "--json").output)["files"]
    assert [one["ok"] for one in checks] == [True, False, True, False, True]
    log = json.loads(plc("check", "--each", *files, "--sarif").output)
    rules = {one["ruleId"] for one in log["runs"][0]["results"]}
    assert {"code-page", "utf-16", "unreadable-file"} <= rules


def test_a_file_of_another_encoding_is_run_verified_and_mended(latch: Path, tmp_path: Path) -> None:
    text = latch.read_text(encoding="utf-8").replace("\n", "\n(* Größe *)\n", 1)
    (tmp_path / "old.st").write_bytes(text.encode("cp1252"))
    for command in ("run", "verify", "explain"):
        done = plc(command, tmp_path / "old.st")
        assert "old.st:2:6: warning: the file is not UTF-8 from here on" in done.output
        assert done.exit_code == plc(command, latch).exit_code
    (tmp_path / "old.st").write_bytes(text.replace("\n", "\r\n").replace("; ", " ; ", 1).encode("utf-16"))
    plc("check", "--fix", tmp_path / "old.st")
    assert (tmp_path / "old.st").read_bytes().startswith(b"\xff\xfe")


def test_a_loop_may_be_given_more_turns(tmp_path: Path) -> None:
    file = write(tmp_path, "many.st", "PROGRAM P\nVAR i, s : DINT; END_VAR\nFOR i := 1 TO 20000 DO s := i; END_FOR;\n"
                 "//#ASSERT i = 20001 : all\nEND_PROGRAM\n")
    done = plc("run", file, "--cycles", 1)
    assert (done.exit_code, "a loop made more than 10000 turns in one scan" in done.output) == (1, True)
    assert plc("run", file, "--cycles", 1, "--most-turns", 20_000).exit_code == 0
    assert "did not replay" not in plc("verify", file).output
    assert plc("verify", file, "--most-turns", 20_000).exit_code == 0


@pytest.mark.parametrize(("command", "message"), [
    (("check", "nowhere.st"), "cannot read nowhere.st: No such file or directory"),
    (("check", "empty"), "empty: no program; a folder is searched for files with the endings .st,"),
    (("check", "binary.st"), "binary.st:1:1: error: the file holds no text"),
    (("run", "latch.st", "--inputs", "in.csv"), "in.csv: line 1: there is no variable 'Sett'; Latch has Set"),
    (("run", "latch.st", "--plot", "x.bmp"), "x.bmp is neither a .png nor a .svg file"),
    (("run", "latch.st", "--plot", "x.svg", "--signals", "Nope"), "no signal nope; there are Set, Clear"),
    (("verify", "latch.st", "--report", "x.pdf"), "x.pdf is neither a .html nor a .md file"),
    (("explain", "latch.st", "--properties", "p.json", "--property", "4"), "no property 4; there are 1"),
    (("run", "latch.st", "--inputs", "empty.csv"), "empty.csv: the file is empty"),
    (("run", "latch.st", "--inputs", "head.csv"), "head.csv: the table has no line below its header"),
    (("check", "latch.st", "--entry", "Motor"), "--entry: there is no FUNCTION_BLOCK or PROGRAM 'Motor'"),
    (("verify", "latch.st", "--entry", "Motor"), "--entry: there is no FUNCTION_BLOCK or PROGRAM 'Motor'"),
    (("run", "latch.st", "--entry", "Motor"), "latch.st: the program has errors")])
def test_wrong_input_is_named(latch: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...],
                              message: str) -> None:
    monkeypatch.chdir(latch.parent)
    for name, text in {"in.csv": "Sett\n1\n", "empty.csv": "", "head.csv": "Set\n"}.items():
        write(latch.parent, name, text)
    write(latch.parent, "p.json", [CLEARED])
    (latch.parent / "empty").mkdir()
    (latch.parent / "binary.st").write_bytes(b"\xff\xfe\x00")
    done = plc(*command)
    assert done.exit_code == 2, done.output
    assert message in done.output


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    folder.chmod(0o755)  # in the sandbox it belongs to somebody else
    write(folder, name, f"#!/bin/sh\n{script}").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_another_compiler_is_asked(latch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "iec2c", "echo 'program.st:8-3..8-5: error: No.'\nexit 1\n")
    done = plc("check", latch, "--with", "iec2c")
    assert (done.exit_code, done.output) == (1, f"{latch}:8:3: error: iec2c: No.\n")


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_another_verifier_is_asked(latch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it contradicts, nothing is certain, whatever else is violated."""
    properties = write(tmp_path, "p.json", [CLEARED, SET])
    asked = ("verify", latch, "--properties", properties, "--with", "plcverif-cli")
    install(tmp_path, monkeypatch, "nuXmv", "")
    missing = plc(*asked)
    assert (missing.exit_code, "plcverif-cli not found" in missing.output) == (4, True)
    install(tmp_path, monkeypatch, "plcverif-cli", "echo 'Result: the requirement is VIOLATED'\n")
    done = plc(*asked)
    assert done.exit_code == 7
    assert "1  PROVED    PLCverif: VIOLATED  " in done.output
    assert "2  VIOLATED  PLCverif: VIOLATED  " in done.output
    assert "\n1: CONTRADICTION: here it is PROVED, PLCverif says VIOLATED; " in done.output
    told = json.loads(plc(*asked, "--json").output)
    assert told["verdict"] == "UNKNOWN"
    assert [one["contradicted"] for one in told["properties"]] == [True, False]
    assert told["properties"][0]["opinion"] == {"by": "PLCverif", "verdict": "VIOLATED", "said": "", "scans": 0}


def test_slips_are_mended_in_the_file(tmp_path: Path) -> None:
    """A second look finds nothing to mend; JSON and SARIF offer the changes where the file stays."""
    slip = LATCH.replace("Out := TRUE;", "Out = TRUE")+ "END_MODULE\n"
    file = write(tmp_path, "latch.st", slip)
    offered = json.loads(plc("check", file, "--json").output)["files"][0]["diagnostics"]
    assert [one["fix"]["text"] for one in offered] == [":=", ";", ""]
    (result, *_) = json.loads(plc("check", file, "--sarif").output)["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [{
        "deletedRegion": {"startLine": 8, "startColumn": 7, "endLine": 8, "endColumn": 8},
        "insertedContent": {"text": ":="}}]
    assert file.read_text(encoding="utf-8") == slip
    mended = plc("check", "--fix", file)
    assert mended.exit_code == 0
    assert f"{file}:8:7: mended: expected ':='" in mended.stderr
    assert file.read_text(encoding="utf-8") == LATCH + "\n"
    again = plc("check", "--fix", file)
    assert (again.exit_code, again.stderr) == (0, "")


def test_what_needs_thought_is_not_mended(tmp_path: Path) -> None:
    wrong = LATCH.replace("END_IF;", "")
    file = write(tmp_path, "latch.st", wrong)
    assert plc("check", "--fix", file).exit_code == 1
    assert file.read_text(encoding="utf-8") == wrong


def test_a_program_of_one_line_is_mended_too(tmp_path: Path) -> None:
    file = write(tmp_path, "one.st", "FUNCTION_BLOCK A VAR a : INT; END_VAR a := 1 END_FUNCTION_BLOCK")
    assert plc("check", "--fix", file).exit_code == 0
    assert file.read_text(encoding="utf-8").endswith("a := 1; END_FUNCTION_BLOCK")


def test_json_has_no_infinity(tmp_path: Path) -> None:
    file = write(tmp_path, "f.st", "FUNCTION_BLOCK F VAR_INPUT v, t : REAL; END_VAR VAR_OUTPUT q : REAL; END_VAR\n"
                                   "q := v / t;\nEND_FUNCTION_BLOCK\n")
    said = plc("run", file, "--inputs", write(tmp_path, "in.csv", "v,t\n1.0,0.0\n0.0,0.0\n"), "--json").output
    assert [row[2] for row in json.loads(said, parse_constant=pytest.fail)["rows"]] == ["inf", "nan"]


@pytest.mark.parametrize(("mark", "end"), [(b"", b"\r\n"), (b"\xef\xbb\xbf", b"\r\n"), (b"\xef\xbb\xbf", b"\n")])
def test_a_mended_file_keeps_its_line_ends_and_its_mark(tmp_path: Path, mark: bytes, end: bytes) -> None:
    file = tmp_path / "latch.st"
    file.write_bytes(mark + LATCH.replace("TRUE;", "TRUE").encode().replace(b"\n", end))
    assert plc("check", "--fix", file).exit_code == 0
    assert file.read_bytes() == mark + LATCH.encode().replace(b"\n", end)


CHOSEN = """PROGRAM Main
VAR_INPUT Count : INT; END_VAR
VAR_OUTPUT Share, Mode : INT; END_VAR
VAR Fall : F_TRIG; END_VAR
{IF defined (SIM)} Mode := 1; {ELSE} Mode := 2; {END_IF}
Share := 10 MOD Count;
Fall(CLK := FALSE);
END_PROGRAM
"""


def test_conditional_pragmas_choose_one_branch(tmp_path: Path) -> None:
    file = write(tmp_path, "main.st", CHOSEN.replace("10 MOD Count", "3"))
    properties = write(tmp_path, "asked.json", [asked("invariant", "Mode = 2"), asked("invariant", "Mode = 1")])
    done = plc("verify", file, "--properties", properties)
    assert "main.st:5:1: warning: conditional pragmas ask for what nothing defines: SIM" in done.output
    assert [line.split()[1] for line in done.output.splitlines() if line[:2] in ("1 ", "2 ")] == ["PROVED", "VIOLATED"]
    told = json.loads(plc("verify", file, "--properties", properties, "--define", "sim", "--json").output)
    assert [one["verdict"] for one in told["properties"]] == ["VIOLATED", "PROVED"]
    assert (told["diagnostics"], told["dialect"]["defines"]) == ([], ["sim"])


def test_what_is_chosen_of_the_language_counts_everywhere(tmp_path: Path) -> None:
    file = write(tmp_path, "main.st", CHOSEN)
    chosen = ("--define", "SIM", "--dialect", "codesys", "--mod-zero", "zero")
    expected = {"name": "codesys", "mod_zero": "zero", "defines": ["SIM"], "allows_missing": False, "namespaces": [],
                "stubs": []}
    for command in (("check",), ("run", "--cycles", "1"), ("verify",), ("explain",)):
        done = plc(command[0], file, *command[1:], *chosen, "--json")
        assert (done.exit_code, json.loads(done.output)["dialect"]) == (0, expected)
    assert plc("run", file, "--cycles", "1", *chosen).output.splitlines()[1] == "0,0,1,FALSE,FALSE,TRUE"


def test_what_is_missing_is_a_stub_where_that_is_allowed(tmp_path: Path) -> None:
    file = write(tmp_path, "main.st", "PROGRAM P\nVAR m : Motor; y : INT; END_VAR\nm(); y := 1;\nEND_PROGRAM\n")
    assert plc("check", file).exit_code == 1
    done = plc("check", file, "--allow-missing", "--dialect", "twincat")
    assert (done.exit_code, "gap: 'Motor' is not there" in done.output) == (0, True)


def test_a_library_is_no_error_for_check(tmp_path: Path) -> None:
    file = write(tmp_path, "lib.st", "FUNCTION f : INT\nf := 1;\nEND_FUNCTION\n")
    assert plc("check", file).exit_code == 0
    assert plc("run", file, "--cycles", "1").exit_code == 2


def test_the_standard_is_what_is_meant_without_being_told(tmp_path: Path) -> None:
    file = write(tmp_path, "main.st", CHOSEN)
    done = plc("verify", file)
    assert done.exit_code == 1
    assert "VIOLATED" in done.output
    inputs = write(tmp_path, "in.csv", "Count\n7\n")
    assert plc("run", file, "--inputs", inputs).stdout.splitlines()[1] == "7,3,2,FALSE,TRUE,TRUE"


def test_a_definition_has_no_value(latch: Path) -> None:
    done = plc("check", latch, "--define", "SIM=1")
    assert done.exit_code == 2
    assert "'SIM=1' is no name; give one as in {IF defined (NAME)}, without a value" in done.output


def test_a_file_is_checked_again_whenever_it_changes(tmp_path: Path) -> None:
    file = write(tmp_path, "m.st", "PROGRAM m\nVAR a : BOOL; END_VAR\na := TRUE;\nEND_PROGRAM\n")
    with subprocess.Popen([sys.executable, "-m", "chatdev", "plc", "check", "--watch", str(file)],
                          stdout=subprocess.PIPE, text=True, bufsize=1) as found:
        assert found.stdout is not None
        try:
            assert found.stdout.readline().startswith("OK ")
            file.write_text(file.read_text().replace("a := TRUE", "b := TRUE"))
            assert found.stdout.readline() == "\n"
            assert "m.st has changed" in found.stdout.readline()
            assert "m.st:3:1: error" in found.stdout.readline()
            found.send_signal(signal.SIGINT)
            assert found.wait(30) in (1, 130)  # between two looks, or while it is checked
        finally:
            found.kill()
