"""Where companies lie, and what of a company lies outside its YAML file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from chatdev.config.nearest import known
from chatdev.config.source import KeyPath, Node, read_text, shown
from chatdev.errors import ConfigError
from chatdev.paths import bundled

COMPANY_FILE = "company.yaml"
_TEMPLATES: tuple[tuple[str, ...], ...] = (
    ("background",), ("roles", "*", "prompt"), ("phases", "*", "opening"), ("phases", "*", "guidance", "*"),
    ("protocol", "*"), ("protocol", "problems", "*"),
)


def find_company(name_or_path: str | Path) -> Path:
    """The YAML file of a company, given as a folder with `company.yaml`, as a YAML file, or as a name, looked for in
    `./company_config` and among the bundled ones. Raises ConfigError listing the companies there are."""
    given = str(name_or_path)
    path = Path(given)
    if given and _is_file(path / COMPANY_FILE):
        return path / COMPANY_FILE
    if path.suffix in (".yaml", ".yml") and _is_file(path):
        return path
    names = {folder.name: folder for folder in company_folders()}
    if given in names:
        return names[given] / COMPANY_FILE
    if os.sep in given or path.suffix in (".yaml", ".yml"):
        raise ConfigError(f"there is no company at {given!r}; give a YAML file, a folder with {COMPANY_FILE}, or the "
                          f"name of a company: {', '.join(names)}")
    raise ConfigError(f"there is no company {given!r}; {known(given, names)}")


def company_folders() -> Iterator[Path]:
    """The folders that hold a company: those of `./company_config` first, each name once."""
    seen: set[str] = set()
    for root in (Path("company_config"), bundled("company_config")):
        for file in sorted(root.glob(f"*/{COMPANY_FILE}")):
            if file.parent.name not in seen:
                seen.add(file.parent.name)
                yield file.parent


def with_texts(root: Node, folder: Path) -> Node:
    """The YAML with every template written as `{file: prompts/x.j2}` replaced by the text of that file.

    Files lie inside the company's folder; raises ConfigError when one does not, or cannot be read.
    """
    return _with_texts(root, folder.resolve(), ())


def _with_texts(node: Node, folder: Path, path: KeyPath) -> Node:
    if not isinstance(node.value, dict) or not _leads_to_template(path):
        return node
    if set(node.value) == {"file"} and _is_template(path):
        return _text(node.value["file"], folder)
    return Node({key: _with_texts(child, folder, (*path, key)) for key, child in node.value.items()}, node.place)


def _text(node: Node, folder: Path) -> Node:
    name = node.value
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"{node.place}: {name!r} is not a file name; write e.g. `file: prompts/coding.j2`")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise ConfigError(f"{node.place}: the file {name!r} lies outside the company's folder {shown(folder)}; move it "
                          "there")
    if not _is_file(path):
        raise ConfigError(f"{node.place}: there is no file {name!r} in {shown(folder)}; create it or mend the name")
    return Node(read_text(path), f"{shown(path)}:1")


def _leads_to_template(path: KeyPath) -> bool:
    return any(_matches(pattern[: len(path)], path) for pattern in _TEMPLATES)


def _is_template(path: KeyPath) -> bool:
    return any(_matches(pattern, path) for pattern in _TEMPLATES)


def _matches(pattern: tuple[str, ...], path: KeyPath) -> bool:
    return len(pattern) == len(path) and all(p in ("*", key) for p, key in zip(pattern, path, strict=True))


def _is_file(path: Path) -> bool:
    """Whether there is a file; a name too long or otherwise impossible is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
