"""Uses a program of tkinter by steps, from inside: the interpreter imports this before the program begins, and from its
first window on the event loop carries out one step after the other. What a window shows and what can be pressed in it
goes into a file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tkinter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tkinter import commondialog, ttk
from typing import Any

from chatdev.departments.software.drivers.texts import Item, Notes, best_label, is_same, is_shown

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
        before = items(self._seen())
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
        return widgets(self._roots)

    def _items(self) -> list[Item]:
        """What there is to read, without what was typed and stands there as it was."""
        seen = [widget for widget in self._seen() if self._typed.get(str(widget)) is None
                or content_of(widget) != self._typed[str(widget)]]
        return [*items(seen), *(("text", said) for said in self._said)]

    def _names(self) -> list[str]:
        return [target.label for target in targets(self._seen())]

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
        found = [target for target in targets(self._seen()) if is_same(target.label, label)]
        return next((target for target in found if target.enabled), found[0] if found else None)

    def _field(self, at: str, among: list[Any]) -> Any:
        """The field with this label, or that holds it as a hint, or the only one."""
        labels = find_labels(self._seen())
        named = [labels[place] for place in best_label([text_of(label) for label in labels], at)]
        found = [field for label in named if (field := nearest_field(label, among)) is not None]
        hinted = [among[place] for place in best_label([content_of(field) for field in among], at)]
        only = among if len(among) == 1 or not at else []
        return next(iter((*found, *hinted, *only)), None)

    def _type(self, text: str, at: str) -> Generator[int, None, str]:
        field = yield from self._wait(lambda: self._field(at, fields(self._seen())))
        if field is None:
            return "missing"
        enters, typed = text.endswith("\n"), text.rstrip("\n")

        def act() -> None:
            field.focus_force()
            field.delete("1.0" if isinstance(field, tkinter.Text) else 0, "end")
            field.insert("1.0" if isinstance(field, tkinter.Text) else 0, typed)
            self._typed[str(field)] = content_of(field)
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
        boxes = [box for box in choosers(self._seen()) if any(is_same(str(v), option) for v in box["values"])]
        return (self._field(at, boxes) if len(boxes) > 1 else next(iter(boxes), None))


# What a window of tkinter shows, and what can be pressed in it. Runs in the process of the program that is used.

_BUTTONS = (tkinter.Button, ttk.Button, tkinter.Checkbutton, ttk.Checkbutton, tkinter.Radiobutton, ttk.Radiobutton,
            tkinter.Menubutton, ttk.Menubutton)
_LABELS = (tkinter.Label, ttk.Label, tkinter.Message, tkinter.LabelFrame, ttk.LabelFrame)
_FIELDS = (tkinter.Entry, ttk.Entry, tkinter.Spinbox, tkinter.Text)
_CLICKS = ("Button-1", "ButtonPress-1", "ButtonRelease-1", "<1>", "<ButtonPress>", "<ButtonRelease>", "<Button>")


@dataclass(frozen=True, slots=True)
class Target:
    """Something with a label that can be pressed."""

    label: str
    press: Callable[[], object]
    enabled: bool = True


def widgets(roots: Iterable[Any]) -> list[Any]:
    """All widgets that can be seen, and the menus, those of the newest window first."""
    found = [widget for root in roots if _is_there(root) for widget in _below(root)]
    tops = list(dict.fromkeys(widget.winfo_toplevel() for widget in found))
    return [widget for top in reversed(tops) for widget in found if widget.winfo_toplevel() is top]


def _is_there(widget: Any) -> bool:
    with contextlib.suppress(tkinter.TclError):
        return bool(widget.winfo_exists())
    return False


def _below(widget: Any) -> Iterator[Any]:
    with contextlib.suppress(tkinter.TclError):
        if widget.winfo_viewable() or isinstance(widget, tkinter.Menu):
            yield widget
        for child in widget.winfo_children():
            yield from _below(child)


def items(seen: Iterable[Any]) -> list[Item]:
    """What these widgets show."""
    return [item for widget in seen for item in _items_of(widget) if item[1].strip()]


def _items_of(widget: Any) -> list[Item]:
    try:
        if isinstance(widget, _BUTTONS):
            return [("button", text_of(widget))]
        if isinstance(widget, _LABELS):
            return [("text", text_of(widget))]
        if isinstance(widget, _FIELDS):
            return [("field", content_of(widget))]
        return [("text", text) for text in _other_texts(widget)]
    except tkinter.TclError:  # it has gone meanwhile
        return []


def text_of(widget: Any) -> str:
    """The text on a widget, or that of its variable."""
    if "textvariable" in widget.configure() and (variable := str(widget.cget("textvariable"))):
        with contextlib.suppress(tkinter.TclError):
            return str(widget.getvar(variable))
    return str(widget.cget("text"))


def content_of(field: Any) -> str:
    """What is in a field."""
    if isinstance(field, tkinter.Text):
        return field.get("1.0", "end-1c")
    shown = str(field.cget("show")) if "show" in field.configure() else ""
    return "" if shown else str(field.get())


def _other_texts(widget: Any) -> Iterator[str]:
    if isinstance(widget, tkinter.Wm):
        yield str(widget.title())
    elif isinstance(widget, tkinter.Listbox):
        yield from map(str, widget.get(0, "end"))
    elif isinstance(widget, tkinter.Canvas):
        yield from _texts_on(widget)
    elif isinstance(widget, ttk.Treeview):
        yield from (str(widget.heading(column)["text"]) for column in widget["columns"])
        yield from (" ".join(map(str, row)) for row in _rows(widget))
    elif isinstance(widget, tkinter.Scale | ttk.Scale):
        yield str(widget.get())


def _texts_on(canvas: Any) -> Iterator[str]:
    return (str(canvas.itemcget(item, "text")) for item in canvas.find_all() if canvas.type(item) == "text")


def _rows(tree: Any, parent: str = "") -> Iterator[tuple[str, ...]]:
    for name in tree.get_children(parent):
        yield (str(tree.item(name, "text")), *map(str, tree.item(name, "values") or ()))
        yield from _rows(tree, name)


def fields(seen: Iterable[Any]) -> list[Any]:
    """The fields into which something can be typed."""
    return [widget for widget in seen if isinstance(widget, _FIELDS) and str(widget.cget("state")) == "normal"]


def choosers(seen: Iterable[Any]) -> list[Any]:
    """The boxes of which an option can be chosen."""
    return [widget for widget in seen if isinstance(widget, ttk.Combobox) and str(widget.cget("state")) != "disabled"]


def find_labels(seen: Iterable[Any]) -> list[Any]:
    """The widgets that may be the label of a field."""
    return [widget for widget in seen if isinstance(widget, _LABELS)]


def targets(seen: Iterable[Any]) -> list[Target]:
    """What can be pressed: buttons and entries of menus first, then everything else that bears a text."""
    found, rest = list[Target](), list[Target]()
    for widget in seen:
        with contextlib.suppress(tkinter.TclError):
            (found if isinstance(widget, (*_BUTTONS, tkinter.Menu, ttk.Notebook)) else rest).extend(_targets_of(widget))
    return [*found, *rest]


def _targets_of(widget: Any) -> Iterator[Target]:
    for kind, find in _FIND.items():
        if isinstance(widget, kind):
            yield from find(widget)
            return


def _button_targets(button: Any) -> Iterator[Target]:
    yield Target(text_of(button), partial(_press, button), str(button.cget("state")) != "disabled")


def _menu_targets(menu: Any) -> Iterator[Target]:
    last = menu.index("end")
    for place in range(0 if last is None else last + 1):
        if menu.type(place) not in ("separator", "tearoff"):
            enabled = str(menu.entrycget(place, "state")) != "disabled"
            yield Target(str(menu.entrycget(place, "label")), partial(menu.invoke, place), enabled)


def _tab_targets(book: Any) -> Iterator[Target]:
    for tab in book.tabs():
        yield Target(str(book.tab(tab, "text")), partial(book.select, tab))


def _list_targets(box: Any) -> Iterator[Target]:
    for place, text in enumerate(box.get(0, "end")):
        yield Target(str(text), partial(_select, box, place))


def _tree_targets(tree: Any) -> Iterator[Target]:
    for name in tree.get_children():
        for text in (tree.item(name, "text"), *(tree.item(name, "values") or ())):
            yield Target(str(text), partial(tree.selection_set, name))


def _canvas_targets(canvas: Any) -> Iterator[Target]:
    for item in canvas.find_all():
        if canvas.type(item) == "text" and (box := canvas.bbox(item)):
            yield Target(str(canvas.itemcget(item, "text")),
                         partial(_click, canvas, (box[0] + box[2]) // 2, (box[1] + box[3]) // 2))


def _label_targets(label: Any) -> Iterator[Target]:
    yield Target(text_of(label), partial(_click, label))


_FIND: dict[Any, Callable[[Any], Iterator[Target]]] = {
    _BUTTONS: _button_targets, tkinter.Menu: _menu_targets, ttk.Notebook: _tab_targets, tkinter.Listbox: _list_targets,
    ttk.Treeview: _tree_targets, tkinter.Canvas: _canvas_targets, _LABELS: _label_targets}


def _press(button: Any) -> None:
    """Press a button as its program wants it: by its command, or by what is bound to a click."""
    is_bound = any(click in sequence for sequence in button.bind() for click in _CLICKS)
    if is_bound or not hasattr(button, "invoke"):
        _click(button)
    else:
        button.invoke()


def _select(box: Any, place: int) -> None:
    box.selection_clear(0, "end")
    box.selection_set(place)
    box.activate(place)
    box.event_generate("<<ListboxSelect>>")


def _click(widget: Any, x: int | None = None, y: int | None = None) -> None:
    """Move the pointer onto a place of a widget, by default its middle, and click."""
    place = {"x": widget.winfo_width() // 2 if x is None else x, "y": widget.winfo_height() // 2 if y is None else y}
    for event in ("<Enter>", "<Motion>", "<ButtonPress-1>", "<ButtonRelease-1>"):
        widget.event_generate(event, **place)


def nearest_field(label: Any, among: Iterable[Any]) -> Any:
    """The field that a label belongs to: one inside of it, else the nearest to its right or below it; None if none."""
    ranked = [(distance, field) for field in among if (distance := _distance(label, field)) is not None]
    return min(ranked, key=lambda one: one[0])[1] if ranked else None


def _distance(label: Any, field: Any) -> int | None:
    if str(field).startswith(f"{label}."):
        return 0
    left, top, right, bottom = _box(label)
    field_left, field_top, field_right, field_bottom = _box(field)
    if min(bottom, field_bottom) > max(top, field_top) and field_left >= right - 2:
        return field_left - right + 1
    if min(right, field_right) > max(left, field_left) - 1 and field_top >= bottom - 2:
        return 200 + field_top - bottom  # what stands beside a label is rather its field than what stands below it
    return None


def _box(widget: Any) -> tuple[int, int, int, int]:
    left, top = widget.winfo_rootx(), widget.winfo_rooty()
    return left, top, left + widget.winfo_width(), top + widget.winfo_height()
