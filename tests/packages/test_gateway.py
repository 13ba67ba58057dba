"""What a program could reach through the opening that pip has: the index, and nothing beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatdev.packages.gateway import Fetcher, Index, open_gateway, sources, wheels_of
from chatdev.sandbox.base import Binding, ProcessLimits, SandboxJob
from chatdev.sandbox.kinds import find_sandbox
from tests.support.wheels import PackageIndex, set_pip

pytestmark = pytest.mark.tool

_VISIT = """
import socket, sys, urllib.request, urllib.error
listener = socket.create_server(("127.0.0.1", 0))
door = socket.socket(socket.AF_UNIX)
door.connect(sys.argv[1])
socket.send_fds(door, [b"."], [listener.fileno()])
path = door.recv(1000).decode()
port = listener.getsockname()[1]

def say(text):
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(text.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode(errors="replace")

def get(there):
    return say(f"GET {there} HTTP/1.0\\r\\n\\r\\n")
"""
Visit = Callable[[str], str]


@pytest.fixture
def visit(tmp_path: Path) -> Visit:
    """Run Python in a sandbox that has the opening; what it prints."""
    def run(source: str) -> str:
        with _opening() as door:
            job = SandboxJob(["/usr/bin/python3", "-c", _VISIT + source, str(door)], tmp_path,
                             ProcessLimits(seconds=20), bindings=[Binding(door)])
            execution = find_sandbox("bubblewrap").run(job)
        assert execution.exit_status == 0, execution.stderr
        return execution.stdout

    return run


@contextlib.contextmanager
def _opening() -> Iterator[Path]:
    found = sources()
    with contextlib.closing(Fetcher(found)) as fetcher, open_gateway(Index(found, fetcher), fetcher) as door:
        yield door


def test_the_pages_and_files_of_the_index_are_there(index: PackageIndex, visit: Visit) -> None:
    index.add("made_up_a")
    said = visit("""
page = get(path + "/simple/Made_Up.A/")
print(page.split()[1])
file = page.split('href="../..')[1].split("#")[0]
print(get(path + file).split()[1])
""")
    assert said.split() == ["200", "200"]


@pytest.mark.parametrize("request_line", [
    "CONNECT 127.0.0.1:{port} HTTP/1.1", "GET http://127.0.0.1:{port}/simple/made-up-b/ HTTP/1.0",
    "GET {{path}}/files/http://127.0.0.1:{port}/x HTTP/1.0", "GET {{path}}/simple/../../x/ HTTP/1.0",
    "POST {{path}}/simple/made-up-b/ HTTP/1.0", "PUT {{path}}/files/x/y HTTP/1.0", "GET /simple/made-up-b/ HTTP/1.0",
    "GET {{path}}/simple/@127.0.0.1:{port}/ HTTP/1.0", "GET {{path}}/simple// HTTP/1.0",
    "GET {{path}}/simple/made-up-b?x=/ HTTP/1.0", "GET {{path}}/simple/%2e%2e/ HTTP/1.0",
    f"GET {{{{path}}}}/files/{'0' * 64}/made_up_b-1.0-py3-none-any.whl HTTP/1.0",
])
def test_nothing_else_is(index: PackageIndex, visit: Visit, request_line: str) -> None:
    with PackageIndex() as elsewhere:
        elsewhere.add("made_up_b")
        line = request_line.format(port=elsewhere.port)
        said = visit(f"print(say(f'{line}\\r\\nHost: 127.0.0.1:{elsewhere.port}\\r\\n\\r\\n').split()[1])")
        assert said.strip() in ("404", "501")
        assert elsewhere.asked == index.asked == []


def test_there_is_no_way_around_it(index: PackageIndex, visit: Visit) -> None:
    with PackageIndex() as elsewhere:
        said = visit(f"""
for address in (("127.0.0.1", {elsewhere.port}), ("127.0.0.1", {index.port}), ("10.0.0.1", 80)):
    try:
        socket.create_connection(address, 2)
        print("connected")
    except OSError as error:
        print(type(error).__name__)
""")
        assert "connected" not in said
        assert elsewhere.asked == []


def test_no_password_is_seen_in_the_sandbox(index: PackageIndex, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    index.add("made_up_c")
    index.user = "eve:pl4nted-index"
    index.elsewhere = f"http://{index.user}@127.0.0.1:{index.port}"
    set_pip(index.url, monkeypatch)
    said = visit("""
import contextlib, pathlib
print(get(path + "/simple/made-up-c/"))
for place in [*pathlib.Path("/proc").glob("[0-9]*/environ"), *pathlib.Path("/proc").glob("[0-9]*/cmdline")]:
    with contextlib.suppress(PermissionError):
        print(place.read_bytes())
""")
    assert "made_up_c-1.0-py3-none-any.whl" in said
    assert "pl4nted" not in said
    assert str(index.port) not in said


@pytest.mark.parametrize("offered", [
    "", "0", "door.fileno()", "other.fileno()", "door.fileno(), 0",
])
def test_whoever_hands_over_something_else_is_not_served(index: PackageIndex, tmp_path: Path, offered: str) -> None:
    source = ("import socket, sys\ndoor = socket.socket(socket.AF_UNIX)\ndoor.connect(sys.argv[1])\n"
              f"other = socket.socket(socket.AF_UNIX)\nsocket.send_fds(door, [b'.'], [{offered}])\n")
    with _opening() as door:
        execution = find_sandbox("bubblewrap").run(SandboxJob(["/usr/bin/python3", "-c", source, str(door)], tmp_path,
                                                 bindings=[Binding(door)]))
    assert execution.exit_status == 0, execution.stderr
    assert index.asked == []


@pytest.mark.parametrize(("page", "href", "follows"), [
    ("https://index/simple/a/", "../../files/a-1-py3-none-any.whl#sha256=0", True),
    ("https://index/simple/a/", "https://files/a-1-py3-none-any.whl", True),
    ("https://index/simple/a/", "http://files/a-1-py3-none-any.whl", False),
    ("https://index/simple/a/", "file:///etc/a-1-py3-none-any.whl", False),
    ("http://index/simple/a/", "file:///etc/a-1-py3-none-any.whl", False),
    ("http://index/simple/a/", "https://files/a-1-py3-none-any.whl", True),
    ("file:///simple/a/", "file:///files/a-1-py3-none-any.whl", True),
    ("https://index/simple/a/", "ftp://files/a-1-py3-none-any.whl", False),
    ("https://index/simple/a/", "https://[files/a-1-py3-none-any.whl", False),
    ("https://index/simple/a/", "https://files/a%2F-1-py3-none-any.whl", False),
])
def test_a_link_leads_to_no_less_safe_a_place(page: str, href: str, follows: bool) -> None:
    assert bool(wheels_of(f'<a href="{href}">a</a>', page)) == follows


def test_the_attributes_of_a_link_are_passed_on_and_cannot_break_the_page() -> None:
    page = '<base href="https://files/x/"><a href="a-1-py3-none-any.whl" data-yanked="&quot;&gt;&lt;b" data-x="1">a</a>'
    [wheel] = wheels_of(page, "https://index/simple/a/")
    assert wheel.url == "https://files/x/a-1-py3-none-any.whl"
    assert dict(wheel.attributes) == {"data-yanked": '"><b'}
