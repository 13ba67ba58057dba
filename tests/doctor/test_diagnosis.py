"""A diagnosis comes whatever the checks do: raise, hang, or find nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from chatdev.doctor.diagnosis import NEEDED, Probe, ProbeResult, absence, diagnose, fault, success
from chatdev.errors import ConfigError
from chatdev.safe_text import keep_secret

KEY = "sk-in-the-text-of-an-exception"


def probe(look: Callable[[], ProbeResult], provides: str = "") -> Probe:
    return Probe("group", "name", look, provides)


def raising(error: BaseException) -> Callable[[], ProbeResult]:
    def look() -> ProbeResult:
        raise error
    return look


@pytest.mark.parametrize(("error", "detail"), [
    (ConfigError("settings.yaml:1: no"), "settings.yaml:1: no"),
    (ZeroDivisionError("odd"), "this check failed: ZeroDivisionError: odd"),
    (OSError(f"{KEY} is no file"), "this check failed: OSError: [secret] is no file"),
])
def test_a_check_that_raises_is_a_finding_and_the_others_go_on(error: Exception, detail: str) -> None:
    keep_secret(KEY)
    diagnosis = diagnose([probe(raising(error)), probe(lambda: success("fine"))])
    assert [result for _, result in diagnosis.results] == [fault(detail), success("fine")]


def test_a_check_that_hangs_is_left_to_itself() -> None:
    released = threading.Event()

    def hang() -> ProbeResult:
        released.wait(30)
        return success("at last")

    started = time.monotonic()
    diagnosis = diagnose([probe(hang), probe(lambda: success("fine"))], seconds=0.2)
    released.set()
    assert time.monotonic() - started < 5
    assert [result.detail for _, result in diagnosis.results] == ["no answer in 0.2 seconds", "fine"]


def test_a_run_is_possible_when_every_need_is_met_by_something() -> None:
    needs = [probe(lambda: success("yes"), need) for need in NEEDED]
    assert diagnose(needs).unmet_needs == []
    one_way = diagnose([*needs, probe(lambda: fault("no"), "model")])
    assert one_way.unmet_needs == []
    assert not any(one_way.stops_runs(*one) for one in one_way.results)
    none = diagnose([*needs[:-1], probe(lambda: absence("no"), "model"), probe(lambda: fault("no"), "model")])
    assert none.unmet_needs == ["model"]
    assert [none.stops_runs(*one) for one in none.results] == [False, False, False, True, True]


def test_one_command_installs_all_that_is_absent() -> None:
    diagnosis = diagnose([probe(lambda: absence("no", packages=["git", "xvfb"])), probe(lambda: success("yes")),
                          probe(lambda: absence("no", packages=["xvfb", "gcc"]))])
    assert diagnosis.packages == ["git", "xvfb", "gcc"]
    assert diagnosis.results[0][1].fix == "apt-get install git xvfb"
