"""The present active of Latin verbs."""

from __future__ import annotations

import sys

ENDINGS = {
    "are": ("o", "as", "at", "amus", "atis", "ant"),
    "ere": ("eo", "es", "et", "emus", "etis", "ent"),
    "ire": ("io", "is", "it", "imus", "itis", "iunt"),
}


def main(arguments: list[str]) -> int:
    """Print the six forms of an infinitive."""
    verb = arguments[0].lower() if arguments else ""
    stem, ending = verb[:-3], verb[-3:]
    if not stem or ending not in ENDINGS:
        print("error: not an infinitive")
        return 1
    for form in ENDINGS[ending]:
        print(stem + form)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
