import json
import sys
from pathlib import Path
from typing import Any

FILE = Path("todo.json")


def load() -> Any:
    return json.loads(FILE.read_text()) if FILE.exists() else []


def main(words: list[str]) -> str:
    tasks = load()
    match words:
        case ["add", *rest] if rest:
            tasks.append({"task": " ".join(rest), "done": False})
        case ["list"]:
            return "\n".join(f"{n}. [{'x' if t['done'] else ' '}] {t['task']}" for n, t in enumerate(tasks, 1))
        case ["done", number] if number.isdigit() and 0 < int(number) <= len(tasks):
            tasks[int(number) - 1]["done"] = True
        case ["remove", number] if number.isdigit() and 0 < int(number) <= len(tasks):
            del tasks[int(number) - 1]
        case _:
            return "Usage: main.py add TASK | list | done NUMBER | remove NUMBER"
    FILE.write_text(json.dumps(tasks))
    return "OK"


print(main(sys.argv[1:]))
