"""What a specification says of names: the ports it lists (`verilog.ports`), in the layouts in which people list them
(`port_lines.py`, `port_sections.py`), and the identifiers in its text."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from chatdev.departments.verilog.bench import HiddenBench, read_target
from chatdev.departments.verilog.compilation import Message
from chatdev.departments.verilog.design.design import Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.port_lines import (
    ONE_BIT,
    UNKNOWN,
    ListedPort,
    bits_of,
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
from chatdev.departments.verilog.target import TOP, USUAL, Target
from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, tool

_SPEAKS_OF_PORTS = re.compile(
    r"\b(?:in|out)puts?\b|\bports?\b|\bmodul[eo]?\b|\b(?:ein|aus)g[aä]ng|\bentr(?:ée|ada)|\bs(?:ortie|alida|aída)"
    r"|\bingress|\buscit|\bвход|\bвыход|输入|输出|端口|模块|入力|出力|입력|출력", re.IGNORECASE)
"""Words for ports and modules in some languages: a text without any of them is hardly a specification."""
_WORDS = re.compile(r"""
    '[sS]?(?:[bB][01xXzZ?_]+|[oO][0-7xXzZ?_]+|[dD][\dxXzZ?_]+|[hH][\da-fA-FxXzZ?_]+)(?![\w'])  # a number: 4'b01xx
    | \\(?P<escaped>\S+)                                                 # \bus+index, up to the next blank
    | (?<![\w$])(?P<plain>[A-Za-z_][\w$]*)
""", re.VERBOSE | re.ASCII)
_CLOSING = ".,;:!?)]}'\"`*/"  # what prose and comments put behind a name without a blank
_RANGES = re.compile(r"\[[^\[\]]*+\]|\([^()]*+\)")
_KEYWORDS = frozenset({"input", "output", "inout", "wire", "reg", "logic", "bit", "signed", "unsigned", "integer",
                       "port", "signal"})
_USUALLY_ONE_BIT = re.compile(
    r"\b(?:one|1|single)[ -]bit(?:\s+wide)?,?\s+(?:unless|if not|except)\b"
    r"|\bunless\b[^.]{0,60}\b(?:one|1|single)[ -]bit\b", re.IGNORECASE)
"""What says that one bit is meant where no width is written."""
_RANGE = re.compile(r"\[\s*(\d{1,9})\s*:\s*(\d{1,9})\s*\]")
_DIRECTIONS = {"in": "input", "out": "output", "inout": "inout"}


@tool(reads=("said_ports?",), pure=True)
def ports(context: ToolContext) -> list[dict[str, Any]]:
    """The ports of the module: `direction`, `name`, `width` as it is written, whether that is `certain`, and `source`:
    those that the specification lists, then those that only the bench connects, without a direction and with a `note`
    where the specification lists another in its place; where there are none, those that an analyst read
    (`said_ports`), as far as the specification has their names.

    Raises ToolError when there are none, the specification speaks of none, and no bench connects any: nobody could
    write the module.
    """
    specification, bench = str(context.inputs.get("task") or ""), HiddenBench.of(context.inputs)
    top = read_target(context.inputs).top
    found = _add_connected(listed_ports(specification, top), bench, name_conflicts(specification, bench, top))
    if not found and bench is None and not _SPEAKS_OF_PORTS.search(specification):
        raise ToolError(f"the specification lists no ports of {top}; give its ports one a line, such as "
                        "` - input clk` and ` - output q (8 bits)`, or the head of the module")
    return found or confirm_ports(context.values.get("said_ports") or (), specification)


def _add_connected(listed: list[dict[str, Any]], bench: HiddenBench | None,
                   conflicts: Mapping[str, str]) -> list[dict[str, Any]]:
    names = {port["name"] for port in listed}
    return [*listed, *(_uncertain("bench", "", name, UNKNOWN, conflicts.get(name, ""))
                       for name in (bench.layout.ports if bench else ()) if name not in names)]


def listed_ports(text: str, top: str = TOP) -> list[dict[str, Any]]:
    """Each port in a specification: what is written of it, and whether it is certain."""
    return [{"direction": port.direction, "name": port.name, "width": port.width, "certain": port.certain,
             "source": "specification"} for port in read_ports(text, top)]


def confirm_ports(said: Iterable[Mapping[str, str]], specification: str) -> list[dict[str, Any]]:
    """Of the ports that somebody read in a specification those whose names stand there, each once; a width only where
    it is one bit, or stands there too."""
    names, found = identifiers(specification), dict[str, dict[str, Any]]()
    figures = {"1", *re.findall(r"\b[1-9]\d{0,5}\b", specification),
               *(str(int(high) + 1) for high in re.findall(r"\[(\d{1,6}):0\]", specification))}
    for port in said:
        if port["name"] in names:
            width = bits_of(int(port["width"])) if port["width"] in figures else UNKNOWN
            found.setdefault(port["name"], _uncertain("analyst", port["direction"], port["name"], width))
    return [*found.values()]


def _uncertain(source: str, direction: str, name: str, width: str, note: str = "") -> dict[str, Any]:
    return {"direction": direction, "name": name, "width": width, "certain": False, "source": source, "note": note}


def identifiers(text: str) -> set[str]:
    """Every identifier in `text` as written, case kept; an escaped one without its backslash (IEEE 1800-2017, 5.6.1).

    Of an escaped identifier both readings are given, with and without the punctuation that may end it.
    """
    found: set[str] = set()
    for match in _WORDS.finditer(text):
        if escaped := match["escaped"]:
            found |= {escaped, escaped.rstrip(_CLOSING)} - {""}
        elif match["plain"]:
            found.add(match["plain"])
    return found


def declared_names(text: str) -> list[str]:
    """The names that a model declares with such words as `output logic [7:0] out_byte`, `in, reset` or `q (4 bits)`."""
    names = [_first_name(part) for part in _RANGES.sub(" ", text).split(",")]
    return list(dict.fromkeys(filter(None, names)))


def _first_name(text: str) -> str:
    """The first identifier that is no keyword; without one, the text itself."""
    for match in _WORDS.finditer(text):
        name = match["escaped"] or match["plain"]
        if name and name not in _KEYWORDS:
            return name
    return text.strip(" `'\"")


def name_conflicts(specification: str, bench: HiddenBench | None, top: str = TOP) -> dict[str, str]:
    """The names that a bench connects and the specification does not list, each with what may be said of it, where the
    specification lists for certain others that the bench does not connect (`reset_n`, `rst_n`); else nothing."""
    wanted, connected = read_ports(specification, top), dict.fromkeys(bench.layout.ports if bench else ())
    missing = dict.fromkeys(port.name for port in wanted if port.certain).keys() - connected
    others = connected.keys() - {port.name for port in wanted}
    if not (missing and others):
        return {}
    instead = " or ".join(f"`{name}`" for name in sorted(missing))
    return dict.fromkeys(sorted(others), f"the bench connects it, and not {instead}, which the specification lists")


def port_differences(text: str, specification: str, target: Target = USUAL,
                     bench: HiddenBench | None = None) -> list[Message]:
    """What differs between the ports of a module and those that its specification lists for certain: missing and
    unknown ports, and other widths than are written, are errors. A direction is a warning, because specifications get
    these wrong, too, and so is all that is not certain, and all names where the bench connects others. Nothing where
    the specification has no list of ports (a module that it shows may be meant otherwise), or pyslang cannot read the
    source."""
    conflicts = name_conflicts(specification, bench, target.top)
    wanted = _trust_only(read_ports(specification, target.top), bench if conflicts else None)
    try:
        found = {port.name: port for port in read_design(text, target).ports}
    except DesignError:
        return []
    if not found or not any(port.certain for port in wanted):
        return []
    has_usual = _USUALLY_ONE_BIT.search(specification) is not None
    return [*(message for port in wanted for message in _compare_port(port, found.get(port.name), has_usual)),
            *_unlisted_ports(wanted, found, specification), *_messages_on_conflicts(conflicts)]


def _trust_only(wanted: list[ListedPort], bench: HiddenBench | None) -> list[ListedPort]:
    """The ports, certain only where the bench connects them, if there is one."""
    connected = {port.name for port in wanted} if bench is None else {*bench.layout.ports}
    return [replace(port, certain=port.certain and port.name in connected) for port in wanted]


def _messages_on_conflicts(conflicts: Mapping[str, str]) -> Iterator[Message]:
    for name, said in conflicts.items():
        yield Message(f"of the port `{name}`: {said}", severity="warning")


def _unlisted_ports(wanted: Sequence[ListedPort], found: Iterable[str], specification: str) -> Iterator[Message]:
    """Nothing where the list may go on elsewhere; of a port that the text speaks of it is not certain that it is none.
    """
    is_whole = all(port.certain for port in wanted) and {"input", "output"} <= {port.direction for port in wanted}
    names, spoken = {port.name for port in wanted}, identifiers(specification)
    for name in found if is_whole else ():
        if name not in names:
            usual = ONE_BIT.fullmatch(name)
            is_implied = usual and re.search(rf"\b{usual.lastgroup}", specification, re.IGNORECASE)  # `It is clocked.`
            yield Message(f"the specification lists no port `{name}`",
                          severity=_severity(name not in spoken and not is_implied))


def _compare_port(wanted: ListedPort, port: Port | None, has_usual: bool) -> list[Message]:
    """Where no width is written, that is one bit only if the text `has_usual` widths."""
    width = "" if wanted.width == UNKNOWN else wanted.width
    declared = " ".join(filter(None, (wanted.direction, width, wanted.name)))
    if port is None:
        return [Message(f"the port `{wanted.name}` is missing; the specification lists `{declared}`",
                        severity=_severity(wanted.certain))]
    messages = [*_compare_width(wanted, port, declared, has_usual)]
    if _DIRECTIONS[port.direction] != wanted.direction:
        messages.append(Message(f"the specification lists `{wanted.name}` as {wanted.direction}", severity="warning"))
    return messages


def _compare_width(wanted: ListedPort, port: Port, declared: str, has_usual: bool) -> Iterator[Message]:
    bits = bit_count(wanted.width)
    if bits is None or bits == port.width:
        return
    if not (wanted.width or wanted.is_sized or has_usual):
        yield Message(f"the port `{wanted.name}` has {port.width} bits; its line in the specification says no width",
                      severity="warning")
        return
    is_written = wanted.is_sized or (has_usual and not wanted.width)
    yield Message(f"the port `{wanted.name}` has {port.width} bit(s), and not {bits}; write `{declared}`",
                  severity=_severity(wanted.certain and is_written))


def _severity(is_certain: bool) -> Literal["error", "warning"]:
    return "error" if is_certain else "warning"


def bit_count(width: str) -> int | None:
    """None for a range that is no number."""
    if not width:
        return 1
    ends = _RANGE.fullmatch(width)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None


# The ports that a specification lists, in the layouts in which people list them (`port_lines.py`,
# `port_sections.py`).

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
