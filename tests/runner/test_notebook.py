"""How runs and companies look at the end of a notebook's cell."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from chatdev import Company, Run, ScriptedModel
from tests.support.slogans import COMPANY, REPLIES

HOSTILE = "<script>alert(1)</script>"
EVIL = f"""
company: evil
about: "{HOSTILE} & <b>"
inputs: {{task: {{about: The product., required: true}}}}
roles: {{writer: {{title: "{HOSTILE}"}}}}
phases:
  page: {{about: Write., assistant: writer, reads: [task], writes: software, solution: {{form: files}}, opening: "x"}}
chain:
  - phase: page
  - {{tool: value.check, reads: [software], writes: test}}
success: test.passed
"""


class Tags(HTMLParser):
    """Collects which elements a page has, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_run_is_one_short_line_and_a_table(here: Path) -> None:
    run = Company.from_yaml(COMPANY).run("a to-do list", name="Todo", model=ScriptedModel(REPLIES))
    assert repr(run) == f"<Run {run.folder.name}: success; 0 files, 2 calls, cost unknown>"
    page = Tags(run._repr_html_())
    assert page.names == {"div", "b", "table", "tr", "th", "td"}
    words = " ".join(page.text.split())
    assert "name#1consensus11000.0 " in words
    assert "2 calls, " in words
    assert "no files" in words
    assert list(run.phases) == ["name#1", "slogan#1"]


def test_a_run_that_never_began_has_a_repr(tmp_path: Path) -> None:
    run = Run(tmp_path / "Todo-1")
    assert repr(run) == "<Run Todo-1: running; 0 files, 0 calls, $0.0000>"
    assert "no files" in run._repr_html_()


def test_what_a_model_wrote_is_text_in_a_notebook(here: Path) -> None:
    company = Company.from_yaml(EVIL)
    assert repr(company) == "<Company evil: 1 role, 1 phase>"
    told = Tags(company._repr_html_())
    assert "script" not in told.names
    assert HOSTILE in told.text
    files = "".join(f"a{n}<img src=x>.md\n```\nx\n```\n" for n in range(30))
    run = company.run("x", model=ScriptedModel([f"<SOLUTION>\n{files}"] * 9), sandbox="none")
    assert {"script", "img"} & Tags(run._repr_html_()).names == set()
    run.reason = f"\x1b[31m{HOSTILE}" + "x" * 10_000
    page = Tags(run._repr_html_())
    assert "\x1b" not in page.text
    assert len(page.text) < 3_000
