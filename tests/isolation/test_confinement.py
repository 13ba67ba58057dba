"""What a parser that somebody took over could still do: a stub in its place tries it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from chatdev.doctor.checks import all_probes
from chatdev.isolation import parent
from chatdev.isolation import seccomp as own
from chatdev.isolation.seccomp import Confinement, confinement, system_call_filter
from chatdev.replies.python.reader import read

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not system_call_filter(), reason="needs seccomp")

STUB = """
import errno, json, os, resource, signal, socket, subprocess, sys
sys.path[:] = sys.argv[3:]
from chatdev.isolation.seccomp import confine
confine()
os.write(0, b"+" + bytes(4))
request = os.read(0, 1 << 20)
answers = {}
for name, code in json.loads(request[5:]).items():
    try:
        exec(code)
        answers[name] = "done"
    except OSError as error:
        answers[name] = errno.errorcode[error.errno]
answer = json.dumps(answers).encode()
os.write(0, b"+" + len(answer).to_bytes(4, "big") + answer)
"""
FORBIDDEN = {
    "a socket of the internet": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "a socket of the machine": "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a pair of sockets": "socket.socketpair()",
    "a new file": "open('{folder}/new', 'w')",
    "a file to change": "os.open('{folder}/there', os.O_RDWR)",
    "a file to cut": "os.open('{folder}/there', os.O_RDONLY | os.O_TRUNC)",
    "a file without a name": "os.open('{folder}', os.O_TMPFILE | os.O_RDWR)",
    "a file to remove": "os.unlink('{folder}/there')",
    "another name": "os.rename('{folder}/there', '{folder}/other')",
    "a link": "os.link('{folder}/there', '{folder}/other')",
    "a symbolic link": "os.symlink('there', '{folder}/other')",
    "a folder": "os.mkdir('{folder}/new')",
    "other rights": "os.chmod('{folder}/there', 0o777)",
    "a program": "os.execv('/bin/true', ['true'])",
    "a process": "os.fork()",
    "a program beside it": "subprocess.run(['true'])",
    "a signal to its parent": "os.kill(os.getppid(), signal.SIGTERM)",
    "a limit of its parent": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
}
ALLOWED = {
    "to read a file": "open('{folder}/there').read()",
    "to read a folder": "os.listdir('{folder}')",
    "to limit itself": "resource.setrlimit(resource.RLIMIT_CPU, (60, 60))",
    "to import a module": "import decimal",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What came of everything that the stub tried."""
    folder = tmp_path_factory.mktemp("folder")
    (folder / "there").write_text("text")
    tried = {name: code.replace("{folder}", str(folder)) for name, code in {**FORBIDDEN, **ALLOWED}.items()}
    reader = parent.Reader()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parent, "_START", STUB)
        answer, why = reader.ask(json.dumps(tried).encode())
    reader.end()
    assert not why or answer
    assert (folder / "there").read_text() == "text"
    assert [path.name for path in folder.iterdir()] == ["there"]
    found: dict[str, str] = json.loads(answer)
    return found


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_no_parser_does_is_forbidden(answers: dict[str, str], name: str) -> None:
    assert answers[name] in ("EACCES", "EPERM", "ENOSYS"), name


@pytest.mark.parametrize("name", ALLOWED)
def test_what_parsers_do_is_allowed(answers: dict[str, str], name: str) -> None:
    assert answers[name] == "done"


def test_the_child_has_the_filter_and_an_empty_network() -> None:
    assert read("x = 1").statements
    assert parent._reader._child is not None
    proc = Path(f"/proc/{parent._reader._child._process.pid}")
    held = confinement()
    assert held.filtered
    assert "Seccomp:\t2" in (proc / "status").read_text()
    if held.networkless:
        assert (proc / "ns/net").readlink() != Path("/proc/self/ns/net").readlink()
        assert {line.split(":")[0].strip() for line in (proc / "net/dev").read_text().splitlines()[2:]} <= {"lo"}


def test_parsers_read_as_before_under_the_filter() -> None:
    assert read("def f():\n    return 1\n").definitions == {"f"}


def test_a_kernel_that_allows_neither_is_made_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "_held", Confinement())
    monkeypatch.setattr(own, "_leave_network", lambda: False)
    monkeypatch.setattr(own, "system_call_filter", lambda *, only_reads: None)
    own.confine()
    assert own._held == Confinement(filtered=False, networkless=False)


@pytest.mark.parametrize(("held", "state", "said"), [
    (Confinement(filtered=True, networkless=True), "works", "an empty network and few system calls"),
    (Confinement(filtered=True), "absent", "without a network of its own"),
    (Confinement(), "absent", "without a filter of system calls and without a network of its own"),
])
def test_doctor_says_what_holds_the_child(monkeypatch: pytest.MonkeyPatch, held: Confinement, state: str,
                                          said: str) -> None:
    monkeypatch.setattr("chatdev.doctor.checks.confinement", lambda: held)
    (probe,) = [probe for probe in all_probes(None) if probe.name == "parsing"]
    found = probe.look()
    assert found.state == state
    assert said in found.detail
