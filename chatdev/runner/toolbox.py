"""The tools of a run: which there are, how they are called, what they may install, and what becomes of broken ones; and
those of servers that the user adds: whose word each is, which values it gets, and what a record knows of its tools."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import re
import shlex
import tempfile
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from chatdev.config.check_company import ToolFacts
from chatdev.config.phases import ToolDescription
from chatdev.config.schema import CompanyConfig, McpServer
from chatdev.config.settings import Authorship, UserSettings, environ
from chatdev.connection import without_user
from chatdev.engine.context import TOOL_LOG, Files
from chatdev.errors import ChatDevError, ConfigError, SandboxError, ToolCrashed
from chatdev.isolation.parent import ReadingStopped, stop_at_end
from chatdev.journal import utc_now
from chatdev.llm.base import ToolSpec
from chatdev.mcp.servers import ServerLink, ServerPlace, ServerTool, ToolServers, require_sdk
from chatdev.packages.imports import POLICIES, Supply, strictest_policy
from chatdev.runner.options import Ask, RunOptions
from chatdev.safe_text import (
    NameSign,
    encodable_text,
    generated_parts,
    is_secret,
    keep_secret,
    plain_value,
    sanitize,
    scrub,
)
from chatdev.sandbox.base import Sandbox
from chatdev.tools.base import OWN_DEPARTMENT, Tool, ToolContext, Verdict, registry, tool
from chatdev.workspace.file_tree import explain_os_errors

_PAUSE = 0.5  # seconds between two looks at a runtime that another process makes


class KnownTools(Mapping[str, ToolFacts]):
    """The installed tools and `given` ones, as a company's check must know them. An installed tool is imported only
    when a company names it. Raises ConfigError when two have one name."""

    def __init__(self, given: Iterable[Tool] = ()) -> None:
        self._installed = registry()
        self._names = tuple(self._installed)
        self.given: dict[str, Tool] = {}
        for one in given:
            if one.name in self:
                raise ConfigError(f"there are two tools {one.name!r}; give yours another name: @tool(name=…)")
            self.given[one.name] = one

    def tool(self, name: str) -> Tool:
        """The tool itself. Raises KeyError."""
        return self.given[name] if name in self.given else self._installed[name]

    def __getitem__(self, name: str) -> ToolFacts:
        found = self.tool(name)
        return ToolFacts(name, found.reads, found.writes_files)

    def __iter__(self) -> Iterator[str]:
        return iter((*self._names, *self.given))

    def __len__(self) -> int:
        return len(self._names) + len(self.given)

    def __contains__(self, name: object) -> bool:
        return name in self._installed or name in self.given


def make_tools(functions: Iterable[Tool | Callable[..., Any]]) -> list[Tool]:
    """Tools as they are, and functions made into tools: `def short(ctx: ToolContext, *, lines: int = 3) -> Verdict` is
    `mine.short`. Raises ConfigError for what cannot be one."""
    return [one if isinstance(one, Tool) else _make_tool(one) for one in functions]


def _make_tool(function: Callable[..., Any]) -> Tool:
    name = getattr(function, "__name__", "")
    if not name.isidentifier() or inspect.iscoroutinefunction(function):
        raise ConfigError(f"{function!r} cannot be a tool; give a plain function with a name (no lambda, no async def)")
    if not (function.__doc__ or "").strip():
        raise ConfigError(f"the function {name} has no docstring; write one: agents read there what the tool does")
    try:
        return tool(name=f"{OWN_DEPARTMENT}.{name}")(function)
    except (TypeError, NameError, ValueError) as error:
        raise ConfigError(f"the function {name} cannot be a tool: {error}; write it as `def {name}(ctx: ToolContext, "
                          "*, argument: int = 3) -> str`, with typed keyword-only arguments") from error


@dataclass(frozen=True, slots=True)
class RunToolbox:
    """Implements the engine's `Toolbox`; hidden inputs reach tools here and nowhere else."""

    sandbox: Sandbox
    run_folder: Path
    inputs: Mapping[str, Any]
    tools: KnownTools
    options: Mapping[str, Any] = field(default_factory=dict)
    given: Files = field(default_factory=dict)
    servers: ToolServers = field(default_factory=ToolServers)

    def spec(self, name: str) -> ToolSpec:
        """Description of the tool for agents."""
        if name in self.servers:
            return self.servers.spec(name)
        found = self.tools.tool(name)
        return ToolSpec(found.name, found.about, found.parameters)

    def reads(self, name: str) -> tuple[str, ...]:
        """Long-term names that the tool declares to read."""
        return () if name in self.servers else self.tools.tool(name).reads

    async def call(self, name: str, software: Files, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        """The tool's result as plain JSON values. Raises the ToolErrors of the tool, ToolCrashed among them."""
        if name in self.servers:
            return await self.servers.call(name, arguments)
        with stop_at_end():
            return await asyncio.to_thread(self._call_or_crash, name, software, values, arguments)

    def _call_or_crash(self, name: str, software: Files, values: Mapping[str, Any],
                       arguments: Mapping[str, Any]) -> Any:
        """The same in the tool's thread, which no exception may leave that means something else on the event loop
        (StopIteration, SystemExit, a cancellation)."""
        try:
            return plain_result(name, self._call(name, software, values, arguments))
        except (ChatDevError, KeyboardInterrupt, ReadingStopped):
            raise
        except BaseException as error:
            keep_traceback(self.run_folder / TOOL_LOG, name, error)
            raise crash_of(name, error) from error

    def _call(self, name: str, software: Files, values: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        with explain_os_errors("make a working folder in", tempfile.gettempdir()):
            scratch_folder = tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True)
        with scratch_folder as scratch:
            context = ToolContext(software, values, self.inputs, sandbox=self.sandbox, run_folder=self.run_folder,
                                  scratch=Path(scratch), options=self.options, given=self.given)
            return self.tools.tool(name).call(context, arguments)


def described_tools(company: CompanyConfig, tools: KnownTools) -> dict[str, ToolDescription]:
    """The tools that the company's agents may use, by name, as inception prompts describe them; those of servers are
    left out, as only these know them."""
    names = {name for role in company.roles.values() for name in role.tools}
    names |= {name for phase in company.phases.values() for name in phase.tools or ()}
    found = {name: tools.tool(name) for name in sorted(names - {*company.server_tools})}
    return {name: ToolDescription(name, one.about, one.parameters) for name, one in found.items()}


def resolve_install_policy(options: RunOptions, user: UserSettings, company: CompanyConfig) -> RunOptions:
    """The options with the strictest of what the user and the company say of installing. Raises ConfigError for a
    policy or a runtime that there is not."""
    if options.install not in (None, *POLICIES):
        raise ConfigError(f"install: {options.install!r} is not possible; known: {', '.join(POLICIES)}")
    if options.runtime:
        from chatdev.packages.modules import runtime

        runtime(options.runtime)
    return replace(options, install=strictest_policy(options.install or user.install, company.install))


def make_supply(options: RunOptions, closing: AsyncExitStack) -> Supply:
    """What the tools are told; a question that waits for its answer ends with the session."""
    if options.ask is None or options.install != "ask":
        return Supply(options.install or "auto", None, options.runtime)
    asking = InstallQuestion(options.ask, asyncio.get_running_loop())
    closing.callback(asking.stop)
    return Supply(options.install, asking, options.runtime)


class InstallQuestion:
    """Lets a tool, which works in a thread, ask on the event loop."""

    def __init__(self, ask: Ask, loop: asyncio.AbstractEventLoop) -> None:
        self._ask, self._loop = ask, loop
        self._waiting: set[Future[bool]] = set()

    def __call__(self, distribution: str) -> bool:
        """The answer; raises SandboxError when the session ends before it comes."""
        answer = asyncio.run_coroutine_threadsafe(self._answer(distribution), self._loop)
        self._waiting.add(answer)
        try:
            return answer.result()
        except CancelledError:
            raise SandboxError(f"stopped before it was said whether {distribution} may be installed") from None
        finally:
            self._waiting.discard(answer)

    def stop(self) -> None:
        """Wait for no answer any more."""
        for answer in tuple(self._waiting):
            answer.cancel()

    async def _answer(self, distribution: str) -> bool:
        answer = self._ask(distribution)
        return await answer if inspect.isawaitable(answer) else answer


async def prepare_runtime(name: str | None, sandbox: Sandbox, note: Callable[[str], None]) -> None:
    """Make the runtime `name` ready, if there is one and it is not, and say so."""
    if name is None:
        return
    from chatdev.packages.modules import runtime

    wanted = runtime(name)
    if wanted.ready:
        return
    note(f"preparing the runtime {name} ({', '.join(wanted.modules)}), once for all runs, in {wanted.folder}; this "
         "takes a minute or more")
    while not wanted.ready and not await asyncio.to_thread(wanted.make, sandbox):
        await asyncio.sleep(_PAUSE)
    note(f"the runtime {name} is ready")


# Tools that end with an exception not raised on purpose: what the pair reads, and where the traceback is.

_SHOWN = 300  # characters of an exception's message
_LONGEST_TRACEBACK, _LARGEST_LOG = 20_000, 1_000_000
_FOLDERS = re.compile(r"(?<![\w.…])/(?:[^\s/'\"`:,;()\[\]{}<>]+/)+")


def plain_result(name: str, result: Any) -> Any:
    """Result of the tool `name` as plain JSON values. Raises ToolCrashed for other values."""
    value = result.to_dict() if isinstance(result, Verdict) else result
    try:
        return plain_value(value)
    except ValueError as error:
        raise ToolCrashed(f"{name} gave what is no JSON value: {_message(error)}") from error


def crash_of(name: str, error: BaseException) -> ToolCrashed:
    """The exception in words for agents: its kind and the beginning of its message, without folders of this machine."""
    message = _message(error)
    return ToolCrashed(f"{name} ended with an unexpected {type(error).__name__}{': ' if message else ''}{message}")


def keep_traceback(log: Path, name: str, error: BaseException) -> None:
    """Add where the exception comes from to `log`, unless that cannot be written or is large already."""
    with contextlib.suppress(Exception):  # the crash itself is told in any case
        if log.exists() and log.stat().st_size > _LARGEST_LOG:
            return
        text = sanitize("".join(traceback.format_exception(error)))[-_LONGEST_TRACEBACK:]
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{utc_now().isoformat(timespec='seconds')} {name}\n{text}\n")


def _message(error: BaseException) -> str:
    try:
        text = scrub(str(error))[:10 * _SHOWN]
    except Exception:  # noqa: BLE001 - an exception of a tool's own may break on that, too
        return ""
    return _FOLDERS.sub("…/", " ".join(encodable_text(text).split()))[:_SHOWN]


# Servers of tools in a run: those that the user adds, whose word each is, which values they get, and what a record
# knows of their tools.

_GIVEN = re.compile(r"(?P<name>[a-z][a-z0-9_-]*)(?::(?P<tools>[\w.,-]+))?=(?P<place>.*\S.*)", re.DOTALL)
T = TypeVar("T")
_WORDS = ("command", "url", "env", "key_env")


# Servers that the user names on the command line: changes of the company, as `--set` makes them.


def add_servers(company: CompanyConfig, given: Sequence[str], variables: Sequence[str] = ()) -> list[str]:
    """The `--set` changes that add what `--mcp` names (`NAME=COMMAND`, `NAME=http://…`, `NAME:tool,tool=…`) and what
    `--mcp-env` names (`NAME=VARIABLE`). One that the company declares keeps its tools and its roles; the tools of
    another are given to every role, and without names the server is asked for all that it has. Raises ConfigError, and
    ToolError where a server cannot be asked."""
    servers: dict[str, McpServer] = {}
    for one in given:
        name, server = _read_server(one, company)
        if name in servers:
            raise ConfigError(f"--mcp {name} is given twice; give each server a name of its own")
        servers[name] = server
    for one in variables:
        name, variable = _read_variable(one, servers)
        server = servers[name]
        more = {"key_env": variable} if server.url else {"env": [*server.env, variable]}
        servers[name] = server.model_copy(update=more)
    servers = {name: server if server.tools else server.model_copy(update={"tools": _ask_for_tools(name, server)})
               for name, server in servers.items()}
    return list(_changes(company, servers))


def _read_server(given: str, company: CompanyConfig) -> tuple[str, McpServer]:
    found = _GIVEN.fullmatch(given)
    if not found:
        raise ConfigError(f"--mcp {given!r}: write NAME=COMMAND, NAME=http://ADDRESS, or NAME:tool,tool=COMMAND")
    name, place = found["name"], found["place"].strip()
    declared = company.mcp.get(name)
    kept: dict[str, Any] = {"seconds": declared.seconds, "tools": declared.tools} if declared else {"tools": []}
    if named := [tool for tool in (found["tools"] or "").split(",") if tool]:
        kept["tools"] = named
    is_address = re.match(r"https?://", place) is not None
    try:
        words = [place] if is_address else shlex.split(place)
    except ValueError as error:
        raise ConfigError(f"--mcp {name}: {place!r} is no command ({error}); quote it as a shell wants it") from None
    _refuse_keys(name, words)
    where: dict[str, Any] = {"url": place} if is_address else {"command": words}
    return name, McpServer.model_construct(**where, **kept)


def _refuse_keys(name: str, words: Sequence[str]) -> None:
    """Raise ConfigError for a key among words that every record of the run would hold."""
    parts = [part for word in words for part in (word, word.partition("=")[2])]
    if any(is_secret(part, NameSign.NONE) for part in parts) or any(generated_parts(word) for word in words):
        raise ConfigError(f"--mcp {name}: a key is in it, and every record of the run would hold that; put it into a "
                          f"variable, and name this: --mcp-env {name}=VARIABLE")


def _read_variable(given: str, servers: Mapping[str, McpServer]) -> tuple[str, str]:
    name, equals, variable = given.partition("=")
    if not equals or not variable.isidentifier():
        raise ConfigError(f"--mcp-env {given!r}: write NAME=VARIABLE, the name of a variable and not its value")
    if name not in servers:
        raise ConfigError(f"--mcp-env {given}: there is no --mcp {name}=…; give both")
    return name, variable


def _ask_for_tools(name: str, server: McpServer) -> list[str]:
    """The names of all tools of a server that the user names."""
    async def ask() -> list[str]:
        link = ServerLink(ServerPlace(name, server, _values_of(name, server)))
        try:
            return [tool.removeprefix(f"{name}.") for tool in await link.list_tools()]
        finally:
            await link.close()

    require_sdk()
    if not (tools := _run_aside(ask())):
        raise ConfigError(f"--mcp {name}: the server has no tools; leave it out")
    return tools


def _run_aside(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also where an event loop is running already."""
    from concurrent.futures import ThreadPoolExecutor

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "chatdev-mcp") as pool:
            return pool.submit(asyncio.run, work).result()
    return asyncio.run(work)


def _changes(company: CompanyConfig, servers: Mapping[str, McpServer]) -> Iterator[str]:
    for name, server in servers.items():
        yield f"mcp.{name}={json.dumps(server.model_dump(exclude_defaults=True))}"
    new = [f"{name}.{tool}" for name, server in servers.items() if name not in company.mcp for tool in server.tools]
    for name, role in company.roles.items() if new else ():
        yield f"roles.{name}.tools={json.dumps([*role.tools, *new])}"


# Servers of a company that is to run.


def servers_of_others(company: CompanyConfig, authorship: Authorship) -> list[str]:
    """The servers of which something is not this user's word."""
    return [name for name, server in company.mcp.items()
            if any(getattr(server, word) and not authorship.origin("mcp", name, word).is_users for word in _WORDS)]


def describe_server(name: str, server: McpServer) -> str:
    """What a server is, in words, for those who are to consent to it."""
    if server.url:
        key = f" with the key in your variable {server.key_env}" if server.key_env else ""
        return f"the server of tools at {without_user(server.url)}{key}, which reads what agents send it (mcp.{name})"
    got = f", with your variables {', '.join(server.env)}" if server.env else ""
    return f"the program `{shlex.join(server.command)}`, run as you and outside of the sandbox{got} (mcp.{name})"


def find_servers(company: CompanyConfig, known: Mapping[str, ServerTool]) -> ToolServers:
    """The servers that a company's roles have tools of; none is started. Raises MissingProgram without the SDK, and
    ConfigError for a variable that is not set."""
    used = {tool.partition(".")[0] for role in company.roles.values() for tool in role.tools
            if tool in company.server_tools}
    places = {name: ServerPlace(name, server, _values_of(name, server)) for name, server in company.mcp.items()
              if name in used}
    if places:
        require_sdk()
    return ToolServers(places, {name: tool for name, tool in known.items() if name in company.server_tools})


def _values_of(name: str, server: McpServer) -> dict[str, str]:
    """The values that a server gets, which are secrets from here on."""
    wanted, known = [*server.env, *([server.key_env] if server.key_env else [])], environ()
    for variable in wanted:
        if variable not in known:
            raise ConfigError(f"mcp.{name}: the variable {variable} is not set, and the server is to get it; set it, "
                              "or leave its name out")
        keep_secret(known[variable])
    return {variable: known[variable] for variable in wanted}


def tools_from_record(record: object) -> dict[str, ServerTool]:
    """The tools in a record of `ServerTool.to_record`. Raises TypeError for anything else."""
    if not isinstance(record, dict):
        raise TypeError(f"`mcp` is {record!r:.80}")
    found = {}
    for name, one in record.items():
        about, parameters = (one.get("about"), one.get("parameters")) if isinstance(one, dict) else (None, None)
        if not (isinstance(about, str) and isinstance(parameters, dict)):
            raise TypeError(f"`mcp` has {name}: {one!r:.80}")
        found[name] = ServerTool(about, parameters)
    return found
