"""Tests with the real local model: skipped with the reason unless asked for, and then never skipped silently."""

from __future__ import annotations

import os

import pytest

from chatdev.llm.local.weights import installed_file


def require_local_model() -> None:
    """Skip unless CHATDEV_TEST_MODEL is set; fail with the hint when it is set and the model is missing."""
    if os.environ.get("CHATDEV_TEST_MODEL") != "1":
        pytest.skip("needs the local model: make test MODEL=1")
    if installed_file() is None:
        pytest.fail("the local model is missing; fetch it with: chatdev model pull")
