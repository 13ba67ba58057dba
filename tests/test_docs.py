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
