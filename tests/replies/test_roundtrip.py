"""Any set of files, written in any accepted shape, is read back byte for byte."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chatdev.replies import parse_files
from chatdev.replies.fences import lines_of, open_span
from chatdev.replies.hunks import read_changes
from chatdev.replies.languages import elided_line, holds_only_commands, language_of_file
from chatdev.workspace.file_tree import collisions

# extension → the words on its fence and the comment that can name the file
LANGUAGES = {
    "py": ("python", "# {}"), "js": ("javascript", "// {}"), "html": ("html", "<!-- {} -->"),
    "css": ("css", "/* {} */"), "c": ("c", "// {}"), "java": ("java", "// {}"), "v": ("verilog", "// {}"),
    "st": ("st", "(* {} *)"), "sql": ("sql", "-- {}"), "yaml": ("yaml", "# {}"), "toml": ("toml", "# {}"),
}
WORDS = ["", "x = 1", "    return {}", "`code`", "```", "~~~", "````python", "# a.py", "naïve 数 🙂", "trailing  ",
         "\tif x:", "ERROR_CODE = 3", "main.py", "<p>", "...done", "\x0c", "\u2028", "<think>", "=======", "a\rb"]

stems = st.text("abcdefgxyzABC0123456789_-ü", min_size=1, max_size=8).filter(lambda stem: stem[0].isalpha())
folders = st.lists(stems, max_size=3)
paths = st.builds(lambda parents, stem, extension: "/".join([*parents, f"{stem}.{extension}"]),
                  folders, stems, st.sampled_from(sorted(LANGUAGES)))
line_ends = st.sampled_from(["\n", "\r\n"])
lines = st.sampled_from(WORDS) | st.text(max_size=12).filter(lambda text: "\n" not in text)
contents = st.builds(lambda lines, end: "".join(line + end for line in lines), st.lists(lines), line_ends)
Shape = Callable[[str, str, str, str], str]


def _fence(content: str) -> str:
    """A fence that is longer than any in `content`."""
    return "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", content))])


def above(line: str) -> Shape:
    return lambda path, content, word, fence: f"{line.format(path)}\n{fence}{word}\n{content}{fence}\n"


SHAPES: dict[str, Shape] = {
    line: above(line) for line in (
        "{}", "{}:", "**{}**", "`{}`", "**`{}`**:", "### {}", "## `{}`", "1. {}", "- **{}**", "FILENAME: {}",
        "File: `{}`",
        "**File:** {}", "{} (v1.2)", "{} - what it does", "Here it is.\n\n{}\n")
} | {
    "tildes": lambda path, content, word, fence: above("{}")(path, content, word, "~" * len(fence)),
    "title": lambda path, content, word, fence: f'{fence}{word} title="{path}"\n{content}{fence}\n',
    "filename": lambda path, content, word, fence: f"{fence}{word} filename={path}\n{content}{fence}\n",
    "info": lambda path, content, word, fence: f"{fence}{word} {path}\n{content}{fence}\n",
    "colon": lambda path, content, word, fence: f"{fence}{word}:{path}\n{content}{fence}\n",
    "comment": lambda path, content, word, fence:
        f"{fence}{word}\n{LANGUAGES[path.rsplit('.')[-1]][1].format(path)}\n{content}{fence}\n",
    "first line": lambda path, content, word, fence: f"{fence}{word}\n{path}\n{content}{fence}\n",
}


def _storable(path: str, content: str) -> bool:
    """Not one of the contents that are refused on purpose."""
    is_open = any(open_span(language_of_file(path), lines_of(content)))
    return not (is_open or holds_only_commands(content) or read_changes(content) or elided_line(path, content))


def _render(shape: str, path: str, content: str) -> str:
    fence = _fence(content.replace("~", "`"))
    return SHAPES[shape](path, content, LANGUAGES[path.rsplit(".")[-1]][0], fence)


@given(st.dictionaries(paths, st.tuples(contents, st.sampled_from(sorted(SHAPES))), min_size=1, max_size=5),
       st.sampled_from(["", "Sure, here are the files.\n\n", "<p>\n"]), st.sampled_from(["", "\nGood luck!\n"]))
@example({"a.py": ("```\n", "tildes")}, "", "")
def test_files_survive_the_way_through_a_reply(files: dict[str, tuple[str, str]], lead: str, end: str) -> None:
    files = {path: (content, shape) for path, (content, shape) in files.items() if _storable(path, content)}
    if not files or collisions(files):
        return
    reply = lead + "".join(_render(shape, path, content) for path, (content, shape) in files.items()) + end
    delivery = parse_files(reply, {"other.bin": b"\xff"})
    expected = {path: content.encode() for path, (content, _) in files.items()}
    assert delivery.software == {"other.bin": b"\xff"} | expected
    assert delivery.written == tuple(files)


@settings(max_examples=30)
@given(paths, contents)
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_every_shape_carries_every_content(shape: str, path: str, content: str) -> None:
    if _storable(path, content):
        assert parse_files(_render(shape, path, content), {}).software == {path: content.encode()}


@given(contents)
def test_a_readme_with_balanced_blocks_needs_no_longer_fence(content: str) -> None:
    text = re.sub("[`~]{3,}", "", content)
    readme = f"# X\n{text}```bash\npip install x\n```\n{text}"
    assert parse_files(f"README.md\n```markdown\n{readme}```\n", {}).software == {"README.md": readme.encode()}
