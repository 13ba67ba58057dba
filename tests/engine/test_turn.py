"""One turn: tool calls (native and as JSON blocks), cut replies, and requests that do not fit."""

from base64 import b64decode
from typing import Any

from chatdev.events import TextStreamed
from tests.engine.studio import CHECK, OVERFLOW, TALK, WRITE, Studio, action, program, with_tools
from tests.support.chat_server import Scripted

PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")


def test_a_json_block_calls_a_tool_and_the_next_message_observes_it(studio: Studio) -> None:
    company = studio.company({"talk": TALK}, **with_tools())
    studio.run(company, {"talk#1/round-1/assistant": action(), "talk#1/round-1/assistant/act-1": "<SOLUTION> Ada"})
    assert studio.messages("talk#1/round-1/assistant/act-1")[2:] == [
        ("assistant", action()), ("user", studio.said("talk#1/round-1/assistant/act-1").split("```\n", 1)[1])]
    assert "OBSERVATION software.complete" in studio.said("talk#1/round-1/assistant/act-1")
    assert "There are no files yet." in studio.said("talk#1/round-1/assistant/act-1")
    assert "tools: software.complete" in studio.system("talk#1/round-1/assistant")


def test_the_other_side_reads_the_response_but_not_the_tool_calls(studio: Studio) -> None:
    company = studio.company({"talk": TALK}, **with_tools())
    studio.run(company, {"talk#1/round-1/assistant": action(), "talk#1/round-1/assistant/act-1": "Ada",
                         "talk#1/round-2/instructor": "<SOLUTION>"})
    assert studio.said("talk#1/round-2/instructor") == "OPENING about TASK\n\nAda"


def test_a_tool_the_role_lacks_is_refused_with_what_it_may_use(studio: Studio) -> None:
    company = studio.company({"talk": TALK}, **with_tools())
    studio.run(company, {"talk#1/round-1/assistant": action("software.run"),
                         "talk#1/round-1/assistant/act-1": action(x=1),
                         "talk#1/round-1/assistant/act-2": "<SOLUTION> Ada"})
    assert "You may use: software.complete" in studio.said("talk#1/round-1/assistant/act-1")
    assert "The tool failed" in studio.said("talk#1/round-1/assistant/act-2")
    assert studio.tool_calls("talk#1") == []


def test_a_phase_narrows_the_tools_of_a_role(studio: Studio) -> None:
    studio.run(studio.company({"talk": {**TALK, "tools": []}}, **with_tools()),
               {"talk#1/round-1/assistant": "<SOLUTION> Ada"})
    assert "tools: \n" in studio.system("talk#1/round-1/assistant")


def test_tool_calls_of_one_turn_are_limited(studio: Studio) -> None:
    company = studio.company({"talk": {**TALK, "tool_calls": 2}}, **with_tools())
    studio.run(company, {"talk#1/round-1/assistant": action(), "talk#1/round-1/assistant/act-1": action(),
                         "talk#1/round-1/assistant/act-2": "<SOLUTION> Ada"})
    assert "NO MORE CALLS" in studio.said("talk#1/round-1/assistant/act-2")


def test_calls_of_one_reply_beyond_the_limit_are_not_performed(studio: Studio) -> None:
    company = studio.company({"talk": {**TALK, "tool_calls": 2, "model": {"name": "gpt-4o"}}}, **with_tools())
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "software__complete", "arguments": arguments}}
             for n, arguments in enumerate(["{}", "[]", "{}", "{}"])]
    at = "talk#1/round-1/assistant"
    studio.run(company, {at: Scripted("", tool_calls=calls), f"{at}/act-4": "<SOLUTION> Ada"})
    assert studio.tool_calls("talk#1") == [f"{at}/call-4"]
    answers = studio.messages(f"{at}/act-4")[-4:]
    assert [role for role, _ in answers] == ["tool"] * 4
    assert [text.endswith("NO MORE CALLS") for _, text in answers] == [False, True, True, True]
    assert "tools" not in studio.request(f"{at}/act-4").body


def test_a_tool_call_where_an_answer_is_due_is_asked_for_once_more(studio: Studio) -> None:
    phase = {**TALK, "tool_calls": 1, "model": {"temperature": 0.1}}
    company, at = studio.company({"talk": phase}, **with_tools()), "talk#1/round-1/assistant"
    run = studio.run(company, {at: action(), f"{at}/act-1": action(), f"{at}/act-1/answer": "<SOLUTION> Ada"})
    assert run.values["title"] == "Ada"
    assert studio.request(f"{at}/act-1/answer").body["temperature"] == 0.5
    run = studio.run(company, {at: action(), f"{at}/act-1": action(), f"{at}/act-1/answer": action(),
                               f"{at}/retry-1": "<SOLUTION> Al"})
    assert run.values["title"] == "Al"
    assert "UNREADABLE" in studio.said(f"{at}/retry-1")


def test_native_tool_calls_are_answered_as_tool_messages(studio: Studio) -> None:
    company = studio.company({"talk": {**TALK, "model": {"name": "gpt-4o"}}}, **with_tools())
    call = {"id": "c1", "type": "function", "function": {"name": "software.complete", "arguments": "{}"}}
    run = studio.run(company, {
        "talk#1/round-1/assistant": lambda body: Scripted("", tool_calls=[
            {**call, "function": {"name": body["tools"][0]["function"]["name"], "arguments": "{}"}}]),
        "talk#1/round-1/assistant/act-1": "<SOLUTION> Ada"})
    messages = studio.request("talk#1/round-1/assistant/act-1").body["messages"]
    assert messages[-2]["tool_calls"][0]["id"] == "c1"
    assert (messages[-1]["role"], messages[-1]["tool_call_id"]) == ("tool", "c1")
    assert run.values["title"] == "Ada"


def test_a_reply_cut_by_the_length_limit_is_continued_and_joined(studio: Studio) -> None:
    first, rest = "<SOLUTION>\nmain.py\n```python\nprint('a')\nprint(", "'b')\n```\n"
    run = studio.run(studio.company({"write": WRITE}), {
        "write#1/round-1/assistant": Scripted(first, finish_reason="length"), "write#1/round-1/assistant/more-1": rest})
    assert run.software.text("main.py") == "print('a')\nprint('b')\n"
    assert studio.messages("write#1/round-1/assistant/more-1")[-2:] == [("assistant", first), ("user", "GO ON")]


def test_a_request_that_does_not_fit_loses_its_oldest_rounds(studio: Studio) -> None:
    replies: dict[str, Any] = {f"talk#1/round-{n}/assistant": f"Ada {n}" for n in (1, 2)}
    replies |= {"talk#1/round-2/instructor": "Shorter.", "talk#1/round-3/instructor": "Much shorter.",
                "talk#1/round-3/assistant": OVERFLOW, "talk#1/round-3/assistant/trim-1": "<SOLUTION> Al"}
    run = studio.run(studio.company({"talk": TALK}), replies)
    assert studio.messages("talk#1/round-3/assistant/trim-1")[1:] == [
        ("user", "OPENING about TASK\n\nShorter."), ("assistant", "Ada 2"), ("user", "Much shorter.")]
    assert run.values["title"] == "Al"


def test_an_opening_that_does_not_fit_ends_the_run_with_a_clear_reason(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": OVERFLOW})
    assert run.status == "error"
    assert "context" in run.reason


def test_memory_window_keeps_the_opening_and_the_last_exchanges(studio: Studio) -> None:
    replies = {f"talk#1/round-{n}/assistant": f"A{n}" for n in range(1, 5)}
    replies |= {f"talk#1/round-{n}/instructor": f"I{n}" for n in range(2, 5)}
    studio.run(studio.company({"talk": {**TALK, "memory": {"window": 1}, "rounds": 4}}), replies)
    assert studio.messages("talk#1/round-4/assistant")[1:] == [
        ("user", "OPENING about TASK\n\nI3"), ("assistant", "A3"), ("user", "I4")]


def test_without_an_instructor_the_window_counts_observed_actions(studio: Studio) -> None:
    phase = {**TALK, "instructor": None, "memory": {"window": 1}}
    places = ["talk#1/round-1/assistant", "talk#1/round-1/assistant/act-1", "talk#1/round-1/assistant/act-2"]
    replies = {place: f"Look {n}.\n{action()}" for n, place in enumerate(places)}
    studio.run(studio.company({"talk": phase}, **with_tools()), {
        **replies, "talk#1/round-1/assistant/act-3": "<SOLUTION> Ada"})
    messages = studio.messages("talk#1/round-1/assistant/act-3")
    assert [role for role, _ in messages] == ["system", "user", "assistant", "user"]
    assert messages[1][1] == "OPENING about TASK"
    assert "Look 2." in messages[2][1]
    assert "OBSERVATION" in messages[3][1]


def test_an_image_travels_with_the_opening_of_the_phase_that_reads_it(studio: Studio) -> None:
    picture = studio.folder / "diagram.png"
    picture.write_bytes(PIXEL)
    inputs = {"task": {"required": True}, "diagram": {"kind": "image", "required": True}}
    company = studio.company({"look": {**TALK, "reads": ["task", "diagram"]}, "talk": {**TALK, "writes": "other"}},
                             inputs=inputs)
    studio.run(company, {"look#1/round-1/assistant": "<SOLUTION> a", "talk#1/round-1/assistant": "<SOLUTION> b"},
               inputs={"diagram": picture})
    parts = studio.request("look#1/round-1/assistant").body["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url"]
    assert isinstance(studio.request("talk#1/round-1/assistant").body["messages"][1]["content"], str)


def test_a_small_program_streams_to_listeners(studio: Studio) -> None:
    run = studio.run(studio.company({"write": WRITE}, [{"phase": "write"}, CHECK]),
                     {"write#1/round-1/assistant": "<SOLUTION>\n" + program()}, stream=True)
    pieces = [e.text for e in studio.events if isinstance(e, TextStreamed)]
    assert "".join(pieces) == "<SOLUTION>\n" + program()
    assert run.success
    assert "TextStreamed" not in (run.folder / "run/journal.jsonl").read_text()
