"""PLCopen XML, TC6 2.01: declarations are elements, of which text is made; bodies are text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from chatdev.departments.plc.container_pieces import (
    GRAPHICAL,
    Container,
    add_end,
    add_made,
    add_text,
    begins_with,
    note_graphical,
)
from chatdev.departments.plc.source_file import tell_file
from chatdev.departments.plc.xml_tree import Element, WrongContainer

_POU_WORDS = {"function": "FUNCTION", "functionBlock": "FUNCTION_BLOCK", "program": "PROGRAM"}
_SECTIONS = {"inputVars": "VAR_INPUT", "outputVars": "VAR_OUTPUT", "inOutVars": "VAR_IN_OUT", "localVars": "VAR",
             "tempVars": "VAR_TEMP", "externalVars": "VAR_EXTERNAL", "globalVars": "VAR_GLOBAL"}
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def read_plcopen(root: Element) -> Container:
    """What a project holds: data types, global variables, interfaces, units, and what its first task says. Raises
    WrongContainer."""
    found = Container()
    for one in root.below("dataType"):
        if (base := one.find("baseType")) is not None:
            add_made(f"TYPE {_name(one)}{_heirs(one)} : {_type(base, found)}{_initial(one)}; END_TYPE\n", one, found)
    for one in _lists(root):
        name = one.attributes.get("name", "")
        if name:
            add_made(f"NAMESPACE {_name(one)}\n", one, found)
        _add_section(one, found)
        if name:
            add_end("END_NAMESPACE", found)
    for interface in root.below("Interface"):
        _read_unit("INTERFACE", interface, found)
    for pou in root.below("pou"):
        _read_unit(_POU_WORDS.get(pou.attributes.get("pouType", ""), "FUNCTION_BLOCK"), pou, found)
    for task in root.below("task"):
        _read_task(task, found)
    return found


def _lists(owner: Element) -> Iterator[Element]:
    """Lists of global variables. One whose sections have different words (CONSTANT, RETAIN) stands there once more, as
    what each of them holds."""
    for one in owner.children:
        if one.name != "globalVars":
            yield from _lists(one)
        elif (mixed := next(one.below("MixedAttrsVarList"), None)) is not None:
            yield from mixed.all("globalVars")
        else:
            yield one


def _read_unit(word: str, unit: Element, found: Container) -> None:
    name = _name(unit)
    _add_head(word, unit, "", found)
    for part in _own(unit, "Method", "Property"):
        _read_member(part, name, found)
    for part in _own(unit, "action"):
        add_made(f"ACTION {_name(part)}:\n", part, found)
        _add_code(part.find("body"), f"{name}.{_name(part)}", _name(part), found)
        add_end("END_ACTION", found)
    _add_code(unit.find("body"), name, "body", found)
    add_end(f"END_{word}", found)


_PARTS = ("Method", "Property", "GetAccessor", "SetAccessor", "action")


def _own(owner: Element, *names: str) -> Iterator[Element]:
    """The elements of these names that belong to a unit or member itself."""
    for one in owner.children:
        if one.name in names:
            yield one
        elif one.name not in _PARTS:
            yield from _own(one, *names)


def _read_member(member: Element, owner: str, found: Container) -> None:
    name, word = _name(member), member.name.upper()
    _add_head(word, member, name, found)
    for accessor in member.all("GetAccessor", "SetAccessor"):
        kind = accessor.name.removesuffix("Accessor")
        add_made(f"{kind.upper()}\n", accessor, found)
        if not _add_text(accessor, f"{name}.{kind}, declaration", found):
            _add_variables(accessor, found)
        _add_code(accessor.find("body"), f"{owner}.{name}", f"{name}.{kind}", found)
        add_end(f"END_{kind.upper()}", found)
    _add_code(member.find("body"), f"{owner}.{name}", name, found)
    add_end(f"END_{word}", found)


def _add_head(word: str, owner: Element, title: str, found: Container) -> None:
    """The declarations of a unit or member: as they are written, where they are kept so, else made of elements."""
    if _add_text(owner, f"{title}, declaration" if title else "declaration", found, word):
        return
    interface = owner.find("interface")
    result = interface.find("returnType") if interface else None
    words = [flag.upper() for one in _own(owner, "AccessModifiers") for flag, value in one.attributes.items()
             if value == "true" and flag.isalpha()]
    type_ = f" : {_type(result, found)}" if result else ""
    add_made(f"{' '.join([word, *words, _name(owner)])}{_heirs(owner)}{type_}\n", owner, found)
    _add_variables(owner, found)


def _heirs(owner: Element) -> str:
    """EXTENDS and IMPLEMENTS, with the names behind them."""
    said = ""
    for kind in ("Extends", "Implements"):
        names = [_check_name(one.text.strip(), one) for held in _own(owner, "Inheritance") for one in held.all(kind)]
        said += f" {kind.upper()} {', '.join(names)}" if names else ""
    return said


def _add_text(owner: Element, title: str, found: Container, word: str = "") -> bool:
    """Whether the declarations are kept as they are written, with this word; they are added then."""
    plain = next(_own(owner, "InterfaceAsPlainText"), None)
    written = next(plain.below("xhtml", "p"), None) if plain else None
    if written is None or (word and not begins_with(written.text, word)):
        return False
    add_text(written, title, found)
    return True


def _add_variables(owner: Element, found: Container) -> None:
    interface = owner.find("interface")
    for section in (interface.children if interface else ()):
        if section.name in _SECTIONS:
            _add_section(section, found)


def _add_code(body: Element | None, name: str, title: str, found: Container) -> None:
    if body is None:
        return
    if (code := body.find("ST")) is not None:
        add_text(next(code.below("p", "xhtml"), code), title, found)
        return
    language = next((one.name for one in body.children if one.name in GRAPHICAL), "")
    if language:
        note_graphical(language, name, body, found)


def _add_section(section: Element, found: Container) -> None:
    flags = [flag.upper() for flag in ("constant", "retain", "persistent") if section.attributes.get(flag) == "true"]
    add_made(" ".join([_SECTIONS[section.name], *flags]) + "\n", section, found)
    for one in section.all("variable"):
        kind = one.find("type")
        address = one.attributes.get("address", "")
        at = f" AT {address}" if re.fullmatch(r"%[\w.*]+", address) else ""
        add_made(f"  {_name(one)}{at} : {_type(kind, found) if kind else 'INT'}{_initial(one)};\n", one, found)
    add_made("END_VAR\n", section, found)


def _name(element: Element) -> str:
    """The name of what is declared; what is none is refused, as it would be read as something else."""
    return _check_name(element.attributes.get("name", ""), element)


def _check_name(name: str, element: Element) -> str:
    if not _NAME.fullmatch(name):
        raise WrongContainer(tell_file("wrong-xml-name", element.span,
                                   name=name[:80], element=element.name))
    return name


def _type(holder: Element, found: Container) -> str:
    """The type that an element holds, as text."""
    kind = next(iter(holder.children), None)
    if kind is None:
        raise WrongContainer(tell_file("no-xml-type", holder.span))
    make = _TYPES.get(kind.name)
    return make(kind, found) if make else kind.name.upper()


def _array(kind: Element, found: Container) -> str:
    bounds = ", ".join(f"{_plain(one, 'lower')}..{_plain(one, 'upper')}" for one in kind.all("dimension"))
    return f"ARRAY[{bounds}] OF {_base(kind, found)}"


def _base(kind: Element, found: Container) -> str:
    base = kind.find("baseType")
    return _type(base, found) if base else "INT"


def _text_type(kind: Element, _: Container) -> str:
    length = _plain(kind, "length")
    return f"{kind.name.upper()}[{length}]" if length else kind.name.upper()


def _subrange(kind: Element, found: Container) -> str:
    limits = kind.find("range")
    return f"{_base(kind, found)} ({_plain(limits, 'lower')}..{_plain(limits, 'upper')})" if limits else _base(
        kind, found)


def _enumeration(kind: Element, _: Container) -> str:
    values = [(_name(one), _plain(one, "value")) for one in kind.below("value") if "name" in one.attributes]
    return f"({', '.join(f'{name} := {value}' if value else name for name, value in values)})"


def _structure(kind: Element, found: Container) -> str:
    parts = [f"{_name(one)} : {_type(held, found)}{_initial(one)};" for one in kind.all("variable")
             if (held := one.find("type"))]
    return f"STRUCT {' '.join(parts)} END_STRUCT"


def _type_name(kind: Element, _: Container) -> str:
    return _name(kind)


def _pointer(kind: Element, found: Container) -> str:
    return f"POINTER TO {_base(kind, found)}"


_TYPES: dict[str, Callable[[Element, Container], str]] = {
    "array": _array, "derived": _type_name, "string": _text_type, "wstring": _text_type, "enum": _enumeration,
    "subrangeSigned": _subrange, "subrangeUnsigned": _subrange, "struct": _structure, "pointer": _pointer}


def _plain(element: Element, attribute: str) -> str:
    """A value on one line, which ends nothing."""
    value = element.attributes.get(attribute, "")
    if not re.fullmatch(r"[^;\n\r]{0,1000}", value):
        raise WrongContainer(tell_file("wrong-xml-name", element.span,
                                   name=value[:80], element=element.name))
    return value


def _initial(holder: Element) -> str:
    value = holder.find("initialValue")
    return f" := {_value(value)}" if value and value.children else ""


def _value(holder: Element) -> str:
    """`simpleValue`, `arrayValue` or `structValue`, as text."""
    kind = holder.children[0]
    if kind.name == "simpleValue":
        return _plain(kind, "value")
    parts = []
    for one in kind.all("value"):
        text = _value(one) if one.children else ""
        if kind.name == "structValue":
            parts.append(f"{_plain(one, 'member')} := {text}")
        else:
            count = one.attributes.get("repetitionValue", "1")
            parts.append(text if count == "1" else f"{_plain(one, 'repetitionValue')}({text})")
    return f"({', '.join(parts)})" if kind.name == "structValue" else f"[{', '.join(parts)}]"


def _read_task(task: Element, found: Container) -> None:
    from chatdev.departments.plc.st.tokens import BadLiteral, read_time

    cycle_ms = None
    try:
        type_, milliseconds = read_time(task.attributes.get("interval", ""))
        cycle_ms = int(milliseconds) if milliseconds > 0 and type_ == "TIME" else None
    except (BadLiteral, ValueError, LookupError):
        pass
    names = [one.attributes.get("typeName") or one.attributes.get("name", "") for one in task.below("pouInstance")]
    said = task.attributes.get("priority", "")
    priority = int(said) if said.isdecimal() and len(said) < 6 else None
    found.tasks += [(name, cycle_ms, priority) for name in names or [""]]
