"""What every company says to small and to strong models: no two sentences of a prompt contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest

from chatdev.config.load import companies, load_company
from chatdev.config.phases import Surroundings, system_prompt
from chatdev.config.preview import known_values
from chatdev.config.profiles import Sizes
from chatdev.events import Speaker

Voice = Literal["small", "any"]
NAMES = [company.name for company in companies()]
CONTRADICTIONS = {
    "a value and nothing else, and a marker before it": (r"and nothing else", r"begins with this line"),
    "one of these words, and a marker before it": (r"exactly one of:", r"begins with this line"),
    "a patch, and no code": (r"PATCH:", r"[Nn]o code\b"),
    "all problems, and one at a time": (r"every problem",
                                        r"[Oo]ne instruction per message|[Nn]ame one\b|the first thing"),
    "documents, and a choice": (r"Write documents in", r"exactly one of:"),
    "documents, and a value": (r"Write documents in", r"one JSON value"),
}


def systems(company: str, voice: Voice) -> Iterator[tuple[str, bool, str]]:
    """The system messages of a company for this voice: where, whether there is a colleague, and the text."""
    config = load_company(company)
    for name, phase in config.phases.items():
        values = known_values(config, phase, {"task": "Make something."})
        found = Surroundings(values, native_tools=True, documents_language="English", sizes=Sizes(program=voice))
        sides: list[tuple[Speaker, str | None]] = [("instructor", phase.instructor), ("assistant", phase.assistant)]
        for speaker, role in sides:
            if role:
                yield f"{name}/{speaker}", phase.instructor is not None, system_prompt(config, name, speaker, found)


@pytest.mark.parametrize("voice", ["small", "any"])
@pytest.mark.parametrize("company", NAMES)
def test_no_prompt_contradicts_itself(company: str, voice: Voice) -> None:
    found = [f"{place}: {what}" for place, _, text in systems(company, voice)
             for what, (one, other) in CONTRADICTIONS.items() if re.search(one, text) and re.search(other, text)]
    assert found == []


@pytest.mark.parametrize("voice", ["small", "any"])
@pytest.mark.parametrize("company", NAMES)
def test_nobody_is_told_of_a_colleague_who_is_not_there(company: str, voice: Voice) -> None:
    told = re.compile(r"colleague,|your colleague|tells you what to do|does the work that you ask for")
    assert [place for place, together, text in systems(company, voice) if not together and told.search(text)] == []


@pytest.mark.parametrize("company", NAMES)
def test_a_strong_model_is_told_less_of_how_to_behave(company: str) -> None:
    def length(voice: Voice) -> int:
        return sum(len(text) for _, _, text in systems(company, voice))

    assert length("any") < length("small")


def test_a_contradiction_is_seen() -> None:
    one, other = CONTRADICTIONS["a patch, and no code"]
    text = "Leave the writing to them: no code. PATCH: the new text of this line"
    assert re.search(one, text)
    assert re.search(other, text)
