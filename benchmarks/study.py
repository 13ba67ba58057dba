"""What every study writes down: a JSON file below benchmarks/results/, and tables between the markers of a page."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS_FOLDER = ROOT / "benchmarks" / "results"


def machine() -> str:
    """The machine in words: system, processor, cores."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def read_results(path: Path) -> dict[str, Any]:
    """What a study wrote down before; empty when there is nothing yet."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_results(path: Path, study: Mapping[str, Any]) -> None:
    """Write a study's results, readable for people too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(study, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put `text` between two marker lines of the page; raises ValueError when they are missing."""
    content = page.read_text(encoding="utf-8")
    before, found_begin, rest = content.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"{page} lacks the lines {begin!r} and {end!r}; add them where the table belongs")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class SizedStudy:
    """A study whose size one option sets. In its full size its results are written down, and its tables to the page."""

    option: str
    full: int
    measure: Callable[[int], Mapping[str, Any]]
    tables: Callable[[Mapping[str, Any]], str]
    results: Path
    page: Path
    marks: tuple[str, str]

    def main(self, about: str | None) -> None:
        """Measure as the command line says, and print the tables; `about` is the docstring of the study's module."""
        parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
        parser.add_argument(f"--{self.option}", dest="size", type=int, default=self.full)
        size = parser.parse_args().size
        found = self.measure(size)
        if size == self.full:
            write_results(self.results, found)
            write_between(self.page, *self.marks, self.tables(found))
        print(self.tables(found))


@dataclass(frozen=True, slots=True)
class KeptStudy:
    """A study whose results are kept, so that its page can be written again without measuring. `numbers` are further
    options of the command line: their defaults, and their help; `measure` gets all by name."""

    measure: Callable[..., Mapping[str, Any]]
    tables: Callable[[Mapping[str, Any]], str]
    results: Path
    page: Path
    marks: tuple[str, str]
    numbers: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def main(self, about: str | None) -> None:
        """Measure, or only write the page, and print the tables; `about` is the docstring of the study's module."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
        for name, (default, text) in self.numbers.items():
            parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (default: %(default)s)")
        options = vars(parser.parse_args())
        if not options.pop("write"):
            write_results(self.results, self.measure(**options))
        told = self.tables(read_results(self.results))
        write_between(self.page, *self.marks, told)
        print(told)


def markdown_table(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown; bars within cells become slashes."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)
