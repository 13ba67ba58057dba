#!/usr/bin/env bash
# Guess: the files that `porcelain.add` returns as added are in the index, and a path that it does not find is an error, as for git.
# Seen, dulwich 1.2.21 (Python 3.11, git 2.39): from outside of the repository a path that leads to the file is returned as added, and
# nothing is; the commit that follows is empty. Paths are those inside of the repository, wherever one stands.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dulwich==1.2.21
cat > add.py <<'PY'
import pathlib
import subprocess

from dulwich import porcelain

pathlib.Path("work").mkdir()
porcelain.init("work")
pathlib.Path("work/a.txt").write_text("a\n")
seen = {}
for path in ("work/a.txt", "a.txt"):
    said, _ = porcelain.add("work", [path])
    staged = subprocess.run(["git", "-C", "work", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    seen[path] = said, staged
    print(f"add {path}: says {said}, in the index {staged}")
    if not staged:
        porcelain.commit("work", message=b"one", author=b"a <a@example.org>", committer=b"a <a@example.org>")
        tree = subprocess.run(["git", "-C", "work", "ls-tree", "HEAD"], capture_output=True, text=True, check=True).stdout
        print("files of the commit:", tree or "none")
assert seen["work/a.txt"] == (["work/a.txt"], []) and seen["a.txt"] == (["a.txt"], ["a.txt"]), "dulwich says otherwise now"
PY
venv/bin/python add.py
