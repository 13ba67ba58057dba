#!/usr/bin/env bash
# Guess: a script that is made executable is a change for dulwich as for git, and git applies the diff that dulwich writes.
# Seen, dulwich 1.2.21 (Python 3.11, git 2.39) in a repository with core.filemode: `status` has no change and `add` of the folder
# takes none, so the commit keeps 100644; `diff` has it, as "old file mode", which `git apply` refuses, and beside a change of the
# text drops without a word.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dulwich==1.2.21
cat > mode.py <<'PY'
import io
import os
import pathlib
import subprocess

from dulwich import porcelain

ME = b"a <a@example.org>"
run = pathlib.Path("run.sh")


def git(*words, text=None):
    done = subprocess.run(["git", *words], input=text, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def diff():
    out = io.BytesIO()
    porcelain.diff(".", outstream=out)
    return out.getvalue().decode()


os.mkdir("work")
os.chdir("work")
porcelain.init(".")
run.write_text("echo\n")
run.chmod(0o644)
porcelain.add(".", ["run.sh"])
porcelain.commit(".", message=b"one", author=ME, committer=ME)
run.chmod(0o755)
state = porcelain.status(".")
print("core.filemode", git("config", "core.filemode")[1], "| git:", git("status", "--porcelain")[1], "| dulwich:", state.unstaged)
mode_only = diff()
run.write_text("echo two\n")
with_text = diff()
run.write_text("echo\n")
porcelain.add(".")
staged = git("diff", "--cached", "--summary")[1]
print("staged by add:", staged or "nothing")
git("checkout", "-q", "--", ".")
run.chmod(0o644)
refused = git("apply", text=mode_only)
print("git apply of the mode:", *refused)
applied = git("apply", text=with_text)
after = run.read_text(), oct(run.stat().st_mode & 0o777)
print("git apply of text and mode:", *applied, after)
assert not state.unstaged and not staged, "dulwich sees the mode now"
assert "old file mode" in mode_only and refused[0] != 0, "git applies the mode now"
assert applied[0] == 0 and after == ("echo two\n", "0o644"), "git applies text and mode otherwise now"
PY
venv/bin/python mode.py
