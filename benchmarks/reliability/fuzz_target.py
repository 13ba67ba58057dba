"""Fuzz one parser in this process: python -m benchmarks.reliability.fuzz_target TARGET [CORPUS] [libFuzzer options]"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["chatdev.replies", "chatdev.workspace"]):
    from chatdev.isolation.isolate import read_here
    from tests.fuzz.properties import PROPERTIES, decoded


def main() -> None:
    """Never returns: libFuzzer ends the process."""
    read_here()  # this process is the child: what takes a parser down is to be seen
    _, target, *options = sys.argv
    check = PROPERTIES[target]

    def one(data: bytes) -> None:
        check(decoded(data))

    atheris.Setup([sys.argv[0], *options], one, enable_python_coverage=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
