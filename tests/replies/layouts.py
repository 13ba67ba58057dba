"""Layouts of replies with fences inside the files, as strong models send them. `@name@` stands for a content.

A reply gives either the files of its row, whole, or a problem by its code; never a part of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import yaml

CONTENTS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("contents.yaml").read_text(encoding="utf-8"))
CONTENTS["readme_y"] = CONTENTS["readme"].replace("install x", "install y")
NONE: Mapping[str, str] = MappingProxyType({})


class Layout(NamedTuple):
    """A reply, the files that it means by path and content, or the code of its problem; and the files before."""

    name: str
    reply: str
    files: Mapping[str, str] = NONE
    problem: str = ""
    before: Mapping[str, str] = NONE


def fenced(path: str, content: str, word: str = "python", fence: str = "```") -> str:
    """A path and the block below it."""
    return f"{path}\n{fence}{word}\n@{content}@{fence}\n"


def one(path: str, content: str, word: str = "python", fence: str = "```") -> Layout:
    """One file in the usual form."""
    return Layout(f"{path} {content} {fence}{word}", fenced(path, content, word, fence), {path: content})


BYE = "\nRun it:\n\n```bash\npython main.py\n```\n\nHave fun, and don't worry.\n"
SWAP = """\
<<<<<<< SEARCH
    \"\"\"Add two numbers.

```
add(1, 2)
```
=======
    \"\"\"Sum.

```
add(1, 2)  # 3
```
>>>>>>> REPLACE
"""
SWAP_README = ("<<<<<<< SEARCH\n```bash\npip install x\n```\n=======\n```bash\npip install y\n```\n"
               ">>>>>>> REPLACE\n")
PATCH = "*** Begin Patch\n*** Update File: main.py\n@@\n-print('hi')\n+print('ho')\n*** End Patch\n"
DIFF = "--- a/main.py\n+++ b/main.py\n@@ -1 +1 @@\n-print('hi')\n+print('ho')\n"

SEEN = [
    one("main.py", "doc"), one("main.py", "json"), one("main.py", "json_bare"), one("main.py", "doc_indented"),
    one("main.py", "doc_names"), one("main.py", "apostrophes"), one("main.py", "doc", "python", "````"),
    one("main.py", "doc", "python", "~~~"), one("main.py", "doc", ""),
    one("README.md", "readme", "markdown"), one("README.md", "readme_bare", "markdown"),
    one("README.md", "readme_mixed", ""), one("README.md", "readme", "markdown", "````"),
    one("index.js", "js_comment", "javascript"), one("index.js", "js_escaped", "js"),
    one("index.js", "js_sloppy", "javascript"), one("main.go", "go", "go"), one("run.sh", "shell", "bash"),
    one("a.yaml", "yaml", "yaml"), one("index.html", "html", "html"), one("index.html", "html_open", "html"),
    Layout("text around",
           f"<p>\nSure, here's the file.\n\n### `main.py`\n```python\n@doc@```\n{BYE}", {"main.py": "doc"}),
    Layout("several files", fenced("main.py", "doc") + "\nand\n\n" + fenced("util.py", "json") + BYE,
           {"main.py": "doc", "util.py": "json"}),
    Layout("readme then code", fenced("README.md", "readme", "markdown") + "\n" + fenced("main.py", "doc"),
           {"README.md": "readme", "main.py": "doc"}),
    Layout("a manual around",
           "```markdown\n# The program\n\nmain.py\n```python\n@plain@```\n```\n", {"main.py": "plain"}),
    Layout("four marks around", "````\n" + fenced("main.py", "plain") + fenced("util.py", "json") + "````\n",
           {"main.py": "plain", "util.py": "json"}),
    Layout("nameless", "Here:\n```python\n@doc@```\n", {"main.py": "doc"}),
    Layout("search and replace", f"main.py\n```python\n{SWAP}```\n", {"main.py": "changed"}, before={"main.py": "doc"}),
    Layout("bare search and replace", f"Here:\n\n### `main.py`\n{SWAP}\nThat is all.\n", {"main.py": "changed"},
           before={"main.py": "doc"}),
    Layout("bare search and replace of two files", f"main.py\n\n{SWAP}\nREADME.md\n{SWAP_README}",
           {"main.py": "changed", "README.md": "readme_y"}, before={"main.py": "doc", "README.md": "readme"}),
    Layout("bare search and replace beside a file", f"**util.py**\n```python\n@json@```\nmain.py\n{SWAP}",
           {"main.py": "changed", "util.py": "json"}, before={"main.py": "doc"}),
    Layout("cut in a bare replacement", f"main.py\n{SWAP.partition('>>>>')[0]}", problem="cut_off",
           before={"main.py": "doc"}),
    Layout("patch", PATCH, {"main.py": "ho"}, before={"main.py": "plain"}),
    Layout("patch in a block", f"main.py\n```\n{PATCH}```\n", {"main.py": "ho"}, before={"main.py": "plain"}),
    Layout("diff", f"```diff\n{DIFF}```\n", {"main.py": "ho"}, before={"main.py": "plain"}),
    Layout("cut inside", 'main.py\n```python\ndef add(a, b):\n    """Add.\n\n```\nadd(1, 2)\n', problem="span_open"),
    Layout("cut behind",
           'main.py\n```python\ndef add(a, b):\n    """Add.\n\n```\nadd(1, 2)\n```\n', problem="span_open"),
    Layout("cut in the readme", "README.md\n```markdown\n# X\n\n```bash\nmake\n", problem="cut_off"),
    Layout("cut in a comment", "a.js\n```js\n/*\nUse:\n```\nrun();\n", problem="span_open"),
    Layout("not closed", "util.js\n```js\nf();\n\nmain.js\n```js\ng();\n```\n", problem="cut_off"),
]
UNSEEN = [
    one("main.py", "odd"), one("main.py", "raw"), one("main.py", "doc_python"), one("app.py", "json", "py", "~~~~"),
    one("main.py", "doc_names", "python", "`````"), one("README.md", "readme_list", "md"),
    one("README.md", "readme_tilde", "markdown"), one("README.md", "readme_bare", "", "~~~"),
    one("docs/manual.md", "readme_mixed", "markdown"), one("index.js", "js_doc", "js"),
    one("index.js", "js_sloppy_bare", "js"), one("lib.js", "js_regex", "javascript"), one("lib.rs", "rust", "rust"),
    one("A.java", "java", "java"), one("a.kt", "kotlin", "kotlin"), one("a.jl", "julia", "julia"), one("m.c", "c", "c"),
    one("style.css", "css", "css"), one("setup.sh", "shell_info", "sh"), one("a.rb", "ruby", "ruby"),
    one("a.php", "php", "php"), one("b.yml", "yaml_list", "yaml"), one("p.html", "html_part", "html"),
    one("q.sql", "sql", "sql"), one("a.lua", "lua", "lua"), one("c.toml", "toml", "toml"),
    one("m.v", "verilog", "verilog"), one("p.st", "st", "st"), one("notes.txt", "text", "text"),
    Layout("three files of three languages", fenced("main.py", "odd") + fenced("index.js", "js_comment", "js")
           + fenced("README.md", "readme", "md") + BYE,
           {"main.py": "odd", "index.js": "js_comment", "README.md": "readme"}),
    Layout("in a list",
           "1. **main.py**\n   ```python\n   def f():\n       '''Doc.\n\n   ```\n   f()\n   ```\n       '''\n   ```\n",
           {"main.py": "in_list"}),
    Layout("name on the fence", "```python title=\"main.py\"\n@doc@```\n", {"main.py": "doc"}),
    Layout("name in a comment", "```python\n# main.py\n@json@```\nDone.", {"main.py": "json"}),
    Layout("a markdown answer of four marks", "````markdown\n## `main.py`\n\n```python\n@doc@```\n\n## `README.md`\n\n"
           "```markdown\n@readme@```\n````\n", {"main.py": "doc", "README.md": "readme"}),
    Layout("add by patch", "*** Begin Patch\n*** Add File: a.py\n+print('ho')\n*** End Patch", {"a.py": "ho"}),
    Layout("patch of fences", f"```\n{PATCH}```\n", problem="nothing_to_change"),
    Layout("bare diff", DIFF, {"main.py": "ho"}, before={"main.py": "plain"}),
    Layout("diff of git", f"main.py\n```diff\ndiff --git a/main.py b/main.py\n{DIFF}```\n", {"main.py": "ho"},
           before={"main.py": "plain"}),
    Layout("diff called python", f"main.py\n```python\n{DIFF}```\n", {"main.py": "ho"}, before={"main.py": "plain"}),
    Layout("a file and a patch", fenced("a.py", "plain") + "\n" + PATCH, {"a.py": "plain", "main.py": "ho"},
           before={"main.py": "plain"}),
    Layout("whole file changed",
           "main.py\n```python whole\n@changed@```", {"main.py": "changed"}, before={"main.py": "doc"}),
    Layout("search in the readme",
           f"README.md\n```\n{SWAP_README}```\n", {"README.md": "readme_y"}, before={"README.md": "readme"}),
    Layout("cut in a template", "a.go\n```go\npackage main\nvar s = `\n~~~\nx\n", problem="span_open"),
    Layout("cut in a here-document", "a.sh\n```bash\ncat > x <<'EOF'\n```\nmake\n```\nmore\n", problem="span_open"),
    Layout("cut in yaml", "a.yaml\n```yaml\nhelp: |\n  ```\n  make\n", problem="span_open"),
    Layout("cut in the second file",
           fenced("main.py", "doc") + 'u.py\n```python\nS = """\n```json\n{"a":\n', problem="span_open"),
    Layout("broken but whole", fenced("main.py", "broken") + BYE, {"main.py": "broken"}),
    Layout("opened twice", "main.py\n```python\n```python\n@plain@```\n", {"main.py": "plain"}),
    Layout("opened twice around a name", "```python\nmain.py\n```python\n@doc@```\n" + BYE, {"main.py": "doc"}),
]
