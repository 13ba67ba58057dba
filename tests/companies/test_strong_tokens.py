"""What strong models are sent for the same success: less than before, and little of it system messages."""

from __future__ import annotations

import pytest

from benchmarks.software.strong_models import read_scenarios
from benchmarks.software.strong_tokens import BEFORE, NOW, TABLE, count, measure, phase_of, table


def test_a_request_is_counted_by_its_parts() -> None:
    body = {"messages": [{"role": "system", "content": "x" * 40}, {"role": "user", "content": "y" * 80},
                         {"role": "assistant", "content": None}], "tools": ["z" * 96]}
    assert count(body) == {"system": 10, "messages": 20, "tools": 25}
    assert phase_of("parallel#1/branch-2/manual#1/round-1/assistant") == "manual, assistant"


def test_the_table_compares_those_that_succeed_in_both_builds() -> None:
    sent = [["coding, assistant", {"system": 20, "messages": 80, "tools": 0}]]
    less = [["coding, assistant", {"system": 5, "messages": 40, "tools": 5}]]
    text = table({BEFORE: {"a": {"status": "success", "sent": sent}, "b": {"status": "failure", "sent": sent}},
                  NOW: {"a": {"status": "success", "sent": less}, "b": {"status": "success", "sent": sent}}})
    assert "| a | 1 | 1 | 100 | 50 | 0.50 | 20% | 10% |" in text
    assert "| coding, assistant | 1 | 20 | 80 | 0 | 1 | 5 | 40 | 5 |" in text
    assert "| b |" not in text


@pytest.mark.tool
def test_a_success_takes_less_than_before_and_few_words_of_ours() -> None:
    row = measure(read_scenarios(["contacts"])[0])
    before = TABLE.read()[BEFORE]["contacts"]
    assert (row["status"], before["status"]) == ("success", "success")
    assert len(row["sent"]) <= len(before["sent"])
    system, everything = (sum(sum(one[part] for part in parts) for _, one in row["sent"])
                          for parts in (("system",), ("system", "messages", "tools")))
    assert system <= 0.2 * everything
    assert everything <= 0.7 * sum(sum(one.values()) for _, one in before["sent"])
