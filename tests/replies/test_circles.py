"""What never ends is seen early, whatever goes round in it; tables and lists of different lines never are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.replies.utterance import TAIL, counts_on, goes_in_circles, never_ends

BULLET = "- You can add, list and remove tasks.\n"
LEAP = ("    # {}. If the year is not divisible by 4, then it is not a leap year.\n"
        "    # {}. If the year is not divisible by 100, then it is not a leap year.\n")
PARAGRAPH = """\
## Usage

To use the program, run `python main.py add "Buy milk"` in your terminal. The program will add the task to your list and
save it to the file `tasks.json`, so that it is there again when you start the program the next time.

"""
GERMAN = "Das Programm speichert die Aufgaben in einer Datei und liest sie beim nächsten Start wieder ein. "
CHINESE = "程序会把任务保存到文件中，下次启动时再读取。"
CODE = "    # This is a placeholder and should be replaced with the actual conversion formula\n"
RULE = '    {\n      "text": "When clk is high and reset is low, the counter starts at 0."\n    },\n'


def counted(line: str, times: int) -> str:
    return "".join(line.format(*range(n, n + 9)) for n in range(1, times, line.count("{}")))


LOOPS = {  # each with the characters at which it must be cut
    "bullet": ("# Manual\n\n" + BULLET * 200, 1200), "sentence": (GERMAN * 90, 1200), "Chinese": (CHINESE * 300, 1200),
    "paragraph": ("# Manual\n" + PARAGRAPH * 25, 2200), "comment": ("main.py\n```python\n" + CODE * 90, 1200),
    "JSON": (RULE * 90, 1200), "counted lines": (counted(LEAP, 120), 4000),
    "two lines in turn": ((BULLET + CODE) * 60, 1200), "blanks": ("x = 1\n" + " " * 9000, 3600),
    "zeros": ("[" + "0, " * 3000, 3600), "one word": ("no " * 3000, 3600),
    "statements": ("END_VAR\n" + "Wait(IN := Start, PT := T#5s);\nWait(IN := High, PT := T#5s);\n" * 90, 1600),
}
ROWS = [
    "".join(f"    ({n}, {n * n}, {n ** 3}),\n" for n in range(300)), "    [0, 0, 0, 0, 0, 0, 0, 0],\n" * 24,
    "#..............................#\n" * 40, '<div class="square"></div>\n' * 64,
    "".join(f"| {n} | Item {n} | {n * 3}.00 |\n" for n in range(200)),
    '<li><img src="a.jpg" alt="A picture"></li>\n' * 12,
    "".join(f'    {{"id": {n}, "name": "Item {n}", "price": {n}.5}},\n' for n in range(200)),
    "".join(f"else if (in == 8'b{n:08b}) begin\n    out = 8'b{n:08b};\nend\n" for n in range(128)),
    "".join(f"{n}. Room {n + 100} is free on Monday from 9 to 12.\n" for n in range(1, 29)),
    "".join(f"{n} x {m} = {n * m}\n" for n in range(1, 13) for m in range(1, 13)), "print()\n" * 30, "=" * 80 + "\n",
    '{"name": "", "value": 0, "next": null},\n' * 30, "Wait(IN := Start, PT := T#5s);\n" * 19,
    BULLET * 5, "wall wall wall wall wall wall wall wall\n" * 12,
]


def cut_at(text: str, step: int = 256) -> int | None:
    """At how many characters it is seen that the text never ends, looking every `step` characters."""
    return next((n for n in range(step, len(text) + 1, step) if never_ends(text[:n])), None)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_seen_early_and_known_for_one_where_it_is_cut(name: str) -> None:
    text, latest = LOOPS[name]
    found = cut_at(text)
    assert found is not None
    assert found <= latest
    assert goes_in_circles(text[:found]) or counts_on(text[:found]), "the engine would go on with it"


@pytest.mark.parametrize("text", ROWS, ids=lambda text: text[:20])
def test_tables_and_lists_of_different_lines_are_never_cut(text: str) -> None:
    assert cut_at(text, 64) is None


@given(st.lists(st.text(st.characters(categories=("L", "Zs")), min_size=8, max_size=60), min_size=5, max_size=60,
                unique=True))
def test_lines_that_all_differ_are_never_cut(lines: list[str]) -> None:
    assert cut_at("\n".join(f"- {line} and so it goes on to the end" for line in lines)) is None


@given(st.text(max_size=400), st.text("abc de\n0", min_size=1, max_size=300), st.integers(0, 60))
def test_any_text_is_read_and_what_is_cut_is_known_for_a_loop(before: str, unit: str, times: int) -> None:
    text = before + unit * times
    if never_ends(text):
        assert goes_in_circles(text[-TAIL:]) or counts_on(text[-TAIL:])
