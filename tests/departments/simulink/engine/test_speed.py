"""A large model is built at once."""

from __future__ import annotations

import pytest

from benchmarks.simulink.chain import CHAINS, build_times


@pytest.mark.parametrize("chain", CHAINS)
def test_a_thousand_blocks_are_built_in_fifty_milliseconds(chain: str) -> None:
    assert min(build_times(CHAINS[chain], 7)) <= 50
