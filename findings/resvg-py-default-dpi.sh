#!/usr/bin/env bash
# Guess: an SVG whose size is in millimetres or points, as plotting programs write it, is rendered at 96 dots an inch,
# which SVG and CSS say.
# Seen, resvg_py 0.5.0 (Python 3.11): the default `dpi=0` makes every such size 0, and the picture is refused ("SVG has an
# invalid size"); the same file with `dpi=96` is rendered, and sizes in pixels are never affected.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check resvg_py==0.5.0
cat > sizes.py <<'PY'
import resvg_py

PAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}"><rect width="10" height="10"/></svg>'


def said(size: str, **options: int) -> str:
    try:
        return f"{len(resvg_py.svg_to_bytes(svg_string=PAGE.format(size=size), **options)) > 0}"
    except (ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"


seen = {(size, dpi): said(size, **({"dpi": dpi} if dpi else {})) for size in ("20px", "20mm", "20pt") for dpi in (0, 96)}
for (size, dpi), text in seen.items():
    print(f"{size}, {f'dpi={dpi}' if dpi else 'default'}: {text}")
assert all(seen[size, 96] == "True" for size in ("20px", "20mm", "20pt")) and seen["20px", 0] == "True"
assert all("invalid size" in seen[size, 0] for size in ("20mm", "20pt")), "sizes in units are taken now"
PY
venv/bin/python sizes.py
