"""What a program does with commands of which nobody knows what they print: it may speak of anything."""

from __future__ import annotations

import pytest

from tests.departments.software.conftest import Use

pytestmark = pytest.mark.tool

METER = """\
import pathlib, sys

store = pathlib.Path("meter.txt")
readings = list(map(int, store.read_text().split())) if store.exists() else []
command, *words = sys.argv[1:] or [""]
if command == "add" and words:
    readings.append(int(words[0]))
    store.write_text("\\n".join(map(str, readings)))
elif command not in ("total", "list", ""):
    sys.exit("usage: main.py add KWH | total | list")
print(f"Usage so far: {sum(readings)} kWh", *(readings if command == "list" else ()))
"""


METERING = [f"python main.py {words}" for words in ("add 5", "add 7", "total", "list")]
ADD_FORM = "Develop an electricity meter. `python main.py add KWH` adds a reading."


@pytest.mark.parametrize("task", [ADD_FORM, "Develop an electricity meter."])
def test_a_program_about_usage_is_not_refusing(use: Use, task: str) -> None:
    verdict = use(METER, task, METERING)
    assert verdict.passed, verdict.report
    assert "$ python main.py total\nUsage so far: 12 kWh" in verdict.report
    assert "refuses" not in verdict.report


@pytest.mark.parametrize("fault", [
    ("int(words[0])", "sys.exit('usage: main.py add KWH')"),
    ("int(words[0])", "sys.exit(print('usage: main.py add KWH'))")])
def test_a_faulty_program_about_usage_fails(use: Use, fault: tuple[str, str]) -> None:
    assert not use(METER.replace(*fault), ADD_FORM, METERING).passed
