"""A server as a child process: one JSON message a line on its pipes, as the protocol's stdio transport has it.

The SDK has a transport of its own, which keeps a line of any length, shows what the server writes on standard error,
and adds variables. This one has limits, keeps the end of standard error for the words of a failure, and gives the
server exactly the environment that it is given.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from chatdev.safe_text import load_json
from chatdev.sandbox.children import has_ended, kill_group, start_server

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

LARGEST_MESSAGE = 8 << 20
"""Bytes of a message of a server."""
MOST_BYTES = 64 << 20
"""Bytes that may come from a server while one answer is waited for."""
_PIECE = 1 << 16
_KEPT = 2000  # bytes of standard error
_PATIENCE = 2.0  # seconds that a server may take to end once its input has, and again once it was asked to
_LOOK = 0.02  # seconds between two looks at a server that is to end


@dataclass(slots=True)
class Traffic:
    """What has come from a server: bytes since an answer is waited for, the end of its standard error, whether it will
    say no more, and why it was cut off, if it was."""

    received: int = 0
    said: bytearray = field(default_factory=bytearray)
    ended: bool = False
    problem: str = ""
    status: int | None = None

    def count(self, size: int, message: int) -> bool:
        """Count what came, of which `message` bytes are a message that has no end yet; False when it is too much."""
        self.received += size
        if message > LARGEST_MESSAGE:
            self.problem = f"sent a message of more than {LARGEST_MESSAGE >> 20} MiB"
        elif self.received > MOST_BYTES:
            self.problem = f"sent more than {MOST_BYTES >> 20} MiB and no answer"
        return not self.problem

    def keep(self, data: bytes) -> None:
        """Keep the end of standard error."""
        self.said += data
        del self.said[:-_KEPT]


@asynccontextmanager
async def serve_by_command(command: Sequence[str], environment: Mapping[str, str],
                           traffic: Traffic) -> AsyncIterator[TransportStreams]:
    """The streams of a server that is started here, and ended with its descendants at the end of the block. Raises
    OSError when it cannot be started."""
    import anyio

    process = start_server(command, environment)
    incoming, read_stream = anyio.create_memory_object_stream[Any](0)
    write_stream, outgoing = anyio.create_memory_object_stream[Any](0)
    tasks: list[asyncio.Task[None]] = []
    try:
        async with contextlib.AsyncExitStack() as pipes:
            output, errors = [await _open_reader(pipe, pipes) for pipe in (process.stdout, process.stderr)]
            stdin = await _open_writer(process.stdin, pipes)
            tasks = [asyncio.create_task(work) for work in (
                _receive(output, incoming, process, traffic), _send(outgoing, stdin), _listen(errors, traffic))]
            try:
                yield read_stream, write_stream
            finally:
                stdin.close()
                await _end(process)
    finally:
        for task in tasks:
            task.cancel()
        kill_group(process)  # also what it has left behind, and before it is reaped
        traffic.ended, traffic.status = True, await asyncio.to_thread(_reap, process)
        for stream in (incoming, read_stream, write_stream, outgoing):
            stream.close()


async def _receive(output: asyncio.StreamReader, incoming: Any, process: subprocess.Popen[bytes],
                   traffic: Traffic) -> None:
    """Pass the lines of a server on, until it says no more or too much."""
    import anyio

    pending = bytearray()
    try:
        while data := await output.read(_PIECE):
            *lines, rest = data.split(b"\n")
            if not traffic.count(len(data), len(pending) + len(lines[0] if lines else rest)):
                kill_group(process)
                break
            for line in lines:
                await incoming.send(read_message(bytes(pending) + line))
                pending.clear()
            pending += rest
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        pass  # nobody listens any more, or the server is gone
    finally:
        traffic.ended = True
        incoming.close()
    while await output.read(_PIECE):  # so that a server that still writes can come to its end
        pass


def read_message(line: bytes) -> SessionMessage | Exception:
    """The message in a line, or why there is none."""
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    try:  # half characters would cost the whole message, and the call that waits for it its time
        return SessionMessage(jsonrpc_message_adapter.validate_python(load_json(line.decode("utf-8", "replace")),
                                                                      by_name=False))
    except ValueError as error:
        return error


async def _send(outgoing: Any, stdin: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # that it is gone, its output tells
        async with outgoing:
            async for one in outgoing:
                stdin.write(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await stdin.drain()


async def _listen(errors: asyncio.StreamReader, traffic: Traffic) -> None:
    while data := await errors.read(_PIECE):
        traffic.keep(data)


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a server whose input has ended; then ask it to end, too."""
    for number in (None, signal.SIGTERM):
        if number:
            kill_group(process, number)
        for _ in range(round(_PATIENCE / _LOOK)):
            if has_ended(process):
                return
            await asyncio.sleep(_LOOK)


def _reap(process: subprocess.Popen[bytes]) -> int | None:
    with contextlib.suppress(subprocess.TimeoutExpired):  # one that the kernel holds is left to it
        return process.wait(_PATIENCE)
    return None


async def _open_reader(pipe: IO[bytes] | None, pipes: contextlib.AsyncExitStack) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe)
    pipes.callback(transport.close)
    return reader


async def _open_writer(pipe: IO[bytes] | None, pipes: contextlib.AsyncExitStack) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe)
    pipes.callback(transport.abort)
    return asyncio.StreamWriter(transport, protocol, None, loop)
