"""Studies: which variants and tasks there are, what a job leaves, and what may not be mixed."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatdev.batch.ledger import Job
from chatdev.batch.local import work_through
from chatdev.errors import ConfigError, MissingModel, ModelRejected
from chatdev.evaluation.reporting.study_results import Results
from chatdev.evaluation.study import ATTEMPTS, Study
from chatdev.evaluation.variants import Variant, names_side_by_side, variants
from chatdev.journal import read_journal
from chatdev.llm.base import ScriptedModel
from tests.engine.studio import WRITE
from tests.evaluation.lab import BROKEN, GOOD, TALKING, Lab
from tests.support.chat_server import ChatServer, Received, Scripted

pytestmark = pytest.mark.tool


@pytest.fixture
def lab(tmp_path: Path, chat_server: ChatServer) -> Lab:
    return Lab(tmp_path, chat_server)


def test_every_task_is_run_by_every_variant_and_measured(lab: Lab) -> None:
    assert lab.run(lab.variants()).counts == {"open": 0, "running": 0, "done": 6, "failed": 0}
    rows = lab.rows()
    assert list(rows) == [f"{variant}/{task}" for task in ("Dice/Die", "Sums/Adder", "Sums/Doubler")
                          for variant in ("alone", "chain")]
    row = rows["chain/Sums/Adder"]
    assert row["data"] == "srdd"
    assert (row["task"], row["name"], row["area"], row["category"]) == ("Sums/Adder", "Adder", "Work", "Sums")
    assert (row["variant"], row["status"], row["acceptance"], row["model"]) == (
        "chain · scripted", "success", 1, "scripted")
    assert (row["calls"], rows["alone/Sums/Adder"]["calls"]) == (2, 1)
    assert rows["chain/Sums/Doubler"]["acceptance"] is None
    folder = lab.folder / "study" / row["folder"]
    assert (folder / "software" / "main.py").is_file()
    assert folder.parent.name == "chain-scripted"
    assert not list((lab.folder / "study" / ATTEMPTS).iterdir())


def test_what_a_company_fails_at_is_a_row_and_what_fails_it_is_none(lab: Lab) -> None:
    def answer(request: Received, task: str) -> Any:
        if task == "Die":
            return Scripted(status=401, body={"error": {"message": "no such key"}})
        return BROKEN if task == "Adder" else "I would rather not."

    lab.answer = answer
    lab.run(lab.variants(lab.companies[0]))
    rows = lab.rows()
    assert (rows["alone/Sums/Adder"]["status"], rows["alone/Sums/Adder"]["quality"]) == ("failure", 0)
    assert rows["alone/Sums/Adder"]["start"] == "crashed"
    assert (rows["alone/Sums/Doubler"]["status"], rows["alone/Sums/Doubler"]["quality"]) == ("error", 0)
    [(key, problem)] = lab.problems().items()
    assert key == "alone/Dice/Die"
    assert "401" in problem
    assert str(lab.folder / "study" / ATTEMPTS) in problem


def test_a_study_may_have_a_model_of_its_own(lab: Lab) -> None:
    model = ScriptedModel(lambda request: GOOD, name="mine")
    study = replace(lab.study(), base_url=None, model=model)
    chosen = variants(lab.companies[:1])
    study.check(study.data.tasks(), chosen)
    assert lab.run(chosen, study).counts["done"] == 3
    assert {row["model"] for row in lab.rows().values()} == {"mine"}
    assert len(model.requests) == 3
    assert lab.server.requests == []


def test_a_finished_run_is_measured_again_and_not_run_again(lab: Lab) -> None:
    lab.run(lab.variants(lab.companies[0]))
    asked = len(lab.server.requests)
    (lab.data / "acceptance" / "adder.py").write_text("def accept(program):\n    return []\n", encoding="utf-8")
    lab.run(lab.variants(lab.companies[0]), name="again")
    assert lab.rows("again")["alone/Sums/Adder"]["acceptance"] is None
    assert lab.rows("again")["alone/Sums/Adder"]["seconds"] == lab.rows()["alone/Sums/Adder"]["seconds"]
    assert len(lab.server.requests) == asked


def test_the_run_of_another_company_is_not_taken_for_a_finished_one(lab: Lab) -> None:
    lab.run(lab.variants(lab.companies[0]))
    lab.run(lab.variants(lab.companies[0], sets=["background=We test more."]), name="again")
    assert all("another task, company or model; take another --folder" in text
               for text in lab.problems("again").values())
    assert len(lab.problems("again")) == 3


def test_an_embedder_that_dies_midway_loses_no_run(lab: Lab) -> None:
    left = [5]

    def answer(request: Received, task: str) -> Any:
        if not request.path.endswith("/embeddings"):
            return GOOD
        left[0] -= 1
        vectors = [{"index": n, "embedding": [1.0, float(n)]} for n, _ in enumerate(request.body["input"])]
        return Scripted(body={"data": vectors}) if left[0] >= 0 else Scripted(status=400, body={
            "error": {"message": "out of order"}})

    lab.answer = answer
    study = Study(lab.study().data, lab.folder / "study", lab.study(embedder="endpoint:vectors").conditions,
                  base_url=lab.server.url, embedder_url=lab.server.url)
    lab.run(lab.variants(), study)
    rows, problems = lab.rows(), lab.problems()
    assert all(row["embedder"] == "vectors" for row in rows.values())
    assert len(rows) + len(problems) == 6
    kept = [text for text in problems.values() if "finished and kept, but not measured" in text]
    assert len(list((lab.folder / "study").glob("*/*/run"))) == len(rows) + len(kept)
    assert all("out of order" in text for text in problems.values())

    left[0] = 100
    ledger = lab.ledger()
    assert ledger.retry_failed() == len(problems)
    ledger.close()
    lab.run(lab.variants(), study)
    assert len(lab.rows()) == 6
    places = [request.headers.get("X-ChatDev-Run") for request in lab.server.requests]
    assert len({place for place in places if place}) <= 6  # each ran once


def test_two_workers_who_did_the_same_leave_one_run(lab: Lab) -> None:
    study, [variant] = lab.study(), lab.variants(lab.companies[0])
    [job, *_] = study.jobs(study.data.tasks(), [variant])

    async def both() -> list[Any]:
        return list(await asyncio.gather(study.work(job.spec), study.work(job.spec)))

    one, other = asyncio.run(both())
    assert one == other
    assert len(lab.server.requests) == 2
    assert len(list((lab.folder / "study" / "alone-scripted").iterdir())) == 1


@pytest.mark.parametrize(("change", "said"), [
    ({"embedder": "endpoint:other"}, "conditions.embedder was 'lexical' and is 'endpoint:other'"),
    ({"install": "auto"}, "conditions.install was 'never'"),
])
def test_conditions_are_those_of_the_beginning(lab: Lab, change: dict[str, Any], said: str) -> None:
    study, ledger = lab.study(), lab.ledger()
    study.enter(ledger, list(study.jobs(study.data.tasks()[:1], lab.variants())))
    other = lab.study(**change)
    with pytest.raises(ConfigError, match=f"{said}.*--study NAME"):
        other.enter(ledger, list(other.jobs(study.data.tasks()[1:], lab.variants())))
    ledger.close()


def test_a_company_or_task_that_changed_is_refused(lab: Lab) -> None:
    study, ledger = lab.study(), lab.ledger()
    study.enter(ledger, list(study.jobs(study.data.tasks(), lab.variants())))
    with pytest.raises(ConfigError, match="variant.fingerprint was"):
        study.enter(ledger, list(study.jobs(study.data.tasks(), lab.variants(sets=["background=More."]))))
    lab.write("data/game.yaml", (lab.data / "game.yaml").read_text().replace("six", "nine"))
    with pytest.raises(ConfigError, match="task.description was .*six.* and is .*nine"):
        study.enter(ledger, list(study.jobs(study.data.tasks(), lab.variants())))
    assert study.enter(ledger, []) == 0
    ledger.close()


def test_a_worker_with_another_company_does_not_take_part(lab: Lab) -> None:
    study, [variant] = lab.study(), lab.variants(lab.companies[0])
    [job, *_] = study.jobs(study.data.tasks(), [variant])
    spec = {**job.spec, "variant": {**job.spec["variant"], "fingerprint": "0" * 16}}
    with pytest.raises(ConfigError, match="not the one that the study was begun with"):
        asyncio.run(study.work(spec))


def test_a_study_can_be_sent_to_other_machines(lab: Lab) -> None:
    study = lab.study()
    assert pickle.loads(pickle.dumps(study)) == study


def test_what_would_fail_every_job_is_found_first(lab: Lab) -> None:
    study = lab.study()
    study.check(study.data.tasks(), lab.variants())
    with pytest.raises(MissingModel):
        Study(study.data, study.folder).check(study.data.tasks(), lab.variants())
    lab.answer = lambda request, task: Scripted(status=400, body={"error": {"message": "no such embedder"}})
    odd = Study(study.data, study.folder, lab.study(embedder="endpoint:odd").conditions, study.base_url,
                embedder_url=lab.server.url)
    with pytest.raises(ModelRejected, match="no such embedder"):
        odd.check(study.data.tasks(), lab.variants())


def test_the_ablations_are_those_of_the_paper_and_two_more(lab: Lab) -> None:
    found = {variant.name: variant for variant in variants(["single", "pipeline", "chatdev"], ablations=True)}
    assert [name for name in found if name != "chatdev without drafts"] == [
        "single", "pipeline", "chatdev", "chatdev up to coding", "chatdev up to completion", "chatdev up to review",
        "chatdev up to testing", "chatdev without dehallucination", "chatdev without roles", "chatdev without review"]
    assert found["chatdev without review"].without == ("code_review",)
    phases = set(found["chatdev"].load().config.phases)
    assert {"code_completion", "code_review", "system_test", "manual"} <= set(found["chatdev up to coding"].without)
    assert "coding" not in found["chatdev up to coding"].without
    assert set(found["chatdev up to review"].without) < set(found["chatdev up to completion"].without) < phases
    asks = [name for name, phase in found["chatdev without dehallucination"].load().config.phases.items()
            if phase.dehallucination]
    assert asks == []
    assert not found["chatdev without roles"].load().config.with_roles


def test_only_the_ablations_that_change_something_are_there(lab: Lab) -> None:
    talking = lab.company("talking", TALKING)
    assert [variant.name for variant in variants([str(talking)], ablations=True)] == [
        "talking", "talking up to coding", "talking without dehallucination", "talking without roles",
        "talking without review"]
    drafting = lab.company("drafting", {"coding": {**WRITE, "guard": "software.run", "drafts": 3}})
    *_, variant = variants([str(drafting)], ablations=True)
    assert (variant.name, variant.sets) == ("drafting without drafts", ("phases.coding.drafts=1",))
    assert variant.load().config.phases["coding"].drafts == 1


def test_a_job_is_the_same_however_many_models_are_named(lab: Lab) -> None:
    assert [(v.name, v.model) for v in variants(["single"], models=["a", "b"])] == [
        ("single · a", "a"), ("single · b", "b")]
    assert [(v.name, v.model) for v in variants(["single"], models=["a"])] == [("single · a", "a")]
    assert [v.name for v in variants(["single"])] == ["single"]
    study, ledger, tasks = lab.study(), lab.ledger(), lab.study().data.tasks()
    assert study.enter(ledger, list(study.jobs(tasks, variants(["single"], models=["a"])))) == 3
    assert study.enter(ledger, list(study.jobs(tasks, variants(["single"], models=["a", "b"])))) == 3
    assert study.enter(ledger, list(study.jobs(tasks, variants(["single"], models=["b", "a"])))) == 0
    assert Results.read(ledger).variants == ["single · a", "single · b"]
    ledger.close()


def test_the_model_is_left_out_where_all_variants_have_the_same() -> None:
    assert names_side_by_side(["a · m", "b up to coding · m"]) == {"a · m": "a", "b up to coding · m": "b up to coding"}
    assert names_side_by_side(["a · m", "b"]) == {"a · m": "a · m", "b": "b"}
    assert names_side_by_side([]) == {}


def test_every_task_is_run_as_often_as_is_wanted(lab: Lab) -> None:
    study, ledger, chosen = lab.study(), lab.ledger(), lab.variants(lab.companies[0])
    lab.run(chosen)
    jobs = list(study.jobs(study.data.tasks(), chosen, repeats=3))
    assert [job.key for job in jobs[3:5]] == ["alone · scripted/Dice/Die#2", "alone · scripted/Sums/Adder#2"]
    assert study.enter(ledger, jobs) == 6
    asyncio.run(work_through(ledger, study.work, at_once=3))
    results = Results.read(ledger)
    assert (results.count("alone"), results.count_tasks("alone")) == (9, 3)
    assert len({row["folder"] for row in results.rows}) == 9
    assert [row["repeat"] for row in results.rows if row["task"] == "Dice/Die"] == [1, 2, 3]
    assert len(lab.server.requests) == 9
    ledger.close()


def test_a_study_of_before_models_were_in_names_is_refused_in_words(lab: Lab) -> None:
    study, ledger, [variant] = lab.study(), lab.ledger(), lab.variants(lab.companies[0])
    [job, *_] = jobs = list(study.jobs(study.data.tasks(), [variant]))
    old = {**job.spec, "variant": {**job.spec["variant"], "name": "alone"}}
    ledger.add([Job("alone/Dice/Die", old)])
    with pytest.raises(ConfigError, match=r"earlier version of chatdev.*\(alone/Dice/Die\).*Begin another study"):
        study.enter(ledger, jobs)
    assert Results.read(ledger).variants == ["alone"]
    ledger.close()


def test_equal_names_and_unknown_companies_are_refused() -> None:
    with pytest.raises(ConfigError, match="two variants are called 'single'"):
        variants(["single", "single"])
    with pytest.raises(ConfigError, match="singel"):
        variants(["singel"])


def test_the_events_of_a_run_are_where_its_row_says(lab: Lab) -> None:
    lab.run(lab.variants(lab.companies[0]))
    for row in lab.rows().values():
        records = list(read_journal(lab.folder / "study" / row["folder"] / "run" / "journal.jsonl"))
        assert records[-1]["kind"] == "RunFinished"


def test_a_ledger_gives_no_task_and_no_variant_of_its_own(lab: Lab) -> None:
    """A stranger's ledger could name a script as a hidden test, which runs with our rights, or another address."""
    study, ledger, [variant] = lab.study(), lab.ledger(), lab.variants(lab.companies[0])
    [job, *_] = jobs = list(study.jobs(study.data.tasks(), [variant]))
    mark = lab.folder / "mark"
    script = lab.write("evil.py", f"open({str(mark)!r}, 'w')\ndef accept(program): yield\n")
    for change in ({"acceptance": str(script)}, {"description": "something else"}):
        with pytest.raises(ConfigError, match="that the data set does not have so"):
            asyncio.run(study.work({**job.spec, "task": {**job.spec["task"], **change}}))
    assert not mark.exists()
    other = {**job.spec["variant"], "name": "x · scripted", "sets": ["model.base_url=http://127.0.0.1:9/v1"]}
    ledger.add([Job("x/a", {**job.spec, "variant": other})])
    with pytest.raises(ConfigError, match=r"open jobs of a variant that this command does not name \(x/a\)"):
        study.enter(ledger, jobs)
    ledger.close()
    spec = {**other, "fingerprint": Variant.of(other).fingerprint}  # of a failed job, which is tried again
    with pytest.raises(ConfigError, match="a variant 'x · scripted' that this command does not name"):
        asyncio.run(study.with_consent([variant]).work({**job.spec, "variant": spec}))
    assert lab.server.requests == []
