"""The company takes a model that is to be changed as a file of Simulink, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.load import load_company
from chatdev.departments.simulink.agreement import parse_model
from chatdev.errors import ToolError
from chatdev.runner.options import gather_inputs
from tests.departments.simulink.files.samples import CLASSIC, PACKAGE


@pytest.mark.parametrize(("name", "data"), [
    ("my plant.slx", PACKAGE.zip()), ("plant.mdl", CLASSIC.encode("cp1252")), ("text.mdl", PACKAGE.text()),
    ("utf.mdl", CLASSIC.replace("windows-1252", "UTF-8").encode())])
def test_a_file_of_simulink_is_an_input(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    company = load_company("simugen")
    for value in (str(tmp_path / name), tmp_path / name, data):
        found = gather_inputs(company, "change it", {"model": value}).visible["model"]
        assert {"Source", "Größe"} & parse_model(str(found), "model").blocks.keys()


def test_a_damaged_file_of_simulink_ends_the_run_before_a_model_is_paid(tmp_path: Path) -> None:
    (tmp_path / "half.slx").write_bytes(PACKAGE.zip()[:200])
    found = gather_inputs(load_company("simugen"), "change it", {"model": tmp_path / "half.slx"}).visible["model"]
    with pytest.raises(ToolError, match=r"the input `model`: no whole \.slx"):
        parse_model(str(found), "model")
