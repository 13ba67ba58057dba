"""Fenced blocks are found as CommonMark finds them, with care for nested Markdown."""

from __future__ import annotations

import pytest

from chatdev.replies.fences import FencedBlock, scan


def contents(text: str) -> list[str]:
    return [block.content for block in scan(text)]


@pytest.mark.parametrize(("text", "expected"), [
    ("```\na\n```", ["a\n"]),
    ("~~~\na\n~~~", ["a\n"]),
    ("```\na\n~~~\n```", ["a\n~~~\n"]),
    ("````\n```\na\n```\n````", ["```\na\n```\n"]),
    ("```\na\n`````", ["a\n"]),
    ("```\r\na\r\n```\r\n", ["a\r\n"]),
    ("```\n\n\na\n\n```", ["\n\na\n\n"]),
    ("```\n```", [""]),
    ("1. main.py\n   ```python\n   if x:\n       y\n   ```", ["if x:\n    y\n"]),
    ("```\ndef f():\n    '''\n    ```\n    '''\n```", ["def f():\n    '''\n    ```\n    '''\n"]),
    ("text with ```inline``` code\n```\na\n```", ["a\n"]),
    ("```\na\n```\n```\nb\n```", ["a\n", "b\n"]),
    ("no blocks", []),
    ("", []),
    ("```\na\x0bb\u2028c\x0c\n```", ["a\x0bb\u2028c\x0c\n"]),
])
def test_contents_are_kept_as_sent(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
    assert all(block.closed for block in scan(text))


def test_a_block_knows_its_words_the_text_above_and_where_it_stands() -> None:
    text = "See\nmain.py\n```python title=x\na\n```\nbye"
    assert scan(text) == [FencedBlock("python title=x", "a\n", "See\nmain.py\n", 12, 36, True)]
    assert text[12:36] == "```python title=x\na\n```\n"


def test_a_block_that_the_reply_ends_in_is_not_closed() -> None:
    assert scan("main.py\n```python\nx = (\n")[0].closed is False


def test_inside_markdown_a_fence_with_words_opens_a_nested_block() -> None:
    readme = "# Shop\n\n```bash\npip install x\n```\n\n```python\nrun()\n```\n"
    assert contents(f"README.md\n```markdown\n{readme}```\nmain.py\n```python\nx\n```") == [readme, "x\n"]


def test_in_markdown_an_introduced_bare_fence_opens_a_nested_block() -> None:
    readme = "# Shop\n\nInstall:\n```\npip install x\n```\n\n```\nrun()\nstop()\n```\nEnd.\n"
    assert contents(f"README.md\n```markdown\n{readme}```\nmain.py\n```python\nx\n```") == [readme, "x\n"]
    assert contents(f"README.md\n```markdown\n{readme}\n```\nmain.py\n```python\nx\n```") == [f"{readme}\n", "x\n"]
    assert contents(f"```markdown\n{readme}```\n\nRun it:\n```\npython main.py\n```\n") == [readme, "python main.py\n"]


def test_who_knows_better_says_what_holds_markdown() -> None:
    text = "README.md\n```\n```bash\nls\n```\n```\n"
    found = scan(text, lambda above, info: "markdown" if "README" in above else None)
    assert [block.content for block in found] == ["```bash\nls\n```\n"]


def test_two_megabytes_are_scanned_in_time() -> None:
    assert len(scan("```\n" * 100_000)) == 50_000
    assert len(scan("`" * 2_000_000)) == 1
    assert scan("a" * 2_000_000) == []
