"""Which tables of docs/ are those of the results that are kept; `--write` writes them anew without measuring.

    python -m benchmarks [--write [PAGE …]]
"""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks.study import DOCS, ROOT, KeptTable


def find_tables() -> list[KeptTable]:
    """Those that modules which import study.py define, by page; other modules may run in an interpreter of their own,
    with packages that are not here."""
    paths = [path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / "benchmarks").rglob("*.py"))
             if "from benchmarks.study import" in path.read_text(encoding="utf-8")]
    values = [value for path in paths for value in vars(import_module(".".join(path.parts))).values()]
    every = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return sorted({id(one): one for one in every if isinstance(one, KeptTable)}.values(), key=lambda table: table.page)


def main() -> None:
    """Write what is asked for, and list all tables."""
    tables = find_tables()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", nargs="*", metavar="PAGE", choices=sorted({table.page.stem for table in tables}),
                        help="write the tables of these pages, such as verilog, or of all")
    pages = parser.parse_args().write
    for table in tables:
        if pages == [] or table.page.stem in (pages or []):
            table.write()
        state = "up to date" if table.is_up_to_date else "out of date"
        print(f"{state:<11}  {table.page.relative_to(DOCS)}  {table.marks[0]}")


if __name__ == "__main__":
    main()
