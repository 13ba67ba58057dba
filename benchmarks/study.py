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
DOCS, RESULTS_FOLDER = ROOT / "docs", ROOT / "benchmarks" / "results"


def machine() -> str:
    """The machine in words: system, processor, cores."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def read_results(path: Path) -> dict[str, Any]:
    """What a study wrote down before; empty when there is nothing yet."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write_results(path: Path, study: Mapping[str, Any]) -> None:
    """Write a study's results, readable for people too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(study, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def marks(name: str, program: str) -> tuple[str, str]:
    """The lines around a table of this name, which `python -m benchmarks.` and `program` write."""
    return f"<!-- {name}: written by python -m benchmarks.{program} -->", f"<!-- end of {name} -->"


@dataclass(frozen=True, slots=True)
class KeptTable:
    """The table between two marks of a page, made by `tables` from what `results` keeps: a file, or the folder of
    several that `tables` reads itself. Where nothing is kept, nothing stands between the marks."""

    tables: Callable[[Mapping[str, Any]], str]
    results: Path
    page: Path
    marks: tuple[str, str]

    def read(self) -> dict[str, Any]:
        """The results that are kept; empty when there are none."""
        return read_results(self.results)

    def text(self) -> str:
        """What belongs between the marks."""
        return self.tables(self.read()) if self.results.exists() else ""

    @property
    def is_up_to_date(self) -> bool:
        """Whether that stands there; raises ValueError when the marks are missing."""
        return self._page_with(self.text()) == self.page.read_text(encoding="utf-8")

    def write(self) -> str:
        """Put it there, and return it; raises ValueError when the marks are missing."""
        text = self.text()
        self.page.write_text(self._page_with(text), encoding="utf-8")
        return text

    def keep(self, results: Mapping[str, Any]) -> str:
        """Keep these results, write the page from them, and return what stands there."""
        write_results(self.results, results)
        return self.write()

    def _page_with(self, text: str) -> str:
        begin, end = self.marks
        before, found_begin, rest = self.page.read_text(encoding="utf-8").partition(begin)
        _, found_end, after = rest.partition(end)
        if not found_begin or not found_end:
            raise ValueError(f"{self.page} lacks the lines {begin!r} and {end!r}; add them where the table belongs")
        return before + "\n".join(filter(None, (begin, text, end))) + after


@dataclass(frozen=True, slots=True)
class SizedStudy(KeptTable):
    """A study whose size one option sets. In its full size its results are kept, and its tables written to the page."""

    option: str
    full: int
    measure: Callable[[int], Mapping[str, Any]]

    def main(self, about: str | None) -> None:
        """Measure as the command line says, and print the tables; `about` is the docstring of the study's module."""
        parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
        parser.add_argument(f"--{self.option}", dest="size", type=int, default=self.full)
        size = parser.parse_args().size
        found = self.measure(size)
        print(self.keep(found) if size == self.full else self.tables(found))


@dataclass(frozen=True, slots=True)
class KeptStudy(KeptTable):
    """A study that one command measures, or writes to its page without measuring. `numbers` are further options of the
    command line: their defaults, and their help; `measure` gets all by name."""

    measure: Callable[..., Mapping[str, Any]]
    numbers: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def main(self, about: str | None) -> None:
        """Measure, or only write the page, and print the tables; `about` is the docstring of the study's module."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
        for name, (default, text) in self.numbers.items():
            parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (default: %(default)s)")
        options = vars(parser.parse_args())
        print(self.write() if options.pop("write") else self.keep(self.measure(**options)))


@dataclass(frozen=True, slots=True)
class PartStudy(KeptTable):
    """A study of several parts: each is kept as soon as it is done, and `--resume` keeps those that are there. A part
    that cannot be measured here returns None, after it has said why, and what is kept of it stays."""

    parts: Mapping[str, Callable[[], Any]]

    def main(self, about: str | None) -> None:
        """Measure the parts, or only write the page, and print the tables; `about` is the docstring of the module."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--resume", action="store_true", help="keep the parts that were measured before")
        parser.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
        options = parser.parse_args()
        results = self.read()
        for name, measure in self.parts.items():
            if options.write or (options.resume and name in results):
                continue
            found = measure()
            if found is not None:
                results |= {name: found, "machine": machine()}
                write_results(self.results, results)
        print(self.write())


def markdown_table(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown; bars within cells become slashes."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)
