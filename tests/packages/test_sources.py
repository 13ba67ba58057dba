"""Packages come from where pip is set to."""

from __future__ import annotations

import contextlib
import gzip
import subprocess
from pathlib import Path

import pytest

from chatdev.errors import ToolError
from chatdev.packages.gateway import Fetcher, Sources, Unavailable, sources
from chatdev.safe_text import holds_secret
from tests.packages.conftest import Install
from tests.support.chat_server import ChatServer, Scripted
from tests.support.wheels import PackageIndex, set_pip


def configured(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set pip by a file alone."""
    path = tmp_path / "pip.conf"
    path.write_text(text)
    set_pip("", monkeypatch, config_file=str(path))
    monkeypatch.delenv("PIP_INDEX_URL")


def test_without_settings_it_is_the_public_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured("", tmp_path, monkeypatch)
    assert sources().indexes == ("https://pypi.org/simple",)


def test_the_settings_of_the_command_win_and_variables_win_over_them(tmp_path: Path,
                                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    configured("[global]\nindex-url = https://a/simple\nextra-index-url =\n  https://b/simple\n  https://c/simple\n"
               "cert = /a.pem\ntrusted-host = b c:8\n[install]\nindex-url = https://d/simple\n[list]\ncert = /b.pem\n",
               tmp_path, monkeypatch)
    found = sources()
    assert found.indexes == ("https://d/simple", "https://b/simple", "https://c/simple")
    assert found.cert == "/a.pem"
    assert found.trusted_hosts == {"b", "c:8"}
    monkeypatch.setenv("PIP_INDEX_URL", "https://e/simple")
    assert sources().indexes[0] == "https://e/simple"


def test_what_is_secret_in_them_is_known_as_such_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured("[global]\nextra-index-url = https://eve:s3cret-of-index@b/simple\nproxy = http://bob:s3cret-of-proxy@p:1\n",
               tmp_path, monkeypatch)
    assert "s3cret" not in repr(sources())
    assert holds_secret("s3cret-of-index")
    assert holds_secret("s3cret-of-proxy")


def test_settings_that_pip_cannot_read_are_told_without_what_is_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                        ) -> None:
    configured("https://eve:s3cret-of-index@b/simple\n", tmp_path, monkeypatch)
    with pytest.raises(ToolError, match="pip cannot read its settings") as raised:
        sources()
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("answer", [
    subprocess.TimeoutExpired("pip", 1), subprocess.CompletedProcess("pip", 0, "global.cert='/a' b\n")])
def test_an_answer_of_pip_that_cannot_be_read_is_told(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(ToolError, match="pip cannot read its settings"):
        sources()


@pytest.mark.parametrize("address", ["https://u:p@host:abc/simple", "https://u:p@[host/simple"])
def test_an_index_at_no_address_is_told(address: str) -> None:
    with pytest.raises(ToolError, match="the address of a package index that pip is set to is none"):
        Fetcher(Sources(indexes=(address,)))


@pytest.mark.parametrize("address", ["https://h:99999999/x.whl", "https://h:abc/x.whl", "https://[h/x.whl"])
def test_nothing_comes_from_what_is_no_address(address: str) -> None:
    with contextlib.closing(Fetcher(Sources(indexes=()))) as fetcher, pytest.raises(Unavailable), fetcher.open(address):
        pass


def test_an_index_packs_its_pages_once_or_not_at_all(chat_server: ChatServer) -> None:
    for packing in ("gzip", "gzip, gzip", "zstd", "identity"):
        page = gzip.compress(b"page") if packing == "gzip" else b"page"
        chat_server.script(Scripted(body=page, headers={"Content-Encoding": packing}))
    read = []
    with contextlib.closing(Fetcher(Sources((chat_server.url,)))) as fetcher:
        for _ in range(4):
            try:
                with fetcher.open(chat_server.url) as content:
                    read.append(b"".join(content.pieces))
            except Unavailable as problem:
                read.append(str(problem).encode())
    assert (read[0], read[3]) == (b"page", b"page")
    assert b"packs its answer ('gzip, gzip')" in read[1]
    assert b"packs its answer ('zstd')" in read[2]
    assert chat_server.requests[0].headers["Accept-Encoding"] == "identity"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1 that nobody knows, with its key."""
    path = tmp_path / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path, "-out", tmp_path / "c",
                    "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                   capture_output=True)
    path.write_bytes(path.read_bytes() + (tmp_path / "c").read_bytes())
    return path


@pytest.mark.tool
def test_an_index_by_tls_must_have_a_certificate_that_is_known(certificate: Path, installed: Install,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    with PackageIndex(certificate=certificate) as index:
        index.add("made_up_a")
        set_pip(index.url, monkeypatch)
        assert installed("made_up_a") == "127.0.0.1 cannot be reached (ConnectError)"
        set_pip(index.url, monkeypatch, cert=str(certificate.parent / "c"))
        assert installed("made_up_a") is None


@pytest.mark.tool
def test_a_trusted_host_is_taken_as_it_is(certificate: Path, installed: Install, monkeypatch: pytest.MonkeyPatch,
                                          ) -> None:
    with PackageIndex(certificate=certificate) as index:
        index.add("made_up_b")
        set_pip(index.url, monkeypatch, trusted_host=f"127.0.0.1:{index.port}")
        assert installed("made_up_b") is None
