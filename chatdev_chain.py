"""The command `chatdev`, under a name that no other package has: it says what keeps the package from working.

Another package, or a folder, may bear the name `chatdev`, too (a checkout of ChatDev 1.x does), and be found first.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_OURS = Path(__file__).resolve().parent / "chatdev"


def main() -> None:
    """Run the command, or end with one sentence that says why it cannot be run here."""
    if sys.platform != "linux":
        sys.exit(f"chatdev runs on Linux only, also in WSL 2 or a container; this is {sys.platform}")
    if place := foreign_place():
        sys.exit(f"another package named 'chatdev' is found first, in {place}, and not the one of chatdev-chain; "
                 f"{_remedy(place)}")
    from chatdev.cli.app import main as run

    run()


def foreign_place() -> Path | None:
    """Where a module `chatdev` lies that is not ours, or that was put over ours; None if ours is found."""
    spec = importlib.util.find_spec("chatdev")
    places = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
    if places[:1] == [_OURS]:
        return None if (_OURS / "cli" / "app.py").is_file() and _is_our_init() else _OURS
    if places:
        return places[0]
    return Path(spec.origin) if spec and spec.origin else _OURS


def _is_our_init() -> bool:
    """Whether the package begins with our own file; another distribution of the name replaces it."""
    try:
        return "chatdev.runner.api" in (_OURS / "__init__.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _remedy(place: Path) -> str:
    if place == _OURS:
        return "it was installed over it: pip uninstall chatdev chatdev-chain, then pip install chatdev-chain"
    if "site-packages" in place.parts:
        return "uninstall it: pip uninstall chatdev"
    return "take its folder off PYTHONPATH, or start in another folder"


if __name__ == "__main__":
    main()
