"""Right programs of three kinds: a window, a page, a service."""

from __future__ import annotations

CALCULATOR = '''\
import tkinter as tk


class Calculator(tk.Tk):
    def __init__(self):
        super().__init__()
        self.title("Calculator")
        self.display = tk.Entry(self)
        self.display.grid(row=0, column=0, columnspan=4)
        for n, key in enumerate("789/456*123-0.=+"):
            tk.Button(self, text=key, command=lambda key=key: self.press(key)).grid(row=1 + n // 4, column=n % 4)

    def press(self, key):
        if key == "=":
            result = eval(self.display.get())
            self.display.delete(0, "end")
            self.display.insert(0, str(result))
        else:
            self.display.insert("end", key)


if __name__ == "__main__":
    Calculator().mainloop()
'''
TODO = {
    "index.html": """<!doctype html><html><head><title>To-do</title></head><body><h1>My list</h1>
<form id="form"><label for="task">Task</label> <input id="task">
<label>Kind <select id="kind"><option>home</option><option>work</option></select></label> <button>Add</button></form>
<ul id="list"></ul><button id="clear">Clear</button><p>Total: <b id="total">0</b></p>
<script src="app.js"></script></body></html>""",
    "app.js": """const at = id => document.getElementById(id);
at("form").addEventListener("submit", event => {
  event.preventDefault();
  if (!at("task").value) { alert("Type something"); return; }
  const item = document.createElement("li");
  item.textContent = `${at("task").value} (${at("kind").value})`;
  at("list").append(item);
  at("task").value = "";
  at("total").textContent = at("list").children.length;
});
at("clear").onclick = () => { if (confirm("Sure?")) { at("list").innerHTML = ""; at("total").textContent = 0; } };
"""}
SERVICE = '''\
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

ITEMS = []


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, value):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def do_GET(self):
        if self.path == "/health":
            self.answer(200, {"status": "ok"})
        elif self.path == "/items":
            self.answer(200, ITEMS)
        else:
            self.answer(404, {"error": "unknown"})

    def do_POST(self):
        ITEMS.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(201, ITEMS[-1])


if __name__ == "__main__":
    HTTPServer(("localhost", 8000), Handler).serve_forever()
'''
