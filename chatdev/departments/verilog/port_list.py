"""The ports that a specification lists, in the layouts in which people list them (`port_lines.py`, `port_sections.py`).

Prose may look like any of them, and lists may be of states, of registers or of another module: only what speaks for
ports of this one makes them certain, and what is not certain is no reason to refuse anything.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from chatdev.departments.verilog.port_lines import (
    ListedPort,
    is_sign,
    read_aligned,
    read_bullets,
    read_declarations,
    read_heads,
    read_records,
    read_sentences,
    read_typed,
)
from chatdev.departments.verilog.port_sections import (
    has_prose,
    leave_out_prose,
    may_list,
    read_sections,
    read_tables,
    surely_lists,
)
from chatdev.departments.verilog.target import TOP

Layout = Callable[[str], Iterator[ListedPort]]
PortList = tuple[str, list[ListedPort]]
"""Ports, and the words before them."""

_MODULE = r"\b(?:sub)?modules?\b|\binstan|\bcells?\b|\bcomponents?\b|\bhelpers?\b|\bblocks?\b|\bunits?\b"
_SUBMODULE = re.compile(
    r"\b(?:(?P<part>sub-?modules?|instantiates|instances?[ \t]+of|helpers?)|modules?)\b"
    r"[ \t]*(?:called|named|an?|the)?(?P<quote>[ \t`'*]*)(?P<name>\w*)", re.IGNORECASE)
"""What a list may be of beside the module that is to be written."""
_IDENTIFIER = re.compile(r"`\w+`|\b(?=\w*[A-Za-z])\w*[_\d]\w*")
"""What words before a list may say that it is of."""
_OF_DIRECTION = re.compile(r"[\W_]*+(?:in|out|inout)(?:puts?)?[ \t]*+(?:ports?|signals?|pins?)?[\W_]*+", re.IGNORECASE)
_OF_PORTS = (r"\bports?\b|\bsignals?\b|\binterfaces?\b|\b(?:in|out)puts?\b|\bpins?\b|\bi/o\b|\bsides?\b|\bbus\b"
             r"|\bchannels?\b|\bdomains?\b|\bdir(?:ection)?\b")
_PORTS = re.compile(_OF_PORTS, re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:states?|fsm|machine|registers?|fields?|commands?|instructions?|opcodes?|phases?|modes?"
                     r"|steps?|parameters?|generics?)\b", re.IGNORECASE)
"""Lists of these are none of ports, whatever stands in them."""
_EXAMPLE = re.compile(r"^[^\w\n]*+(?:for[ \t]+)?examples?\b", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n[ \t]*\n|\n(?=[ \t]*#)")
_NO_WORDS = re.compile(r"^(?:[ \t]+\S|(?:[-*•+]|\d{1,3}[.)])(?=[^\n]*[^:\s*_][ \t]*$)|[-=|: \t`]*$)[^\n]*$",
                       re.MULTILINE)
"""Lines that go on with an item, are others, or are drawn."""
_HEADING = re.compile(r"^#.*$", re.MULTILINE)
_LABEL = re.compile(r"[*_ \t]*+[^\W_][\w/-]*+(?:[ \t][\w/-]++)?[*_ \t]*+:[*_ \t]*+")
_OPTIONAL = re.compile(
    r"\boptional(?:ly)?\b|\b(?:exists?|present|omitted|left out)\b"
    r"|(?:\bonly[ \t]+|\([ \t]*)(?:if|when|for|with)[ \t]+`?[A-Z][A-Z0-9_]+\b")
_STATEMENT = re.compile(r"(?<=[.;])\s|\n(?=[ \t]*(?:[-*•+|\n]|\d{1,3}[.)]))")
_FULL_WIDTH = str.maketrans("：（），；［］", ":(),;[]")
_MOST = 200_000  # characters that are looked at


def read_ports(text: str, top: str = TOP) -> list[ListedPort]:
    """The ports of the layout that names most for certain, else of the first that names any; each once. Where the text
    lists those of several modules, they are the ones of that which it calls `top` just before, else uncertain; so they
    are where another layout names others."""
    text = text[:_MOST].replace("\r\n", "\n").translate(_FULL_WIDTH)
    heads: Layout = functools.partial(read_heads, top=top)
    found = [_weigh(text, list(read(text)), top) for read in (*_LAYOUTS, heads, read_declarations, read_sentences)]
    certain = [ports for ports in found if any(port.certain for port in ports)]
    if any(surely_lists(text, ports) for ports in certain):
        certain = [ports for ports in certain if may_list(text, ports)]
    return _agree(certain) if certain else next(filter(None, found), [])


def _agree(found: Sequence[list[ListedPort]]) -> list[ListedPort]:
    """Of the ports that several layouts name those of the one that has all; else those that stand first, uncertain."""
    most = max(found, key=len)
    if {port.name for ports in found for port in ports if port.certain} <= {port.name for port in most}:
        return most
    return [replace(port, certain=False) for port in min(found, key=lambda ports: ports[0].at)]


_LAYOUTS: tuple[Layout, ...] = (read_tables, read_bullets, read_typed, read_aligned, read_sections, read_records)


def _weigh(text: str, ports: list[ListedPort], top: str) -> list[ListedPort]:
    """The ports, certain only where they are of the module, and always there."""
    lists = [*_drop_repeated(_lists_without_prose(text, ports, top))]
    own = _list_of_module(lists, top)
    optional = _optional_names(text)
    return _first_of_each(replace(port, certain=port.certain and one is own and port.name not in optional)
                          for one in sorted(lists, key=lambda one: one is not own) for port in one[1])


def _lists_without_prose(text: str, ports: list[ListedPort], top: str) -> list[PortList]:
    """The lists that are not of something else; where one surely lists ports, only those that may."""
    lists = [(words, leave_out_prose(text, listed)) for words, listed in _split_lists(text, ports, top)
             if not _is_of_others(words, listed, top)]
    if any(surely_lists(text, listed) for _, listed in lists):
        return [one for one in lists if may_list(text, one[1])]
    return lists


def _drop_repeated(lists: Iterable[PortList]) -> Iterator[PortList]:
    """Those that have a name which none before has; others say more of the same ports."""
    known = set[str]()
    for one in lists:
        if names := {port.name for port in one[1]} - known:
            known |= names
            yield one


def _first_of_each(ports: Iterable[ListedPort]) -> list[ListedPort]:
    return list({port.name: port for port in reversed(list(ports))}.values())[::-1]


def _list_of_module(lists: Sequence[PortList], top: str) -> PortList | None:
    """The only list, or the only one before which the top module is named, if it is one of ports at all."""
    named = [one for one in lists if re.search(rf"\b{re.escape(top)}\b", one[0])]
    chosen = lists if len(lists) == 1 else named
    if len(chosen) != 1 or all(port.direction == "inout" for port in chosen[0][1]):
        return None  # no module has nothing but these: they are of its bus
    return chosen[0] if _lists_ports(*chosen[0], top) else None


def _lists_ports(words: str, ports: list[ListedPort], top: str) -> bool:
    """Whether it is said to be one of the top module, or of no other, and one of its names can be nothing else."""
    if _speaks_of_others(lead := _lead(words)):
        return False
    said = _introduction(words) + ("" if _ends_a_sentence(words) else lead)
    if top in lead or top in said or _IDENTIFIER.search(said):
        return top in lead or top in said
    return _PORTS.search(lead) is not None or any(port.is_sized or is_sign(port.name) for port in ports)


def _is_of_others(words: str, ports: Sequence[ListedPort], top: str) -> bool:
    """Whether a list is one of examples, states, registers or the like, or of another module that is named."""
    lead = _lead(words)
    if _EXAMPLE.search(lead) is not None or _names_another(lead, top):
        return True
    return _speaks_of_others(lead) and any(port.certain for port in ports) and not _ends_a_sentence(words)


def _ends_a_sentence(words: str) -> bool:
    """Whether the words before a list, or before the titles of its table, do not introduce it."""
    lines = words.rstrip().split("\n")
    while lines and lines[-1].lstrip()[:1] in {"", "|", "+"}:
        lines.pop()
    return bool(lines) and lines[-1].rstrip().endswith(".")


def _speaks_of_others(lead: str) -> bool:
    return _OTHERS.search(lead) is not None and _PORTS.search(lead) is None


def _names_another(lead: str, top: str) -> bool:
    """Whether words speak of a module inside of the top module, or of one in quotes and not of the top module."""
    named = list(_SUBMODULE.finditer(lead))
    is_of_top = re.search(rf"\b{re.escape(top)}\b", lead) is not None
    return any(said["name"] != top if said["part"] else "`" in said["quote"] and not is_of_top for said in named)


def _lead(words: str) -> str:
    """The last sentence or heading before a list, and the titles of its table."""
    said = [part for part in _SENTENCE_END.split(words.rstrip(". \n\t")) if part.strip(" \t\n`#*_-|")]
    is_table = bool(said) and said[-1].lstrip().startswith("|")
    return "\n".join(said[-2 if is_table else -1:])


def _introduction(words: str) -> str:
    """The heading or introduction before the heads of inputs and outputs, if that is what stands there."""
    said = [part.strip() for part in _SENTENCE_END.split(words) if part.strip() and not _OF_DIRECTION.fullmatch(part)]
    return said[-1] if said and (said[-1].startswith("#") or said[-1].endswith(":")) else ""


def _split_lists(text: str, ports: Sequence[ListedPort], top: str) -> Iterator[PortList]:
    """Lists of inputs and outputs; another begins where the words between speak of something else. What follows a
    sentence is not certain."""
    words, heading, listed, directions, end, goes_on = "", "", list[ListedPort](), set[str](), 0, False
    for port in ports:
        between = text[end:port.at]
        if {"input", "output"} <= directions:
            goes_on = goes_on or has_prose(_NO_WORDS.sub("", between))
            if _turns_to_others(between, heading, top):
                yield words, listed
                words, listed, directions, goes_on = "", [], set(), False
        words += between
        heading = [heading, *_HEADING.findall(between)][-1]
        listed.append(replace(port, certain=port.certain and not goes_on))
        directions.add(port.direction)
        end = (text.find("\n", port.at) + 1) or len(text)
    if listed:
        yield words, listed


def _turns_to_others(between: str, heading: str, top: str) -> bool:
    """Whether words between two ports begin an example or the list of another module: such as name one, and all that
    are no label of a group of ports, as any label is below a heading that speaks of ports."""
    said = _NO_WORDS.sub("", between)
    others = (_EXAMPLE, _IDENTIFIER, re.compile(rf"\b{re.escape(top)}\b|{_MODULE}", re.IGNORECASE))
    if any(kind.search(said) for kind in others):
        return True
    lines = [line for line in said.split("\n") if line.strip() and not _PORTS.search(line)]
    return bool(lines) and not (all(map(_LABEL.fullmatch, lines)) and _PORTS.search(heading))


def _optional_names(text: str) -> set[str]:
    """The names in sentences of what is not always there."""
    return {name for said in _STATEMENT.split(text) if _OPTIONAL.search(said) for name in re.findall(r"\w+", said)}
