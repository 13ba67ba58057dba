#!/usr/bin/env bash
# Guess: bit 0 of a status word is element 0 of the list that `convert_from_registers` makes of it.
# Seen, pymodbus 3.16.1 (Python 3.11): the two bytes of each register change places, so the value 1 sets element 8, and three
# flags are written as 0x0700. Back and forth it fits, so no round trip shows it. The list given is also made longer.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pymodbus==3.16.1
cat > bits.py <<'PY'
from pymodbus.client.mixin import ModbusClientMixin as Client

BITS = Client.DATATYPE.BITS
places = {value: Client.convert_from_registers([value], BITS).index(True) for value in (0x0001, 0x0080, 0x0100, 0x8000)}
print("place of the only bit of a register:", {f"{value:#06x}": place for value, place in places.items()})
flags = [True, True, True]
[written] = Client.convert_to_registers(flags, BITS)
print(f"three flags: {written:#06x}, as a number {Client.convert_from_registers([written], Client.DATATYPE.UINT16)}")
print("the caller's list afterwards:", len(flags), "elements")
assert places == {0x0001: 8, 0x0080: 15, 0x0100: 0, 0x8000: 7} and written == 0x0700, "the bits have other places now"
assert len(flags) == 16, "the caller's list is left alone now"
PY
venv/bin/python bits.py
