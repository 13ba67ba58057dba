"""Windows of tkinter are used by steps: right programs are confirmed, and no mutant of one is a success."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.software.trial.agreed import lacking_buttons
from tests.departments.software.conftest import Drive, Use
from tests.support.products import CALCULATOR

pytestmark = [pytest.mark.tool, pytest.mark.skipif(not shutil.which("Xvfb"), reason="Xvfb is not here")]

TASK = "A calculator in a window, with the buttons 0-9, +, -, *, / and =."
ADDS = [{"about": "adds", "steps": [{"press": "5"}, {"press": "+"}, {"press": "3"}, {"press": "="}, {"reads": "8"},
                                    {"title": "Calculator"}]}]


def test_a_right_calculator_is_confirmed_and_photographed(use: Use, tmp_path: Path) -> None:
    verdict = use(CALCULATOR, TASK, checks=ADDS)
    assert (verdict.passed, verdict.judged) == (True, True)
    assert "The check that the company agreed on holds." in verdict.report
    assert verdict.evidence["pictures"] == {"Screenshot": "screenshot.png"}
    assert (tmp_path / "screenshot.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("checks", [ADDS, []])
def test_a_calculator_without_its_plus_fails(use: Use, checks: Any) -> None:
    verdict = use(CALCULATOR.replace('.=+"', '.="'), TASK, checks=checks)
    assert (verdict.passed, verdict.judged) == (False, True)
    assert "The request names a button that the program does not have: “+”." in verdict.report


@pytest.mark.parametrize(("old", "new", "seen"), [
    ("str(result)", "str(result + 1)", "→ it does not show “8”"),
    ('key == "="', 'key == "never"', "→ it does not show “8”")])
def test_a_wrong_result_and_a_dead_button_are_no_success(use: Use, old: str, new: str, seen: str) -> None:
    verdict = use(CALCULATOR.replace(old, new), TASK, checks=ADDS)
    assert not (verdict.passed and verdict.judged)
    assert seen in verdict.report


def test_a_named_button_that_ends_in_an_error_fails(use: Use) -> None:
    verdict = use(CALCULATOR.replace("eval(self.display.get())", "int(self.display.get())"), TASK, checks=ADDS)
    assert (verdict.passed, verdict.judged) == (False, True)
    assert "It ends in an error when somebody presses what the request names" in verdict.report


def test_a_sign_in_another_form_is_the_same_button(drive: Drive) -> None:
    other = CALCULATOR.replace('"789/456*123-0.=+"', '"789÷456×123−0.=+"').replace(
        "eval(", "eval(self.signs(").replace("get())", 'get()))').replace(
        "    def press", '    def signs(self, text):\n        return text.replace("×", "*")\n\n    def press')
    used = drive(other, [*ADDS[0]["steps"], {"press": "*"}, {"press": "2"}, {"press": "="}, {"reads": "16"}])
    assert (used.differs, used.confirms) == ("", True)
    assert lacking_buttons(used.driven, TASK, {}) == []


NOTES = '''\
import tkinter as tk
from tkinter import messagebox, simpledialog, ttk

root = tk.Tk()
kind = tk.StringVar(value="home")
ttk.Label(root, text="Note:").grid(row=0, column=0)
entry = ttk.Entry(root)
entry.grid(row=0, column=1)
ttk.Combobox(root, values=["home", "work"], textvariable=kind, state="readonly").grid(row=1, column=1)
notes = tk.Listbox(root)
notes.grid(row=2, column=0, columnspan=2)
status = tk.StringVar(value="0 notes")
ttk.Label(root, textvariable=status).grid(row=3, column=0)


def add():
    if not entry.get():
        messagebox.showerror("Notes", "Write something first")
        return
    notes.insert("end", f"{entry.get()} ({kind.get()})")
    entry.delete(0, "end")
    status.set(f"{notes.size()} notes")


def rename():
    name = simpledialog.askstring("Rename", "New text")
    place = notes.curselection()[0]
    notes.delete(place)
    notes.insert(place, name)


ttk.Button(root, text="Add", command=add).grid(row=4, column=0)
menu = tk.Menu(root)
edit = tk.Menu(menu, tearoff=False)
edit.add_command(label="Rename…", command=rename)
menu.add_cascade(label="Edit", menu=edit)
root.config(menu=menu)
root.mainloop()
'''


def test_fields_lists_menus_and_dialogs_are_used(drive: Drive) -> None:
    used = drive(NOTES, [
        {"press": "Add"}, {"reads": "Write something first"}, {"type": "milk", "into": "Note"}, {"choose": "work"},
        {"press": "Add"}, {"reads": "milk (work)"}, {"reads": "1 notes"}, {"press": "milk (work)"}, {"press": "Rename"},
        {"type": "tea", "into": "New text"}, {"press": "OK"}, {"reads": "tea"}])
    assert (used.differs, used.confirms) == ("", True)


def test_what_was_typed_into_a_field_confirms_nothing(drive: Drive) -> None:
    dead = NOTES.replace('text="Add", command=add', 'text="Add"')
    used = drive(dead, [{"type": "milk", "into": "Note"}, {"press": "Add"}, {"reads": "milk"}])
    assert (used.differs, used.confirms) == ("it does not show “milk”", False)


@pytest.mark.parametrize("lie", ["pathlib.Path('.driven/told.json').write_text('{}')",
                                 "shutil.rmtree('.driven')\nos.symlink('/etc', '.driven')",
                                 "pathlib.Path('.driven/told.json').mkdir()"])
def test_a_program_that_disturbs_its_driver_is_not_judged(drive: Drive, lie: str) -> None:
    used = drive(f"import os, pathlib, shutil, tkinter\n{lie}\nos._exit(0)", [{"press": "A"}])
    assert used.driven.steps == ()
    assert (used.differs, used.confirms, used.crash) == ("it has ended", False, "")
