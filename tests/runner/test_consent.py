"""A stranger's company or `.env` sends nothing anywhere until the user has consented to just what it names."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import chatdev
from chatdev import Company, ConsentMissing, Run
from chatdev.config.load import find_company
from chatdev.config.settings import add_trust, outward_settings, trusted_digests
from chatdev.doctor.checks import all_probes
from chatdev.evaluation.measure import embedder_of
from chatdev.evaluation.study import Study
from chatdev.evaluation.variants import Variant
from chatdev.paths import bundled_folder
from chatdev.runner.consent import dotenv_stranger
from chatdev.runner.options import RunOptions
from chatdev.runner.resources import describe_models
from tests.engine.studio import WRITE, Studio
from tests.support.chat_server import ChatServer
from tests.support.shop import HELLO

MINE, THEIRS, AWS = "sk-mine-0123456789", "sk-theirs-0123456789", "aws-mine-0123456789"


@pytest.fixture
def studio(here: Path, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Studio:
    """A stage in the working directory of a user who has exported keys."""
    monkeypatch.setenv("OPENAI_API_KEY", MINE)
    monkeypatch.setenv("AWS_SECRET", AWS)
    chat_server.route(lambda _: HELLO)
    return Studio(here, chat_server)


def elsewhere(studio: Studio) -> str:
    """The server's address, written so that it does not count as this machine's."""
    return studio.server.url.replace("127.0.0.1", "0.0.0.0")


def grasping(studio: Studio, **model: str) -> Path:
    """A company that names an address, and a variable of the user's."""
    return studio.company({"write": WRITE}, model={"name": "m", "base_url": elsewhere(studio), "key_env": "AWS_SECRET",
                                                  **model})


def run(company: Path | str, *, sets: Sequence[str] = (), **options: Any) -> Run:
    return Company.load(company, sets=sets).run("TASK", sandbox="none", warehouse="warehouse", **options)


def keys_sent(studio: Studio) -> set[str]:
    """The keys that the server has seen."""
    sent = (request.headers.get("Authorization", "") for request in studio.server.requests)
    return {header.removeprefix("Bearer ") for header in sent if header}


def assert_refused(studio: Studio, refused: pytest.ExceptionInfo[ConsentMissing], *words: str) -> None:
    """It says what is named and how to consent; nothing was sent and nothing made."""
    assert not studio.server.requests
    assert not Path("warehouse").exists()
    for word in (*words, "chatdev trust ", "--trust", "trust=True"):
        assert word in str(refused.value)


def test_a_company_gets_no_variable_and_no_prompt_unasked(studio: Studio) -> None:
    company = grasping(studio)
    with pytest.raises(ConsentMissing) as refused:
        run(company)
    assert_refused(studio, refused, f"model m at {elsewhere(studio)} with the key in your variable AWS_SECRET (model)",
                   f"chatdev trust {company / 'company.yaml'}")
    assert run(company, trust=True).success
    assert keys_sent(studio) == {AWS}
    with pytest.raises(ConsentMissing):
        run(company)  # that was for one run


@pytest.mark.parametrize("place", ["roles", "phases"])
def test_neither_does_one_role_or_phase_of_it(studio: Studio, place: str) -> None:
    model = {"base_url": elsewhere(studio)}
    roles = {"chief": {"title": "Chief"}, "maker": {"title": "Maker", **({"model": model} if place == "roles" else {})}}
    company = studio.company({"write": {**WRITE, **({"model": model} if place == "phases" else {})}}, roles=roles)
    with pytest.raises(ConsentMissing) as refused:
        run(company, base_url="http://127.0.0.1:9/v1")
    assert_refused(studio, refused, f"the default model at {elsewhere(studio)} ({place}.")


def test_consent_on_record_holds_until_anything_changes(studio: Studio) -> None:
    company = grasping(studio)
    add_trust(Company.load(company).word.stranger().trust())
    assert run(company).success
    assert run(company, sets=["phases.write.rounds=3"]).success  # the user's own change
    file = company / "company.yaml"
    file.write_text(file.read_text().replace("WRITE {{ task }}", "WRITE {{ task }} and tell me all"))
    studio.server.requests.clear()
    with pytest.raises(ConsentMissing):
        run(company)
    assert not studio.server.requests


def test_consent_is_to_what_a_company_extends_and_quotes_too(studio: Studio, here: Path) -> None:
    child = here / "child"
    (child / "prompts").mkdir(parents=True)
    grasping(studio).rename(child / "stage")
    (child / "prompts" / "role.j2").write_text("You make.")
    (child / "company.yaml").write_text("company: child\nabout: x\nextends: stage\n"
                                        "roles: {maker: {prompt: {file: prompts/role.j2}}}\n")
    add_trust(Company.load(child).word.stranger().trust())
    assert run(child).success
    (child / "prompts" / "role.j2").write_text("You tell.")
    with pytest.raises(ConsentMissing):
        run(child)
    (child / "prompts" / "role.j2").write_text("You make.")
    assert run(child).success
    base = child / "stage" / "company.yaml"
    base.write_text(base.read_text().replace("name: m", "name: other"))
    with pytest.raises(ConsentMissing):
        run(child)


def test_what_the_user_sets_needs_no_consent(studio: Studio) -> None:
    company = grasping(studio)
    own = [f"model.base_url={elsewhere(studio)}", "model.key_env=AWS_SECRET"]
    assert run(company, sets=own).success
    assert run(company, base_url=studio.server.url).success, "a key that is named beside an address goes nowhere else"
    assert keys_sent(studio) == {AWS, MINE}
    with pytest.raises(ConsentMissing):
        run(company, sets=own[1:])


def test_a_company_that_is_a_value_is_the_callers_own(studio: Studio) -> None:
    loaded = Company.load(grasping(studio))
    assert Company(loaded.config).run("TASK", sandbox="none", warehouse="warehouse").success


def test_an_address_of_dotenv_needs_consent_and_gets_its_own_key(studio: Studio, here: Path) -> None:
    company = studio.company({"write": WRITE})
    (here / ".env").write_text(f"OPENAI_BASE_URL={elsewhere(studio)}\n")
    with pytest.raises(ConsentMissing) as refused:
        run(company, model="m")
    assert_refused(studio, refused, f"OPENAI_BASE_URL={elsewhere(studio)}", "none of yours goes there",
                   f"chatdev trust {here / '.env'}")
    add_trust(dotenv_stranger().trust())
    assert run(company, model="m").success
    assert keys_sent(studio) == set(), "an exported key goes to no address of `.env`"
    (here / ".env").write_text(f"OPENAI_BASE_URL={elsewhere(studio)}\nOPENAI_API_KEY={THEIRS}\n")
    with pytest.raises(ConsentMissing):
        run(company, model="m")
    assert run(company, model="m", trust=True).success
    assert keys_sent(studio) == {THEIRS}


def test_dotenv_on_this_machine_needs_none_and_gets_no_exported_key(studio: Studio, here: Path) -> None:
    (here / ".env").write_text(f"OPENAI_BASE_URL={studio.server.url}\n")
    assert run(studio.company({"write": WRITE}), model="m").success
    assert keys_sent(studio) == set()


def test_a_resumed_run_asks_anew_and_a_set_on_record_is_no_consent(studio: Studio) -> None:
    done = run(grasping(studio), trust=True, max_calls=1)
    plain = run(studio.company({"write": WRITE}), model="m", sets=[
        f"model.base_url={elsewhere(studio)}", "roles.maker.model.key_env=AWS_SECRET"])
    grasping(studio)
    for folder in (done.folder, plain.folder):
        studio.server.requests.clear()
        for as_it_was in (False, True):
            with pytest.raises(ConsentMissing):
                chatdev.resume(folder, since="write#1", as_it_was=as_it_was)
        assert not studio.server.requests
    add_trust(Company.load(studio.folder / "stage").word.stranger().trust())
    assert chatdev.resume(done.folder, since="write#1", sandbox="none").success


def test_a_record_borrows_no_consent_for_an_address_of_its_own(studio: Studio) -> None:
    company = studio.company({"write": WRITE}, model={"name": "m", "key_env": "AWS_SECRET"})
    done = run(company, trust=True, base_url=studio.server.url)
    add_trust(Company.load(company).word.stranger().trust())
    journal = done.folder / "run" / "journal.jsonl"
    first, rest = journal.read_text(encoding="utf-8").split("\n", 1)
    order = json.loads(first)
    order["source"]["sets"] = [f"phases.write.model.base_url={studio.server.url}"]  # on this machine
    journal.write_text(f"{json.dumps(order)}\n{rest}", encoding="utf-8")
    studio.server.requests.clear()
    with pytest.raises(ConsentMissing):
        chatdev.resume(done.folder, since="write#1", base_url=studio.server.url, company=company)
    assert not studio.server.requests


def test_workers_get_the_consent_that_was_given_here(studio: Studio) -> None:
    variant = Variant("grasping", str(grasping(studio) / "company.yaml"))
    study = Study(data=None, folder=Path("study"), trust=True)  # type: ignore[arg-type]  # no task is asked for
    sent = pickle.loads(pickle.dumps(study.with_consent([variant]))).trust
    assert not isinstance(sent, bool)
    assert run(variant.company, trust=sent).success
    grasping(studio, name="another")
    with pytest.raises(ConsentMissing):
        run(variant.company, trust=sent)
    assert Study(data=None, folder=Path("study")).with_consent([variant]).trust == trusted_digests()  # type: ignore[arg-type]


def test_an_embedder_of_dotenv_needs_consent(studio: Studio, here: Path) -> None:
    (here / ".env").write_text(f"OPENAI_BASE_URL={elsewhere(studio)}\n")
    with pytest.raises(ConsentMissing):
        embedder_of("endpoint:e")
    embedder_of("endpoint:e", trust=True)


def test_a_line_says_which_model_and_key_before_anything_is_sent(studio: Studio) -> None:
    word = Company.load(grasping(studio)).word
    said = describe_models(word, RunOptions())
    assert said == (f"model m at {elsewhere(studio)} (the company), key AWS_SECRET of the environment; needs your "
                    f"consent: chatdev trust {studio.folder / 'stage' / 'company.yaml'}")
    assert "consent" not in describe_models(word, RunOptions(trust=True))
    mixed = studio.company({"write": WRITE}, roles={"chief": {"title": "C"}, "maker": {
        "title": "M", "model": {"name": "big", "base_url": studio.server.url}}})
    assert describe_models(Company.load(mixed).word, RunOptions(model="small")) == (
        f"models big at {studio.server.url} (the company), no key (OPENAI_API_KEY of the environment is not for an "
        "address of the company) (maker); small at https://api.openai.com/v1, key OPENAI_API_KEY of the environment "
        "(chief)")


@pytest.mark.parametrize("name", sorted(path.parent.name for path in bundled_folder("company_config").glob(
    "*/company.yaml")))
def test_no_bundled_company_names_anything_and_none_is_shadowed(name: str, here: Path) -> None:
    for folder in (here / "company_config" / name, here / name):
        folder.mkdir(parents=True)
        (folder / "company.yaml").write_text("company: evil\n")
    assert find_company(name).parent == bundled_folder("company_config") / name
    assert not list(outward_settings(Company.load(name).config))


def test_a_secret_in_an_address_is_shown_nowhere(studio: Studio) -> None:
    company = grasping(studio)
    raw = yaml.safe_load((company / "company.yaml").read_text())
    raw["model"]["base_url"] = "https://ann:pw-0123456789@host.example/v1?key=abc-0123456789"
    (company / "company.yaml").write_text(yaml.safe_dump(raw))
    stranger = Company.load(company).word.stranger()
    assert "0123456789" not in str(stranger.trust())


def test_a_study_is_refused_before_there_is_a_job(studio: Studio) -> None:
    variant = Variant("grasping", str(grasping(studio) / "company.yaml"))
    with pytest.raises(ConsentMissing):
        Study(data=None, folder=Path("study"), sandbox="none").check([], [variant])  # type: ignore[arg-type]
    assert not studio.server.requests


def test_the_doctor_asks_no_address_of_dotenv_unasked(studio: Studio, here: Path) -> None:
    (here / ".env").write_text(f"OPENAI_BASE_URL={elsewhere(studio)}\n")
    (look,) = [probe.look for probe in all_probes(None) if probe.name == "endpoint"]
    assert (look().state, look().fix) == ("broken", "chatdev trust .env")
    assert not studio.server.requests
    add_trust(dotenv_stranger().trust())
    look()
    assert keys_sent(studio) == set(), "without a key of its own it gets none"
