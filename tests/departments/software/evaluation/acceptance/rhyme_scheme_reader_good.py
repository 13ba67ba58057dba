"""The rhyme scheme of a poem."""

from __future__ import annotations

import sys
from pathlib import Path
from string import ascii_uppercase


def main(arguments: list[str]) -> int:
    """Print the scheme."""
    text = Path(arguments[0]).read_text(encoding="utf-8")
    if not text.strip():
        print("no poem")
        return 1
    letters: dict[str, str] = {}
    stanzas = [""]
    for line in text.splitlines():
        if not line.strip():
            stanzas.append("")
            continue
        sound = ending(line)
        if sound not in letters:
            letters[sound] = ascii_uppercase[len(letters)]
        stanzas[-1] += letters[sound]
    print(" ".join(stanza for stanza in stanzas if stanza))
    return 0


def ending(line: str) -> str:
    """What rhymes: the last three letters of the last word."""
    words = ("".join(filter(str.isalpha, word)) for word in line.lower().split())
    return [word for word in words if word][-1][-3:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
