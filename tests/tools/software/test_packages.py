"""Which packages a program needs, from its imports."""

from pathlib import Path

import pytest

from chatdev.sandbox.unconfined import Unconfined
from chatdev.tools.base import ToolContext
from chatdev.tools.registry import registry


@pytest.mark.parametrize(("files", "names"), [
    ({"main.py": b"import json, sys\nfrom todo import Store\n", "todo.py": b"import os\n"}, []),
    ({"main.py": b"import yaml\nfrom PIL import Image\nimport requests.adapters\n"}, ["pillow", "pyyaml", "requests"]),
    ({"main.py": b"import yaml\n", "broken.py": b"def (:\n"}, ["pyyaml"]),
    ({"index.html": b"<p>hi</p>"}, []),
])
def test_imports_from_outside_the_standard_library_and_the_program_are_named(
        files: dict[str, bytes], names: list[str], tmp_path: Path) -> None:
    context = ToolContext(files, {}, {}, Unconfined(), tmp_path, tmp_path)
    found = registry()["software.packages"].call(context, {})
    assert [name.lower() for name in found["names"]] == names
