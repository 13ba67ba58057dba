"""Steps: order, when, repeat, foreach, process; what is unset, what may be missing, and how a failure spreads."""


from chatdev.config.schema import BRANCH_KINDS, Step
from chatdev.engine.chain import RUNNERS
from tests.engine.studio import CHECK, TALK, WRITE, Studio, program, solutions, talk

PLAN = {**TALK, "about": "Make a plan.", "writes": "plan",
        "solution": {"form": "json", "schema": {"type": "object"}, "retries": 0}, "opening": "PLAN"}


def test_each_solution_is_the_bridge_to_the_next_step(studio: Studio) -> None:
    studio.run(studio.company({"first": talk("a"), "second": talk("b", ["a"])}), solutions("first#1", "second#1"))
    assert studio.said("second#1/round-1/assistant") == "a=first#1"


def test_when_decides_whether_a_step_runs(studio: Studio) -> None:
    second, third = {"phase": "second", "when": "a == 'no'"}, {"phase": "third", "when": "a and not b"}
    chain = [{"phase": "first"}, second, third, CHECK]
    company = studio.company({"first": talk("a"), "second": talk("b"), "third": talk("c", ["b?"])}, chain)
    studio.run(company, solutions("first#1", "third#1"))
    assert studio.places == ["first#1/round-1/assistant", "third#1/round-1/assistant"]
    assert studio.said("third#1/round-1/assistant") == "b=None"


def test_until_is_evaluated_after_every_step_and_leaves_at_once(studio: Studio) -> None:
    body = [{"phase": "first"}, {"phase": "second"}]
    chain = [{"repeat": {"until": "a == 'enough'", "max": 5, "steps": body}}, CHECK]
    replies = {**solutions("repeat#1/pass-1/first#1", "repeat#1/pass-1/second#1"),
               "repeat#1/pass-2/first#1/round-1/assistant": "<SOLUTION> enough"}
    studio.run(studio.company({"first": talk("a"), "second": talk("b", ["a"])}, chain), replies)
    assert studio.places == [f"repeat#1/pass-{p}/round-1/assistant" for p in ("1/first#1", "1/second#1", "2/first#1")]


def test_reaching_max_goes_on_with_the_next_step(studio: Studio) -> None:
    chain = [{"repeat": {"until": "a == 'never'", "max": 2, "steps": [{"phase": "first"}]}}, {"phase": "second"}, CHECK]
    studio.run(studio.company({"first": talk("a"), "second": talk("b", ["a"])}, chain),
               solutions("repeat#1/pass-1/first#1", "repeat#1/pass-2/first#1", "second#1"))
    assert studio.said("second#1/round-1/assistant") == "a=repeat#1/pass-2/first#1"


def test_names_written_only_in_a_body_are_unset_when_it_is_reentered(studio: Studio) -> None:
    inner = {"repeat": {"max": 1, "steps": [{"phase": "look"}, {"phase": "write"}]}}
    chain = [{"repeat": {"max": 2, "steps": [inner]}}, CHECK]
    company = studio.company({"look": talk("seen", ["note?"]), "write": talk("note")}, chain)
    at = [f"repeat#1/pass-{p}/repeat#1/pass-1/{n}#1" for p in (1, 2) for n in ("look", "write")]
    studio.run(company, solutions(*at))
    assert studio.said(f"{at[2]}/round-1/assistant") == "note=None"


def test_within_a_loop_a_later_pass_reads_what_an_earlier_one_wrote(studio: Studio) -> None:
    chain = [{"repeat": {"max": 2, "steps": [{"phase": "look"}, {"phase": "write"}]}}, CHECK]
    at = [f"repeat#1/pass-{p}/{n}#1" for p in (1, 2) for n in ("look", "write")]
    studio.run(studio.company({"look": talk("seen", ["note?"]), "write": talk("note")}, chain), solutions(*at))
    assert studio.said(f"{at[2]}/round-1/assistant") == f"note={at[1]}"


def test_foreach_runs_items_in_dependency_order_under_their_names(studio: Studio) -> None:
    each = {"foreach": {"over": "plan.parts", "as": "part", "depends_on": "after", "steps": [{"phase": "make"}]}}
    company = studio.company({"plan": PLAN, "make": talk("made", ["part", "made?"])}, [{"phase": "plan"}, each, CHECK])
    plan = '<SOLUTION> {"parts": [{"id": "roof", "after": ["wall"]}, {"id": "wall"}]}'
    run = studio.run(company, {"plan#1/round-1/assistant": plan,
                               **solutions("foreach#1/item-wall/make#1", "foreach#1/item-roof/make#1")})
    assert run.success
    assert [p.split("/")[1] for p in studio.places[1:]] == ["item-wall", "item-roof"]
    assert "made=None" in studio.said("foreach#1/item-roof/make#1/round-1/assistant")
    assert "part" not in run.values


def test_foreach_leaves_at_until_and_starts_from_the_entry_software(studio: Studio) -> None:
    each = {"foreach": {"over": "plan.tries", "as": "attempt", "until": "ok.passed", "fresh": "software",
                        "steps": [{"phase": "write"}, {"tool": "software.complete", "writes": "ok"}]}}
    company = studio.company({"plan": PLAN, "write": {**WRITE, "reads": ["attempt", "software"],
                                                      "opening": "{{ attempt }} {{ software | listing }}"}},
                             [{"phase": "plan"}, each, CHECK])
    studio.run(company, {
        "plan#1/round-1/assistant": '<SOLUTION> {"tries": ["one", "two", "three"]}',
        "foreach#1/item-1/write#1/round-1/assistant": "<SOLUTION>\n" + program("def f():\n    pass", "first.py"),
        "foreach#1/item-2/write#1/round-1/assistant": "<SOLUTION>\n" + program("x = 1", "second.py")})
    assert studio.said("foreach#1/item-2/write#1/round-1/assistant").strip() == "two"
    assert studio.places[-1].startswith("foreach#1/item-2")


def test_an_item_whose_parent_failed_is_skipped_with_a_note(studio: Studio) -> None:
    each = {"foreach": {"over": "plan.parts", "as": "part", "depends_on": "after", "steps": [{"phase": "make"}]}}
    choose = talk("made", solution={"form": "choice", "options": ["yes", "no"], "retries": 0}, rounds=1)
    company = studio.company({"plan": PLAN, "make": choose}, [{"phase": "plan"}, each, CHECK])
    plan = '<SOLUTION> {"parts": [{"id": "a"}, {"id": "b", "after": ["a"]}, {"id": "c"}]}'
    bad = {f"foreach#1/item-a/make#1/{p}": "?" for p in ("round-1/assistant", "reflection-1", "reflection-2")}
    run = studio.run(company, {"plan#1/round-1/assistant": plan, **bad,
                               "foreach#1/item-c/make#1/round-1/assistant": "<SOLUTION> yes"})
    assert run.success
    assert any("item b is skipped: its parent a failed" in note for note in run.notes)


def test_a_process_runs_the_phases_named_in_long_term_memory(studio: Studio) -> None:
    order = talk("instance", solution={"form": "list"})
    chain = [{"phase": "order"}, {"process": "instance"}, CHECK]
    run = studio.run(studio.company({"order": order, "x": talk("a"), "y": talk("b")}, chain), {
        "order#1/round-1/assistant": '<SOLUTION> ["y", "x", "y"]',
        **solutions("process#1/y#1", "process#1/x#1", "process#1/y#2")})
    assert run.values["b"] == "process#1/y#2"


def test_a_process_runs_listed_phases_after_the_tools_they_need(studio: Studio) -> None:
    order = talk("instance", solution={"form": "list"})
    step = {"process": "instance", "phases": ["x", "y"], "supplies": [{"tool": "software.run", "writes": "seen"}]}
    phases = {"order": order, "x": talk("a"), "y": talk("b", ["seen"]), "z": talk("c")}
    company = studio.company(phases, [{"phase": "order"}, step, {"phase": "z"}, CHECK])
    run = studio.run(company, {"order#1/round-1/assistant": '<SOLUTION> ["x", "y", "x", "y"]', **solutions(
        "process#1/x#1", "process#1/y#1", "process#1/x#2", "process#1/y#2", "z#1")})
    assert run.success, run.reason
    assert studio.tool_calls("process#1")[:2] == ["process#1/software.run#1", "process#1/software.run#2"]
    refused = studio.run(company, {"order#1/round-1/assistant": '<SOLUTION> ["x", "z"]'})
    assert "names unknown phases ['z']; known are x, y" in refused.reason


def test_a_loop_keeps_what_a_process_before_it_wrote(studio: Studio) -> None:
    order = talk("instance", solution={"form": "list"})
    chain = [{"phase": "order"}, {"process": "instance"}, {"repeat": {"max": 1, "steps": [{"phase": "a"}]}}, CHECK]
    run = studio.run(studio.company({"order": order, "a": talk("written", ["written?"])}, chain), {
        "order#1/round-1/assistant": '<SOLUTION> ["a"]', **solutions("process#1/a#1", "repeat#1/pass-1/a#1")})
    assert studio.said("repeat#1/pass-1/a#1/round-1/assistant") == "written=process#1/a#1"
    assert run.success


def test_a_loop_forgets_what_only_a_process_inside_it_writes(studio: Studio) -> None:
    order = talk("instance", ["part", "written?"], solution={"form": "list"})
    body = [{"phase": "order"}, {"process": "instance"}]
    chain = [{"phase": "plan"}, {"foreach": {"over": "plan.parts", "as": "part", "steps": body}}, CHECK]
    studio.run(studio.company({"plan": PLAN, "order": order, "a": talk("written")}, chain), {
        "plan#1/round-1/assistant": '<SOLUTION> {"parts": ["x", "y"]}',
        **{f"foreach#1/item-{n}/order#1/round-1/assistant": '<SOLUTION> ["a"]' for n in (1, 2)},
        **solutions("foreach#1/item-1/process#1/a#1", "foreach#1/item-2/process#1/a#1")})
    assert "written=None" in studio.said("foreach#1/item-2/order#1/round-1/assistant")


def test_every_kind_of_step_has_a_runner() -> None:
    assert set(RUNNERS) == set(BRANCH_KINDS)
    assert set(BRANCH_KINDS) == set(Step.__subclasses__())


def test_a_process_with_an_unknown_phase_fails_with_the_known_ones(studio: Studio) -> None:
    order = talk("instance", solution={"form": "list"})
    chain = [{"phase": "order"}, {"process": "instance"}, CHECK]
    run = studio.run(studio.company({"order": order, "x": talk("a")}, chain),
                     {"order#1/round-1/assistant": '<SOLUTION> ["z"]'})
    assert not run.success
    assert "unknown phases ['z']; known are order, x" in run.reason


def test_success_reads_only_what_the_last_tool_said(studio: Studio) -> None:
    company = studio.company({"talk": TALK, "write": WRITE}, success="test.passed")
    replies = {**solutions("talk#1"), "write#1/round-1/assistant": "<SOLUTION>\n" + program("def f():\n    pass")}
    assert studio.run(company, replies).status == "failure"
    replies["write#1/round-1/assistant"] = "<SOLUTION>\n" + program("x = 1")
    assert studio.run(company, replies, without=["talk"]).success


def test_a_value_that_a_skipped_step_should_have_written_is_named(studio: Studio) -> None:
    chain = [{"phase": "first", "when": "task == 'other'"}, {"phase": "second"}, CHECK]
    run = studio.run(studio.company({"first": talk("a"), "second": talk("b", ["a"])}, chain), {})
    assert "second#1 reads 'a', which no step before it has written" in run.reason
