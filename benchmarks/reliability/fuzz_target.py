"""Fuzz one target in this process: python -m benchmarks.reliability.fuzz_target TARGET [CORPUS] [libFuzzer options]"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["chatdev"]):
    from chatdev.isolation.isolate import read_here
    from tests.fuzz.properties import decoded
    from tests.fuzz.targets import TARGETS

_MOST_FINALLY = 8  # nested, Python takes memory that doubles with each: a matter of the child and its limits


def main() -> None:
    """Never returns: libFuzzer ends the process."""
    _, name, *options = sys.argv
    target = TARGETS[name]
    if target.here:
        read_here()

    def one(data: bytes) -> None:
        text = decoded(data)
        if not target.here or text.count("finally") <= _MOST_FINALLY:
            target.check(text)

    atheris.Setup([sys.argv[0], *options], one, enable_python_coverage=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
