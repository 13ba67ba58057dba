"""What the documentation shows is true."""

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from chatdev.runner.api import Company
from tests.engine.escape.counts import COUNTS
from tests.support.chat_server import ChatServer

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def company_of_the_guide(folder: Path, name: str) -> Path:
    """The folder of the company that the guide shows under this name."""
    guide = (DOCS / "writing-a-company.md").read_text(encoding="utf-8")
    (example,) = [text for text in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if f"company: {name}\n" in text]
    (folder / "company.yaml").write_text(example, encoding="utf-8")
    return folder


def test_the_company_in_the_guide_loads(tmp_path: Path) -> None:
    company = Company.load(company_of_the_guide(tmp_path, "naming"))
    assert list(company.config.phases) == ["propose", "page"]
    assert not company.warnings


def test_the_guide_names_every_field_of_a_phase() -> None:
    from chatdev.config.phases import Phase

    guide = (DOCS / "writing-a-company.md").read_text(encoding="utf-8")
    table = guide.split("## The chain")[0]
    assert [name for name in Phase.model_fields if f"`{name}`" not in table] == []


def test_the_guide_names_every_field_of_a_company_its_inputs_and_roles() -> None:
    from chatdev.config.schema import CompanyConfig, Input, Role

    before = (DOCS / "writing-a-company.md").read_text(encoding="utf-8").split("## A phase\n")[0]
    fields = {name for kind in (CompanyConfig, Input, Role) for name in kind.model_fields}
    assert sorted(name for name in fields if f"`{name}`" not in before) == []


def test_the_page_on_durable_runs_shows_errors_and_lines_as_they_are(tmp_path: Path) -> None:
    from chatdev.cli.run_commands import resume
    from chatdev.errors import RunChanged
    from chatdev.events import from_dict
    from chatdev.journal import read_journal
    from chatdev.runner.execute import explain_change

    page = (DOCS / "durable-runs.md").read_text(encoding="utf-8")
    error = str(explain_change(RunChanged("coding#1/round-1/assistant", {"a": 1}, {"a": 2}), {}))
    head, _, remedies = error.partition("\n  a: 1 → 2\n")
    assert f"error: {head}\n" in page
    assert f"{remedies}\n" in page
    (lines,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "journal.jsonl").write_text(lines, encoding="utf-8")
    *_, event = read_journal(tmp_path / "journal.jsonl")
    assert from_dict(event.pop("kind"), event).place == "name#1/round-1/assistant"
    known = {option for parameter in resume.params for option in parameter.opts} | {"--json", "--speed", "--max-calls"}
    assert set(re.findall(r"`(--[a-z-]+)", page)) <= known


def test_the_page_of_reliability_counts_the_hostile_programs_and_replies() -> None:
    programs = yaml.safe_load((ROOT / "tests/sandbox/escape/programs.yaml").read_text(encoding="utf-8"))
    kinds = Counter(program["kind"] for program in programs)
    page = (DOCS / "reliability.md").read_text(encoding="utf-8")
    assert f"{len(programs)} hostile programs" in page
    section = " ".join(page.partition("## Hostile programs")[2].partition("\n## ")[0].split())
    for kind, words in {"read": "read what", "write": "write outside", "network": "use the network",
                        "process": "reach for", "kernel": "call the kernel", "memory": "hide memory",
                        "bomb": "take more", "planted": "plant files"}.items():
        assert f"{kinds[kind]} {words}" in section
    assert f"{sum(COUNTS.values())} hostile replies" in section


def test_the_company_of_the_guide_without_software_succeeds(tmp_path: Path, chat_server: ChatServer) -> None:
    chat_server.script("<SOLUTION>\nSleep on it.")
    company = Company.load(company_of_the_guide(tmp_path, "slogans"))
    assert not company.warnings
    done = company.run("A lamp.", model="scripted-model", base_url=chat_server.url, sandbox="none",
                       warehouse=tmp_path / "warehouse")
    assert (done.status, done.values["slogan"]) == ("success", "Sleep on it."), done.reason


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_the_examples_of_the_page_on_the_library_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("naming", "my-company"):
        (here / name).mkdir()
        company_of_the_guide(here / name, "naming")
    own = here / "my-company" / "company.yaml"
    text = own.read_text(encoding="utf-8").replace("title: Writer", "title: Writer, tools: [mine.words]")
    own.write_text(text, encoding="utf-8")
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    *several, model, tools, _verilog = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    for example in several:
        exec(compile(example, "library.md", "exec"), names)
    assert capsys.readouterr().out == (
        "<SOLUTION> Todo  [Writer]\n<SOLUTION>\n# Todo, a list  [Writer]\nstopped\n"
        "['success', 'success', 'success'] 6\n<Company motto: 1 role, 1 phase> Let there be light.\n")
    exec(compile(model, "library.md", "exec"), {})
    assert capsys.readouterr().out == "Todo 2 # Todo, a list\n\n"
    known: dict[str, Any] = {}
    exec(compile(tools, "library.md", "exec"), known)
    assert [tool.name for tool in known["company"].tools] == ["mine.words"]


def test_the_company_that_changes_another_one_is_sound(tmp_path: Path) -> None:
    company = Company.load(company_of_the_guide(tmp_path, "careful"))
    assert not company.warnings
    names = [step.name for step in company.config.chain]
    assert names[names.index("code_review") + 1] == "accessibility_review"
    assert "interface_design" not in names
    assert company.config.roles["designer"].title == "Designer"


def test_the_page_on_security_names_the_limits_that_are_set() -> None:
    from chatdev.isolation.parent import MEMORY, SECONDS
    from chatdev.journal import LARGEST_JOURNAL
    from chatdev.llm.failures import LARGEST_ANSWER

    page = " ".join((DOCS / "security.md").read_text(encoding="utf-8").split())
    assert f"with {MEMORY >> 30} GiB of memory and {SECONDS} s of a processor" in page
    assert f"{LARGEST_ANSWER >> 20} MiB an answer of a server, unpacked; {LARGEST_JOURNAL >> 30} GiB a journal" in page
