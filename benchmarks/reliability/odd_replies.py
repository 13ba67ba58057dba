"""Replies in which something is odd: what a model, or a server that stands in for one, could send where a plan, a
program, a call of a tool or a count is wanted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.support.chat_server import Scripted

LONG = 200_000
_NESTED = "[" * 3_000 + "]" * 3_000
_FINALLY = "".join(" " * n + "try:x\n" + " " * n + "finally:\n" for n in range(6)) + " " * 6 + "x\n"
_BLOCK = "main.py\n```python\n{}\n```\n"

_ODD: tuple[Any, ...] = (
    None, True, -1, 10 ** 400, 1e308, "", "\ud800", "\0", "x" * LONG, [], {}, [[[]]], [None, 1, [2], {"a": 3}],
    [{"command": "python main.py 2 3"}], [{"command": ["python", "main.py", 2]}], [["python main.py 1"], 7],
    ["python main.py \ud800"], ["python main.py \0"], ["python main.py " + "9" * LONG], ["python main.py 5", "\udfff"],
    ["python main.py 3 4 => 7", "=>", "=> 7"], {"commands": ["python main.py"]}, [str(n) for n in range(2_000)],
)
VALUES: list[str] = [*map(json.dumps, _ODD), "NaN", "[NaN]", '{"a": 1, "a": 2}', "- " * 5000, "9" * 5000, _NESTED]
"""Where a value is wanted."""

PROGRAMS: list[str] = [_BLOCK.format(program) for program in (
    "print(1)\\\r", "\0", "\ud800 = 1", "x = " + "(" * 500 + ")" * 500, "x = " + "9" * 5_000, _FINALLY,
    "import sys\nsys.stderr.write('Traceback (most recent call last):\\n  File \"main.py\", line " + "7" * 5_000
    + "\\nValueError\\n')\nsys.exit(1)",
    "import sys\nsys.stdout.buffer.write(b'\\xff\\x00' * 1000)", "raise Exception('\\ud800')",
    "import os\nos.mkfifo('pipe')\nos.symlink('/etc/passwd', 'link')\nopen(b'\\xff\\n', 'w')",
    "def f():\n    ...\n# ... rest of the code", "import a" + ".a" * 3_000, "f'" + "{x!r:" * 200 + "}" * 200 + "'",
)] + [f"{path}\n```python\npass\n```\n" for path in
      ("../x.py", "/etc/x.py", ".git/config", "a/" * 2_000 + "x.py", "x" * 300 + ".py", "con.py", "a\0b.py",
       "main.py/x.py", "HEAD", ".envrc", "\ud800.py")]
"""Where a program is wanted."""

FENCED: list[str] = [_BLOCK.format(program) for program in (
    'def f():\n    """Say it.\n\n```\nf()\n```\n    """', 'S = """\n```json\n{}\n```\n"""\nprint(S)', "S = '''\n```\n",
    '"""main.py\n```python\nx\n```\n"""\n```python\nprint(1)', "*** Begin Patch\n*** Update File: main.py\n-x\n+y",
)] + ["````\n" + _BLOCK.format("print(1)") + "````", "*** Begin Patch\n*** Add File: a.py\n+1\n*** End Patch",
      "--- a/main.py\n+++ b/main.py\n@@ -1 +1 @@\n-x\n+y\n", "README.md\n```markdown\n# X\n```bash\nls\n",
      "```python\n" * 40]
"""Fences within a file and around files, patches, and what is cut there."""

_USAGES: list[object] = [{"prompt_tokens": 10 ** 400, "completion_tokens": 1}, {"prompt_tokens": -5}, [], "many", None,
                         {"prompt_tokens": True, "completion_tokens": 0.5}, {"prompt_tokens": "7"}, {},
                         {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10 ** 9,
                          "prompt_tokens_details": {"cached_tokens": 10 ** 8}, "completion_tokens_details": []}]


def _with_usage(rng: random.Random, text: str) -> Scripted:
    return Scripted(body={"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                          "usage": rng.choice(_USAGES)})


def _with_call(rng: random.Random, text: str) -> Scripted:
    name = rng.choice(["software.complete", "software_complete", "\ud800", "", "x" * LONG, None, 7])
    call = {"id": rng.choice(["1", "\ud800", "", "i" * LONG, None, 3]), "type": "function",
            "function": {"name": name, "arguments": rng.choice([*VALUES, 7, None])}}
    return Scripted(text, tool_calls=[call])


def _spoilt(rng: random.Random, text: str) -> Scripted:
    """The reply that it should have been, with something put into it or taken out."""
    at, piece = rng.randrange(len(text) + 1), rng.choice(["\ud800", "\0", "```", "<SOLUTION>", "<QUESTION>", "\r", "{",
                                                          "\u202e", "\x1b[2J", "{{ 7 * 7 }}", "</think>", "9" * 5_000])
    return Scripted(text[:at] + piece + text[at + rng.choice([0, 0, 1, len(text)]):])


_KINDS: dict[str, Callable[[random.Random, str], Scripted]] = {
    "a value": lambda rng, _: Scripted(rng.choice(VALUES)),
    "a value as the solution": lambda rng, _: Scripted(f"<SOLUTION>\n{rng.choice(VALUES)}"),
    "a program": lambda rng, _: Scripted(rng.choice(PROGRAMS)),
    "fences in a file": lambda rng, _: Scripted(rng.choice(FENCED)),
    "a call of a tool": _with_call,
    "a call in JSON": lambda rng, _: Scripted(f'```json\n{{"tool": {rng.choice(VALUES)}, "arguments": '
                                              f'{rng.choice(VALUES)}}}\n```'),
    "a count of tokens": _with_usage,
    "a spoilt reply": _spoilt,
    "no text": lambda rng, _: Scripted(rng.choice(["", " ", None])),
}
KINDS = tuple(_KINDS)


def odd_reply(kind: str, rng: random.Random, text: str) -> Scripted:
    """A reply of this kind, where `text` is what should be said."""
    return _KINDS[kind](rng, text)
