"""Deliveries that are hostile by what they hold: what a reply says, and what must become of it."""

from __future__ import annotations

import base64
import io
import json
import tarfile
import zipfile
from dataclasses import dataclass, field

HELLO = b"print('hello')\n"


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing of it is kept; the assistant is told, in a text that holds `says`."""

    says: str


@dataclass(frozen=True, slots=True)
class Kept:
    """It is kept, as these files and byte for byte, beside `main.py` if that is not among them."""

    files: dict[str, bytes] = field(default_factory=dict)


def block(path: str, content: str, info: str = "") -> str:
    """One file of a delivery."""
    return f"{path}\n```{info}\n{content}\n```\n"


REPOSITORY = {"HEAD": "ref: refs/heads/main", "objects/info/x": "x", "refs/heads/x": "x",
              "config": "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n"
                        "fsmonitor = touch /tmp/chatdev-escaped.py;:\n"}


def entitled(path: str, content: str) -> str:
    """The same, with the name in the fence: it may have no suffix."""
    return f"```text title={path}\n{content}\n```\n"


def repository(folder: str = "") -> str:
    """A delivery of a bare repository, and what makes it one."""
    return "".join(entitled(f"{folder}{path}", text) for path, text in REPOSITORY.items())


def archive() -> str:
    """A tar in base64 with paths that leave its folder, one of git's, and a link."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path in ("../../escaped.py", "/tmp/chatdev-escaped.py", ".git/hooks/pre-commit"):
            tar.addfile(tarfile.TarInfo(path), io.BytesIO())
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return base64.b64encode(buffer.getvalue()).decode()


def zip_bomb() -> str:
    """Ten megabytes of zeros in a zip, in base64."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros", bytes(10 << 20))
    return base64.b64encode(buffer.getvalue()).decode()


ARCHIVE, BOMB = archive(), zip_bomb()
SUBMODULE = '[submodule "x"]\n\tpath = sub\n\turl = ext::sh -c "touch /tmp/chatdev-escaped.py"\n\tupdate = !touch x'
TASKS = '{"version": "2.0.0", "tasks": [{"command": "touch x", "runOptions": {"runOn": "folder\\u004fpen"}}]}'
LINK = ("diff --git a/link b/link\nnew file mode 120000\nindex 0000000..1\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n"
        "+/etc/passwd\n\\ No newline at end of file")
YAML_BOMB = "a: &a [x, x, x]\n" + "\n".join(f"{c}: &{c} [{', '.join([f'*{p}'] * 9)}]" for p, c in
                                              zip("abcdefgh", "bcdefghi", strict=True))
ENTITIES = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>\n<x>&b;&c;</x>'
DEEP_JSON, DEEP_CODE = "[" * 100_000, "x = " + "-" * 100_000 + "1"
LONG_NAME = "import " + "a." * 150_000 + "a"
TROJAN = "access = 'user\u202e \u2066# check\u2069 \u2066'"

DELIVERIES: dict[str, tuple[str, Refused | Kept]] = {
    "an archive is text": (block("data.tar.gz.b64", ARCHIVE), Kept({"data.tar.gz.b64": f"{ARCHIVE}\n".encode()})),
    "a zip bomb is text": (block("bomb.zip", BOMB), Kept({"bomb.zip": f"{BOMB}\n".encode()})),
    "a patch that makes a link is text": (block("link.diff", LINK, "diff"), Kept({"link.diff": f"{LINK}\n".encode()})),
    "a submodule": (block(".gitmodules", SUBMODULE) + block("sub/x.txt", "x"), Refused("git fetches what it names")),
    "broken submodules": (block(".gitmodules", "[[["), Refused("git fetches what it names")),
    "a bare repository": (repository(), Refused("make the folder of the software a git repository")),
    "a bare repository in a folder": (repository("lib/x/"), Refused("make the folder lib/x a git repository")),
    "one for systems that fold case": (repository("x/").replace("HEAD", "Head"),
                                       Refused("make the folder x a git repository")),
    "one whose data lie elsewhere": (entitled("a/HEAD", "ref: refs/heads/main") + entitled("a/commondir", "../b"),
                                     Refused("make the folder a a git repository")),
    "tasks that run when the folder is opened": (block(".vscode/tasks.json", TASKS), Refused("leave this file out")),
    "what direnv runs": (block(".envrc", "touch /tmp/chatdev-escaped.py"), Refused("when a shell enters the folder")),
    "a filter": (block(".gitattributes", "* filter=trap diff=trap merge=trap"),
                 Kept({".gitattributes": b"* filter=trap diff=trap merge=trap\n"})),
    "another encoding": (block(".gitattributes", "* working-tree-encoding=UTF-16"),
                         Kept({".gitattributes": b"* working-tree-encoding=UTF-16\n"})),
    "keywords": (block(".gitattributes", "* ident text eol=crlf") + block("id.txt", "$Id: mine$"),
                 Kept({".gitattributes": b"* ident text eol=crlf\n", "id.txt": b"$Id: mine$\n"})),
    "a macro": (block("x/.gitattributes", "[attr]evil filter=trap\n* evil"),
                Kept({"x/.gitattributes": b"[attr]evil filter=trap\n* evil\n"})),
    "everything ignored": (block(".gitignore", "*"), Kept({".gitignore": b"*\n"})),
    "other people's names": (block(".mailmap", "Boss <b@x> ChatDev <chatdev@localhost>"),
                             Kept({".mailmap": b"Boss <b@x> ChatDev <chatdev@localhost>\n"})),
    "a YAML bomb": (block("bomb.yaml", YAML_BOMB, "yaml"), Kept({"bomb.yaml": f"{YAML_BOMB}\n".encode()})),
    "an XML bomb": (block("bomb.xml", ENTITIES, "xml"), Kept({"bomb.xml": f"{ENTITIES}\n".encode()})),
    "deep JSON": (block("deep.json", DEEP_JSON, "json"), Kept({"deep.json": f"{DEEP_JSON}\n".encode()})),
    "deep code": (block("deep.py", DEEP_CODE, "python"), Kept({"deep.py": f"{DEEP_CODE}\n".encode()})),
    "a name without end": (block("long.py", LONG_NAME, "python"), Kept({"long.py": f"{LONG_NAME}\n".encode()})),
    "a template": (block("page.txt", "{{ 7 * 7 }} {% for x in range(9) %}x{% endfor %} ${7*7}"),
                   Kept({"page.txt": b"{{ 7 * 7 }} {% for x in range(9) %}x{% endfor %} ${7*7}\n"})),
    "NUL in a program": (block("zero.py", "x = '\0'", "python"), Kept({"zero.py": b"x = '\0'\n"})),
    "writing that runs both ways": (block("trojan.py", TROJAN, "python"), Kept({"trojan.py": f"{TROJAN}\n".encode()})),
    "escape codes in a file": (block("esc.txt", "\x1b[2J\x1b]0;owned\x07"),
                               Kept({"esc.txt": b"\x1b[2J\x1b]0;owned\x07\n"})),
    "a huge file": (block("big.txt", "x" * (1 << 20)), Refused("larger than 1024 KiB")),
    "thousands of files": ("".join(block(f"f{n}.txt", str(n)) for n in range(3000)), Refused("more than 1000")),
    "hundreds of files": ("".join(block(f"f{n}.txt", str(n)) for n in range(500)), Refused("at most 400")),
    "a file without an end": ("main.py\n```python\nprint(1)\n", Refused("ends inside the block")),
    "one good file and one outside": (block("good.py", "x = 1", "python") + block("../bad.py", "x = 1", "python"),
                                      Refused("leaves the software folder")),
    "a change of the journal": (
        block("../run/journal.jsonl", "<<<<<<< SEARCH\n{\n=======\n[\n>>>>>>> REPLACE"), Refused("leaves the")),
    "a change of git's settings": (
        block(".git/config", "<<<<<<< SEARCH\n[core]\n=======\n[core]\n\tfsmonitor = touch x\n>>>>>>> REPLACE"),
        Refused("touches git metadata")),
    "a deletion outside": (block("../../victim.txt", "", "delete"), Refused("leaves the software folder")),
    "a deletion of git's files": (block(".git/HEAD", "", "delete"), Refused("touches git metadata")),
    "JSON of files": (json.dumps({"../escaped.py": "x = 1", "main.py": "x = 1"}), Refused("no fenced code block")),
    "a thousand changes": (
        block("main.py", "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n" * 1000), Refused("SEARCH")),
}
