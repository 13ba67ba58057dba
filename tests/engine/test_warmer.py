"""What came again is asked for at a higher temperature."""

from __future__ import annotations

from typing import Any

from tests.engine.studio import CHANGE, WRITE, Studio, program

WARM = {"temperature": 0.2}


def temperatures(studio: Studio, replies: dict[str, Any], **phase: Any) -> dict[str, float | None]:
    """The temperature of every request of the phase `change`, by place."""
    studio.run(studio.company({"write": WRITE, "change": {**CHANGE, "model": WARM, **phase}}), {
        "write#1/round-1/assistant": f"<SOLUTION>\n{program()}", **replies})
    return {request.headers["X-ChatDev-Activity"].removeprefix("change#1/"): request.body.get("temperature")
            for request in studio.server.requests if request.headers["X-ChatDev-Activity"].startswith("change")}


def test_both_sides_get_warmer_until_a_delivery_changes_something(studio: Studio) -> None:
    asked = temperatures(studio, {
        "change#1/round-1/assistant": program(), "change#1/round-2/instructor": "Change it.",
        "change#1/round-2/assistant": program("print(2)"), "change#1/round-3/instructor": "<SOLUTION>"})
    assert asked == {"round-1/assistant": 0.2, "round-2/instructor": 0.6, "round-2/assistant": 0.6,
                     "round-3/instructor": 0.2}


def test_second_attempts_that_say_the_same_unusable_words(studio: Studio) -> None:
    asked = temperatures(studio, {
        "change#1/round-1/assistant": "No.", "change#1/round-1/assistant/retry-1": "No.",
        "change#1/round-1/assistant/retry-2": "No.", "change#1/round-2/instructor": "Do.",
        "change#1/round-2/assistant": f"<SOLUTION>\n{program('print(2)')}"})
    assert list(asked.values()) == [0.2, 0.2, 0.6, 1.0, 1.0]


def test_a_temperature_that_is_left_to_the_server_stays_there(studio: Studio) -> None:
    asked = temperatures(studio, {
        "change#1/round-1/assistant": program(), "change#1/round-2/instructor": "<SOLUTION>"}, model={})
    assert set(asked.values()) == {None}
