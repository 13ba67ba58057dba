"""Shapes of replies that models really send, and what each of them means. Most were lost or mangled by the original."""

from __future__ import annotations

import pytest

from chatdev.replies import Unreadable, parse_files

CODE = "print('hi')\n"
GUARDED = "def main():\n    pass\n\n\nif __name__ == '__main__':\n    main()\n"

SHAPES = [
    # the path on the line above
    ("main.py\n```python\n{c}```", "main.py"),
    ("main.py\n\n```python\n{c}```", "main.py"),
    ("main.py:\n```python\n{c}```", "main.py"),
    ("**main.py**\n```python\n{c}```", "main.py"),
    ("**main.py:**\n```python\n{c}```", "main.py"),
    ("`main.py`\n```python\n{c}```", "main.py"),
    ("**`main.py`**\n```python\n{c}```", "main.py"),
    ("### main.py\n```python\n{c}```", "main.py"),
    ("### `main.py` ###\n```python\n{c}```", "main.py"),
    ("1. main.py\n```python\n{c}```", "main.py"),
    ("1. **main.py**\n   ```python\n   {c}   ```", "main.py"),
    ("- `main.py`:\n```python\n{c}```", "main.py"),
    ("FILENAME: main.py\n```python\n{c}```", "main.py"),
    ("File: `main.py`\n```python\n{c}```", "main.py"),
    ("**File:** main.py\n```python\n{c}```", "main.py"),
    ("Updated file: main.py\n```python\n{c}```", "main.py"),
    ("### main.py (v1.2)\n```python\n{c}```", "main.py"),
    ("main.py - the entry point\n```python\n{c}```", "main.py"),
    ("`main.py`: the entry point\n```python\n{c}```", "main.py"),
    ("<main.py>\n```python\n{c}```", "main.py"),
    ("[main.py](main.py)\n```python\n{c}```", "main.py"),
    ("Here is the new `main.py`, with the fix:\n```python\n{c}```", "main.py"),
    ("### main.py\nIt greets the user.\n```python\n{c}```", "main.py"),
    ("__main__.py\n```python\n{c}```", "__main__.py"),
    ("src/app/util.py\n```python\n{c}```", "src/app/util.py"),
    ("src\\app\\util.py\n```python\n{c}```", "src/app/util.py"),
    ("my-app.py\n```python\n{c}```", "my-app.py"),
    ("`my app.py`\n```python\n{c}```", "my app.py"),
    ("Main.java\n```java\n{c}```", "Main.java"),
    ("Dockerfile\n```dockerfile\nFROM python:3.11\n```", "Dockerfile"),
    ("Makefile\n```make\nall:\n\techo hi\n```", "Makefile"),
    ("LICENSE\n```\nApache\n```", "LICENSE"),
    (".gitignore\n```\n*.pyc\n```", ".gitignore"),
    ("requirements.txt\n```txt\nflask\n```", "requirements.txt"),
    ("run.sh\n```bash\npython main.py\n```", "run.sh"),
    ("main.py\n~~~python\n{c}~~~", "main.py"),
    ("main.py\n````python\n{c}````", "main.py"),
    ("main.py\r\n```python\r\nprint('hi')\r\n```\r\n", "main.py"),
    # the path on the fence
    ("```python main.py\n{c}```", "main.py"),
    ("```python:main.py\n{c}```", "main.py"),
    ("```main.py\n{c}```", "main.py"),
    ("```python title=\"src/main.py\"\n{c}```", "src/main.py"),
    ("```python filename=main.py\n{c}```", "main.py"),
    ("```{{.python path='main.py'}}\n{c}```", "main.py"),
    # the path on the first line
    ("```python\n# main.py\n{c}```", "main.py"),
    ("```python\n# File: src/main.py\n{c}```", "src/main.py"),
    ("```python\nmain.py\n{c}```", "main.py"),
    ("```\nFILENAME: main.py\n{c}```", "main.py"),
    ("```js\n// app/index.js\nf();\n```", "app/index.js"),
    ("```css\n/* style.css */\na {{}}\n```", "style.css"),
    ("```html\n<!-- index.html -->\n<p>\n```", "index.html"),
    ("```st\n(* pump.st *)\nEND_VAR\n```", "pump.st"),
    ("```sql\n-- schema.sql\nselect 1;\n```", "schema.sql"),
    # placeholders copied from the prompt are no names
    ("FILENAME\n```python\n{c}```", "main.py"),
    ("FILENAME.py\n```python\n{c}```", "main.py"),
    ("path/to/file.py\n```python\n{c}```", "main.py"),
    ("FILENAME\n```python\n# main.py\n{c}```", "main.py"),
    # no name at all
    ("```python\n{c}```", "main.py"),
    ("Sure! Here it is.\n\n```py\n{c}```\nHave fun.", "main.py"),
    ("```\nimport os\nprint(os.name)\n```", "main.py"),
    ("```python\nclass TodoList:\n    pass\n```", "todolist.py"),
    ("```python\nclass A:\n    pass\n\nclass B:\n    pass\n```", "main.py"),
    ("```python\nclass App:\n    pass\n\nif __name__ == '__main__':\n    App()\n```", "main.py"),
    ("```java\npublic class Shop {{}}\n```", "Shop.java"),
    ("```c\nint main() {{}}\n```", "main.c"),
    ("```cpp\nint main() {{}}\n```", "main.cpp"),
    ("```javascript\nf();\n```", "main.js"),
    ("```go\npackage main\n```", "main.go"),
    ("```verilog\nmodule m; endmodule\n```", "main.v"),
    ("```dockerfile\nFROM x\n```", "Dockerfile"),
]


@pytest.mark.parametrize(("shape", "path"), SHAPES)
def test_the_one_file_of_a_reply_is_found(shape: str, path: str) -> None:
    assert list(parse_files(shape.format(c=CODE), {}).software) == [path]


@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES if "{c}" in shape])
def test_its_content_is_what_was_sent(shape: str) -> None:
    assert [*parse_files(shape.format(c=CODE), {}).software.values()] == [CODE.encode()]


@pytest.mark.parametrize(("text", "content"), [
    ("a.py\n```python\nERROR_CODE = 3\n```", "ERROR_CODE = 3\n"),
    ("a.py\n```python\nx = '''\n\n\nend'''\n\n\ny = 1\n```", "x = '''\n\n\nend'''\n\n\ny = 1\n"),
    ("a.py\r\n```python\r\nx = 1\r\n\r\n```\r\n", "x = 1\r\n\r\n"),
    ("a.py\n```python\nx = 1   \n\n\n```", "x = 1   \n\n\n"),
    ("a.py\n```python\n# a.py\nx = 1\n```", "# a.py\nx = 1\n"),
    ("```python\n# a.py - the start\nx = 1\n```", "# a.py - the start\nx = 1\n"),
    ("```python\n#!/usr/bin/env python3\n# a.py\nx = 1\n```", "#!/usr/bin/env python3\nx = 1\n"),
    ("pkg/__init__.py\n```python\n```", ""),
])
def test_contents_are_kept_byte_for_byte(text: str, content: str) -> None:
    assert [*parse_files(text, {}).software.values()] == [content.encode()]


def test_two_programs_with_a_main_guard_are_both_kept() -> None:
    text = f"server.py\n```python\n{GUARDED}```\nclient.py\n```python\n{GUARDED}```"
    assert parse_files(text, {}).written == ("server.py", "client.py")


def test_a_readme_with_code_blocks_is_one_file() -> None:
    readme = "# Shop\n```bash\npip install .\n```\n```python\nimport shop\n```\n"
    software = parse_files(f"README.md\n```markdown\n{readme}```\n\nshop.py\n```python\n{CODE}```", {}).software
    assert software == {"README.md": readme.encode(), "shop.py": CODE.encode()}


def test_file_names_keep_their_case_and_folders() -> None:
    text = "Src/App/Main.PY\n```python\nx = 1\n```"
    assert parse_files(text, {}).written == ("Src/App/Main.PY",)


@pytest.mark.parametrize("text", [
    "",
    "I would write a main.py with a loop.",
    "```\n2 3 5 7\n```",
    "```text\nmain.py\n```",
    "```json\n{\"a\": 1}\n```",
    "```output\nhi\n```",
    "Install it:\n```bash\npip install flask\n```",
    "Run it:\n```\n$ python main.py\n```",
    "Files:\n```\nmain.py\nutil.py\n```",
    "```python\n```",
])
def test_a_reply_without_a_file_says_so(text: str) -> None:
    with pytest.raises(Unreadable, match="no fenced code block with a file name was found"):
        parse_files(text, {})


def test_the_shown_output_of_a_program_is_not_stored_as_the_program() -> None:
    text = f"main.py\n```python\n{CODE}```\nThe output of `main.py`:\n```\nhi\n```\nand\n```text\nbye\n```"
    assert parse_files(text, {}).software == {"main.py": CODE.encode()}


def test_how_to_run_a_file_is_not_stored_as_the_file() -> None:
    text = f"main.py\n```python\n{CODE}```\n### main.py\n```bash\npython main.py\n```"
    assert parse_files(text, {}).software == {"main.py": CODE.encode()}


@pytest.mark.parametrize("info", ["bash", "sh", "console", "powershell", "", "python"])
def test_shell_commands_are_never_taken_for_a_program(info: str) -> None:
    with pytest.raises(Unreadable, match="main.py: the block holds shell commands"):
        parse_files(f"main.py\n```{info}\n# first\npip install requests\npython main.py\n```", {"main.py": b"x = 1\n"})


@pytest.mark.parametrize(("text", "where"), [
    ("main.py\n```python\nx = (", "the block of main.py"),
    ("```python\nx = 1\n", "a code block"),
    (f"main.py\n```python\n{CODE}```\nutil.py\n```python\ndef", "the block of util.py"),
    ("Run:\n```bash\nls\n\nmain.py\n```python\nx = 1\n", "a code block"),
])
def test_a_reply_that_ends_inside_a_block_is_not_stored_half(text: str, where: str) -> None:
    with pytest.raises(Unreadable, match=f"the reply ends inside {where}"):
        parse_files(text, {})
