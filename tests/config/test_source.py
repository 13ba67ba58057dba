"""YAML with places."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.yaml_nodes import Dumper, Node, merge, parse, place_of, plain, read
from chatdev.errors import ConfigError
from tests.config.tiny import paths

words = st.text(max_size=12)
scalars = st.one_of(words, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=12)


@given(values)
def test_whatever_is_dumped_reads_back_equal(value: Any) -> None:
    text = yaml.dump(value, Dumper=Dumper, allow_unicode=True, sort_keys=False)
    assert plain(parse(text, "f")) == value


keyed: st.SearchStrategy[Any] = st.recursive(
    st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12)


@given(st.dictionaries(st.sampled_from("abcd"), keyed, min_size=1))
def test_every_key_path_leads_to_the_line_of_its_key(value: dict[str, Any]) -> None:
    text = yaml.dump(value, Dumper=Dumper, default_flow_style=False, sort_keys=False)
    root, lines = parse(text, "f"), text.splitlines()
    for path in paths(value)[1:]:
        line = lines[int(place_of(root, path).removeprefix("f:")) - 1]
        assert f"{path[-1]}:" in line if isinstance(path[-1], str) else "-" in line


def test_a_path_that_is_not_there_is_placed_at_its_deepest_part() -> None:
    assert place_of(parse("a:\n  b: 1\n", "f"), ("a", "c", "d")) == "f:1"


def test_a_merge_keeps_the_place_each_value_came_from() -> None:
    merged = merge(parse("a: {x: 1, y: [1, 2]}\nb: 2", "base"), parse("\na: {y: [3]}", "own"))
    assert plain(merged) == {"a": {"x": 1, "y": [3]}, "b": 2}
    assert (place_of(merged, ("a", "x")), place_of(merged, ("a", "y"))) == ("base:1", "own:2")


@pytest.mark.parametrize(("text", "value"), [
    ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("2024-01-31", "2024-01-31"), ("1:30", "1:30"),
    ("007", "007"), ("true", True), ("~", None), ("", None), ("1e3", 1000.0), ("-12", -12), (".5", 0.5),
])
def test_words_mean_what_they_say(text: str, value: object) -> None:
    assert plain(parse(f"key: {text}", "f")) == {"key": value}


@pytest.mark.parametrize(("text", "message"), [
    ("a: 1\nb: 2\na: 3", "f:3: the key 'a' is given twice .first in f:1.; remove one"),
    ("a:\n\tb: 1", "f:2: not YAML: .* indent with spaces, never with tabs"),
    ("a: b: c", "f:1: not YAML: mapping values are not allowed"),
    ("a: 'b", "f:1: not YAML: found unexpected end of stream"),
    ("a: {{ task }}", "f:1: the key .* is not text; put it in quotes"),
    ("1: x", "f:1: the key '1' is not text; put it in quotes"),
    ("a: !!binary xx", "f:1: the tag !!binary is not used here; remove it"),
    ("a: !!int x", "f:1: 'x' is not a number"),
    ("<<: {a: 1}", "merge keys .* are not used here"),
    ("a: 1\n---\nb: 2", "f:2: not YAML: .*another document"),
    ("a: \x01", "f: not YAML: .*control characters"),
    ("a: \ud800", "half a character"),
    ("[" * 100_000, "nested deeper than 100 levels"),
    ("a: &a [*a]", "an alias contains itself"),
    ("\n".join(["a: &a [1,1,1,1,1,1,1,1,1,1]", *(f"{k}: &{k} [{','.join([f'*{j}'] * 10)}]" for j, k in
                                                 zip("abcde", "bcdef", strict=True))]), "more than 100000 values"),
])
def test_texts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(text, "f")
    assert re.search(message, str(refused.value))


@pytest.mark.parametrize("flow", [False, True])
def test_a_name_that_looks_like_a_merge_key_is_put_in_quotes(flow: bool) -> None:
    text = yaml.dump({"<<": "<<"}, Dumper=Dumper, default_flow_style=flow)
    assert plain(parse(text, "f")) == {"<<": "<<"}


@pytest.mark.parametrize(("content", "message"), [
    (b"", "is empty; it must be a mapping"),
    (b"# only words\n", "is empty"),
    (b"- a\n- b\n", "holds a list; it must be a mapping"),
    (b"hello", "holds the single value 'hello'"),
    (b"a: \xff\xfe", r"is not UTF-8 \(see byte 3\); save it in that encoding"),
])
def test_files_that_are_no_mapping_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read(tmp_path / "x.yaml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: .*; check the path and its permissions"):
        read(tmp_path / "missing.yaml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfa: 1")
    assert plain(read(tmp_path / "x.yaml")) == {"a": 1}


def test_places_are_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yaml").write_text("a: 1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path / "x.yaml") == Node({"a": Node(1, "x.yaml:1")}, "x.yaml:1")
