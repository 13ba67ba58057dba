"""What the documentation shows is true."""

import re
from pathlib import Path

from chatdev.runner.company import Company

DOCS = Path(__file__).parent.parent / "docs"


def test_the_company_in_the_guide_loads(tmp_path: Path) -> None:
    guide = (DOCS / "writing-a-company.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "company.yaml").write_text(example, encoding="utf-8")
    company = Company.load(tmp_path)
    assert list(company.config.phases) == ["propose", "page"]
    assert not company.warnings


def test_the_guide_names_every_field_of_a_phase() -> None:
    from chatdev.config.schema import Phase

    guide = (DOCS / "writing-a-company.md").read_text(encoding="utf-8")
    table = guide.split("## The chain")[0]
    assert [name for name in Phase.model_fields if f"`{name}`" not in table] == []


def test_the_page_on_durable_runs_shows_the_error_and_the_lines_as_they_are(tmp_path: Path) -> None:
    from chatdev.cli.resume import command
    from chatdev.errors import RunChanged
    from chatdev.events import from_dict
    from chatdev.journal import read_journal
    from chatdev.runner.difference import told

    page = (DOCS / "durable-runs.md").read_text(encoding="utf-8")
    error = str(told(RunChanged("coding#1/round-1/assistant", {"a": 1}, {"a": 2}), {}))
    head, _, mends = error.partition("\n  a: 1 → 2\n")
    assert f"error: {head}\n" in page
    assert f"{mends}\n" in page
    (lines,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "journal.jsonl").write_text(lines, encoding="utf-8")
    *_, event = read_journal(tmp_path / "journal.jsonl")
    assert from_dict(event.pop("kind"), event).place == "name#1/round-1/assistant"
    known = {option for parameter in command.params for option in parameter.opts} | {"--json", "--speed", "--max-calls"}
    assert set(re.findall(r"`(--[a-z-]+)", page)) <= known
