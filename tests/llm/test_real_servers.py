"""One chain through the real llama.cpp: by itself, and behind servers that speak as Ollama and vLLM do."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from chatdev import Company
from chatdev.events import Event, ModelCalled, TextStreamed
from chatdev.llm.local.local_model import LocalServer
from chatdev.llm.local.weights import installed_file
from tests.support.local_model import require_local_model

COMPANY = {
    "company": "painters", "about": "Chooses a colour.", "inputs": {"task": {"required": True}},
    "roles": {"painter": {"title": "Painter"}, "critic": {"title": "Critic"}},
    "phases": {
        "choose": {"about": "Choose the colour that fits.", "assistant": "painter", "reads": ["task"],
                   "opening": "{{ task }}", "writes": "colour",
                   "solution": {"form": "choice", "options": ["Red", "Blue"]}},
        "praise": {"about": "Say in one sentence why it fits.", "instructor": "critic", "assistant": "painter",
                   "reads": ["task", "colour"], "opening": "{{ task }} They chose {{ colour }}.", "rounds": 1,
                   "writes": "praise", "opens": "instructor"},
    },
    "model": {"max_tokens": 60, "temperature": 0, "seed": 1},
    "chain": [{"phase": "choose"}, {"phase": "praise"}, {"tool": "software.complete", "writes": "test"}],
    "success": "test is defined",
}
Answer = dict[str, Any]


@dataclass
class Dialect:
    """What a server makes of llama.cpp's list of models, of a completion, and of a piece of one."""

    name: str
    listed: Mapping[str, Any]
    whole: Callable[[Answer], Answer]
    piece: Callable[[Answer], Answer]
    unknown: Mapping[str, Any]


def _of_ollama(answer: Answer) -> Answer:
    kept: dict[str, Any] = {name: answer[name] for name in ("id", "object", "created", "choices", "usage")
                            if name in answer}
    for choice in kept["choices"]:
        choice.pop("logprobs", None)
    return {**kept, "model": "qwen2.5-coder:1.5b", "system_fingerprint": "fp_ollama"}


def _of_vllm(answer: Answer) -> Answer:
    for choice in answer["choices"]:
        said = choice.get("message") or choice.get("delta")
        said |= {"refusal": None, "annotations": None, "audio": None, "function_call": None, "tool_calls": [],
                 "reasoning": None, "reasoning_content": None}
        choice |= {"logprobs": None, "stop_reason": None, "token_ids": None}
    if usage := answer.get("usage"):
        usage["prompt_tokens_details"] = None
    kept = {name: value for name, value in answer.items() if name != "timings"}
    return {**kept, "model": "Qwen/Qwen2.5-Coder-1.5B-Instruct", "service_tier": None, "system_fingerprint": None,
            "prompt_logprobs": None, "prompt_token_ids": None, "kv_transfer_params": None}


OLLAMA = Dialect(
    "ollama", {"object": "list", "data": [{"id": "qwen2.5-coder:1.5b", "object": "model", "created": 1,
                                           "owned_by": "library"}]}, _of_ollama, _of_ollama,
    {"error": {"message": "model not found, try pulling it first", "type": "api_error", "param": None, "code": None}})
VLLM = Dialect(
    "vllm", {"object": "list", "data": [{"id": "Qwen/Qwen2.5-Coder-1.5B-Instruct", "object": "model", "created": 1,
                                         "owned_by": "vllm", "root": "/models/qwen", "parent": None,
                                         "max_model_len": 8192, "permission": []}]}, _of_vllm, _of_vllm,
    {"object": "error", "message": "The model does not exist.", "type": "NotFoundError", "param": None, "code": 404})


@contextmanager
def speaking(dialect: Dialect, real: LocalServer) -> Iterator[str]:
    """The address of a server that passes requests on to llama.cpp, and speaks in a dialect."""
    (name,) = [model["id"] for model in dialect.listed["data"]]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, dialect.listed)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if body["model"] != name:
                self._send(404, dialect.unknown)
                return
            request = urllib.request.Request(
                f"{real.url}/chat/completions", json.dumps({**body, "model": "any"}).encode(),
                {"Content-Type": "application/json", "Authorization": f"Bearer {real.key}"})
            with urllib.request.urlopen(request, timeout=300) as answer:
                if not body.get("stream"):
                    self._send(200, dialect.whole(json.load(answer)))
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for line in answer:
                    if line.startswith(b"data: {"):
                        line = b"data: " + json.dumps(dialect.piece(json.loads(line[6:]))).encode() + b"\n"
                    self.wfile.write(line)

        def _send(self, status: int, value: Mapping[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.fixture(scope="module")
def llama() -> Iterator[LocalServer]:
    """The real server of the local model."""
    require_local_model()
    file = installed_file()
    assert file is not None  # required above
    server = LocalServer(file)
    server.start()
    yield server
    server.stop()


def chain(folder: Path, *, base_url: str, **options: Any) -> list[Event]:
    """The events of a run that ends well."""
    (folder / "company.yaml").write_text(yaml.safe_dump(COMPANY))
    events: list[Event] = []
    run = Company.load(folder).run("Which colour has a fire engine?", base_url=base_url, sandbox="none",
                                   warehouse=folder / "runs", on_event=events.append, **options)
    assert run.success, run.reason
    assert run.values["colour"] in ("Red", "Blue")
    assert run.values["praise"].strip()
    return events


def _check_calls(events: list[Event], model: str | None = None) -> None:
    calls = [event for event in events if isinstance(event, ModelCalled)]
    assert 3 <= len(calls) <= 5
    assert not any(call.estimated or call.retries for call in calls)
    assert all(call.prompt_tokens and call.completion_tokens for call in calls)
    assert model is None or {call.model for call in calls} == {model}


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
@pytest.mark.parametrize("stream", [False, True])
def test_a_chain_runs_through_llama_cpp_itself(llama: LocalServer, tmp_path: Path, stream: bool,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_API_KEY", llama.key)
    events = chain(tmp_path, base_url=llama.url, provider="llamacpp", stream=stream)
    _check_calls(events)
    assert stream == any(isinstance(event, TextStreamed) for event in events)


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", [OLLAMA, VLLM], ids=["ollama", "vllm"])
def test_the_same_chain_runs_in_the_dialects_of_others(llama: LocalServer, tmp_path: Path, dialect: Dialect,
                                                       stream: bool) -> None:
    with speaking(dialect, llama) as address:
        events = chain(tmp_path, base_url=address, provider=dialect.name, stream=stream)
    (model,) = [one["id"] for one in dialect.listed["data"]]
    _check_calls(events, model)
