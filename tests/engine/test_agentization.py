"""Agentization (equation 2) and who opens: what each request holds at the start of a phase, and what it does not."""

from tests.engine.studio import TALK, WRITE, Studio, program


def test_both_sides_get_mirrored_system_messages_from_the_same_parts(studio: Studio) -> None:
    phase = {**TALK, "guidance": {"instructor": "judge {{ task }}", "assistant": "propose"}, "dehallucination": True}
    studio.run(studio.company({"talk": phase}), {
        "talk#1/round-1/assistant/ask-1": "Ada", "talk#1/round-2/instructor": "<SOLUTION>"}, language="German")
    assistant = studio.system("talk#1/round-1/assistant/ask-1")
    instructor = studio.system("talk#1/round-2/instructor")
    assert "SYSTEM for assistant" in assistant
    assert "me: Maker makes things\nother: Chief" in assistant
    assert "guidance: propose" in assistant
    assert "SYSTEM for instructor" in instructor
    assert "me: Chief leads the work on TASK\nother: Maker" in instructor
    assert "guidance: judge TASK" in instructor
    for system in (assistant, instructor):
        for part in ("background: We test.", "objective: Agree on a name.", "form: TEXT", "ask: True 1", "rounds: 10",
                     "conclude: True/True", "write in German"):
            assert part in system


def test_without_roles_leaves_the_role_prompts_out(studio: Studio) -> None:
    studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": "<SOLUTION> Ada"}, without_roles=True)
    assert "me: Maker \n" in studio.system("talk#1/round-1/assistant")


def test_a_brief_is_the_first_instruction_and_costs_no_call(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": "<SOLUTION> Ada"})
    assert studio.places == ["talk#1/round-1/assistant"]
    assert studio.said("talk#1/round-1/assistant") == "OPENING about TASK"
    assert run.values["title"] == "Ada"


def test_an_opening_instructor_reads_the_opening_and_speaks_first(studio: Studio) -> None:
    studio.run(studio.company({"talk": {**TALK, "opens": "instructor"}}), {
        "talk#1/round-1/instructor": "Name it after somebody.", "talk#1/round-1/assistant": "<SOLUTION> Ada"})
    assert studio.said("talk#1/round-1/instructor") == "OPENING about TASK"
    assert studio.said("talk#1/round-1/assistant") == "OPENING about TASK\n\nName it after somebody."


def test_prompts_come_only_at_the_start_and_then_only_utterances(studio: Studio) -> None:
    studio.run(studio.company({"talk": TALK}), {
        "talk#1/round-1/assistant": "Ada", "talk#1/round-2/instructor": "Shorter.",
        "talk#1/round-2/assistant": "<SOLUTION> Al"})
    assert studio.messages("talk#1/round-2/assistant")[1:] == [
        ("user", "OPENING about TASK"), ("assistant", "Ada"), ("user", "Shorter.")]
    assert studio.messages("talk#1/round-2/instructor")[1:] == [("user", "OPENING about TASK\n\nAda")]


def test_a_phase_without_an_instructor_is_one_agent_and_one_response(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": {**TALK, "instructor": None}}), {"talk#1/round-1/assistant": "Ada"})
    assert studio.places == ["talk#1/round-1/assistant"]
    assert "other: nobody" in studio.system("talk#1/round-1/assistant")
    assert run.values["title"] == "Ada"
    assert studio.endings() == {"talk#1": "delivered"}


def test_an_opening_holds_what_the_phase_reads_and_never_another_dialogue(studio: Studio) -> None:
    second = {**TALK, "reads": ["title"], "writes": "logo", "opening": "DRAW {{ title }}"}
    studio.run(studio.company({"talk": TALK, "draw": second}), {
        "talk#1/round-1/assistant": "Bob", "talk#1/round-2/instructor": "A secret remark.",
        "talk#1/round-2/assistant": "<SOLUTION> Ada", "draw#1/round-1/assistant": "<SOLUTION> A star"})
    request = str(studio.messages("draw#1/round-1/assistant"))
    assert "DRAW Ada" in request
    assert "secret" not in request
    assert "Bob" not in request
    assert "OPENING" not in request


def test_writing_asks_for_whole_files_and_changing_for_parts(studio: Studio) -> None:
    studio.run(studio.company({"write": WRITE, "change": {**WRITE, "opening": "AGAIN {{ task }}"}}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(),
        "change#1/round-1/assistant": "<SOLUTION>\n" + program("1")})
    assert "form: WHOLE FILES" in studio.system("write#1/round-1/assistant")
    assert "form: CHANGED PARTS" in studio.system("change#1/round-1/assistant")


def test_requests_are_attributed_to_their_place_in_the_run(studio: Studio) -> None:
    run = studio.run(studio.company({"talk": TALK}), {"talk#1/round-1/assistant": "<SOLUTION> Ada"})
    headers = studio.request("talk#1/round-1/assistant").headers
    assert headers["X-ChatDev-Run"] == run.folder.name
    assert [headers[f"X-ChatDev-{name}"] for name in ("Company", "Phase", "Role")] == ["stage", "talk", "maker"]


def test_sampling_comes_from_company_role_and_phase(studio: Studio) -> None:
    roles = {"chief": {"title": "Chief"}, "maker": {"title": "Maker", "model": {"temperature": 0.7, "name": "other"}}}
    phase = {**TALK, "model": {"top_p": 0.5}}
    studio.run(studio.company({"talk": phase}, roles=roles, model={"temperature": 0.2, "max_tokens": 99}),
               {"talk#1/round-1/assistant": "<SOLUTION> Ada"})
    body = studio.request("talk#1/round-1/assistant").body
    assert (body["temperature"], body["top_p"], body["model"], body["max_tokens"]) == (0.7, 0.5, "other", 99)
