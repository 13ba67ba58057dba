"""The dialogue of `benchmarks.engine.overhead`, by each framework as its documentation writes two agents.

Run by the Python of a framework's own environment, which has nothing of ours; prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

ONE, TWO, MODEL, KEY = "You are One. You talk.", "You are Two. You talk.", "gpt-4o", "none"
Dialogue = Callable[[int], Awaitable[int]]
"""Holds the dialogue of this number, and returns how many calls it made."""


def openai_loop(url: str, calls: int) -> Dialogue:
    """Nothing but the client."""
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0, timeout=600)

    async def dialogue(number: int) -> int:
        messages: list[Any] = [{"role": "system", "content": ONE}, {"role": "user", "content": f"Talk {number}."}]
        for call in range(calls):
            reply = await client.chat.completions.create(model=MODEL, messages=messages)
            messages.append({"role": ("assistant", "user")[call % 2], "content": reply.choices[0].message.content})
        return calls

    return dialogue


def pydantic_ai(url: str, calls: int) -> Dialogue:
    """Two agents, each with its own history."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key=KEY))
    agents = [Agent(model, system_prompt=text) for text in (ONE, TWO)]

    async def dialogue(number: int) -> int:
        said, histories = f"Talk {number}.", [[], []]
        for call in range(calls):
            found = await agents[call % 2].run(said, message_history=histories[call % 2])
            said, histories[call % 2] = found.output, found.all_messages()
        return calls

    return dialogue


def langgraph(url: str, calls: int) -> Dialogue:
    """A graph of two nodes that take turns over one list of messages."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, MessagesState, StateGraph

    model = ChatOpenAI(model=MODEL, base_url=url, api_key=KEY, max_retries=0)

    def node(text: str) -> Callable[[Any], Awaitable[Any]]:
        async def talk(state: Any) -> Any:
            reply = await model.ainvoke([SystemMessage(text), *state["messages"]])
            return {"messages": [AIMessage(reply.content, name=text[8:11])]}
        return talk

    def follows(other: str) -> Callable[[Any], str]:
        return lambda state: END if len(state["messages"]) > calls else other

    graph = StateGraph(MessagesState).add_node("one", node(ONE)).add_node("two", node(TWO)).add_edge(START, "one")
    graph.add_conditional_edges("one", follows("two"), ["two", END])
    graph.add_conditional_edges("two", follows("one"), ["one", END])
    app = graph.compile()

    async def dialogue(number: int) -> int:
        end = await app.ainvoke({"messages": [HumanMessage(f"Talk {number}.")]}, {"recursion_limit": calls + 5})
        return len(end["messages"]) - 1

    return dialogue


def autogen(url: str, calls: int) -> Dialogue:
    """A round-robin team of two assistants."""
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.conditions import MaxMessageTermination
    from autogen_agentchat.teams import RoundRobinGroupChat
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model=MODEL, base_url=url, api_key=KEY, max_retries=0)

    async def dialogue(number: int) -> int:
        pair = [AssistantAgent(name, client, system_message=text) for name, text in (("one", ONE), ("two", TWO))]
        team = RoundRobinGroupChat(pair, termination_condition=MaxMessageTermination(calls + 1))
        return len((await team.run(task=f"Talk {number}.")).messages) - 1

    return dialogue


def agent_framework(url: str, calls: int) -> Dialogue:
    """Two agents, each with its own session."""
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model=MODEL, base_url=url, api_key=KEY)

    async def dialogue(number: int) -> int:
        agents = [Agent(client=client, instructions=text) for text in (ONE, TWO)]
        sessions, said = [agent.create_session() for agent in agents], f"Talk {number}."
        for call in range(calls):
            said = (await agents[call % 2].run(said, session=sessions[call % 2])).text
        return calls

    return dialogue


def camel(url: str, calls: int) -> Dialogue:
    """Two chat agents that answer each other."""
    from camel.agents import ChatAgent
    from camel.models import ModelFactory
    from camel.types import ModelPlatformType
    from camel.utils import BaseTokenCounter

    class Characters(BaseTokenCounter):
        """Its own counter fetches a vocabulary first."""

        def count_tokens_from_messages(self, messages: Any) -> int:
            return sum(len(str(message["content"])) for message in messages) // 4

        def encode(self, text: str) -> list[int]:
            return list(text.encode())

        def decode(self, token_ids: list[int]) -> str:
            return bytes(token_ids).decode()

    model = ModelFactory.create(ModelPlatformType.OPENAI_COMPATIBLE_MODEL, MODEL, url=url, api_key=KEY,
                                token_counter=Characters())

    async def dialogue(number: int) -> int:
        agents, said = [ChatAgent(text, model=model) for text in (ONE, TWO)], f"Talk {number}."
        for call in range(calls):
            said = (await agents[call % 2].astep(said)).msgs[0].content
        return calls

    return dialogue


PEERS: dict[str, Callable[[str, int], Dialogue]] = {
    "openai": openai_loop, "camel": camel, "langgraph": langgraph, "autogen": autogen,
    "agent-framework": agent_framework, "pydantic-ai": pydantic_ai}


async def measured(dialogue: Dialogue, count: int, calls: int) -> tuple[float, float]:
    """CPU milliseconds of a call and wall seconds of `count` dialogues at once."""
    cpu, wall = time.process_time(), time.perf_counter()
    made = await asyncio.gather(*(dialogue(number) for number in range(count)))
    assert made == [calls] * count, made
    return (time.process_time() - cpu) * 1000 / (count * calls), time.perf_counter() - wall


async def main(peer: str, quick: str, slow: str, calls: int, many: int) -> None:
    """Measure one framework in this fresh process."""
    one = PEERS[peer](quick, calls)
    await measured(one, 1, calls)  # imports and first connections
    serial = [(await measured(one, 1, calls))[0] for _ in range(5)]
    _, seconds = await measured(PEERS[peer](slow, calls), many, calls)
    print(json.dumps({"ms": statistics.median(serial), "seconds": seconds,
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)
    os._exit(0)  # clients are not closed


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], *map(int, sys.argv[4:6])))
