"""Texts as vectors: code without comments, words and letters, and an endpoint."""

from __future__ import annotations

import socket

import pytest

from chatdev.connection import Endpoint
from chatdev.departments.software.evaluation.quality import code_text, consistency
from chatdev.errors import ModelRejected, ModelUnavailable, UnusableReply
from chatdev.evaluation.measure import EndpointEmbedder, LexicalEmbedder
from tests.evaluation.texts import FOURIER, TODO, TODO_CODE
from tests.support.chat_server import ChatServer, Received, Scripted


def test_comments_docstrings_and_documents_are_left_out() -> None:
    text = code_text({
        "main.py": b'"""About it."""\n# A comment.\n\nprint("# no comment")  # one\n',
        "page.html": b"<!-- note --><p>Hi</p>\n", "prog.c": b"#include <a.h>\n/* note */ int x; // note\n",
        "manual.md": b"# Manual\n", "data.bin": b"\0\1", "LICENSE": b"words\n"})
    assert text == 'print("# no comment")\n<p>Hi</p>\n#include <a.h>\n int x;'


def test_the_lexical_embedder_tells_related_from_unrelated() -> None:
    requirement, related, unrelated = LexicalEmbedder().embed([TODO, TODO_CODE, FOURIER])
    assert consistency(requirement, related) > 3 * consistency(requirement, unrelated)
    assert LexicalEmbedder().embed([TODO]) == [requirement]
    assert consistency(requirement, LexicalEmbedder().embed([""])[0]) == 0


def remote(server: ChatServer) -> EndpointEmbedder:
    return EndpointEmbedder(Endpoint(server.url, "sk-of-the-test-and-nobody-else"), "embedder", retries=1)


def vectors(request: Received) -> Scripted:
    data = [{"object": "embedding", "index": n, "embedding": [float(len(text)), 1.0]}
            for n, text in enumerate(request.body["input"])]
    return Scripted(body={"object": "list", "data": data[::-1], "model": "embedder", "usage": {}})


def test_an_endpoint_is_asked_for_many_texts_at_once(chat_server: ChatServer) -> None:
    chat_server.route(vectors)
    texts = ["x" * n for n in range(1, 41)]
    assert remote(chat_server).embed(texts) == [[float(n), 1.0] for n in range(1, 41)]
    assert [len(request.body["input"]) for request in chat_server.requests] == [32, 8]
    assert {request.path for request in chat_server.requests} == {"/v1/embeddings"}


@pytest.mark.parametrize(("reply", "error"), [
    (Scripted(status=401, body={"error": {"message": "wrong key"}}), ModelRejected),
    (Scripted(status=503, body={"error": {"message": "busy"}}), ModelUnavailable),
    (Scripted(body={"data": []}), UnusableReply),
    (Scripted(body={"data": [{"index": 0, "embedding": []}]}), UnusableReply),
    (Scripted(body={"choices": []}), UnusableReply),
    *((Scripted(body={"data": [{"index": 0, "embedding": vector}]}), UnusableReply)
      for vector in (5, None, ["a", None], {"a": 1}, [10 ** 400])),
    (Scripted(body=b"[" * 100_000), UnusableReply),
    (Scripted(body=b"<html>"), UnusableReply),
])
def test_an_endpoint_that_fails_says_which_model_and_why(chat_server: ChatServer, reply: Scripted,
                                                         error: type[Exception]) -> None:
    chat_server.route(lambda _: reply)
    with pytest.raises(error, match="embedder"):
        remote(chat_server).embed(["text"])


def test_what_an_endpoint_said_is_said_once(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted(status=404, body={"error": {"message": "no such model"}}))
    with pytest.raises(ModelRejected, match=r"/v1: 404 no such model$"):
        remote(chat_server).embed(["text"])


def test_an_endpoint_that_is_gone() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailable, match="no connection"):
        EndpointEmbedder(Endpoint(address, "k"), "embedder", retries=0).embed(["text"])
