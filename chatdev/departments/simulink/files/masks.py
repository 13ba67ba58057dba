"""Masks: the variables that a block gives the system in it, in the forms that they had since R12."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement

from chatdev.departments.simulink.files.sections import add_section, set_value, value

_ASSIGNMENT = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*([@&])(\d{1,4})\s*")
_EXPRESSIONS = ("edit", "slider", "dial", "spinbox", "min", "")
"""Kinds of parameters whose values are expressions; others are choices and texts."""
_OLD = ("MaskVariables", "MaskValueString", "MaskPromptString", "MaskStyleString")
_MASK = "Simulink.Mask"


def variables_of(section: Element, said: Mapping[str, str]) -> dict[str, str]:
    """The variables of the mask of a block, of which `said` are the values, with their expressions."""
    new = {name: text for mask in _masks(section) for name, kind, text in _parameters(mask)
           if kind in _EXPRESSIONS and name and text}
    return {**new, **_old_variables(said)}


def has_program(section: Element, said: Mapping[str, str]) -> bool:
    """Whether a program begins the mask, which may set more variables."""
    codes = [said.get("MaskInitialization"), *(value(mask, "Initialization") for mask in _masks(section)),
             *(one.text for mask in _masks(section) for one in mask if one.tag == "Initialization")]
    return any((code or "").strip() for code in codes)


def set_variables(section: Element, variables: Mapping[str, str], *, is_classic: bool) -> bool:
    """Give a block's mask these variables; whether that takes away what else an old one says, such as its looks."""
    rows = {one.get("Name"): one for mask in _masks(section) for one in mask if one.tag == "MaskParameter"}
    if rows and rows.keys() >= variables.keys():
        for name, text in variables.items():
            for one in rows[name].iter("Value"):
                one.text = text
        return False
    old = [*_masks(section)]
    for mask in old:
        section.remove(mask)
    for name in _OLD:
        set_value(section, name, None)
    if variables:
        last = max((number for number, one in enumerate(section, 1) if one.tag != "System"), default=0)
        section.insert(last, _classic_mask(variables) if is_classic else _mask(variables))
    return bool(old)


def _masks(section: Element) -> list[Element]:
    return [one for one in section if one.tag == "Mask" or (
        one.tag == "Object" and _MASK in (value(one, "ClassName"), value(one, "$ClassName")))]


def _parameters(mask: Element) -> Iterator[tuple[str, str, str]]:
    """Name, kind and value of a mask's parameters, in the forms since R2012."""
    for one in mask.iter():
        if one.tag == "MaskParameter":
            text = next((inner.text for inner in one if inner.tag == "Value"), None)
            yield one.get("Name", ""), _kind(one), text or ""
        elif one.tag == "Object" and value(one, "Prompt") is not None:
            yield value(one, "Name") or "", _kind(one), value(one, "Value") or ""


def _kind(parameter: Element) -> str:
    return "text" if value(parameter, "Evaluate") == "off" else value(parameter, "Type") or ""


def _old_variables(said: Mapping[str, str]) -> dict[str, str]:
    """The variables of a mask of before R2012: `a=@1;b=@2;` and `2|3`; those with `&` are texts."""
    texts = said.get("MaskValueString", "").split("|")
    matches = filter(None, map(_ASSIGNMENT.fullmatch, said.get("MaskVariables", "").split(";")))
    return {match[1]: texts[int(match[3]) - 1] for match in matches
            if match[2] == "@" and 0 < int(match[3]) <= len(texts)}


def _mask(variables: Mapping[str, str]) -> Element:
    mask = Element("Mask")
    for name, text in variables.items():
        row = SubElement(mask, "MaskParameter", {"Name": name, "Type": "edit"})
        SubElement(row, "Prompt").text, SubElement(row, "Value").text = name, text
    return mask


def _classic_mask(variables: Mapping[str, str]) -> Element:
    mask = Element("Object")
    for name, text in (("$PropName", "MaskObject"), ("$ClassName", _MASK)):
        set_value(mask, name, text)
    rows = add_section(mask, "Array", {"Type": "Simulink.MaskParameter"})
    set_value(rows, "Dimension", str(len(variables)), "word")
    for name, text in variables.items():
        add_section(rows, "Object", {"Type": "edit", "Name": name, "Prompt": name, "Value": text})
    SubElement(rows, "P", {"Name": "PropName"}).text = "Parameters"
    return mask
