"""Inputs of `kind: files`: a folder, or a file each time that the input is given; the value is text by path. Inputs of
`kind: file`: a path, or the text itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev import Company
from chatdev.errors import ConfigError
from chatdev.runner.options import gather_inputs

COMPANY = Company.load("verilogcoder").config


def given(value: Any) -> Any:
    return gather_inputs(COMPANY, "a task", {"given": value}).visible["given"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rtl" / "lib").mkdir(parents=True)
    (tmp_path / "rtl" / "a.sv").write_text("module a; endmodule\n")
    (tmp_path / "rtl" / "lib" / "b.svh").write_text("\ufeff`define B é\n", encoding="utf-8")
    (tmp_path / "c.mem").write_text("0 1\n")
    return tmp_path


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_and_files_are_read_with_their_paths(folder: Path, kind: type) -> None:
    rtl = {"a.sv": "module a; endmodule\n", "lib/b.svh": "`define B é\n"}
    assert given(kind(folder / "rtl")) == rtl
    assert given(kind(folder / "c.mem")) == {"c.mem": "0 1\n"}
    assert given([kind(folder / "rtl"), kind(folder / "c.mem")]) == {**rtl, "c.mem": "0 1\n"}
    assert given(None) is None


def test_what_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "rtl" / "bad.sv").write_bytes(b"caf\xe9")
    with pytest.raises(ConfigError, match=r"'given: bad.sv' is not UTF-8 text \(its byte 3\)"):
        given(folder / "rtl")
    with pytest.raises(ConfigError, match="cannot read .*nothing"):
        given(folder / "nothing")


def test_the_same_file_twice_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"a.sv is given twice; give the folder that both are in"):
        given([folder / "rtl", folder / "rtl" / "a.sv"])


def test_too_much_is_refused(folder: Path) -> None:
    (folder / "rtl" / "large.mem").write_text("0\n" * (3 << 20))
    with pytest.raises(ConfigError, match="holds more than 200 files or 4 MiB; give only what is needed"):
        given(folder / "rtl")


def test_a_link_out_of_a_folder_is_not_followed(folder: Path) -> None:
    (folder / "rtl" / "link.sv").symlink_to(folder / "c.mem")
    assert "link.sv" not in given(folder / "rtl")


def test_an_input_of_one_value_is_not_given_twice(folder: Path) -> None:
    with pytest.raises(ConfigError, match="input 'top' is given 2 times, and takes one value"):
        gather_inputs(COMPANY, "a task", {"top": ["a", "b"]})


@pytest.mark.parametrize("text", ["{stop: 5}", "  {\"a\": 1}", "stop: 5\nsolver: ode4\n"])
def test_a_file_may_be_given_as_its_text(text: str, tmp_path: Path) -> None:
    """Of `kind: file`: what has several lines or begins with a brace is no path."""
    def read(value: str) -> Any:
        return gather_inputs(COMPANY, "a task", {"bench": value}).everything["bench"]

    (tmp_path / "a.yaml").write_text(text)
    assert read(text) == read(str(tmp_path / "a.yaml")) == text
    with pytest.raises(ConfigError, match="cannot read"):
        read("stop: 5")
