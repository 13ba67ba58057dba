"""Which model is used, and where settings come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.config.load import load_company
from chatdev.config.profiles import ModelProfile, ModelSettings, Price, profile_for
from chatdev.config.settings import Environ, UserSettings, default_model, environ, read_dotenv, resolve, user_settings
from chatdev.errors import ConfigError
from tests.config.tiny import tiny


def named(folder: Path, *sets: str, default: ModelSettings | None = None) -> ModelSettings:
    """The model of the coder while coding."""
    company = load_company(tiny(folder), sets=sets)
    return resolve(company, company.phases["coding"], company.roles["coder"], default or ModelSettings())


def test_phase_goes_before_role_before_default_before_company(tmp_path: Path) -> None:
    ranks = ["model.name=a", "roles.coder.model.name=c", "phases.coding.model.name=d"]
    default = ModelSettings(name="b")
    assert [named(tmp_path, *ranks[:n], default=default).name for n in (1, 2, 3)] == ["b", "c", "d"]
    assert named(tmp_path, "model.name=a").name == "a"


def test_every_field_has_its_own_rank(tmp_path: Path) -> None:
    settings = named(tmp_path, "model.temperature=0.2", "roles.coder.model.temperature=0", "model.seed=7",
                     default=ModelSettings(name="b", base_url="http://x"))
    assert settings == ModelSettings(name="b", base_url="http://x", temperature=0, seed=7)


def test_the_default_is_flag_then_environment_then_user_then_dotenv() -> None:
    user, process, file = UserSettings(model="u"), {"CHATDEV_MODEL": "p"}, {"CHATDEV_MODEL": "f"}
    none: dict[str, str] = {}
    assert default_model("flag", user=user, process=process, file=file).name == "flag"
    assert default_model(user=user, process=process, file=file).name == "p"
    assert default_model(user=user, process=none, file=file).name == "u"
    assert default_model(user=UserSettings(), process=none, file=file).name == "f"
    assert default_model(user=UserSettings(), process=none, file=none) == ModelSettings()
    urls = {"OPENAI_BASE_URL": "http://file"}
    assert default_model(user=UserSettings(base_url="http://u"), process=none, file=urls).base_url == "http://u"


def test_a_blank_model_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="the model name ' ' is blank"):
        default_model(" ", user=UserSettings(), process={}, file={})


def test_this_users_own_places_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("CHATDEV_MODEL", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    monkeypatch.chdir(tmp_path)
    assert default_model() == ModelSettings()
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://from.file", encoding="utf-8")
    (tmp_path / "chatdev").mkdir()
    (tmp_path / "chatdev" / "settings.yaml").write_text("model: mine\nwarehouse: /runs\n", encoding="utf-8")
    assert default_model() == ModelSettings(name="mine", base_url="http://from.file")
    assert user_settings().warehouse == "/runs"


@pytest.mark.parametrize(("text", "message"), [
    ("modl: x", "settings.yaml:1: modl: unknown key 'modl'; did you mean 'model'? known: model, provider, base_url"),
    ("api_key: sk-1", "unknown key 'api_key'"),
    ("sandbox: chroot", "sandbox: 'chroot' is not possible here; known: bubblewrap, docker, none"),
    ("- a", "holds a list"),
    ("models: [{match: ['x'], pric: 3}]", "models.0.pric: unknown key 'pric'; did you mean 'price'"),
])
def test_broken_user_settings_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "settings.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        user_settings(tmp_path / "settings.yaml")
    assert message in str(refused.value)


def test_dotenv_reads_plain_lines(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# keys\n\nA=1\nexport B = two words \nC='q=r'\nD=\"\"\n", encoding="utf-8")
    assert dict(read_dotenv(tmp_path)) == {"A": "1", "B": "two words", "C": "q=r", "D": ""}
    assert dict(read_dotenv(tmp_path / "nowhere")) == {}


@pytest.mark.parametrize(("line", "value"), [
    ("A=b # why", "b"), ("A=b#c", "b#c"), ("A=#b", "#b"), ("A='b # c' # why", "b # c"), ('A="b # c"', "b # c"),
    ("A=${HOME}/$USER", "${HOME}/$USER"), ('A="${HOME}"', "${HOME}"), (r'A="one\ntwo"', "one\ntwo"),
    ("A='one\ntwo'", "one\ntwo"), (r"A=one\ntwo", r"one\ntwo"), ("A =  b", "b"), ("A=b=c", "b=c"), ("\ufeffA=b", "b"),
    ("A=b\r\nB=c\r\n", "b"), ("A=first\nA=b", "b"), ("\n\n  export\tA='b'", "b"), ("A=größe", "größe"),
])
def test_dotenv_reads_a_value_as_python_dotenv_does(tmp_path: Path, line: str, value: str) -> None:
    (tmp_path / ".env").write_bytes(line.encode())
    assert read_dotenv(tmp_path)["A"] == value


@pytest.mark.parametrize(("text", "line"), [
    ("A=1\n\n \nsk-very-secret\nB=2", 4), ("A='very-secret\nB=2", 1), ('A="secret" more\n', 1), ("=secret", 1),
    ("sk-secret=1", 1), ("A=1\r\n# fine\r\nexport very-secret\r\n", 3), ("größe=secret", 1), ("A='1' B='secret'", 1),
])
def test_what_is_no_setting_is_refused_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / ".env").write_bytes(text.encode())
    with pytest.raises(ConfigError, match=f".env:{line}: this line is not `NAME=value`; fix it") as refused:
        read_dotenv(tmp_path)
    assert "secret" not in str(refused.value)


def test_a_broken_dotenv_names_the_line_but_no_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nsk-very-secret\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=".env:2: this line is not `NAME=value`") as refused:
        read_dotenv(tmp_path)
    assert "secret" not in str(refused.value)
    (tmp_path / ".env").write_bytes(b"A=\xff")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_dotenv(tmp_path)


def test_the_process_goes_before_dotenv_and_empty_is_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\n", encoding="utf-8")
    monkeypatch.setenv("A", "process")
    monkeypatch.setenv("B", "")
    found = environ(tmp_path)
    assert (found["A"], found["B"]) == ("process", "file")


def test_variables_do_not_show_in_a_repr() -> None:
    assert repr(Environ({"OPENAI_API_KEY": "sk-secret"})) == "Environ(1 variables)"


def test_the_local_model_has_small_limits() -> None:
    for name in ("local", "local:/models/x.gguf", "LOCAL"):
        profile = profile_for(name)
        assert (profile.context, profile.rounds, profile.questions, profile.native_tools) == (16384, 3, 1, False)
        assert profile.cost(1000, 1000) == 0


def test_an_unknown_model_has_no_price() -> None:
    profile = profile_for("some/model")
    assert (profile.cost(1, 1), profile.context, profile.rounds, profile.native_tools) == (None, None, None, False)


def test_prices_are_per_million_tokens() -> None:
    assert profile_for("gpt-4o-mini").cost(1_000_000, 2_000_000) == pytest.approx(0.15 + 1.2)


@pytest.mark.parametrize(("name", "price"), [
    ("gpt-4o", 2.5), ("gpt-4o-2024-08-06", 2.5), ("gpt-4o-mini-2024-07-18", 0.15), ("gpt-4.1", 2),
    ("gpt-4.1-mini", 0.4), ("gpt-5", 1.25), ("gpt-5-mini", 0.25), ("gpt-5.9", None), ("gpt-4o-audio", None),
])
def test_a_price_is_known_for_exactly_its_models(name: str, price: float | None) -> None:
    found = profile_for(name).price
    assert (found.prompt if found else None) == price


def test_own_entries_go_first_field_by_field() -> None:
    own = [ModelProfile(match=["gpt-4o*"], rounds=2), ModelProfile(match=["mine"], price=Price(prompt=1, completion=2)),
           ModelProfile(match=["gpt-4o"], price=None)]
    assert profile_for("gpt-4o", own).rounds == 2
    assert profile_for("gpt-4o", own).context == 128000
    assert profile_for("gpt-4o", own).price is None
    assert profile_for("mine", own).cost(1_000_000, 0) == 1


@pytest.mark.parametrize("field", [
    {"context": 0}, {"rounds": 0}, {"match": []}, {"price": {"prompt": -1, "completion": 0}},
])
def test_impossible_profiles_are_refused(field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ModelProfile.model_validate({"match": ["x"], **field})
