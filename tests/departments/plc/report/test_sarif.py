"""What is written as SARIF has the structure of version 2.1.0 (`sarif_schema.json` is the part of it that is written),
and an editor that applies its fixes mends the program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from chatdev.cli.app import command_line
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Opinion, Outcome, Property
from chatdev.departments.plc.report.sarif import check_sarif, proof_sarif
from chatdev.departments.plc.source_check import SourceProof, check_source, mend_source

SCHEMA = json.loads(Path(__file__).with_name("sarif_schema.json").read_text(encoding="utf-8"))
WRONG = sorted((Path(__file__).parents[1] / "wrong").glob("*.st"))
SLIPS = """FUNCTION_BLOCK Latch
VAR_INPUT Set, Clear : BOOL; END_VAR
VAR_OUTPUT Out : BOOL END_VAR
IF Clear == TRUE THEN
  (* ü 𝄞 *) Out = FALSE
END_IF
IF Set != FALSE AND NOT Clear THEN Out := TRUE; END_IF;
END_FUNCTION_BLOCK
END_MODULE
"""
ALWAYS = Property("pattern-invariant", ("NOT (Set AND Clear)",), "As \u202etold.")
OUTCOMES = (
    Outcome(ALWAYS, "PROVED", vacuous="it holds whatever it does"), Outcome(ALWAYS, "VIOLATED", 1),
    Outcome(ALWAYS, "BOUNDED", 30), Outcome(ALWAYS, "UNKNOWN", reason="the time was up"),
    Outcome(ALWAYS, "PROVED", opinion=Opinion("PLCverif", "VIOLATED")),
    Outcome(Property("pattern-reachability", ("Out",)), "VIOLATED"), Outcome(Property("assertion", ()), "PROVED"),
    Outcome(Property(RUN_TIME, ("division", "6:3", "")), "VIOLATED"),
    Outcome(Property(RUN_TIME, ("any", "1:1", "")), "UNKNOWN"))


def faults(log: dict[str, Any]) -> list[str]:
    """What the schema has against a log as it is read again."""
    found = Draft202012Validator(SCHEMA).iter_errors(json.loads(json.dumps(log)))
    return [f"{one.json_path}: {one.message}" for one in found]


def regions(node: Any) -> Iterator[dict[str, int]]:
    """All regions of a log."""
    if isinstance(node, dict):
        yield from [node] if "startLine" in node else []
        node = list(node.values())
    for part in node if isinstance(node, list) else []:
        yield from regions(part)


def apply_fixes(log: dict[str, Any], source: str) -> str:
    """The source with all fixes, as SARIF means them: lines and columns count from 1, a region ends before its end."""
    lines = source.splitlines(keepends=True)
    changes = [one for result in log["runs"][0]["results"] for fix in result.get("fixes", [])
               for change in fix["artifactChanges"] for one in change["replacements"]]
    for one in sorted(changes, key=lambda one: tuple(one["deletedRegion"].values()), reverse=True):
        region = one["deletedRegion"]
        first, last = region["startLine"] - 1, region["endLine"] - 1
        lines[first:last + 1] = [lines[first][:region["startColumn"] - 1] + one["insertedContent"]["text"]
                                 + lines[last][region["endColumn"] - 1:]]
    return "".join(lines)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_diagnostics_have_the_structure() -> None:
    checks = {path: check_source(path.read_text(encoding="utf-8")) for path in WRONG}
    log = check_sarif({**checks, Path("my plant/läuft 100%.st"): check_source(SLIPS), Path("/no.st"): check_source("")})
    assert faults(log) == []
    assert {one["level"] for one in log["runs"][0]["results"]} == {"error", "warning"}
    assert sum("fixes" in one for one in log["runs"][0]["results"]) > 10
    assert [one for one in regions(log) if "endLine" in one and (one["endLine"], one["endColumn"]) < (
        one["startLine"], one["startColumn"])] == []


def test_verdicts_have_the_structure() -> None:
    file, check = Path("latch.st"), check_source(SLIPS)
    log = proof_sarif({file: check}, SourceProof(SLIPS, check, OUTCOMES), lambda span: (file, span))
    assert faults(log) == []
    assert {(one["kind"], one["level"]) for one in log["runs"][0]["results"]} == {
        ("pass", "none"), ("fail", "error"), ("open", "none"), ("review", "none")}


def test_fixes_that_an_editor_applies_mend_the_program() -> None:
    log = check_sarif({Path("latch.st"): check_source(SLIPS)})
    mended = mend_source(SLIPS).source
    assert apply_fixes(log, SLIPS) == mended
    assert check_source(mended).errors == ()


@pytest.mark.parametrize(("place", "value"), [
    (("version",), "2.1"), (("runs",), []), (("runs", 0, "columnKind"), "bytes"),
    (("runs", 0, "tool", "driver", "name"), ""), (("runs", 0, "tool", "driver", "rules", 0), {"name": "x"}),
    (("runs", 0, "results", 0, "kind"), "maybe"), (("runs", 0, "results", 0, "level"), "fatal"),
    (("runs", 0, "results", 0, "kind"), "pass"), (("runs", 0, "results", 0, "level"), "none"),
    (("runs", 0, "results", 0, "message"), "text"), (("runs", 0, "results", 0, "hint"), "text"),
    (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", "startLine"), 0),
    (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"), "my plant.st"),
    (("runs", 0, "results", 0, "fixes", 0, "artifactChanges"), []),
    (("runs", 0, "results", 0, "fixes", 0, "artifactChanges", 0, "replacements", 0, "deletedRegion"),
     {"startLine": 1, "startColumn": 1})])
def test_what_is_no_sarif_is_seen(place: tuple[str | int, ...], value: Any) -> None:
    log = node = check_sarif({Path("latch.st"): check_source(SLIPS)})
    *way, last = place
    for step in way:
        node = node[step]  # type: ignore[index]
    node[last] = value  # type: ignore[index]
    assert faults(log)


def test_a_verdict_stands_at_its_property(tmp_path: Path) -> None:
    program, properties = tmp_path / "p.st", tmp_path / "asked.json"
    program.write_text("PROGRAM p\nVAR_INPUT a : BOOL; END_VAR\nVAR b : BOOL; END_VAR\nb := a;\n"
                       "//#ASSERT b : one\nEND_PROGRAM\n")
    properties.write_text('[\n  {"job_req": "pattern", "pattern_id": "pattern-invariant",'
                          ' "pattern_params": {"0": "b"}},\n'
                          '  {"wrong": 1}, {"job_req": "pattern", "pattern_id": "pattern-implication",\n'
                          '   "pattern_params": {"0": "a", "1": "b"}}\n]\n')
    said = CliRunner().invoke(command_line, ["plc", "verify", str(program), "--properties", str(properties), "--sarif"])
    log = json.loads(said.stdout)
    assert faults(log) == []
    places = {}
    for one in log["runs"][0]["results"]:
        place = one["locations"][0]["physicalLocation"]
        region = place["region"]
        file = Path(place["artifactLocation"]["uri"]).name
        places[one["ruleId"]] = file, region["startLine"], region["startColumn"]
    assert places == {"pattern-invariant": ("asked.json", 2, 3), "unreadable": ("asked.json", 3, 3),
                      "pattern-implication": ("asked.json", 3, 17), "assertion": ("p.st", 5, 1)}
    rules = {one["id"]: one["shortDescription"]["text"] for one in log["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["pattern-implication"] == "whenever A, then B"
    assert rules["assertion"] == "all //#ASSERT of the program hold"
