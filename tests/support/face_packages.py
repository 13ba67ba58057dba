"""Packages of strangers that hand in a department: modules and metadata in a folder, as an installation leaves them."""

from __future__ import annotations

import textwrap
from pathlib import Path

TANK = """\
company: tank
about: Says how many litres flow into a tank.
inputs: {task: {about: The question., required: true}}
roles: {engineer: {title: Engineer}}
phases:
  answer: {about: Say how many litres., assistant: engineer, reads: [task], writes: answer, opening: "{{ task }}"}
chain: [{phase: answer}, {tool: value.check, reads: [answer], writes: test}]
success: test.passed
"""


def put_package(folder: Path, name: str, rows: str = "", *, department: str = "", **modules: str) -> str:
    """Make `folder / name` a place with the package `name`, whose face has these `rows`, and return it for the path.

    `modules` are the texts of its modules; `__init__` replaces the face.
    """
    department = department or name
    root = folder / name
    (root / name).mkdir(parents=True, exist_ok=True)
    face = ("from pathlib import Path\nfrom chatdev.department import Command, Department\n"
            f"department = Department(name={department!r}, {rows})\n")
    for module, text in {"__init__": face, **modules}.items():
        (root / name / f"{module}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    metadata = root / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{name}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[chatdev.departments]\n{department} = {name}:department\n",
                                               encoding="utf-8")
    return str(root)


def put_company(folder: Path, package: str, name: str = "tank", text: str = TANK) -> Path:
    """A company in a package's folder `companies`, put there before the package; its folder."""
    company = folder / package / package / "companies" / name
    company.mkdir(parents=True)
    (company / "company.yaml").write_text(text, encoding="utf-8")
    return company
