"""A diagnosis comes whatever the checks do: raise, hang, or find nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from chatdev.errors import ConfigError
from chatdev.runner.doctor.diagnosis import diagnose
from chatdev.runner.doctor.finding import NEEDED, Check, Found, absent, broken, works
from chatdev.secrets import keep

KEY = "sk-in-the-text-of-an-exception"


def check(look: Callable[[], Found], provides: str = "") -> Check:
    return Check("group", "name", look, provides)


def raising(error: BaseException) -> Callable[[], Found]:
    def look() -> Found:
        raise error
    return look


@pytest.mark.parametrize(("error", "detail"), [
    (ConfigError("settings.yaml:1: no"), "settings.yaml:1: no"),
    (ZeroDivisionError("odd"), "this check failed: ZeroDivisionError: odd"),
    (OSError(f"{KEY} is no file"), "this check failed: OSError: [secret] is no file"),
])
def test_a_check_that_raises_is_a_finding_and_the_others_go_on(error: Exception, detail: str) -> None:
    keep(KEY)
    diagnosis = diagnose([check(raising(error)), check(lambda: works("fine"))])
    assert [finding.found for finding in diagnosis.findings] == [broken(detail), works("fine")]


def test_a_check_that_hangs_is_left_to_itself() -> None:
    released = threading.Event()

    def hang() -> Found:
        released.wait(30)
        return works("at last")

    started = time.monotonic()
    diagnosis = diagnose([check(hang), check(lambda: works("fine"))], seconds=0.2)
    released.set()
    assert time.monotonic() - started < 5
    assert [finding.found.detail for finding in diagnosis.findings] == ["no answer in 0.2 seconds", "fine"]


def test_a_run_is_possible_when_every_need_is_met_by_something() -> None:
    needs = [check(lambda: works("yes"), need) for need in NEEDED]
    assert diagnose(needs).lacking == []
    one_way = diagnose([*needs, check(lambda: broken("no"), "model")])
    assert one_way.lacking == []
    assert not any(one_way.stops_runs(finding) for finding in one_way.findings)
    none = diagnose([*needs[:-1], check(lambda: absent("no"), "model"), check(lambda: broken("no"), "model")])
    assert none.lacking == ["model"]
    assert [none.stops_runs(finding) for finding in none.findings] == [False, False, False, True, True]


def test_one_command_installs_all_that_is_absent() -> None:
    diagnosis = diagnose([check(lambda: absent("no", packages=["git", "xvfb"])), check(lambda: works("yes")),
                          check(lambda: absent("no", packages=["xvfb", "gcc"]))])
    assert diagnosis.packages == ["git", "xvfb", "gcc"]
    assert diagnosis.findings[0].found.mend == "apt-get install git xvfb"
