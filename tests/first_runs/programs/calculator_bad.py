import tkinter as tk
from functools import partial

root = tk.Tk()
display = tk.Entry(root)
display.pack()
for key in "0123456789*/-=C":  # no plus, no point
    tk.Button(root, text=key, command=partial(display.insert, "end", key)).pack()
root.mainloop()
