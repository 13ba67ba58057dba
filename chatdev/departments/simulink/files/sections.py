"""The tree that all files of Simulink hold: sections with values and sections in them, as XML or in the classic grammar
of .mdl.

Both become elements of the standard library: a section has its name as tag, a value is `<P Name="Gain">2</P>`. In the
classic grammar a value is a word, a number, a list in brackets or a text in quotes, which `form` keeps for writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring
from xml.parsers import expat

from chatdev.errors import ConfigError

DEEPEST = 300
"""Sections within one another."""
_MOST = 5_000_000  # elements; a model of 30,000 blocks has half a million
_KEY = re.compile(r"[ \t]*([^\s{}\"\[]+)[ \t]*")
_TEXT = re.compile(r'\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_LIST = re.compile(r"\[[^\[\]\"{}]*\]")
_SKIPPED = re.compile(r"(?:\s+|[#%][^\n]*(?:\n|\Z))+")
_REST = re.compile(r"[^\n]*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"})
_WIDTH = 24  # of a key, before its value
_LONGEST = 90  # characters of a text on one line; Simulink breaks lines at 120
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# What is in a section, whichever grammar it came from.

def value(section: Element, name: str) -> str | None:
    """What a section says under a name, as an attribute or a value; None where it says nothing."""
    if (found := section.get(name)) is not None:
        return found
    return next((one.text or "" for one in section if one.tag == "P" and one.get("Name") == name), None)


def values(section: Element) -> dict[str, str]:
    """All values of a section, attributes included."""
    return {**section.attrib, **{one.get("Name", ""): one.text or "" for one in section if one.tag == "P"}}


def set_value(section: Element, name: str, text: str | None, form: str = "text") -> None:
    """Write a value where it is, or behind the last one; None takes it away."""
    found = next((one for one in section if one.tag == "P" and one.get("Name") == name), None)
    if text is None:
        if found is not None:
            section.remove(found)
    elif found is not None:
        found.text = text
    elif name in section.attrib:
        section.set(name, text)
    else:
        place = max((number for number, one in enumerate(section, 1) if one.tag == "P"), default=0)
        section.insert(place, _value(name, text, form))


def add_section(parent: Element, tag: str, values: dict[str, str] | None = None, *, form: str = "text",
                **attributes: str) -> Element:
    """A new section at the end of another."""
    section = SubElement(parent, tag, attributes)
    section.extend(_value(name, text, form) for name, text in (values or {}).items())
    return section


def _value(name: str, text: str, form: str) -> Element:
    made = Element("P", {"Name": name, **({} if form == "text" else {"form": form})})
    made.text = text
    return made


# XML.

def parse_xml(data: bytes, place: str) -> Element:
    """The root of an XML text. Declarations of types and entities, and what is nested too deep or too long, are
    refused; raises ConfigError, which begins with `place`."""
    _refuse_hostile(data, place)
    try:
        return fromstring(data)
    except (SyntaxError, ValueError, LookupError) as error:
        raise ConfigError(f"{place}: no XML: {error}; save the model anew") from None


def _refuse_hostile(data: bytes, place: str) -> None:
    """A first pass that builds nothing."""
    depth = count = 0

    def start(*_: object) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > DEEPEST or count > _MOST:
            what = f"nested more than {DEEPEST} deep" if depth > DEEPEST else f"more than {_MOST:,} values"
            raise ConfigError(f"{place}: {what} (line {parser.CurrentLineNumber}); no model is like that")

    def end(_: object) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_: object) -> None:
        raise ConfigError(f"{place}: it declares a document type or entities (line {parser.CurrentLineNumber}), which "
                          "no model does; remove that")

    try:
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = refuse
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ConfigError(f"{place}: no XML, or half of one: {error}; save the model anew") from None
    except (LookupError, ValueError) as error:
        raise ConfigError(f"{place}: its encoding is not known ({error}); save it as UTF-8") from None


def write_xml(root: Element) -> bytes:
    """The XML text of a tree, in UTF-8. Raises ConfigError for a character that no XML holds."""
    indent(root)
    text: str = tostring(root, encoding="unicode")
    if found := _NO_XML.search(text):
        raise ConfigError(f"the model holds the character {found[0]!r}, which no .slx file can; take it out")
    text = text.replace("\r", "&#13;")  # which a reader would take for the end of a line
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def indent(section: Element, level: int = 0) -> None:
    """Break lines between sections, where there is nothing but blanks."""
    if not len(section) or (section.text or "").strip():
        return
    section.text = "\n" + "  " * (level + 1)
    for one in section:
        indent(one, level + 1)
        if not (one.tail or "").strip():
            one.tail = "\n" + "  " * (level + 1)
    if not (section[-1].tail or "").strip():
        section[-1].tail = "\n" + "  " * level


# The classic grammar.

def parse_sections(text: str, place: str) -> Element:
    """The sections of a text in the classic grammar, in one element. Raises ConfigError with file, line and fix."""
    root = Element("File")
    open_sections, at, count = [root], 0, 0
    while True:
        at = _end(_SKIPPED.match(text, at), at)
        if at >= len(text):
            break
        count += 1
        here = open_sections[-1]
        if text[at] == "}":
            at += 1
            if len(open_sections) == 1:
                raise _wrong(text, at, place, "a `}` closes nothing")
            open_sections.pop()
            continue
        if not (key := _KEY.match(text, at)):
            raise _wrong(text, at, place, f"{text[at:at + 20]!r} is neither a name with its value nor a section")
        at = key.end()
        if text.startswith("{", at) and _REST.match(text, at)[0].strip() == "{":  # type: ignore[index]  # always matches
            open_sections.append(SubElement(here, key[1]))
            at += 1
        else:
            form, content, at = _read_value(text, at, place)
            here.append(_value(key[1], content, form))
        if len(open_sections) > DEEPEST or count > _MOST:
            raise _wrong(text, at, place, f"more than {DEEPEST} sections within one another, or {_MOST:,} values")
    if len(open_sections) > 1:
        raise _wrong(text, at, place, f"the file ends within {open_sections[-1].tag!r}; it is half a file")
    return root


def _end(match: re.Match[str] | None, at: int) -> int:
    return match.end() if match else at


def _read_value(text: str, at: int, place: str) -> tuple[str, str, int]:
    """The form and the content of the value at a place, and where it ends."""
    if text.startswith('"', at):
        parts = list[str]()
        while found := _TEXT.match(text, at):
            parts.append(found[1])
            at = found.end()
        if not parts:
            raise _wrong(text, at, place, "a text has no closing quote; it is half a file")
        whole = "".join(parts)
        return "text", _ESCAPE.sub(_unescape, whole) if "\\" in whole else whole, at
    if text.startswith("[", at) and (row := _LIST.match(text, at)):
        return "list", " ".join(row[0].split()), row.end()
    rest = _REST.match(text, at)
    assert rest  # it matches nothing, too
    return "word", rest[0].strip(), rest.end()


def _unescape(found: re.Match[str]) -> str:
    return _PLAIN.get(found[1], found[1] if found[1] in '"\\' else found[0])


def _wrong(text: str, at: int, place: str, what: str) -> ConfigError:
    line = text.count("\n", 0, at) + 1
    return ConfigError(f"{place}:{line}: {what}; save the model anew in Simulink, or repair the line")


def write_sections(root: Element) -> str:
    """The text of a tree in the classic grammar."""
    return "".join(line for section in root for line in _lines(section, 0))


def _lines(section: Element, level: int) -> Iterator[str]:
    margin = "  " * level
    if section.tag == "P":
        key, content = section.get("Name", ""), section.text or ""
        written = content if section.get("form") in ("word", "list") else _in_quotes(content, margin)
        yield f"{margin}{key:<{_WIDTH - 1}} {written}\n"
        return
    yield f"{margin}{section.tag} {{\n"
    for one in section:
        yield from _lines(one, level + 1)
    yield f"{margin}}}\n"


def _in_quotes(content: str, margin: str) -> str:
    """A text in quotes, a long one in several."""
    parts = [content[at:at + _LONGEST] for at in range(0, len(content), _LONGEST)] or [""]
    return f"\n{margin}".join(f'"{part.translate(_ESCAPED)}"' for part in parts)
