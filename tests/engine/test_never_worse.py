"""A delivery for the worse is not kept: its report goes back, and the best version stands."""

import json

from tests.engine.studio import CHANGE, TALK, WRITE, Studio, program

STUB = "def save():\n    pass"
DONE = "def save():\n    return 1"
LONG = "\n".join(f"def f{n}():\n    return {n}\n" for n in range(12)) + "\nprint(f0() + f3() + f11())"


def test_a_delivery_that_makes_the_guard_fail_goes_back(studio: Studio) -> None:
    phase = {**CHANGE, "guard": "software.complete"}
    run = studio.run(studio.company({"write": WRITE, "change": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(DONE),
        "change#1/round-1/assistant": "<SOLUTION>\n" + program(STUB),
        "change#1/round-1/assistant/retry-1": "<SOLUTION>\n" + program("def save():\n    return 2")})
    assert "REFUSED main.py:1: `save` has no body yet" in studio.said("change#1/round-1/assistant/retry-1")
    assert run.software.text("main.py") == "def save():\n    return 2\n"
    assert STUB not in studio.git_show(run)


def test_after_refused_deliveries_the_entry_version_stands(studio: Studio) -> None:
    phase = {**CHANGE, "guard": "software.complete", "rounds": 1}
    stubborn = {f"change#1/round-1/assistant{r}": program(STUB) for r in ("", "/retry-1", "/retry-2")}
    run = studio.run(studio.company({"write": WRITE, "change": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(DONE), **stubborn})
    assert run.software.text("main.py") == DONE + "\n"
    assert run.success


def test_a_worse_delivery_goes_back_even_if_the_guard_never_passed(studio: Studio) -> None:
    phase = {**CHANGE, "guard": "software.complete"}
    better, worse = f"{STUB}\n\ndef load():\n    return 1", f"{STUB}\n\ndef load():\n    pass"
    run = studio.run(studio.company({"write": WRITE, "change": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(better),
        "change#1/round-1/assistant": "<SOLUTION>\n" + program(worse),
        "change#1/round-1/assistant/retry-1": "<SOLUTION>\n" + program(better.replace("1", "2"))})
    assert "`load` has no body yet" in studio.said("change#1/round-1/assistant/retry-1")
    assert "return 2" in run.software.text("main.py")


def test_the_pair_reads_what_the_guard_says_of_a_delivery_that_is_kept(studio: Studio) -> None:
    phase = {**CHANGE, "guard": "software.complete", "opens": "instructor"}
    worse, better = f"{STUB}\n\ndef load():\n    pass", f"{STUB}\n\ndef load():\n    return 1"
    studio.run(studio.company({"write": WRITE, "change": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(worse),
        "change#1/round-1/instructor": "Write load.", "change#1/round-1/assistant": program(better),
        "change#1/round-2/instructor": "Write save.", "change#1/round-2/assistant": program(better),
        "change#1/round-3/instructor": "<SOLUTION>"})
    assert "`save` has no body yet" in studio.said("change#1/round-2/instructor")
    assert "`load` has no body yet" not in studio.said("change#1/round-2/instructor")
    assert "REPORT main.py:1: `save` has no body yet" in studio.said("change#1/round-2/assistant")
    assert studio.said("change#1/round-3/instructor").count("REPORT main.py:1: `save` has no body yet") == 1
    assert "STILL main.py:1: `save` has no body yet" in studio.said("change#1/round-3/instructor")


def test_a_value_that_is_worse_by_its_guard_goes_back_too(studio: Studio) -> None:
    phase = {**TALK, "writes": "plan", "guard": "verilog.plan", "concludes": "instructor",
             "solution": {"form": "json", "schema": {"type": "object"}}}
    plans = [json.dumps({"subtasks": [{"content": f"do {number}"} for number in range(count)]}) for count in (2, 3, 1)]
    run = studio.run(studio.company({"talk": phase}), {
        "talk#1/round-1/assistant": plans[0], "talk#1/round-2/instructor": "Fewer.",
        "talk#1/round-2/assistant": plans[1], "talk#1/round-2/assistant/retry-1": plans[2],
        "talk#1/round-3/instructor": "<SOLUTION>"})
    assert run.values["plan"] == json.loads(plans[2])
    assert "REPORT The plan does not fit the specification yet:" in studio.said("talk#1/round-2/instructor")
    assert "REFUSED The plan does not fit" in studio.said("talk#1/round-2/assistant/retry-1")


def test_code_that_no_longer_parses_is_refused(studio: Studio) -> None:
    run = studio.run(studio.company({"write": WRITE, "change": CHANGE}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(DONE),
        "change#1/round-1/assistant": "<SOLUTION>\n" + program("def save(:\n    return 2\n"),
        "change#1/round-1/assistant/retry-1": "<SOLUTION>\n" + program("def save():\n    return 2")})
    assert "return 2" in run.software.text("main.py")
    assert "main.py" in studio.said("change#1/round-1/assistant/retry-1")


def test_a_shell_block_is_never_taken_for_a_program(studio: Studio) -> None:
    run = studio.run(studio.company({"write": WRITE, "change": CHANGE}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(DONE),
        "change#1/round-1/assistant": "Run this:\n```bash\npip install requests\n```",
        "change#1/round-1/assistant/retry-1": "<SOLUTION>"})
    assert run.software.text("main.py") == DONE + "\n"


def test_the_best_version_by_feedback_stands_when_it_never_passed(studio: Studio) -> None:
    two, one = f"{STUB}\n\ndef load():\n    pass", f"{STUB}\n\ndef load():\n    return 1"
    phase = {**CHANGE, "feedback": "software.complete", "rounds": 2, "instructor": None}
    run = studio.run(studio.company({"write": WRITE, "complete": phase}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(two),
        "complete#1/round-1/assistant": program(one), "complete#1/round-2/assistant": program(two)})
    assert run.software.text("main.py") == one + "\n"
    assert studio.endings()["complete#1"] == "rounds"


def test_part_of_a_program_is_merged_into_it(studio: Studio) -> None:
    run = studio.run(studio.company({"write": WRITE, "change": CHANGE}), {
        "write#1/round-1/assistant": "<SOLUTION>\n" + program(LONG),
        "change#1/round-1/assistant": "<SOLUTION>\n" + program("def f3():\n    return 333")})
    assert run.software.text("main.py") == LONG.replace("return 3\n", "return 333\n") + "\n"
