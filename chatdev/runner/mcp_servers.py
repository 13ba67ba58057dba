"""Servers of tools in a run: those that the user adds, whose word each is, which values they get, and what a record
knows of their tools."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from chatdev.config.schema import CompanyConfig, McpServer
from chatdev.config.settings import Authorship, environ
from chatdev.errors import ConfigError
from chatdev.mcp.answers import ServerTool
from chatdev.mcp.servers import ServerLink, ServerPlace, ToolServers, require_sdk
from chatdev.origins import without_user
from chatdev.safe_text import NameSign, generated_parts, is_secret, keep_secret

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
