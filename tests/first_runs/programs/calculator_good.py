import tkinter as tk
from functools import partial

KEYS = ("789/", "456*", "123-", "0.=+")


class Calculator:
    def __init__(self, root: tk.Tk) -> None:
        self.shown = tk.StringVar()
        tk.Entry(root, textvariable=self.shown).grid(row=0, columnspan=4)
        for row, keys in enumerate(KEYS, 1):
            for column, key in enumerate(keys):
                tk.Button(root, text=key, command=partial(self.press, key)).grid(row=row, column=column)
        tk.Button(root, text="C", command=lambda: self.shown.set("")).grid(row=5, column=0)

    def press(self, key: str) -> None:
        if key == "=":
            self.shown.set(self.result())
        else:
            self.shown.set(self.shown.get() + key)

    def result(self) -> str:
        try:
            return f"{eval(self.shown.get()):g}"
        except ZeroDivisionError:
            return "Error"


if __name__ == "__main__":
    window = tk.Tk()
    Calculator(window)
    window.mainloop()
