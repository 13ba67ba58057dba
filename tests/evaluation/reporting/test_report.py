"""What a report says, in all its forms, of rows made by hand."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatdev.batch.ledger import Job, Ledger
from chatdev.departments.software.evaluation.quality import METRICS, PAPER
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import STATISTICS
from chatdev.evaluation.plots import draw_differences
from chatdev.evaluation.reporting.formats import as_csv, as_json, as_page, as_text, table_text
from chatdev.evaluation.reporting.study_results import FailedJob, Results, estimate

HOSTILE = "<script>alert('$x^2$')</script>"
AREAS = ("Game", "Work")


def row(variant: str, number: int, quality: float, **more: Any) -> dict[str, Any]:
    area = AREAS[number % 2]
    return {"data": "srdd", "task": f"{area}/{number}", "name": f"Task {number}", "area": area, "category": "Sums",
            "variant": variant, **dict.fromkeys((*METRICS, *PAPER), quality), **dict.fromkeys(STATISTICS, 10 + number),
            "checks": 2, "checks_passed": 1, "failed_checks": "no words", "start": "clean_exit", "embedder": "lexical",
            "model": "small", "status": "success", "reason": "", "folder": f"{variant}/Task {number}#1", **more}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Two variants on six tasks: the second is better by 0.25 everywhere, could not be judged once, failed once, and
    is not done yet once."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"), "demo", most_tries=1)
    ledger.add(Job(f"{variant}/{n}", {"variant": {"name": variant}, "n": n})
               for n in range(6) for variant in ("plain", HOSTILE))
    for _ in range(11):
        claim = ledger.claim("worker")
        assert claim
        name, n = claim.spec["variant"]["name"], claim.spec["n"]
        better = name == HOSTILE
        if better and n == 4:
            ledger.fail(claim, f"ModelUnavailable: {HOSTILE}")
        else:
            unjudged = {"acceptance": None, "cost": None} if better and n == 3 else {}
            ledger.finish(claim, row(name, n, n / 10 + 0.25 * better, **unjudged), 1.0)
    yield ledger
    ledger.close()


@pytest.fixture
def results(ledger: Ledger) -> Results:
    return Results.read(ledger)


def test_means_are_over_what_was_judged(results: Results) -> None:
    assert results.variants == ["plain", HOSTILE]
    found = results.estimates("plain")
    assert found["quality"].mean == pytest.approx(0.25)
    assert found["quality"].n == 6
    assert results.estimates(HOSTILE)["acceptance"].n == 3
    assert results.estimates(HOSTILE)["quality"].n == 4
    assert results.estimates("plain", "Game")["quality"].mean == pytest.approx(0.2)
    assert results.unfinished == 1


def test_rows_of_earlier_versions_are_solved_where_every_check_was_passed() -> None:
    old = [{name: value for name, value in row("one", n, 1, acceptance=n / 2).items() if name != "solved"}
           for n in range(3)]
    assert Results("old", old, [], ["one"]).estimates("one")["solved"].mean == pytest.approx(1 / 3)


def test_differences_are_paired(results: Results) -> None:
    found = {d.metric: d for d in results.differences}
    assert (found["quality"].variant, found["quality"].against) == (HOSTILE, "plain")
    assert found["quality"].estimate.mean == pytest.approx(0.25)
    assert found["quality"].estimate.n == 4
    assert (found["acceptance"].estimate.n, found["acceptance"].better) == (3, 3)


def test_the_text_says_it_all(results: Results) -> None:
    text = as_text(results)
    assert "10 runs measured, 1 failed, 1 not done yet" in text
    assert "model: small\nconsistency by: lexical" in text
    assert re.search(r"plain +6 +0\.250 \[0\.\d{3}, 0\.\d{3}\]", text)
    assert "of 3" in text
    assert re.search(r"quality +4 +0\.250 \[0\.250, 0\.250\] +4 +0 +0", text), "4 equal differences are no clear one"
    assert re.search(r"Quality by area +Game +Work", text)
    assert f"{HOSTILE}/4 (tries: 1): ModelUnavailable" in text
    tables = text.partition("Failed jobs")[0]
    assert max(map(len, tables.splitlines())) <= 100


def test_the_csv_has_a_line_for_every_run_and_failed_job(results: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(results))))
    assert len(rows) == 11
    assert rows[0]["quality"] == "0.0"
    assert [r["acceptance"] for r in rows if r["job"] == f"{HOSTILE}/3"] == [""]
    assert [(r["status"], r["reason"]) for r in rows if r["job"] == f"{HOSTILE}/4"] == [
        ("failed", f"ModelUnavailable: {HOSTILE}")]


def test_the_json_has_everything(results: Results) -> None:
    found = json.loads(as_json(results))
    assert found["variants"][0]["metrics"]["quality"]["n"] == 6
    assert found["bootstrap"] == {"resamples": 4000, "level": 0.95, "seed": 0}
    assert {(entry["area"], entry["variant"]) for entry in found["areas"]} == {
        (area, name) for area in AREAS for name in ("plain", HOSTILE)}
    assert found["differences"][0]["low"] == pytest.approx(0.25)
    assert [failed["key"] for failed in found["failed"]] == [f"{HOSTILE}/4"]
    assert len(found["rows"]) == 10


def test_the_page_needs_nothing_beside_it_and_believes_nobody(results: Results, tmp_path: Path) -> None:
    page = as_page(results, tmp_path / "study", tmp_path / "elsewhere" / "report.html")
    assert HOSTILE not in page
    assert page.count("<script>") == 1
    assert "<b>lexical</b><span>consistency by</span>" in page
    assert not re.findall(r'(?:src|href)="(?!\.\./study/)[^"#]', page)
    assert 'href="../study/plain/Task%200%231/"' in page
    assert 'href="../study/plain/Task%200%231/run/report.md"' in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        text = "".join(ET.fromstring(drawing).itertext())
        assert "$x^2$" in text  # as it is, not as a formula
        assert "currentColor" in drawing
    assert "mathdefault" not in page
    assert page == as_page(results, tmp_path / "study", tmp_path / "elsewhere" / "report.html")


@pytest.mark.tool
def test_the_page_works_in_a_browser(results: Results, tmp_path: Path) -> None:
    assert shutil.which("chromium"), "this test needs chromium (apt-get install chromium)"
    file = tmp_path / "report.html"
    file.write_text(as_page(results, tmp_path, file), encoding="utf-8")
    shown = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                            f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()],
                           capture_output=True, text=True, timeout=60, check=True).stdout
    assert "How good is the software?" in shown
    assert "alert(" not in "".join(re.findall(r"<script>.*?</script>", shown, re.DOTALL))


def test_a_study_without_rows_has_a_report_too(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger.sqlite"), "demo")
    ledger.add([Job("a/1", {"variant": {"name": "a"}})])
    results = Results.read(ledger)
    assert "0 runs measured, 0 failed, 1 not done yet" in as_text(results)
    page = as_page(results, tmp_path, tmp_path / "report.html")
    assert "<b>1</b><span>job not done yet</span>" in page
    assert "Nothing is measured yet" in page
    assert as_csv(results) == "job,variant,status,reason\n"
    ledger.close()
    empty = Ledger(str(tmp_path / "ledger.sqlite"), "nope")
    with pytest.raises(ConfigError, match="there is no study 'nope'"):
        Results.read(empty)
    empty.close()


def test_a_task_counts_once_however_often_it_was_run(tmp_path: Path) -> None:
    rows = [row(name, task, quality, repeat=repeat) for name, values in (("one", (0, 0.5, 1)), ("two", (1, 1, 1)))
            for repeat, quality in enumerate(values, 1) for task in range(3)]
    results = Results("again", [*rows, row("two", 0, 1, repeat=4)], [], ["one", "two"])
    assert (results.count("two"), results.count_tasks("two")) == (10, 3)
    assert (results.estimates("one")["quality"].mean, results.estimates("one")["quality"].n) == (0.5, 3)
    [found] = [found for found in results.differences if found.metric == "quality"]
    assert (found.estimate.mean, found.estimate.n, found.better) == (0.5, 3, 3)
    assert re.search(r"two +10 +1\.000 \[1\.000, 1\.000\] ", as_text(results))


def test_easy_tasks_are_divided_by_way_and_layout_too(tmp_path: Path) -> None:
    rows = [row("one", n, 0.5, solved=n % 2, way=("file", "stdin")[n % 2], layout="table") for n in range(4)]
    results = Results("easy", rows, [], ["one"])
    assert ("way", "solved") in results.divisions
    assert ("layout", "solved") not in results.divisions  # there is one only
    assert re.search(r"Solved by way +file +stdin\n─+\none +0\.000 \(2\) +1\.000 \(2\)", as_text(results))
    assert "Solved by way" in as_page(results, tmp_path, tmp_path / "report.html")
    assert [(one["by"], one["part"], one["metrics"]["solved"]["mean"])
            for one in json.loads(as_json(results))["divisions"]][:2] == [("way", "file", 0), ("way", "stdin", 1)]


def test_the_floor_is_what_a_program_gets_that_only_refuses(tmp_path: Path) -> None:
    rows = [row("one", n, 0.5, checks=4, refusals=n) for n in (0, 1, 2)]
    rows.append(row("one", 1, 0, checks=1, refusals=0))  # nothing was delivered
    sentence = "A program that rejects everything would pass 25.0% of these checks;"
    results = Results("easy", rows, [], ["one"])
    assert f"{sentence} its acceptance is 0.000, because error checks count only after the example passes." in \
        as_text(results)
    assert sentence in as_page(results, tmp_path, tmp_path / "report.html")
    assert json.loads(as_json(results))["floor"] == {"passed": 0.25, "acceptance": 0}
    assert "rejects everything" not in as_text(Results("old", [row("one", 1, 0.5)], [], ["one"]))


def test_of_many_failed_jobs_the_text_lists_some(tmp_path: Path) -> None:
    results = Results("bad", [], [FailedJob(f"a/{n}", "a", "no key", 3) for n in range(1000)], ["a"])
    assert "  a/9 (tries: 3): no key\n  … and 990 more; --format csv, json and html have all" in as_text(results)
    assert len(as_csv(results).splitlines()) == 1001


def test_rows_of_another_data_set_need_no_metrics_of_ours(tmp_path: Path) -> None:
    rows = [{"job": "a/1", "data": "circuits", "task": "1", "name": "A counter", "area": "", "category": "Circuits",
             "variant": "a", "folder": "a/1", "passes": 1.0}]
    results = Results("circuits", rows, [FailedJob("a/2", "a", "no key", 3)], ["a"])
    assert "1 run measured, 1 failed" in as_text(results)
    page = as_page(results, tmp_path, tmp_path / "report.html")
    assert "A counter" in page
    assert "consistency by" not in page
    assert as_csv(results).splitlines()[1:] == ["a/1,circuits,1,A counter,,Circuits,a,a/1,1.0,,",
                                                "a/2,,,,,,a,,,failed,no key"]


def test_each_line_of_a_plot_stands_at_its_name(tmp_path: Path) -> None:
    rows = [row(name, n, 0.5, acceptance=None if name == "untested" else 0.5, checks=0)
            for name in ("first", "untested", "tested") for n in range(3)]
    drawing = draw_differences(Results("study", rows, [], ["first", "untested", "tested"]))
    names = [text.strip() for text in ET.fromstring(drawing).itertext() if "tested" in text]
    assert names == ["untested", "tested"]


def test_one_variant_and_one_run_are_enough(tmp_path: Path) -> None:
    results = Results("one", [row("only", 1, 0.5, area="")], [], ["only"])
    assert re.search(r"only +1 +0\.500 +0\.500", as_text(results))
    page = as_page(results, tmp_path, tmp_path / "report.html")
    assert "Who is better" not in page
    assert "Where does it work" not in page


@pytest.mark.parametrize(("values", "clear"), [
    ([0.25] * 4, False), ([0.2, 0.3, 0.25, 0.2, 0.3], False), ([0.2, 0.3, 0.25, 0.2, 0.3, 0.3], True),
    ([0.25] * 9, False), ([-0.002, -0.002], False), ([0.2, -0.3, 0.25, -0.2, 0.3, 0.1], False)])
def test_few_tasks_or_equal_values_make_no_difference_clear(values: list[float], clear: bool) -> None:
    assert estimate(values).is_clear == clear


def test_a_table_of_many_columns_becomes_several(results: Results) -> None:
    lines = [["Means", *(f"metric {n}" for n in range(20))],
             ["a variant with a long name " * 4, *["0.395 [0.312, 0.478]"] * 20], ["b", *map(str, range(20))]]
    shown = table_text(lines).splitlines()
    assert max(map(len, shown)) <= 100
    assert sum(line.startswith("Means") for line in shown) == sum(line.startswith("b ") for line in shown) == 10
    assert [number for line in shown if line.startswith("b ") for number in line.split()[1:]] == [*map(str, range(20))]
