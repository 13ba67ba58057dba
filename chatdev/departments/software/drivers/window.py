"""Uses a program of tkinter by steps, from inside: the interpreter imports this before the program begins, and from its
first window on the event loop carries out one step after the other. What is seen goes into a file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tkinter
from collections.abc import Callable, Generator
from pathlib import Path
from tkinter import commondialog
from typing import Any

from chatdev.departments.software.drivers import widgets
from chatdev.departments.software.drivers.notes import Notes
from chatdev.departments.software.drivers.texts import Item, best_label, is_same, is_shown

_FIRST, _SETTLE, _AGAIN = 300, 120, 100  # milliseconds: to come up, after a step, until something is looked for again
_TRIES = 15
_ANSWERS = {"yesno": "yes", "yesnocancel": "yes", "okcancel": "ok", "retrycancel": "cancel",
            "abortretryignore": "ignore"}


def begin() -> None:
    """Hook the first window, and leave no sign of it to the program's own children."""
    folder = Path(os.environ.pop("DRIVEN"))
    os.environ.pop("PYTHONPATH")
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    (folder / "task.json").unlink()
    WindowDriver(task, Notes(folder, task["nonce"]), folder).hook()


class WindowDriver:
    """Carries out the steps of `task` in the windows of this process."""

    def __init__(self, task: dict[str, Any], notes: Notes, folder: Path) -> None:
        self._steps, self._notes, self._folder = task["steps"], notes, folder
        self._roots: list[tkinter.Tk] = []
        self._said: list[str] = []  # by message boxes, since something was pressed
        self._typed: dict[str, str] = {}
        self._script = self._perform_all()
        self._busy = False

    def hook(self) -> None:
        """Have every new main window begin, or go on with, the steps; have message boxes answered."""
        start = tkinter.Tk.__init__

        def begin(root: tkinter.Tk, *args: Any, **options: Any) -> None:
            start(root, *args, **options)
            self._roots.append(root)
            root.after(_FIRST, self._go_on, root)

        tkinter.Tk.__init__ = begin  # type: ignore[assignment,method-assign]
        commondialog.Dialog.show = self._answer()  # type: ignore[method-assign]

    def _answer(self) -> Callable[..., str]:
        said = self._said

        def show(dialog: Any, **options: Any) -> str:
            given = {**dialog.options, **options}
            if dialog.command != "tk_messageBox":
                return ""  # files and colours: nobody chooses one
            said.append(f"{given.get('title') or ''} {given.get('message') or ''} {given.get('detail') or ''}".strip())
            return _ANSWERS.get(str(given.get("type")), "ok")

        return show

    def _go_on(self, root: tkinter.Tk) -> None:
        """The next part of the steps, where this is the newest window. (A step may run a loop of events of its own.)"""
        if root is not self._roots[-1]:
            return
        pause: int | None = _AGAIN
        if not self._busy:
            self._busy = True
            try:
                pause = next(self._script, None)
            finally:
                self._busy = False
        if pause is None:
            self._end()
        root.after(pause or 0, self._go_on, root)

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            shutil.copyfile(self._folder / "Xvfb_screen0", self._folder / "screen.xwd")
        self._notes.end()
        os._exit(0)

    def _perform_all(self) -> Generator[int, None, None]:
        for _ in range(_TRIES):
            if self._seen():
                break
            yield _AGAIN
        before = widgets.items(self._seen())
        self._notes.begin(before, self._names())
        for step in self._steps:
            problem = yield from self._perform(step, before)
            yield _SETTLE
            self._notes.add(problem, self._items(), self._names(),
                            step["kind"] == "reads" and not is_shown(step["text"], before, before))
            if problem:
                break
        for root in filter(lambda root: root in self._seen(), self._roots):
            root.update_idletasks()
        yield _SETTLE

    def _seen(self) -> list[Any]:
        return widgets.widgets(self._roots)

    def _items(self) -> list[Item]:
        """What there is to read, without what was typed and stands there as it was."""
        seen = [widget for widget in self._seen() if self._typed.get(str(widget)) is None
                or widgets.content_of(widget) != self._typed[str(widget)]]
        return [*widgets.items(seen), *(("text", said) for said in self._said)]

    def _names(self) -> list[str]:
        return [target.label for target in widgets.targets(self._seen())]

    def _perform(self, step: dict[str, Any], before: list[Item]) -> Generator[int, None, str]:
        """Carry out a step; its value is what is wrong: nothing, `missing`, `disabled` or `differs`."""
        kind, text, at = step["kind"], step["text"], step["at"]
        if kind == "press":
            return (yield from self._press(text))
        if kind == "type":
            return (yield from self._type(text, at))
        if kind == "choose":
            return (yield from self._choose(text, at))
        shown = self._has_title if kind == "title" else lambda text: is_shown(text, self._items(), before)
        return "" if (yield from self._wait(lambda: shown(text))) else "differs"

    def _wait(self, find: Callable[[], Any]) -> Generator[int, None, Any]:
        for _ in range(_TRIES):
            with contextlib.suppress(tkinter.TclError):
                if found := find():
                    return found
            yield _AGAIN
        return None

    def _has_title(self, text: str) -> bool:
        tops = {widget.winfo_toplevel() for widget in self._seen()}
        return any(text.casefold() in str(top.title()).casefold() for top in tops)

    def _do(self, act: Callable[[], object]) -> None:
        """Act as soon as the loop of events is idle: what it sets off may run a loop of its own."""
        def carry_out() -> None:
            with contextlib.suppress(tkinter.TclError):
                act()

        self._said.clear()
        self._roots[-1].after_idle(carry_out)

    def _press(self, label: str) -> Generator[int, None, str]:
        target = yield from self._wait(lambda: self._target(label))
        if target is None:
            return "missing"
        if not target.enabled:
            return "disabled"
        self._do(target.press)
        yield _SETTLE
        return ""

    def _target(self, label: str) -> Any:
        found = [target for target in widgets.targets(self._seen()) if is_same(target.label, label)]
        return next((target for target in found if target.enabled), found[0] if found else None)

    def _field(self, at: str, among: list[Any]) -> Any:
        """The field with this label, or that holds it as a hint, or the only one."""
        labels = widgets.labels(self._seen())
        named = [labels[place] for place in best_label([widgets.text_of(label) for label in labels], at)]
        found = [field for label in named if (field := widgets.nearest_field(label, among)) is not None]
        hinted = [among[place] for place in best_label([widgets.content_of(field) for field in among], at)]
        only = among if len(among) == 1 or not at else []
        return next(iter((*found, *hinted, *only)), None)

    def _type(self, text: str, at: str) -> Generator[int, None, str]:
        field = yield from self._wait(lambda: self._field(at, widgets.fields(self._seen())))
        if field is None:
            return "missing"
        enters, typed = text.endswith("\n"), text.rstrip("\n")

        def act() -> None:
            field.focus_force()
            field.delete("1.0" if isinstance(field, tkinter.Text) else 0, "end")
            field.insert("1.0" if isinstance(field, tkinter.Text) else 0, typed)
            self._typed[str(field)] = widgets.content_of(field)
            field.event_generate("<KeyRelease>")
            if enters:
                field.event_generate("<Return>")

        self._do(act)
        yield _SETTLE
        return ""

    def _choose(self, option: str, at: str) -> Generator[int, None, str]:
        found = yield from self._wait(lambda: self._chooser(option, at))
        if found is None:
            return (yield from self._press(option))  # an entry of a menu, a row of a list, a radio button

        def act() -> None:
            found.set(next(value for value in found["values"] if is_same(str(value), option)))
            found.event_generate("<<ComboboxSelected>>")

        self._do(act)
        yield _SETTLE
        return ""

    def _chooser(self, option: str, at: str) -> Any:
        """The box that has this option, the one with this label first; False where none has any."""
        boxes = [box for box in widgets.choosers(self._seen()) if any(is_same(str(v), option) for v in box["values"])]
        return (self._field(at, boxes) if len(boxes) > 1 else next(iter(boxes), None))
