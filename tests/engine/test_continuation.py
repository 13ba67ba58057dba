"""A reply cut by the length limit is joined with its continuation."""

import pytest

from chatdev.engine.continuation import joined


@pytest.mark.parametrize(("start", "rest", "whole"), [
    ("main.py\n```python\nprint(", "'hi')\n```\n", "main.py\n```python\nprint('hi')\n```\n"),
    ("main.py\n```python\nx = 1\n", "```python\ny = 2\n```\n", "main.py\n```python\nx = 1\ny = 2\n```\n"),
    ("main.py\n```python\ndef save(self):\n    return self", "    return self.items\n```",
     "main.py\n```python\ndef save(self):\n    return self.items\n```"),
    ("A sentence that", " goes on.", "A sentence that goes on."),
    ("Done:\n```python\nx\n```\nand then", "```python\ny\n```", "Done:\n```python\nx\n```\nand then```python\ny\n```"),
])
def test_what_the_model_repeats_or_opens_again_is_left_out(start: str, rest: str, whole: str) -> None:
    assert joined(start, rest) == whole
