"""What each type of block shows inside (its outline, text or strokes, as Simulink's own icons have them), and how texts
fit into a picture.

Strokes are SVG paths of absolute M, L, C, Q and Z in a square of 100 by 100, the block's front at the right.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

Outline = Literal["box", "triangle", "circle", "oval", "bar", "goto", "from", "bare"]
TEXT = 12.0
"""Pixels; the size of the text inside."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a block shows. `text` may name parameters in braces; with `fraction` its two lines stand above and below a
    bar. `ports` says where signal ports are: at the sides, around a circle, or all on top. `marks` are written at the
    ports instead of their labels: a parameter's signs, or one text for each port of the left and of the right side;
    None: labels are shown where a side has several."""

    outline: Outline = "box"
    text: str = ""
    strokes: str = ""
    size: tuple[int, int] = (40, 40)
    fraction: bool = False
    ports: Literal["sides", "round", "top"] = "sides"
    marks: tuple[str, ...] | None = None
    filled: bool = False


_NO_MARKS: tuple[str, ...] = ()
_AXES = "M50,8 L50,92 M8,50 L92,50 "
_LEADS = "M0,50 L22,50 M78,50 L100,50 "
_RING = "M22,50 C22,12.7 78,12.7 78,50 C78,87.3 22,87.3 22,50 Z "
_DIAMOND = "M18,50 L50,18 L82,50 L50,82 Z "
_PLUS = "M4,32 L14,32 M9,27 L9,37 "
_MINUS = "M86,32 L96,32 "
_SINE = "M34,50 C40,26 46,26 50,50 C54,74 60,74 66,50 "
_ARROW = "M32,50 L66,50 M56,41 L66,50 L56,59 "
_CONTROLLED = ("ctrl +", "out +", "ctrl −", "out −")
_WIDE = (60, 40)
_PART = (60, 40)


def _box(text: str, **more: object) -> Symbol:
    return Symbol(text=text, **more)  # type: ignore[arg-type]  # the fields of Symbol, by their names


def _curve(strokes: str, **more: object) -> Symbol:
    return Symbol(strokes=strokes, marks=_NO_MARKS, **more)  # type: ignore[arg-type]  # likewise


def _part(strokes: str, text: str = "", **more: object) -> Symbol:
    return Symbol("bare", text, strokes, **{"size": _PART, **more})  # type: ignore[arg-type]  # likewise


def _source(inside: str, ring: str = _RING) -> Symbol:
    return _part(_LEADS + ring + _PLUS + _MINUS + inside)


SYMBOLS: dict[str, Symbol] = {
    # sources
    "Constant": _box("{Value}"),
    "Step": _curve("M15,78 L50,78 L50,22 L85,22"),
    "Ramp": _curve("M15,80 L38,80 L85,20"),
    "Sine Wave": _curve("M10,50 C22,6 38,6 50,50 C62,94 78,94 90,50"),
    "Cosine Wave": _curve("M10,20 C35,20 35,80 50,80 C65,80 65,20 90,20"),
    "Pulse Generator": _curve("M12,75 L30,75 L30,25 L48,25 L48,75 L66,75 L66,25 L84,25 L84,75 L92,75"),
    "Signal Generator": _curve("M12,25 L12,75 L40,75 L40,25 L68,25 L68,75 L90,75"),
    "Chirp Signal": _curve("M8,50 C18,10 28,10 36,50 C42,85 48,85 54,50 C58,15 62,15 66,50 C69,85 72,85 75,50 "
                           "C77,15 80,15 82,50 C84,85 87,85 89,50"),
    "Repeating Sequence": _curve("M12,80 L38,25 L38,80 L64,25 L64,80 L90,25"),
    "Random Number": _curve("M10,52 L20,30 L28,66 L38,22 L46,74 L56,40 L64,82 L72,28 L82,60 L90,44"),
    "Clock": Symbol("circle", strokes="M50,50 L50,20 M50,50 L72,62", size=(30, 30)),
    "Digital Clock": _box("12:34"),
    "Ground": _curve("M100,50 L55,50 L55,25 L55,75 M42,34 L42,66 M29,42 L29,58", outline="bare", size=(30, 30)),
    "From Workspace": _box("{VariableName}", size=_WIDE),
    "In1": Symbol("oval", "{Port}", size=(30, 16)),
    # sinks
    "Out1": Symbol("oval", "{Port}", size=(30, 16)),
    "Scope": _curve("M18,20 L82,20 L82,64 L18,64 Z M22,46 C32,24 40,24 48,42 C56,60 68,60 78,34"),
    "XY Graph": _curve("M15,15 L85,15 L85,85 L15,85 Z M25,60 C30,20 75,20 70,55 C65,85 40,70 50,45"),
    "Display": Symbol(size=(70, 30), strokes="M8,18 L92,18 L92,82 L8,82 Z"),
    "To Workspace": _box("{VariableName}", size=_WIDE),
    "Terminator": _curve("M0,50 L45,50 M45,20 L45,80 M60,32 L60,68 M75,42 L75,58", outline="bare", size=(30, 30)),
    "Stop Simulation": _box("STOP", size=(44, 36)),
    # continuous and discrete
    "Integrator": _box("1\ns", fraction=True),
    "Integrator Limited": _box("1\ns", fraction=True),
    "Integrator, Second-Order": _box("1\ns²", fraction=True),
    "Integrator, Second-Order Limited": _box("1\ns²", fraction=True),
    "Derivative": _box("du\ndt", fraction=True),
    "Transfer Fcn": _box("{Numerator s}\n{Denominator s}", fraction=True),
    "Zero-Pole": _box("{Zeros roots}\n{Poles roots}", fraction=True),
    "State-Space": _box("x' = Ax+Bu\ny = Cx+Du", size=(90, 44)),
    "PID Controller": _box("PID(s)", size=_WIDE),
    "Discrete PID Controller": _box("PID(z)", size=_WIDE),
    "Transport Delay": _curve("M10,80 L25,80 L45,25 L52,25 M40,80 L55,80 L75,25 L90,25"),
    "Unit Delay": _box("1\nz", fraction=True),
    "Delay": _box("z^-{DelayLength}"),
    "Memory": _curve("M12,80 L12,20 L88,20 M30,62 L56,62 L56,38 L80,38"),
    "Zero-Order Hold": _curve("M12,80 L30,80 L30,60 L48,60 L48,40 L66,40 L66,22 L88,22"),
    "First-Order Hold": _curve("M12,80 L34,40 L34,62 L60,25 L60,45 L88,15"),
    "Discrete-Time Integrator": _box("K Ts\nz - 1", fraction=True),
    "Discrete Transfer Fcn": _box("{Numerator z}\n{Denominator z}", fraction=True),
    "Discrete Filter": _box("{Numerator z}\n{Denominator z}", fraction=True),
    "Discrete Zero-Pole": _box("{Zeros roots}\n{Poles roots}", fraction=True),
    "Discrete State-Space": _box("x+ = Ax+Bu\ny = Cx+Du", size=(90, 44)),
    "Difference": _box("z - 1\nz", fraction=True),
    "Discrete Derivative": _box("K (z - 1)\nTs z", fraction=True),
    # mathematics
    "Gain": Symbol("triangle", "{Gain}", size=(44, 40)),
    "Slider Gain": Symbol("triangle", "{Gain}", size=(44, 40)),
    "Sum": Symbol("circle", size=(26, 26), ports="round", marks=("{Inputs}",)),
    "Add": Symbol(size=(30, 40), marks=("{Inputs}",)),
    "Subtract": Symbol(size=(30, 40), marks=("{Inputs}",)),
    "Sum of Elements": _box("Σ", marks=_NO_MARKS),
    "Product": _box("×", size=(36, 40), marks=("{Inputs}",)),
    "Divide": Symbol(size=(36, 40), marks=("{Inputs}",)),
    "Product of Elements": _box("Π", marks=_NO_MARKS),
    "Dot Product": _box("•"),
    "Abs": _box("|u|"),
    "Sign": _curve(_AXES + "M12,78 L50,78 L50,22 L88,22"),
    "Math Function": _box("{Operator}"),
    "Trigonometric Function": _box("{Operator}"),
    "Sqrt": _box("√u"),
    "MinMax": _box("{Function}"),
    "Bias": _box("u + {Bias}", size=_WIDE),
    "Unary Minus": _box("-u"),
    "Rounding Function": _box("{Operator}"),
    "Polynomial": _box("P(u)"),
    # logic
    "Logical Operator": _box("{Operator}", marks=_NO_MARKS),
    "Relational Operator": _box("{Operator}", marks=_NO_MARKS),
    "Compare To Zero": _box("{relop} 0"),
    "Compare To Constant": _box("{relop} {const}"),
    # discontinuities
    "Saturation": _curve(_AXES + "M10,80 L30,80 L70,20 L90,20"),
    "Dead Zone": _curve(_AXES + "M12,85 L35,50 L65,50 L88,15"),
    "Relay": _curve(_AXES + "M12,80 L64,80 L64,20 M36,80 L36,20 L88,20"),
    "Rate Limiter": _curve("M15,85 L15,15 M15,85 L90,85 M25,75 L45,75 L75,30 L90,30"),
    "Quantizer": _curve(_AXES + "M12,88 L26,88 L26,69 L42,69 L42,50 L58,50 L58,31 L74,31 L74,12 L88,12"),
    "Backlash": _curve(_AXES + "M15,82 L45,82 L75,18 M25,82 L55,18 L85,18"),
    "Coulomb & Viscous Friction": _curve(_AXES + "M15,88 L50,68 L50,32 L85,12"),
    "Hit Crossing": _curve("M10,50 L90,50 M15,82 L85,18 M50,30 L50,70"),
    # routing
    "Mux": Symbol("bar", size=(8, 60), marks=_NO_MARKS),
    "Demux": Symbol("bar", size=(8, 60), marks=_NO_MARKS),
    "Bus Creator": Symbol("bar", size=(8, 60), marks=_NO_MARKS),
    "Bus Selector": Symbol("bar", size=(8, 60), marks=_NO_MARKS),
    "Switch": _curve("M0,16.7 L30,16.7 M0,50 L48,50 L48,40 M0,83.3 L30,83.3 M30,16.7 L70,50 L100,50", size=(40, 60)),
    "Manual Switch": _curve("M0,25 L30,25 M0,75 L30,75 M30,25 L70,50 L100,50"),
    "Multiport Switch": Symbol(size=(44, 60)),
    "Goto": Symbol("goto", "[{GotoTag}]", size=(50, 26)),
    "From": Symbol("from", "[{GotoTag}]", size=(50, 26)),
    "Merge": _box("Merge", marks=_NO_MARKS),
    # attributes, tables, functions
    "IC": _box("[{Value}]"),
    "Data Type Conversion": _box("Convert", size=_WIDE),
    "Rate Transition": _box("RT"),
    "1-D Lookup Table": _curve("M15,12 L15,88 L90,88 M15,80 L40,62 L60,30 L88,18"),
    "2-D Lookup Table": _curve("M12,12 L88,12 L88,88 L12,88 Z M12,37 L88,37 M12,62 L88,62 M37,12 L37,88 M62,12 L62,88"),
    "Fcn": _box("{Expr}", size=_WIDE),
    "MATLAB Function": _box("fcn", size=_WIDE),
    # physical networks
    "Resistor": _part("M0,50 L20,50 L25,36 L35,64 L45,36 L55,64 L65,36 L75,64 L80,50 L100,50"),
    "Variable Resistor": _part("M0,50 L20,50 L20,38 L80,38 L80,62 L20,62 L20,50 M80,50 L100,50 M30,84 L70,16 "
                               "M60,20 L70,16 L70,28"),
    "Capacitor": _part("M0,50 L44,50 M44,20 L44,80 M56,20 L56,80 M56,50 L100,50"),
    "Inductor": _part("M0,50 L20,50 C20,28 35,28 35,50 C35,28 50,28 50,50 C50,28 65,28 65,50 C65,28 80,28 80,50 "
                      "L100,50"),
    "Diode": _part("M0,50 L36,50 M36,24 L36,76 L64,50 Z M64,24 L64,76 M64,50 L100,50"),
    "Electrical Reference": _part("M50,0 L50,45 M15,45 L85,45 M30,62 L70,62 M43,79 L57,79", size=(30, 30), ports="top"),
    "Mechanical Rotational Reference": _part("M50,0 L50,40 M15,40 L85,40 M30,40 L20,60 M50,40 L40,60 M70,40 L60,60",
                                             size=(30, 30), ports="top"),
    "Mechanical Translational Reference": _part("M50,0 L50,40 M15,40 L85,40 M30,40 L20,60 M50,40 L40,60 M70,40 L60,60",
                                                size=(30, 30), ports="top"),
    "Thermal Reference": _part("M50,0 L50,40 M15,40 L85,40 M30,40 L20,60 M50,40 L40,60 M70,40 L60,60", size=(30, 30),
                               ports="top"),
    "DC Voltage Source": _part("M0,50 L44,50 M44,18 L44,82 M56,34 L56,66 M56,50 L100,50 M26,25 L38,25 M32,15 L32,35 "
                               "M62,25 L74,25"),
    "AC Voltage Source": _source(_SINE),
    "Voltage Source": _source(_SINE),
    "DC Current Source": _source(_ARROW),
    "AC Current Source": _source(_ARROW),
    "Controlled Voltage Source": Symbol(strokes=_DIAMOND + _SINE, size=(70, 50), marks=("+", "PS", "−")),
    "Controlled Current Source": Symbol(strokes=_DIAMOND + _ARROW, size=(70, 50), marks=("+", "PS", "−")),
    "Voltage Sensor": Symbol(text="V", strokes=_RING, size=(60, 50), marks=("+", "PS", "−")),
    "Current Sensor": Symbol(text="A", strokes=_RING, size=(60, 50), marks=("+", "PS", "−")),
    "Voltage-Controlled Voltage Source": Symbol(text="VCVS", size=(120, 60), marks=_CONTROLLED),
    "Voltage-Controlled Current Source": Symbol(text="VCCS", size=(120, 60), marks=_CONTROLLED),
    "Current-Controlled Current Source": Symbol(text="CCCS", size=(120, 60), marks=_CONTROLLED),
    "Current-Controlled Voltage Source": Symbol(text="CCVS", size=(120, 60), marks=_CONTROLLED),
    "Solver Configuration": _box("f(x) = 0", size=(66, 36)),
    "PS-Simulink Converter": _box("PS ▸ S", size=(54, 30)),
    "Simulink-PS Converter": _box("S ▸ PS", size=(54, 30)),
    "Busbar": Symbol(strokes="M44,6 L56,6 L56,94 L44,94 Z", size=(50, 60)),
}
"""By the type's name in the library browser; every other type is a box with its name."""

_POLYNOMIAL = re.compile(r"\[?[-+.\deE,\s]+\]?")
_HOLE = re.compile(r"\{(\w+)(?: (s|z|roots))?\}")
_SHOWN = {  # values of Operator, Function, relop … that are shown as signs
    "~=": "≠", "<=": "≤", ">=": "≥", "square": "u²", "magnitude^2": "|u|²", "exp": "eᵘ", "10^u": "10ᵘ", "pow": "uᵛ",
    "reciprocal": "1\nu", "sqrt": "√u", "log": "ln", "transpose": "uᵀ", "conj": "conj(u)"}
_MOST_LETTERS = 24
_TYPE_ROOM = 104  # pixels


@dataclass(frozen=True, slots=True)
class Face:
    """A symbol with its parameters filled in: lines of text, the marks at the ports, and the size it asks for."""

    symbol: Symbol
    lines: list[str]
    fraction: bool
    size: tuple[int, int]
    marks: list[str] | None = field(default=None)


def face_of(type_name: str, parameters: Mapping[str, str]) -> Face:
    """What a block of that type with these parameters (defaults included) shows."""
    symbol = SYMBOLS.get(type_name) or Symbol(text=_type_text(type_name).replace("{", "(").replace("}", ")"))
    if type_name == "Sum" and (parameters.get("IconShape") == "rectangular" or len(_signs(parameters)) > 3):
        symbol = replace(symbol, outline="box", ports="sides", size=(30, 40))
    text = _fill(symbol.text, parameters) or ("" if symbol.strokes or symbol.marks else _type_text(type_name))
    lines = [_short(line) for line in text.split("\n")]
    fraction = len(lines) == 2 and (symbol.fraction or text == _SHOWN["reciprocal"])
    return Face(symbol, lines, fraction, _size(symbol, lines), _marks(symbol, parameters))


def _size(symbol: Symbol, lines: list[str]) -> tuple[int, int]:
    """The symbol's own, or what its text needs, in tens."""
    if symbol.outline == "bar":
        return symbol.size
    room = max(text_width(line, TEXT) for line in lines) * (1.3 if symbol.outline == "triangle" else 1)
    width = max(symbol.size[0], room + 16 if room else 0)
    height = max(symbol.size[1], 16 * len(lines) + 8 if len(lines) > 2 else 0)
    return 10 * math.ceil(width / 10), 10 * math.ceil(height / 10)


def _type_text(type_name: str) -> str:
    return "\n".join(wrap(clean(type_name), TEXT, _TYPE_ROOM, 3))


def slots(parameters: Mapping[str, str]) -> list[int]:
    """Where the inputs of a round Sum are: 0 on top, 1 at the left, 2 at the bottom."""
    signs = _signs(parameters)
    if len(signs) > 3:
        return []
    places = {1: [1], 2: [1, 2], 3: [0, 1, 2]}.get(len(signs), [])
    return [place for place, sign in zip(places, signs, strict=False) if sign != "|"]


def _signs(parameters: Mapping[str, str]) -> str:
    given = parameters.get("Inputs", "").strip() or "++"
    return "+" * min(int(given), 9) if given.isdecimal() and len(given) < 5 else given


def _marks(symbol: Symbol, parameters: Mapping[str, str]) -> list[str] | None:
    if symbol.marks != ("{Inputs}",):
        return None if symbol.marks is None else list(symbol.marks)
    multiplies = symbol.text == "×" or symbol == SYMBOLS["Divide"]
    given = parameters.get("Inputs", "").strip() or ("**" if multiplies else "++")
    if given.isdecimal():
        return []
    shown = {"*": "×", "/": "÷", "-": "−"}
    return [shown.get(sign, sign) for sign in given if sign in "+-*/"]


def _fill(template: str, parameters: Mapping[str, str]) -> str:
    values = defaultdict(str, parameters)

    def fill(hole: re.Match[str]) -> str:
        value = clean(values[hole[1]])
        if hole[2]:
            return _factors(value) if hole[2] == "roots" else _polynomial(value, hole[2])
        return _SHOWN.get(value, value)

    filled = _HOLE.sub(fill, template)
    return filled if filled.strip("[]^-+ \n") or not _HOLE.search(template) else ""


def _short(line: str) -> str:
    return line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS - 1].rstrip()}…"


def _numbers(value: str) -> list[str]:
    return value.strip("[] ").replace(",", " ").split() if _POLYNOMIAL.fullmatch(value) else []


def _polynomial(value: str, variable: str) -> str:
    """`[1 0 2]` as s²+2; what is no vector of numbers as it is."""
    numbers = _numbers(value)
    terms = []
    for power, number in zip(range(len(numbers) - 1, -1, -1), numbers, strict=True):
        shown = number.removeprefix("+")
        if shown.strip("-0.") == "" and len(numbers) > 1:
            continue
        raised = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power)) if power > 1 else ""
        letter = variable + raised if power else ""
        if letter and shown in ("1", "-1"):
            shown = shown[:-1]
        terms.append(f"{shown}{letter}")
    return "+".join(terms).replace("+-", "-") or value


def _factors(value: str) -> str:
    """`[-1 0]` as (s+1)s; an empty vector as 1."""
    numbers = _numbers(value)
    return "".join("s" if not number.strip("-+0.") else
                   f"(s+{number[1:]})" if number.startswith("-") else f"(s-{number.removeprefix('+')})"
                   for number in numbers) or ("1" if value in ("[]", "") else value)


# How wide a text is, where it is broken or shortened, and what is taken out of it first.

FONT = "DejaVu Sans"
SPACING = 0.3
"""Pixels between letters; with any, none are drawn as one (fi, ff), which readers of pictures take for others."""
_WIDTHS = {29: "ijlI'", 34: " ,./:;\\|J", 37: "f-", 41: "()[]t!r", 50: '"*_`', 54: "szc?", 60: "FkvxyLP",
           63: "TYaoeES", 65: "$0123456789{}Kbdghnpqu", 70: "ABRXZVC", 78: "HNDG&U", 82: "OQw", 86: "#+<=>^~M",
           100: "%mW@"}  # hundredths of the size, in that font; others are narrower
_WIDTH = {letter: width / 100 for width, letters in _WIDTHS.items() for letter in letters}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # categories: controls, direction marks, surrogates, unassigned
_LONGEST = 2000  # characters of a text that are looked at


def clean(text: str) -> str:
    """The text on one line, without what is not seen or turns the direction of reading."""
    seen = "".join(" " if letter.isspace() else letter for letter in text[:_LONGEST]
                   if letter.isspace() or unicodedata.category(letter) not in _UNSEEN)
    return " ".join(seen.split())


@lru_cache(4096)
def text_width(text: str, size: float) -> float:
    """Pixels."""
    widths = (_WIDTH.get(letter) or (0.65 if ord(letter) < 0x1100 else 1.0) for letter in text)
    return sum(size * width + SPACING for width in widths)


def shorten(text: str, size: float, room: float) -> str:
    """The beginning of the text that fits, with an ellipsis where something is left out."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(f"{text}…", size) > room:
        text = text[:-1] if text_width(text, size) < 2 * room else text[:len(text) // 2]
    return f"{text.rstrip()}…"


def wrap(text: str, size: float, room: float, most: int) -> list[str]:
    """At most so many lines that are no wider than `room`, broken at blanks; the last is shortened."""
    lines = list(_lines(text, size, room))
    kept = lines[:most]
    if len(lines) > most:
        kept[-1] = " ".join(lines[most - 1:])
    return [shorten(line, size, room) for line in kept]


def _lines(text: str, size: float, room: float) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and text_width(longer, size) > room:
            yield line
            longer = word
        line = longer
    if line:
        yield line
