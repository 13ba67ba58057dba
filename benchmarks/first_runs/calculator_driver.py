"""Runs inside the sandbox: starts a tkinter program and, in place of its main loop, presses buttons.

Usage: python3 calculator_driver.py PROGRAM SEQUENCE… — prints one JSON object: the buttons found, what the display
shows after each sequence, and errors. A sequence is a list of buttons, e.g. `C 1 2 + 7 =`.
"""

from __future__ import annotations

import json
import runpy
import sys
import tkinter
import traceback
from collections.abc import Iterator
from tkinter import messagebox, ttk
from typing import Any

_ALIASES = {"*": "*×x✕⋅", "/": "/÷∕", "-": "-−–", "+": "+＋", ".": ".,"}
_CLEAR = {"c", "ac", "ce", "clear", "clr"}


class Finished(Exception):
    """All sequences were pressed."""


def widgets(root: Any) -> Iterator[Any]:
    """A widget and everything in it."""
    yield root
    for child in root.winfo_children():
        yield from widgets(child)


def label(widget: Any) -> str:
    """The text on a button."""
    return str(widget.cget("text")).strip()


def matches(text: str, wanted: str) -> bool:
    """Whether a button's text is the wanted key, in one of its usual spellings."""
    if wanted == "C":
        return text.lower() in _CLEAR
    return text == wanted or (len(text) == 1 and text in _ALIASES.get(wanted, ""))


def middle_of(button: Any) -> tuple[int, int]:
    """Where a user clicks, from the button's corner."""
    return button.winfo_width() // 2, button.winfo_height() // 2


def is_seen(button: Any) -> bool:
    """Whether a user can click on it: one that lies beneath another cannot be pressed."""
    x, y = middle_of(button)
    return button.winfo_containing(button.winfo_rootx() + x, button.winfo_rooty() + y) is button


def press(button: Any) -> None:
    """A click with the left mouse button, as Tk sees it."""
    middle = dict(zip("xy", middle_of(button), strict=True))
    for event in ("<Enter>", "<ButtonPress-1>", "<ButtonRelease-1>", "<Leave>"):
        button.event_generate(event, **middle)
    button.update()


def shown(root: Any) -> list[str]:
    """What the fields and labels of the window show."""
    texts = []
    for widget in widgets(root):
        if isinstance(widget, (tkinter.Entry, ttk.Entry)):
            texts.append(widget.get())
        elif isinstance(widget, tkinter.Text):
            texts.append(widget.get("1.0", "end").strip())
        elif isinstance(widget, (tkinter.Label, ttk.Label)):
            texts.append(str(widget.cget("text")))
    return texts


def drive(root: Any, sequences: list[str], report: dict[str, Any]) -> None:
    """Press every sequence and note the display."""
    root.update()
    buttons = [w for w in widgets(root) if isinstance(w, (tkinter.Button, ttk.Button)) and is_seen(w)]
    report["buttons"] = [label(button) for button in buttons]
    for sequence in sequences:
        for key in sequence.split():
            found = [button for button in buttons if matches(label(button), key)]
            if not found:
                report["errors"].append(f"there is no button {key}")
                break
            press(found[0])
        report["shown"].append(shown(root))


def main(program: str, sequences: list[str]) -> None:
    """Run `program` with the scripted main loop and print the report."""
    report: dict[str, Any] = {"started": False, "buttons": [], "shown": [], "errors": []}

    def scripted(widget: Any = None, n: int = 0) -> None:
        root = getattr(widget, "winfo_toplevel", lambda: getattr(tkinter, "_default_root"))()  # noqa: B009 - untyped
        report["started"] = True
        drive(root, sequences, report)
        raise Finished

    def failed(_root: Any, *error: Any) -> None:
        report["errors"].append("".join(traceback.format_exception_only(*error[:2])).strip())

    tkinter.Misc.mainloop = tkinter.mainloop = scripted  # type: ignore[assignment,method-assign]  # that is the point
    tkinter.Tk.report_callback_exception = failed  # errors of callbacks, not lost on stderr
    for box in ("showerror", "showinfo", "showwarning"):
        setattr(messagebox, box, lambda *_, **__: "ok")  # a box would wait for a user
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
    except Finished:
        pass
    except SystemExit as end:
        report["errors"].append(f"it ended by itself: {end}")
    except Exception as error:  # noqa: BLE001 - whatever the program under trial raises is the finding
        report["errors"].append(f"{type(error).__name__}: {error}")
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
