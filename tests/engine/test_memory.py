"""Short-term memory: what each side sees, and what the window keeps."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chatdev.engine.context import ShortTermMemory, Utterance, exchanges
from chatdev.llm.base import Image, Message, ToolCall


def seen(memory: ShortTermMemory, speaker: str, window: int | None = None) -> list[tuple[str, str]]:
    view = memory.view("SYSTEM", "instructor" if speaker == "instructor" else "assistant", window=window)
    return [(m.role, m.content) for m in view]


def dialogue(rounds: int) -> ShortTermMemory:
    memory = ShortTermMemory("OPENING")
    for n in range(1, rounds + 1):
        memory.add(Utterance("instructor", f"I{n}"))
        memory.add(Utterance("assistant", f"A{n}"))
    return memory


def test_each_side_reads_its_own_words_as_the_assistants() -> None:
    memory = dialogue(1)
    assert seen(memory, "assistant") == [("system", "SYSTEM"), ("user", "OPENING\n\nI1"), ("assistant", "A1")]
    assert seen(memory, "instructor")[1:] == [("user", "OPENING"), ("assistant", "I1"), ("user", "A1")]


def test_a_report_is_read_only_by_the_one_it_is_for() -> None:
    memory = dialogue(1)
    memory.add(Utterance(None, "REPORT", to="instructor"))
    assert seen(memory, "instructor")[-1] == ("user", "A1\n\nREPORT")
    assert "REPORT" not in str(seen(memory, "assistant"))


def test_tool_calls_stay_with_the_one_who_made_them() -> None:
    memory = ShortTermMemory("OPENING")
    call = ToolCall("1", "look", "{}")
    steps = (Message("assistant", "", tool_calls=(call,)), Message("tool", "seen", tool_call_id="1"))
    memory.add(Utterance("assistant", "A1", steps=steps))
    assert [m.role for m in memory.view("S", "assistant")] == ["system", "user", "assistant", "tool", "assistant"]
    assert seen(memory, "instructor") == [("system", "SYSTEM"), ("user", "OPENING\n\nA1")]


def test_the_window_keeps_the_opening_and_the_last_exchanges() -> None:
    memory = dialogue(6)
    memory.add(Utterance("instructor", "I7"))
    assert seen(memory, "assistant", window=2) == [
        ("system", "SYSTEM"), ("user", "OPENING\n\nI5"), ("assistant", "A5"), ("user", "I6"), ("assistant", "A6"),
        ("user", "I7")]
    assert seen(memory, "assistant", window=0) == [("system", "SYSTEM"), ("user", "OPENING\n\nI7")]


def test_images_of_the_opening_survive_merging() -> None:
    memory = ShortTermMemory("OPENING", (Image(b"png"),), [Utterance("instructor", "I1")])
    assert memory.view("S", "assistant")[1].images == (Image(b"png"),)


@given(st.integers(0, 12), st.integers(1, 12), st.sampled_from(["assistant", "instructor"]))
def test_a_window_never_keeps_more_and_always_alternates(rounds: int, window: int, speaker: str) -> None:
    view = dialogue(rounds).view("S", "assistant" if speaker == "assistant" else "instructor", window=window)
    assert exchanges(view) == min(rounds, window)
    roles = [m.role for m in view]
    assert roles[:2] == ["system", "user"]
    assert view[1].content.startswith("OPENING")
    assert all(a != b for a, b in pairwise(roles))
