"""Parallel branches: forks, the join in declared order, and failures."""

import asyncio
from typing import Any

from chatdev.engine.context import State
from chatdev.engine.drafts import BranchHistory, BranchRun, join_branches
from chatdev.events import Place
from tests.engine.studio import CHECK, TALK, WRITE, Studio, program, solutions, talk
from tests.support.chat_server import Scripted


def files(path: str, **fields: Any) -> dict[str, Any]:
    return {**WRITE, "reads": ["software"], "opening": "{{ software | listing }}",
            "solution": {"form": "files", "only": [path], "retries": 0}, **fields}


def both(*branches: Any) -> list[Any]:
    return [{"parallel": list(branches)}, CHECK]


def test_branches_see_the_state_at_the_fork_and_writes_meet_at_the_join(studio: Studio) -> None:
    company = studio.company({"first": talk("a", ["b?"]), "second": talk("b", ["a?"]), "third": talk("c", ["a", "b"])},
                             [{"parallel": [{"phase": "first"}, {"phase": "second"}]}, {"phase": "third"}, CHECK])
    studio.run(company, solutions("parallel#1/branch-1/first#1", "parallel#1/branch-2/second#1", "third#1"))
    assert studio.said("parallel#1/branch-1/first#1/round-1/assistant") == "b=None"
    assert studio.said("parallel#1/branch-2/second#1/round-1/assistant") == "a=None"
    assert "a=parallel#1/branch-1/first#1 b=parallel#1/branch-2" in studio.said("third#1/round-1/assistant")


def test_software_merges_per_file_in_declared_order(studio: Studio) -> None:
    company = studio.company({"one": files("one.md"), "two": files("two.md")}, both({"phase": "one"}, {"phase": "two"}))
    run = studio.run(company, {
        "parallel#1/branch-1/one#1/round-1/assistant": Scripted("<SOLUTION>\n" + program("1", "one.md"), delay=0.2),
        "parallel#1/branch-2/two#1/round-1/assistant": "<SOLUTION>\n" + program("2", "two.md")})
    assert set(run.software) == {"one.md", "two.md"}
    subjects = [line for line in studio.git_log(run) if "round" in line]
    assert [s.split("/")[1] for s in subjects] == ["branch-1", "branch-2"]


def test_branches_run_at_the_same_time(studio: Studio) -> None:
    company = studio.company({"one": talk("a"), "two": talk("b")}, both({"phase": "one"}, {"phase": "two"}))
    slow = {place: Scripted(text, delay=0.5) for place, text in
            solutions("parallel#1/branch-1/one#1", "parallel#1/branch-2/two#1").items()}
    assert studio.run(company, slow).status == "success"
    assert studio.server.most_in_flight == 2


def test_two_branches_that_write_one_file_fail_clearly(studio: Studio) -> None:
    company = studio.company({"one": files("*.md"), "two": files("*.md")}, both({"phase": "one"}, {"phase": "two"}))
    run = studio.run(company, {
        "parallel#1/branch-1/one#1/round-1/assistant": "<SOLUTION>\n" + program("1", "same.md"),
        "parallel#1/branch-2/two#1/round-1/assistant": "<SOLUTION>\n" + program("2", "same.md")})
    assert "both wrote same.md" in run.reason


def test_when_a_branch_fails_its_sibling_finishes_only_its_activity(studio: Studio) -> None:
    choose = talk("a", solution={"form": "choice", "options": ["x", "y"], "retries": 0}, rounds=1)
    company = studio.company({"bad": choose, "slow": talk("b", rounds=3)}, both({"phase": "bad"}, {"phase": "slow"}))
    bad = {f"parallel#1/branch-1/bad#1/{p}": "?" for p in ("round-1/assistant", "reflection-1", "reflection-2")}
    run = studio.run(company, {**bad, "parallel#1/branch-2/slow#1/round-1/assistant": Scripted("wait", delay=0.6),
                               "parallel#1/branch-2/slow#1/round-2/instructor": "never asked for"})
    assert "parallel#1/branch-1/bad#1 ended without a solution" in run.reason
    journal = (run.folder / "run/journal.jsonl").read_text()
    assert '"place": "parallel#1/branch-2/slow#1/round-1/assistant"' in journal
    assert "parallel#1/branch-2/slow#1/round-2/instructor" not in studio.places


def test_a_failing_optional_branch_is_only_reported(studio: Studio) -> None:
    choose = talk("a", solution={"form": "choice", "options": ["x", "y"], "retries": 0}, rounds=1)
    company = studio.company({"bad": choose, "good": talk("b")},
                             both({"phase": "bad", "optional": True}, {"phase": "good"}))
    bad = {f"parallel#1/branch-1/bad#1/{p}": "?" for p in ("round-1/assistant", "reflection-1", "reflection-2")}
    run = studio.run(company, {**bad, **solutions("parallel#1/branch-2/good#1")})
    assert run.success
    assert any("optional branch failed" in note for note in run.notes)


def test_a_branch_may_be_several_steps_and_branches_nest(studio: Studio) -> None:
    inner = {"parallel": [{"phase": "one"}, {"phase": "two"}]}
    company = studio.company({"one": talk("a"), "two": talk("b"), "three": talk("c", ["a", "b"]), "four": talk("d")},
                             both({"steps": [inner, {"phase": "three"}]}, {"phase": "four"}))
    at = "parallel#1/branch-1"
    run = studio.run(company, solutions(f"{at}/parallel#1/branch-1/one#1", f"{at}/parallel#1/branch-2/two#1",
                                        f"{at}/three#1", "parallel#1/branch-2/four#1"))
    assert set(run.values) >= {"a", "b", "c", "d"}


def test_many_runs_in_one_process_do_not_cross(studio: Studio) -> None:
    from chatdev import Company

    path = studio.company({"talk": {**TALK, "opening": "NAME {{ task }}"}})
    studio.server.route(lambda request: "<SOLUTION> " + request.body["messages"][1]["content"])
    company = Company.load(path)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(company.arun(
            f"task {n}", model="m", base_url=studio.server.url, sandbox="none", name="same",
            warehouse=studio.folder / "warehouse") for n in range(20)))

    runs = asyncio.run(all_of_them())
    assert [run.values["title"] for run in runs] == [f"NAME task {n}" for n in range(20)]
    assert len({run.folder for run in runs}) == 20


def test_what_a_loop_in_a_branch_unsets_is_unset_after_the_join(studio: Studio) -> None:
    once = {"repeat": {"until": "a == 'done'", "max": 1, "steps": [{"phase": "one", "when": "n == 'first'"}]}}
    passes = {"repeat": {"until": "z == 'done'", "max": 2, "steps": [
        {"parallel": [once, {"phase": "two"}]}, {"phase": "three"}]}}
    company = studio.company({"one": talk("a"), "two": talk("n"), "three": talk("z", ["a?"])},
                             [{"phase": "two"}, passes, CHECK])
    at = [f"repeat#1/pass-{number}" for number in (1, 2)]
    studio.run(company, {
        "two#1/round-1/assistant": "<SOLUTION> first",
        **solutions(f"{at[0]}/parallel#1/branch-1/repeat#1/pass-1/one#1"),
        **solutions(*(f"{place}/{phase}" for place in at for phase in ("parallel#1/branch-2/two#1", "three#1")))})
    assert [studio.said(f"{place}/three#1/round-1/assistant") for place in at] == [
        f"a={at[0]}/parallel#1/branch-1/repeat#1/pass-1/one#1", "a=None"]


def test_nothing_is_a_value_that_a_branch_may_write() -> None:
    state = State({}, {}, BranchHistory({}))
    branch = BranchRun.fork(state, Place("parallel#1/branch-1"), optional=False)
    branch.state.values["title"] = None
    asyncio.run(join_branches(state, [branch]))
    assert state.values == {"title": None}
