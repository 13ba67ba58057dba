"""Whatever stands in a company's YAML, it loads or is refused: nothing else happens."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chatdev.config.load import load_company
from chatdev.config.phases import Phase, Solution
from chatdev.config.schema import CompanyConfig
from chatdev.config.yaml_nodes import Dumper, names_in, parse, plain
from chatdev.errors import ConfigError
from tests.config.tiny import TINY, TOOLS, paths, tiny

WORDS = sorted({*names_in(CompanyConfig), *names_in(Phase), *names_in(Solution), "repeat", "foreach", "parallel",
                "steps", "tool", "until", "max", "over", "as", "when", "plan", "plan?", "test.passed", "{{ x }}", "{{",
                "{%"})
TINY_DATA = plain(parse(TINY, "tiny"))
TINY_PATHS = [path for path in paths(TINY_DATA) if path]
words = st.sampled_from(WORDS) | st.text(max_size=4)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8)
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The tiny company with one value replaced."""
    data: Any = plain(parse(TINY, "tiny"))
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return data  # type: ignore[no-any-return]  # the company's mapping


@quick
@given(path=st.sampled_from(TINY_PATHS), value=values)
@example(path=("chain",), value=[{"process": "plan"}])
@example(path=("chain", 0), value={"repeat": {"max": 1, "steps": [{"parallel": [{"steps": [{"phase": 3}]}]}]}})
def test_a_changed_company_loads_or_is_refused(tmp_path: Path, path: tuple[Any, ...], value: Any) -> None:
    (tmp_path / "company.yaml").write_text(yaml.dump(changed(path, value), Dumper=Dumper), encoding="utf-8", newline="")
    with suppress(ConfigError):
        load_company(tmp_path, tools=TOOLS)


@quick
@given(path=st.sampled_from(TINY_PATHS), more=st.lists(words, max_size=2), text=st.text(max_size=12) | words,
       without=st.lists(words, max_size=1))
def test_a_set_or_without_is_done_or_refused(tmp_path: Path, path: tuple[Any, ...], more: list[str], text: str,
                                             without: list[str]) -> None:
    assignment = f"{'.'.join(map(str, (*path, *more)))}={text}"
    with suppress(ConfigError):
        load_company(tiny(tmp_path), sets=[assignment], without=without, tools=TOOLS)


@quick
@given(st.binary(max_size=40) | st.text(alphabet="ab:{}[]-#&*!|>'\"\n\t %", max_size=40).map(str.encode))
def test_any_bytes_load_or_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "company.yaml").write_bytes(content)
    with suppress(ConfigError):
        load_company(tmp_path)
