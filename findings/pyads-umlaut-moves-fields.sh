#!/usr/bin/env bash
# Guess: `bytes_from_dict` packs a text that fits its STRING into the STRING's bytes, so the fields behind it keep their places.
# Seen, pyads 3.6.0 (Python 3.11): the text is written as UTF-8 and filled up by its number of characters, so each umlaut moves all
# fields behind it by a byte: TRUE is read back as False, 1.5 as -1.06e270. With ASCII text the same structure is right.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pyads==3.6.0
cat > structure.py <<'PY'
import pyads

FIELDS = (("name", pyads.PLCTYPE_STRING, 1, 10), ("open", pyads.PLCTYPE_BOOL, 1), ("level", pyads.PLCTYPE_LREAL, 1))
right = pyads.size_of_structure(FIELDS)
seen = {}
for name in ("Tur", "Tür"):
    packed = bytes(pyads.bytes_from_dict({"name": name, "open": True, "level": 1.5}, FIELDS))
    read = pyads.dict_from_bytes(packed, FIELDS)
    seen[name] = len(packed), read["level"]
    print(f"{name}: {len(packed)} bytes of {right}, read back: {dict(read)}")
assert seen["Tur"] == (right, 1.5), "ASCII text is packed otherwise now"
assert seen["Tür"][0] == right + 1 and seen["Tür"][1] != 1.5, "the fields stay in their places now"
PY
venv/bin/python structure.py
