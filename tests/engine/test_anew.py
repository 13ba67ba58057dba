"""What a step says of its phase: how many rounds it may take there, and that it writes the software anew."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.config.load import load_company
from chatdev.errors import ConfigError
from chatdev.paths import settings_file
from tests.engine.studio import CHANGE, TALK, WRITE, Studio, program

GUARDED = {**WRITE, "guard": "software.complete", "concludes": "instructor", "rounds": 1}
FIRST, SECOND = "write#1/round-1/assistant", "write#2/round-1/assistant"
CHAIN: list[Any] = [{"phase": "write"}, {"phase": "write", "fresh": "software"},
                    {"tool": "software.complete", "writes": "test"}]
STUBS, STUB = program("def a():\n    pass\n\ndef b():\n    pass"), program("def c():\n    pass")
DONE = program("def d():\n    return 1")


def attempts(studio: Studio, first: str, second: str, **fields: Any) -> dict[str, bytes]:
    """The software after two attempts."""
    run = studio.run(studio.company({"write": {**GUARDED, **fields}}, CHAIN), {FIRST: first, SECOND: second})
    return dict(run.software)


@pytest.mark.parametrize(("first", "second", "stands"), [
    (STUBS, STUB, "def c():"), (STUBS, DONE, "def d():"), (STUB, STUBS, "def c():"), (DONE, STUB, "def d():"),
    (STUB, program("def e():\n    pass"), "def c():"),  # of equals the earlier one
])
def test_the_better_of_two_attempts_stands(studio: Studio, first: str, second: str, stands: str) -> None:
    found = attempts(studio, first, second)["main.py"].decode()
    assert found.startswith(stands)
    assert len(found.splitlines()) <= 5


def test_who_writes_anew_does_not_see_what_is_there(studio: Studio) -> None:
    files = attempts(studio, STUBS + program("x = 1", "other.py"), DONE)
    assert list(files) == ["main.py"]
    assert studio.messages(FIRST) == studio.messages(SECOND)
    assert "form: WHOLE FILES" in studio.system(SECOND)


def test_who_writes_anew_is_asked_at_a_higher_temperature(studio: Studio) -> None:
    attempts(studio, STUBS, DONE, model={"temperature": 0.2})
    assert [studio.request(place).body["temperature"] for place in (FIRST, SECOND)] == [0.2, pytest.approx(0.6)]


def test_an_attempt_that_cannot_be_read_leaves_what_was_there(studio: Studio) -> None:
    assert attempts(studio, STUB, "I cannot.")["main.py"].startswith(b"def c():")
    assert studio.places == [FIRST, SECOND]
    assert studio.endings()["write#2"] == "kept"


def test_feedback_that_passes_does_not_keep_a_phase_from_writing_anew(studio: Studio) -> None:
    files = attempts(studio, STUBS, DONE, feedback="software.compiles")
    assert files["main.py"].startswith(b"def d():")


def test_a_step_limits_the_rounds_of_its_phase(studio: Studio) -> None:
    chain = [{"phase": "talk", "rounds": 1}, {"phase": "talk"}, {"tool": "software.complete", "writes": "test"}]
    studio.run(studio.company({"talk": {**TALK, "rounds": 2, "concludes": "instructor"}}, chain), {
        "talk#1/round-1/assistant": "Ada", "talk#2/round-1/assistant": "Bob", "talk#2/round-2/instructor": "Shorter.",
        "talk#2/round-2/assistant": "Al"})
    assert studio.endings() == {"talk#1": "rounds", "talk#2": "rounds"}


def test_an_expression_may_say_how_many_rounds_there_are(studio: Studio) -> None:
    wise = 'title | length if sizes.program == "any" else "none"'
    chain = [{"phase": "talk", "rounds": 1}, {"phase": "talk", "rounds": wise}, {"phase": "talk", "rounds": "task"},
             CHAIN[-1]]
    run = studio.run(studio.company({"talk": {**TALK, "concludes": "instructor"}}, chain), {
        "talk#1/round-1/assistant": "Al", "talk#2/round-1/assistant": "Bob", "talk#2/round-2/instructor": "Shorter.",
        "talk#2/round-2/assistant": "Bo"})
    assert studio.endings() == {"talk#1": "rounds", "talk#2": "rounds"}
    assert "talk#3: `rounds: task` gives 'TASK'; it must be a whole number above 0" in run.reason


def test_a_phase_without_a_guard_cannot_write_anew(studio: Studio) -> None:
    for phase in ({**CHANGE, "guard": None}, TALK):
        chain = [{"phase": "write"}, {"phase": "again", "fresh": "software"}, CHAIN[-1]]
        with pytest.raises(ConfigError, match=r"chain.1.fresh: a phase that writes the software anew needs a `guard`"):
            load_company(studio.company({"write": WRITE, "again": phase}, chain))


@pytest.mark.parametrize(("kind", "spoken"), [("small", ["talk#1"]), ("any", ["talk#2"])])
def test_a_condition_may_ask_for_the_sizes_of_the_model(studio: Studio, kind: str, spoken: list[str]) -> None:
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(f"models: [{{match: [scripted-model], sizes: {{program: {kind}}}}}]", encoding="utf-8")
    chain = [*({"phase": "talk", "when": f'sizes.program {sign} "small"'} for sign in ("==", "!=")), CHAIN[-1]]
    studio.run(studio.company({"talk": TALK}, chain), {
        f"talk#{n}/round-1/assistant": "<SOLUTION> Ada" for n in (1, 2)})
    assert list(studio.endings()) == spoken
