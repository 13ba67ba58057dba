"""PLCverif is asked for a second opinion in the sandbox; here it is a small program that speaks as PLCverif does."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.departments.plc.adapters.verifiers import ask_verifier, find_verifier, name_variables
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Cycle, Opinion, Outcome, Property
from chatdev.departments.plc.proof.properties import ASSERTION
from chatdev.departments.plc.report.listing import list_verdicts
from chatdev.departments.plc.report.sarif import proof_sarif
from chatdev.departments.plc.report.verification_report import write_report
from chatdev.departments.plc.source_check import ProofOptions, SourceProof, check_source
from chatdev.errors import MissingProgram
from chatdev.sandbox.kinds import find_sandbox

SOURCE = """FUNCTION_BLOCK Latch
VAR_INPUT Set, Clear : BOOL; END_VAR
VAR_OUTPUT Out : BOOL; END_VAR
Out := (Out OR Set) AND NOT Clear;
//#ASSERT NOT (Clear AND Out) : cleared
END_FUNCTION_BLOCK
"""
CLEARED = Outcome(Property("pattern-implication", ("Clear", "NOT instance.Out")), "PROVED", 1)
SET = Outcome(Property("pattern-implication", ("Set", "Out")), "VIOLATED", 1, cycles=(Cycle(1, 100, (), ()),))
ASSERTED = Outcome(Property(ASSERTION, ()), "PROVED", 1)
OWED = Outcome(Property(RUN_TIME, ("assertion", "5:1", "cleared")), "PROVED", 1)

WANTS_ALL = r"""grep -q 'Out := ' program.scl && test -d output || exit 9
want='-configuration eclipse -id property -job verif -job.backend nusmv -job.backend.binary_path *nuXmv
-job.backend.timeout 2 -lf step7 -sourcefiles program.scl -output output -job.req pattern
-job.req.pattern_id pattern-implication -job.req.pattern_params.1="instance.Clear"
-job.req.pattern_params.2="NOT instance.Out" -lf.entry Latch -job.reporters plaintext'
want=$(echo "$want" | tr '\n' ' ')
case "$* " in $want) "${10}" ;; *) echo "no: $*"; exit 8 ;; esac
"""
SATISFIED = "echo '**Result: the requirement is SATISFIED**'\n"
VIOLATED = "echo; echo 'Result: the requirement is VIOLATED'\n"
IN_A_FILE = "printf 'PLCverif\\n**Result:** the requirement is **VIOLATED**\\n' > output/property.report.txt\n"
LINKS = "rmdir output; mkdir other; echo 'Result: the requirement is SATISFIED' > other/x; ln -s other output\n"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """Programs on the PATH, with nothing else there; `plcverif` is plcverif-cli."""
    folder.chmod(0o755)  # in the sandbox it belongs to somebody else
    for name, script in scripts.items():
        program = folder / name.replace("plcverif", "plcverif-cli")
        program.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def proof_of(*outcomes: Outcome) -> SourceProof:
    return SourceProof(SOURCE, check_source(SOURCE), outcomes, ProofOptions(seconds=1.5))


def ask(proof: SourceProof, starting: float = 30.0) -> SourceProof:
    return ask_verifier(find_verifier("plcverif-cli"), proof, find_sandbox("none"), starting)


def opinion(proof: SourceProof) -> Opinion:
    found = proof.outcomes[0].opinion
    assert found
    return found


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_it_is_started_as_it_wants_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(Path(shutil.which("bwrap") or "").parent)
    install(tmp_path, monkeypatch, plcverif=WANTS_ALL, nuXmv=SATISFIED, cbmc="exit 1\n")
    monkeypatch.setenv("PATH", path, prepend=":")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = ask_verifier(find_verifier("plcverif-cli"), proof_of(CLEARED), find_sandbox("bubblewrap"))
    assert opinion(found) == Opinion("PLCverif", "SATISFIED")


def test_one_that_agrees_stands_beside_our_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, plcverif=SATISFIED, nuXmv="")
    found = ask(proof_of(CLEARED, OWED))
    assert (found.verdict, found.outcomes[1]) == ("PROVED", OWED)
    assert "1  PROVED   PLCverif: SATISFIED  1  0.00     whenever Clear" in list_verdicts(found)
    assert "contradiction" not in list_verdicts(found).lower()
    assert "second opinion" not in list_verdicts(proof_of(CLEARED))


def test_assertions_are_asked_for_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wants = f'case "$*" in *"-job.req assertion -lf.entry"*) {SATISFIED};; esac'
    install(tmp_path, monkeypatch, plcverif=wants, nuXmv="")
    assert opinion(ask(proof_of(ASSERTED))).verdict == "SATISFIED"


@pytest.mark.parametrize(("ours", "script"), [
    (CLEARED, VIOLATED), (CLEARED, IN_A_FILE), (SET, SATISFIED)])
def test_a_contradiction_is_said_and_leaves_nothing_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                            ours: Outcome, script: str) -> None:
    install(tmp_path, monkeypatch, plcverif=script, nuXmv="")
    found = ask(proof_of(ours, replace(SET, opinion=None)))
    assert found.outcomes[0].is_contradicted
    assert found.verdict == "UNKNOWN"
    line = f"CONTRADICTION: here it is {ours.verdict}, PLCverif says {opinion(found).verdict}; one of the two is wrong"
    assert f"\n1: {line}" in list_verdicts(found)
    assert f"; `{line}" in write_report(found, "md", title="latch")
    assert f"<strong>{line}" in write_report(found, "html", title="latch")
    log = proof_sarif({Path("latch.st"): found.check}, found, lambda span: (Path("latch.st"), span))
    (result, *_) = log["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("review", "none")
    assert line in result["message"]["text"]


@pytest.mark.parametrize(("script", "said"), [
    ("sleep 60\n", "it took too long and says: nothing"), ("", "it ended with 0 and says: nothing"),
    ("echo 'SettingsParserException: no entry'; exit 13\n", "it ended with 13 and says: SettingsParserException: no"),
    (f"{SATISFIED}kill -9 $$\n", "it ended with 9 and says: **Result"),
    (f"{SATISFIED}{VIOLATED}", "it ended with 0 and says: **Result"),
    ("head -c 3000 /dev/zero | tr '\\0' '\\377'\n", "it ended with 0 and says: \N{REPLACEMENT CHARACTER}"),
    ("echo 'Result: the requirement is UNKNOWN'\n", "it ended with 0 and says: Result"),
    ("echo '// no Result: the requirement is SATISFIED'\n", "it ended with 0 and says: // no"),
    (LINKS, "it ended with 0 and says: nothing"), ("ln -s /etc output/etc; mkfifo output/pipe\n", "it ended with 0")])
def test_what_is_no_verdict_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str,
                                       said: str) -> None:
    install(tmp_path, monkeypatch, plcverif=f"PATH=/usr/bin:/bin\n{script}", nuXmv="")
    found = ask(proof_of(CLEARED), starting=0.5 if "sleep" in script else 30.0)
    assert opinion(found).verdict == "UNKNOWN"
    assert opinion(found).said.startswith(said)
    assert found.verdict == "PROVED"
    assert f"\n1: PLCverif: UNKNOWN, as {said[:16]}" in list_verdicts(found)


def test_cbmc_takes_the_place_of_nuxmv_and_sees_few_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes ten scans is not contradicted by one who looked at fewer."""
    wants = f'case "$*" in *"-job.backend cbmc "*/cbmc\\ *"-job.backend.unwind 10 "*) {SATISFIED};; esac'
    install(tmp_path, monkeypatch, plcverif=wants, cbmc="")
    late = replace(SET, cycles=SET.cycles * 10)
    found = ask(proof_of(late, SET))
    assert [one.is_contradicted for one in found.outcomes] == [False, True]
    assert "1: PLCverif: SATISFIED in fewer than 10 scans\n" in list_verdicts(found)


@pytest.mark.parametrize(("there", "message"), [
    ((), "plcverif-cli not found.*plcverif-oss"), (("nuXmv", "cbmc"), "plcverif-cli not found"),
    (("plcverif",), "plcverif-cli needs nuXmv or cbmc, and neither is found; get nuXmv")])
def test_what_is_not_there_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...],
                                              message: str) -> None:
    install(tmp_path, monkeypatch, **dict.fromkeys(there, ""))
    with pytest.raises(MissingProgram, match=message):
        find_verifier("plcverif-cli")


@pytest.mark.parametrize(("condition", "written"), [
    ("Clear", "instance.Clear"), ("instance.Clear AND NOT out", "instance.Clear AND NOT instance.out"),
    ("Timer.Out OR Set.Q", "Timer.Out OR instance.Set.Q"), ("Text = 'Set' OR Outer", "Text = 'Set' OR Outer"),
    ("Level = 16#SET OR Mode = Set#Out", "Level = 16#SET OR Mode = Set#Out")])
def test_variables_belong_to_the_instance(condition: str, written: str) -> None:
    assert name_variables(condition, ["Set", "Clear", "Out"]) == written
