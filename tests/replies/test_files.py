"""The files form: what a delivery writes, deletes, keeps and refuses."""

from __future__ import annotations

import pytest

from chatdev.replies import FilesDelivery, Unreadable, parse_files
from chatdev.replies.blocks import MAX_FILE
from chatdev.replies.files import MAX_FILES

SOFTWARE = {"main.py": b"x = 1\n", "README.md": b"# X\n", "logo.png": b"\x89PNG\xff"}


def refusal(text: str, software: dict[str, bytes] | None = None, only: tuple[str, ...] = ()) -> str:
    with pytest.raises(Unreadable) as problem:
        parse_files(text, software if software is not None else SOFTWARE, only=only)
    return str(problem.value)


def test_files_not_named_stay() -> None:
    delivery = parse_files("util.py\n```python\ny = 2\n```", SOFTWARE)
    assert delivery == FilesDelivery({**SOFTWARE, "util.py": b"y = 2\n"}, written=("util.py",))
    assert "util.py" not in SOFTWARE


def test_the_same_content_again_is_an_unchanged_delivery() -> None:
    delivery = parse_files("main.py\n```python\nx = 1\n```", SOFTWARE)
    assert delivery.is_unchanged
    assert delivery.written == ()
    assert delivery.software == SOFTWARE


def test_an_empty_block_marked_delete_deletes_its_file() -> None:
    delivery = parse_files("README.md\n```delete\n```", SOFTWARE)
    assert delivery.deleted == ("README.md",)
    assert set(delivery.software) == {"main.py", "logo.png"}


@pytest.mark.parametrize(("text", "why"), [
    ("old.py\n```delete\n```", "old.py: there is no such file to delete; there are: README.md, logo.png, main.py"),
    ("main.py\n```delete\nx\n```", "main.py: a block marked `delete` must be empty"),
    ("main.py\n```python\n```", "main.py: the block is empty; to delete the file mark the block `delete`"),
    ("main.py\n```diff\n-y = 1\n+y = 2\n```", "main.py: hunk 1 fits nowhere"),
    ("Main.py\n```python\nx = 2\n```", "Main.py and main.py cannot exist side by side"),
    ("README.md/a.py\n```python\nx = 2\n```", "README.md and README.md/a.py cannot exist side by side"),
])
def test_what_is_not_clear_is_refused(text: str, why: str) -> None:
    assert refusal(text).startswith(why)


@pytest.mark.parametrize("name", ["../evil.py", "/etc/cron.d/x.py", "~/.bashrc", ".git/hooks/pre-commit", "C:\\x.py",
                                  "nul.py", "a\0b.py", "a" * 300 + ".py", "d/" * 600 + "x.py",
                                  "src/../../x.py"])
def test_a_path_outside_the_software_refuses_the_whole_delivery(name: str) -> None:
    assert "use a short relative path" in refusal(f"good.py\n```python\nx = 1\n```\n{name}\n```python\nx = 1\n```")


def test_every_problem_is_named_at_once() -> None:
    text = refusal("../a.py\n```python\nx\n```\nb.py\n```delete\n```")
    assert text.splitlines()[0].startswith("- the path '../a.py' leaves the software folder")
    assert text.splitlines()[1].startswith("- b.py: there is no such file to delete")


def test_only_the_allowed_paths_may_be_written() -> None:
    text = "src/a.py\n```python\nx = 1\n```\nREADME.md\n```md\nhi\n```"
    assert parse_files(text, {}, only=("src/*", "*.md")).written == ("src/a.py", "README.md")
    assert refusal(text, only=("src/*",)) == "README.md: may not be written here; allowed: src/*"


@pytest.mark.parametrize("info", ["txt", "", "text"])
def test_a_nameless_block_is_the_only_file_that_may_be_written(info: str) -> None:
    text = f"You need:\n```{info}\nflask\n```\nInstall it:\n```bash\npip install -r requirements.txt\n```"
    assert parse_files(text, SOFTWARE, only=("requirements.txt",)).software["requirements.txt"] == b"flask\n"


@pytest.mark.parametrize("info", ["verilog", "systemverilog", "sv", "v"])
@pytest.mark.parametrize("path", ["top.sv", "top.v"])
def test_verilog_and_systemverilog_stand_in_the_same_files(info: str, path: str) -> None:
    text = f"```{info}\nmodule top; endmodule\n```"
    assert parse_files(text, {}, only=(path,)).written == (path,)


def test_a_file_that_is_too_large_is_refused() -> None:
    assert refusal(f"big.txt\n```\n{'x' * (MAX_FILE + 1)}\n```") == "big.txt: larger than 1024 KiB"


def test_too_many_files_are_refused() -> None:
    text = "\n".join(f"f{number}.txt\n```\nx\n```" for number in range(MAX_FILES + 1))
    assert refusal(text, {}) == "401 files; at most 400 are allowed"


def test_a_flood_of_blocks_is_refused() -> None:
    assert refusal("```\n```\n" * 2000) == "the reply has more than 1000 code blocks"


def test_a_binary_file_can_be_replaced_by_a_text() -> None:
    assert parse_files("logo.png\n```\nx\n```", SOFTWARE).software["logo.png"] == b"x\n"


# --- blocks without a name ---

GUARD = "\nif __name__ == '__main__':\n    pass\n"


def test_a_nameless_block_changes_the_only_file_of_its_language() -> None:
    delivery = parse_files("```python\nx = 2\n```", {"shop.py": b"x = 1\n", "README.md": b"#\n"})
    assert delivery.software["shop.py"] == b"x = 2\n"


def test_a_nameless_block_changes_the_only_file_that_has_what_it_defines() -> None:
    software = {"a.py": b"def f():\n    return 1\n", "b.py": b"def g():\n    return 1\n"}
    delivery = parse_files("```python\ndef g():\n    return 2\n```", software)
    assert delivery.software == {**software, "b.py": b"def g():\n    return 2\n"}


def test_a_nameless_block_that_could_change_several_files_is_asked_about() -> None:
    software = {"main.py": b"def f():\n    return 1\n", "b.py": b"def f():\n    return 1\n"}
    assert refusal("```python\ndef f():\n    return 2\n```", software) == (
        "a code block has no file name: say which file it changes (b.py, main.py)")


def test_two_nameless_programs_are_not_stored_over_one_another() -> None:
    text = "```python\nprint(1)\n```\nand\n```python\nprint(2)\n```"
    assert refusal(text, {}) == (
        "two code blocks without a file name could both be main.py: put the path above each block")


def test_the_same_nameless_program_twice_is_one_file() -> None:
    assert parse_files("```python\nprint(1)\n```\nagain\n```python\nprint(1)\n```", {}).written == ("main.py",)


def test_a_file_given_twice_is_the_revised_one() -> None:
    text = "a.py\n```python\nprint(1)\nprint(2)\n```\na.py\n```python\nprint(3)\nprint(4)\n```"
    assert parse_files(text, {}).software == {"a.py": b"print(3)\nprint(4)\n"}


def test_a_part_given_after_the_whole_file_is_merged() -> None:
    text = f"a.py\n```python\ndef f():\n    return 1\n{GUARD}```\na.py\n```python\ndef f():\n    return 2\n```"
    assert parse_files(text, {}).software["a.py"] == f"def f():\n    return 2\n{GUARD}".encode()


def test_a_file_given_twice_and_quite_differently_is_asked_about() -> None:
    text = "a.js\n```js\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\na.js\n```js\nf();\n```"
    assert refusal(text, {}) == "a.js: given twice with different content: give it once"


def test_lone_surrogates_do_not_break_the_encoding() -> None:
    assert parse_files("a.txt\n```\n\ud800\n```", {}).software == {"a.txt": b"?\n"}
