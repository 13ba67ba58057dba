"""What `import chatdev` offers, and what it must not load."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import chatdev
from chatdev import errors
from chatdev.version import __version__


def test_the_public_names_are_sorted_and_there() -> None:
    assert chatdev.__all__ == sorted(chatdev.__all__)
    for name in chatdev.__all__:
        assert getattr(chatdev, name).__doc__, f"{name} says what it is"


def test_the_package_says_its_version() -> None:
    assert chatdev.__version__ == __version__


def test_every_error_is_public() -> None:
    tree = {name for name, cls in vars(errors).items() if inspect.isclass(cls)}
    assert tree <= set(chatdev.__all__)


def test_completion_offers_the_names_that_are_loaded_late() -> None:
    assert set(chatdev.__all__) <= set(dir(chatdev))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Compny"):
        chatdev.Compny  # noqa: B018  (the access is what is tested)


@pytest.mark.parametrize("module", ["chatdev", "chatdev.cli.app"])
def test_importing_loads_no_model_client(module: str) -> None:
    heavy = {"openai", "aiohttp", "httpx", "httpx2", "tiktoken", "pydantic", "jinja2", "xllamacpp"}
    program = f"import sys, {module}; print(*({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_loading_a_company_needs_no_model_client() -> None:
    program = "import sys; from chatdev import Company; Company.load(); print('openai' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
