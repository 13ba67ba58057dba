"""Readers of companies, settings, journals, and of what servers of models and of tools answer."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing, suppress
from functools import cache
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import CallToolResult
from mcp.types import Tool as Offer

from chatdev.cli.screen import first_line, layout_text
from chatdev.config.load import build_company, load_company
from chatdev.config.settings import keep_dotenvs, read_dotenv, read_trust, user_settings
from chatdev.config.templates import compile_expression, listing, render, variables
from chatdev.departments.process.pool import InstanceOutcome
from chatdev.departments.process.pool_store import InstancePool, find_outcomes
from chatdev.departments.software.evaluation.quality import paper_code_text, paper_completeness
from chatdev.departments.software.legacy.company_of_1x import import_company
from chatdev.errors import ConfigError, ExpressionError, JournalError, ModelError, ToolError
from chatdev.evaluation.measure import LexicalEmbedder
from chatdev.evaluation.plots import kind_of_issue
from chatdev.journal import read_journal
from chatdev.llm.base import Message, Request, Sampling, ToolSpec, count_tokens
from chatdev.llm.completions import EventReader, StreamCollector, reply_of, server_usage
from chatdev.llm.failures import Complaint, Transient, error_message, retry_after_seconds, status_of
from chatdev.llm.openai_model import Adaptations
from chatdev.mcp.servers import LONGEST_ANSWER, read_offer, read_result
from chatdev.mcp.stdio import read_message
from chatdev.runner.recorded import RecordedRun
from chatdev.safe_text import sanitize, scrub
from tests.config.tiny import TINY, TOOLS
from tests.departments.software.legacy.written_by_hand import CHAIN, write_company
from tests.fuzz.properties import TOKENS
from tests.fuzz.readers.reader import Reader, scratch, value_in, write

YAML = ["\n", " ", "  ", "\t", ":", ": ", "- ", "{", "}", "[", "]", ",", "#", "&a ", "*a", "<<: *a\n",
        "!!python/object ", "!x ", "|\n", ">-\n", "'", '"', "%YAML 1.1\n", "---\n", "...\n", "? ", "\0", "\ud800",
        "\ufeff", "\x85", "\u2028", "é", "{{ ", " }}", "{% for x in task %}", "extends: tiny\n", "phases:\n", "task",
        "null", "1e999", "0x1", "a", "a: ", "1:2", "- - ", "\\", "a b: c d\n"]
CHANGES = [*YAML, "insert: ", "without: ", "{after: ", "before: ", "coding", "software.use", "#2", "#", "#-1",
           ", steps: [", "{phase: coding}", "]}", "[coding]", "{tool: software.use, writes: a}", "parallel: [",
           "repeat: {max: 2, steps: ["]
LEGACY = ['{"phase": "Coding", ', '"phaseType": "ComposedPhase", ', '"Composition": [', '"cycleNum": ',
          '"max_turn_step": ', '{"phase": "Naming"}', '"user_role_name": "Boss", ',
          '"assistant_role_name": "Coder", ', '"phase_prompt": ["',
          "{task}", "{{", "}}", "{", "}", "{%", "%}", "{#", "{0}", "{a.b[c]!r:>9}", "<INFO>", "FILENAME", '"]', '"',
          "[", "]", ",", ": ", "True", "null", "1e999", "-1", "9" * 30, "\\ud800", "\\n", "{codes}", "{comments}",
          '"": []']
VARIABLES = ["A", "=", "'", '"', "\\", "\n", " ", "\t", "#", "export ", "${A}", "$", "\r", "OPENAI_API_KEY=",
             "sk-abcdefgh", "\0", "é", "`", "a b"]
JOURNAL = ['{"v": 1, "kind": "Noted"}\n', '{"v": 1, "kind": "Order", ', '"place": "", ',
           '"hash": "a", "message": {}', '{"v": 1, "kind": "Message", ', '{"v": 1, "kind": "Activity", ',
           '"digest": "d", "request": {}, ', '"result": {"kind": "reply"', "{", "}", "}\n", "[", "]", '"', "\\ud800",
           "\\", "9" * 50, "NaN", ",", ":", "null", "\n", "\r\n", "\0", "\u2028", "é"]
ANSWERS = ['{"choices": [{"message": {"content": "', '"}, "finish_reason": "stop"}]}', '{"choices": [{"delta": {',
           '"content": "a"', '"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": "b"}}]', "}}]}",
           "\n", '"index": ', "1000000000", '"usage": {"prompt_tokens": ', "9" * 50, "1e400", "-1", "null", "true",
           "{", "}", "[", "]", '"', ",", ": ", "\\ud800", '"error": {"message": "', '"code": "429"', '"id": ',
           '"name": ', "a", " ", "max_tokens is unsupported", "tools are not supported", "context length",
           'data: {"choices": [{"delta": {"content": "a"}}]}\n', "data: ", "data: [DONE]\n", "\n\n", "\r", ": ping\n",
           "error: ", "[DONE]", "[ERROR]", "\ufeff", '"finish_reason": "error"', '"arguments": {"a": "}"}',
           '"reasoning": ', "roles must alternate", "<html><title>", '"metadata": {"raw": ', '"detail": [']
SERVER = ['{"jsonrpc": "2.0", "id": 1, "result": ', '"method": "notifications/message", "params": ', '"content": [',
          '{"type": "text", "text": "', '{"type": "image", "data": "', '"mimeType": "',
          '{"type": "resource", "resource": ', '"uri": "file:///a"', '"isError": true', '"structuredContent": ',
          '"type": "object"', '"properties": {',
          '"pattern": "^a+$"', '"$ref": "#"', '"$ref": "http://127.0.0.1:9/"', '"$schema": "x"', '"description": "',
          "\\u001b[2J", "\\ud800", "\x1b", "\u202e", "9" * 50, "1e400", "NaN", "null", "true", "{", "}", "[", "]", '"',
          ",", ": ", "\n", "a"]
TEMPLATES = ["{{ ", " }}", "{% if ", " %}", "{% endif %}", "{% for x in ", "{% endfor %}", "{#", "#}", "task", ".",
             "[", "]", "(", ")", "'", '"', " and ", " or ", " not ", "==", "|", "length", "join", "1", "+", "*",
             "**", "~", " ", "\n", "range(", "9" * 9, "a", ",", "{", "}", "is defined", "if ", "else "]
SCHEMA = ["CREATE ", "TABLE ", "VIEW ", "VIRTUAL ", "TRIGGER ", "INDEX ", "chatdev_outcomes", "CHATDEV_OUTCOMES", "(",
          ")", ",", " AS ", "SELECT 1", "number INTEGER", "pool VARCHAR(200)", "instance", "PRIMARY KEY", "CHECK",
          "DEFAULT", "GENERATED ALWAYS", "COLLATE", '"', "[", "]", "`", "/*", "*/", "--", "\n", " ", "A → B", "A", "é",
          "\0", "9" * 50, "\ud800", "null", "'"]
ASK = Request((Message("user", "hi"),), Sampling("m"), (ToolSpec("a", "Does it.", {}),))


def company(text: str) -> None:
    """The YAML of a company."""
    with suppress(ConfigError):
        load_company(write("company.yaml", text), tools=TOOLS)


def company_of_1x(text: str) -> None:
    """The three files of a company of ChatDev 1.x, the text as each of them; what is taken can be rendered."""
    for key in ("chain", "phases", "roles"):
        with suppress(ConfigError):
            found = import_company(write_company(scratch() / "1x", **{key: text}), "own")
            for phase in found.company["phases"].values():
                variables(phase["opening"])


def changed_chain(text: str) -> None:
    """What a company changes in the chain of another one, as YAML and as a mapping."""
    with suppress(ConfigError):
        build_company(f"company: own\nextends: single\n{text}", tools=TOOLS)
    with suppress(ConfigError):
        build_company({"company": "own", "extends": "single", "insert": value_in(text)}, tools=TOOLS)


def consents(text: str) -> None:
    """The record of whom the user trusts."""
    with suppress(ConfigError):
        read_trust(write("trust.json", text))


def settings(text: str) -> None:
    """The user's settings."""
    with suppress(ConfigError):
        user_settings(write("settings.yaml", text))


def variables_file(text: str) -> None:
    """A `.env`, of the working folder and of a software."""
    write(".env", text)
    with suppress(ConfigError):
        read_dotenv(scratch())
    keep_dotenvs({".env": text.encode("utf-8", "surrogatepass")})
    scrub(text)


def journal(text: str) -> None:
    """A journal, and the run that it records."""
    path = write("journal.jsonl", text)
    with suppress(JournalError):
        for record in read_journal(path):
            assert isinstance(record["kind"], str)
    with suppress(JournalError):
        run = RecordedRun.read(path)
        assert run.status
        assert run.reusable_activities is not None


def pool(text: str) -> None:
    """A pool of instances, where the text is a value of its rows, and where it is what made one of its tables."""
    data = text.encode("utf-8", "surrogatepass")
    for change in ("UPDATE chatdev_pools SET phases = CAST(? AS TEXT)",
                   "UPDATE chatdev_outcomes SET instance = CAST(?1 AS TEXT), task = CAST(?1 AS TEXT)",
                   "UPDATE sqlite_master SET sql = CAST(? AS TEXT) WHERE name = 'chatdev_outcomes'"):
        file = scratch() / "pool.sqlite"
        file.write_bytes(_whole_pool())
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute(change, (data,))
        with suppress(ConfigError):
            for outcome in find_outcomes(str(file), "mine", ("A", "B")) or ():
                assert {*outcome.instance} <= {"A", "B"} or not outcome.success
        assert not list(file.parent.glob("pool.sqlite-*"))


@cache
def _whole_pool() -> bytes:
    file = scratch() / "whole.sqlite"
    made = InstancePool(str(file), "mine", ("A", "B"))
    made.add([InstanceOutcome(("A", "B"), True)])
    made.close()
    return file.read_bytes()


def answer(text: str) -> None:
    """A completion, an error, and the chunks of a stream, one a line."""
    value = value_in(text)
    with suppress(Transient, ModelError):
        assert reply_of(value, ASK).usage.prompt_tokens >= 0
    server_usage(value)
    message = error_message(value, text)
    Complaint(status_of(value), value, message, retry_after_seconds(text[:200])).failure("m", "u", tools=True)
    Adaptations().learn({"model": "m", "max_tokens": 3, "seed": 1, "stream_options": {}}, value)
    heard: list[str] = []
    collector = StreamCollector(heard.append)
    with suppress(Transient, ModelError):
        for line in text.split("\n"):
            collector.add(value_in(line))
        reply_of(collector.completion(), ASK)
    assert len("".join(heard)) <= len(text)
    _stream(text)


def _stream(text: str) -> None:
    """The same as server-sent events, in pieces of any size: it is read alike however it comes."""
    data = text.encode("utf-8", "replace")
    read: list[tuple[list[Any], bool]] = []
    for size in (1 + len(text) % 7, len(data) + 1):
        reader = EventReader()
        found: list[Any] = []
        with suppress(ValueError, RecursionError):
            for start in range(0, len(data), size):
                found += reader.feed(data[start:start + size])
            found += reader.end()
        read.append((found, reader.is_done))
    assert json.dumps(read[0]) == json.dumps(read[1])


def server_of_tools(text: str) -> None:
    """A line of a server of tools, a tool that it lists, and the result of a call."""
    data = text.encode("utf-8", "surrogatepass")
    message = read_message(data)
    assert isinstance(message, SessionMessage | ValueError)
    value = value_in(text)
    with suppress(ToolError, ValueError):
        offer = Offer.model_validate(value, by_name=False)
        assert len(asyncio.run(read_offer("odd.say", offer)).about) <= 2000
    with suppress(ToolError, ValueError):
        told = read_result("odd", CallToolResult.model_validate(value, by_name=False))
        assert len(told) < LONGEST_ANSWER + 1000
        assert "\x1b" not in told
        told.encode()


def said(text: str) -> None:
    """What a person reads of it: on a terminal, in a report, as numbers of a study."""
    for line in layout_text(sanitize(text), everything=False):
        assert "\x1b[2J" not in line
    first_line(text)
    listing({"a.py": text})
    kind_of_issue(text)
    count_tokens(text, "gpt-4o")
    files = {"main.py": text.encode("utf-8", "replace")}
    paper_completeness(files)
    paper_code_text(files)
    LexicalEmbedder().embed([text])


def template(text: str) -> None:
    """A template and an expression of a company."""
    with suppress(ConfigError):
        if variables(text) <= {"task"} and len(text) < 2000:
            render(text, {"task": "x"}, "opening")
    with suppress(ExpressionError):
        compile_expression(text)


READERS = {
    "company": Reader(company, YAML, ("{}", f"{TINY}{{}}", "a: {}", "a: '{}")),
    "company of 1.x": Reader(company_of_1x, LEGACY, ("{}", '{"chain": [{}]}', '{"Coding": {}}', json.dumps(CHAIN))),
    "changed chain": Reader(changed_chain, CHANGES, ("{}", "insert: {}", "insert: [{}]", "without: {}")),
    "consents": Reader(consents, [*JOURNAL, '{"trusted": [', '"kind": "', '"names": ["', '"given": ']),
    "settings": Reader(settings, YAML, ("{}", "models: [{}")),
    "variables": Reader(variables_file, VARIABLES, ("{}", "A='{}", 'OPENAI_API_KEY="{}"')),
    "journal": Reader(journal, JOURNAL),
    "pool": Reader(pool, SCHEMA, ("{}", "CREATE TABLE chatdev_outcomes ({})", "[{}]")),
    "answer of a server": Reader(answer, ANSWERS, ("{}", '{"choices": [{"message": {"content": "{}"}}]}')),
    "server of tools": Reader(server_of_tools, SERVER, ("{}", '{"content": [{"type": "text", "text": "{}"}]}',
                                                        '{"name": "say", "inputSchema": {{}}}')),
    "text for a person": Reader(said, [*TOKENS, "\x1b[2J", "\u202e", "a" * 30, "pass", "TODO", "ä"]),
    "template": Reader(template, TEMPLATES, ("{}", "{{ {} }}", "{% if {} %}")),
}
