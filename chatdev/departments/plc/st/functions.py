"""The elementary types with their ranges, and the standard functions: what each takes, gives, and means on Python's
values.

Functions that are operators (ADD, GT, AND, …) and conversions (INT_TO_REAL) are no calls in the core; which operator
one is stands here, too. Only a MOD that is 0 for a divisor of 0 (`Dialect.mod_zero`) is a call. The solver's meaning of
the same rows stands in `proof/`.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

from chatdev.departments.plc.st.core import Array, Constant, Kind, Record, Scalar, Type, Value

_NUMBERS: tuple[Kind, ...] = ("int", "real")
_ORDERED: tuple[Kind, ...] = ("int", "bits", "real", "time", "string")
_TEXT: tuple[Kind, ...] = ("string",)
_ALL: tuple[Kind, ...] = ("bool", "int", "bits", "real", "time", "enum", "string")


@dataclass(frozen=True, slots=True)
class StandardFunction:
    """One row. `parameters` are names with their types; those of type "" have one type, of the `kinds`, in which all of
    them meet. `repeats` tells that the last parameter may be given many times. The result has the type `result`, or
    "" the same one. `compute` takes the result's type and the operands' values."""

    parameters: tuple[tuple[str, str], ...]
    kinds: tuple[Kind, ...]
    compute: Callable[[Scalar, Sequence[Value]], Value]
    result: str = ""
    repeats: bool = False

    def parameter(self, index: int) -> tuple[str, str] | None:
        """Name and type of the parameter at a position; names of repeated ones count on."""
        if index < len(self.parameters):
            return self.parameters[index]
        if not self.repeats:
            return None
        name, type_ = self.parameters[-1]
        return f"{name[:-1]}{int(name[-1]) + index - len(self.parameters) + 1}", type_


OPERATORS = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "mod", "EXPT": "**", "AND": "and", "OR": "or",
             "XOR": "xor", "NOT": "not", "GT": ">", "GE": ">=", "EQ": "=", "LE": "<=", "LT": "<", "NE": "<>"}
"""Functions that are operators, with their names in the core; those of ADD, MUL, AND, OR and XOR take many operands."""


def keep_bits(value: int, type_: Scalar) -> int:
    """The low bits of an integer as a value of a type."""
    low = value & (1 << type_.bits) - 1
    return low - (1 << type_.bits) if type_.signed and low >> type_.bits - 1 else low


def _absolute(type_: Scalar, values: Sequence[Value]) -> Value:
    return abs(values[0]) if type_.kind == "real" else keep_bits(abs(values[0]), type_)


def _minimum(_type: Scalar, values: Sequence[Value]) -> Value:
    """From left to right, the one before if neither is less (which tells what NaN gives)."""
    least = values[0]
    for value in values[1:]:
        least = value if value < least else least
    return least


def _maximum(_type: Scalar, values: Sequence[Value]) -> Value:
    greatest = values[0]
    for value in values[1:]:
        greatest = value if value > greatest else greatest
    return greatest


def _limit(type_: Scalar, values: Sequence[Value]) -> Value:
    """MIN(MAX(IN, MN), MX): the upper limit counts where they cross."""
    low, value, high = values
    return _minimum(type_, (_maximum(type_, (value, low)), high))


def _select(_type: Scalar, values: Sequence[Value]) -> Value:
    return values[2] if values[0] else values[1]


def _multiplex(_type: Scalar, values: Sequence[Value]) -> Value:
    """A number that no input has selects the last one."""
    inputs = values[1:]
    return inputs[values[0]] if 0 <= values[0] < len(inputs) else inputs[-1]


def _shift_left(type_: Scalar, values: Sequence[Value]) -> Value:
    """By as many bits as there are, or by less than none: 0."""
    return keep_bits(values[0] << values[1], type_) if 0 <= values[1] < type_.bits else 0


def _shift_right(type_: Scalar, values: Sequence[Value]) -> Value:
    return values[0] >> values[1] if 0 <= values[1] < type_.bits else 0


def _rotate_left(type_: Scalar, values: Sequence[Value]) -> Value:
    count = values[1] % type_.bits
    return keep_bits(values[0] << count | values[0] >> type_.bits - count, type_)


def _rotate_right(type_: Scalar, values: Sequence[Value]) -> Value:
    return _rotate_left(type_, (values[0], -values[1]))


def _remainder(_type: Scalar, values: Sequence[Value]) -> Value:
    """What truncating division leaves; 0 of a divisor that is 0."""
    dividend, divisor = values
    rest = abs(dividend) % abs(divisor) if divisor else 0
    return -rest if dividend < 0 else rest


def _move(_type: Scalar, values: Sequence[Value]) -> Value:
    return values[0]


# Texts: the first character has the number 1; what lies beyond an end is cut off.


def _length(_type: Scalar, values: Sequence[Value]) -> Value:
    return len(values[0])


def _first_part(_type: Scalar, values: Sequence[Value]) -> Value:
    return values[0][:max(values[1], 0)]


def _last_part(_type: Scalar, values: Sequence[Value]) -> Value:
    text, count = values
    return text[max(len(text) - count, 0):] if count > 0 else ""


def _middle(_type: Scalar, values: Sequence[Value]) -> Value:
    text, count, position = values
    return text[position - 1:position - 1 + count] if count > 0 and position > 0 else ""


def _join_texts(_type: Scalar, values: Sequence[Value]) -> Value:
    return "".join(values)


def _insert(_type: Scalar, values: Sequence[Value]) -> Value:
    """Behind the character of the number; before the first one with 0."""
    text, more, position = values
    return text[:position] + more + text[position:] if 0 <= position <= len(text) else text


def _delete(type_: Scalar, values: Sequence[Value]) -> Value:
    text, count, position = values
    return _replace(type_, (text, "", count, position))


def _replace(_type: Scalar, values: Sequence[Value]) -> Value:
    text, more, count, position = values
    if position < 1 or position > len(text) or count < 0:
        return text
    return text[:position - 1] + more + text[position - 1 + count:]


def _find(_type: Scalar, values: Sequence[Value]) -> Value:
    """The number of the first character of the first place where the other text stands; 0 if it does not."""
    text, sought = values
    return text.find(sought) + 1 if sought else 0


def _to_text(_type: Scalar, values: Sequence[Value]) -> Value:
    """A value of the type that is named second, as a text."""
    value, name = values
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return write_moment(value, name) if name in NANOSECONDS else str(value)


def _from_text(type_: Scalar, values: Sequence[Value]) -> Value:
    """The number at the begin of a text; 0 if there is none."""
    text = values[0].strip()
    if type_.kind == "bool":
        return text.upper() in ("TRUE", "1")
    found = _LEADING[type_.kind == "real"].match(text)
    if type_.kind == "real":
        return round_real(float(found[0]), type_) if found else 0.0
    return keep_bits(int(found[0]), type_) if found else 0


_LEADING = (re.compile(r"[+-]?\d{1,30}"), re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?"))


def bits_of_real(value: float, type_: Scalar) -> int:
    """The bits of a REAL or LREAL (IEEE 754)."""
    real, whole = _FORMATS[type_.bits]
    return int(struct.unpack(whole, struct.pack(real, value))[0])


def real_of_bits(number: int, type_: Scalar) -> float:
    """The REAL or LREAL of these bits."""
    real, whole = _FORMATS[type_.bits]
    return float(struct.unpack(real, struct.pack(whole, number))[0])


_FORMATS = {32: ("<f", "<I"), 64: ("<d", "<Q")}


def _whole(rounded: Callable[[float], int]) -> Callable[[Scalar, Sequence[Value]], Value]:
    """A real as an integer's low bits; NaN and infinity are 0."""
    return lambda type_, values: keep_bits(rounded(values[0]) if math.isfinite(values[0]) else 0, type_)


def _real(function: Callable[[float], float]) -> Callable[[Scalar, Sequence[Value]], Value]:
    """A function of reals: NaN outside of where it is defined, infinity where it is too large."""
    def compute(type_: Scalar, values: Sequence[Value]) -> Value:
        try:
            return round_real(function(values[0]), type_)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return compute


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: function(value) if value else -math.inf


def _one(compute: Callable[[Scalar, Sequence[Value]], Value], kinds: tuple[Kind, ...] = ("real",),
         result: str = "") -> StandardFunction:
    return StandardFunction((("IN", ""),), kinds, compute, result)


def _text(compute: Callable[[Scalar, Sequence[Value]], Value], *names: str) -> StandardFunction:
    """A function of texts (IN…) and of counts of characters (L, P)."""
    return StandardFunction(tuple((name, "" if name.startswith("IN") else "DINT") for name in names), _TEXT, compute)


def _shift(compute: Callable[[Scalar, Sequence[Value]], Value]) -> StandardFunction:
    return StandardFunction((("IN", ""), ("N", "DINT")), ("bits",), compute)


FUNCTIONS: dict[str, StandardFunction] = {
    "ABS": _one(_absolute, _NUMBERS),
    "MIN": StandardFunction((("IN1", ""), ("IN2", "")), _ORDERED, _minimum, repeats=True),
    "MAX": StandardFunction((("IN1", ""), ("IN2", "")), _ORDERED, _maximum, repeats=True),
    "LIMIT": StandardFunction((("MN", ""), ("IN", ""), ("MX", "")), _ORDERED, _limit),
    "SEL": StandardFunction((("G", "BOOL"), ("IN0", ""), ("IN1", "")), _ALL, _select),
    "MUX": StandardFunction((("K", "DINT"), ("IN0", ""), ("IN1", "")), _ALL, _multiplex, repeats=True),
    "MOVE": _one(_move, _ALL),
    "LEN": _one(_length, _TEXT, "INT"),
    "LEFT": _text(_first_part, "IN", "L"), "RIGHT": _text(_last_part, "IN", "L"), "MID": _text(_middle, "IN", "L", "P"),
    "CONCAT": StandardFunction((("IN1", ""), ("IN2", "")), _TEXT, _join_texts, repeats=True),
    "INSERT": _text(_insert, "IN1", "IN2", "P"), "DELETE": _text(_delete, "IN", "L", "P"),
    "REPLACE": _text(_replace, "IN1", "IN2", "L", "P"),
    "FIND": StandardFunction((("IN1", ""), ("IN2", "")), _TEXT, _find, "INT"),
    "@TO_TEXT": StandardFunction((("IN", ""), ("NAME", "STRING")), _ALL, _to_text, "STRING"),
    "@FROM_TEXT": _one(_from_text, _TEXT),
    "@BITS_OF": _one(lambda type_, values: bits_of_real(values[0], type_)),
    "@OF_BITS": _one(lambda type_, values: real_of_bits(values[0], type_), ("bits",)),
    "MOD": StandardFunction((("IN1", ""), ("IN2", "")), ("int",), _remainder),
    "SHL": _shift(_shift_left), "SHR": _shift(_shift_right),
    "ROL": _shift(_rotate_left), "ROR": _shift(_rotate_right),
    "TRUNC": _one(_whole(math.trunc), result="DINT"), "ROUND": _one(_whole(round), result="DINT"),
    "FLOOR": _one(_whole(math.floor), result="DINT"), "CEIL": _one(_whole(math.ceil), result="DINT"),
    "SQRT": _one(_real(math.sqrt)), "EXP": _one(_real(math.exp)),
    "LN": _one(_real(_logarithm(math.log))), "LOG": _one(_real(_logarithm(math.log10))),
    "SIN": _one(_real(math.sin)), "COS": _one(_real(math.cos)), "TAN": _one(_real(math.tan)),
    "ASIN": _one(_real(math.asin)), "ACOS": _one(_real(math.acos)), "ATAN": _one(_real(math.atan)),
}


# The elementary types: their ranges, and which of them goes into which without being told.

BOOL = Scalar("BOOL", "bool", 1, signed=False)
INT, DINT, LINT = (Scalar(name, "int", bits) for name, bits in (("INT", 16), ("DINT", 32), ("LINT", 64)))
REAL, LREAL = Scalar("REAL", "real", 32), Scalar("LREAL", "real", 64)
TIME, LTIME = Scalar("TIME", "time", 32), Scalar("LTIME", "time", 64)
DATE, TOD, DT = (Scalar(name, "time", 32, signed=False) for name in ("DATE", "TIME_OF_DAY", "DATE_AND_TIME"))
LDATE, LTOD, LDT = (Scalar(name, "time", 64, signed=False) for name in ("LDATE", "LTIME_OF_DAY", "LDATE_AND_TIME"))
STRING, WSTRING = Scalar("STRING", "string", 0), Scalar("WSTRING", "string", 0)
NANOSECONDS = {"TIME": 10**6, "LTIME": 1, "DATE": 10**9, "DATE_AND_TIME": 10**9, "TIME_OF_DAY": 10**6, "LDATE": 1,
               "LDATE_AND_TIME": 1, "LTIME_OF_DAY": 1}
"""What durations and moments count in."""
UNKNOWN_TYPE = Scalar("a type that is not known", "opaque", 64, signed=False)
SCALARS = {one.name.lower(): one for one in (
    BOOL, Scalar("SINT", "int", 8), INT, DINT, LINT,
    *(Scalar(name, "int", bits, signed=False) for name, bits in (("USINT", 8), ("UINT", 16), ("UDINT", 32),
                                                                 ("ULINT", 64))),
    *(Scalar(name, "bits", bits, signed=False) for name, bits in (("BYTE", 8), ("WORD", 16), ("DWORD", 32),
                                                                  ("LWORD", 64))),
    REAL, LREAL, TIME, LTIME, DATE, TOD, DT, LDATE, LTOD, LDT, STRING, WSTRING,
    Scalar("CHAR", "string", 0, high=1), Scalar("WCHAR", "string", 0, high=1))}
SCALARS |= {"tod": TOD, "dt": DT, "ltod": LTOD, "ldt": LDT}
_UNSIGNED_TIMES = {"time": Scalar("TIME", "time", 32, signed=False),
                   "ltime": Scalar("LTIME", "time", 64, signed=False)}
UNSIGNED_TIME = ("codesys", "twincat")
"""The dialects whose durations have no sign: a TIME ends at T#49d17h2m47s295ms, an LTIME after 213503 days ("TIME",
CODESYS Development System 3.5; "TIME", Beckhoff TC3 PLC). They are kept, and reckoned in, as DWORD and LWORD are."""


def find_scalar(name: str, dialect: str) -> Scalar:
    """An elementary type by its name in a dialect. Raises KeyError for none."""
    key = name.lower()
    return _UNSIGNED_TIMES[key] if dialect in UNSIGNED_TIME and key in _UNSIGNED_TIMES else SCALARS[key]


UNSUPPORTED = frozenset((
    "variant", "any", "any_num", "any_int", "any_real", "any_bit", "any_string", "any_date", "any_elementary", "pvoid",
    "lstring", "s5time", "timer", "counter", "void", "xint", "uxint", "xword", "dtl", "bit", "__xint", "__uxint",
    "__xword", "__system.exception", "hresult", "itcunknown", "guid", "db_any", "remote", "error_struct",
    "iec_timer", "iec_counter", "generic constants"))
_INTEGERS = tuple(SCALARS[name] for name in ("usint", "sint", "uint", "int", "udint", "dint", "ulint", "lint"))
"""From the narrowest on."""
GREATEST_REAL = {32: 3.4028234663852886e38, 64: 1.7976931348623157e308}
"""By its bits."""
LOOSE_INT, LOOSE_REAL = Scalar("ANY_INT", "int", 0), Scalar("ANY_REAL", "real", 0)
"""Of a number without a type of its own. No expression that leaves the checker has one of them."""

Fit = Literal["fits", "risky", "no"]


def is_loose(type_: Type) -> bool:
    """Whether it is a number's that takes the type its place asks for."""
    return isinstance(type_, Scalar) and type_.bits == 0 and type_.kind != "string"


def base_of(type_: Scalar) -> Scalar:
    """The type without a subrange's limits or a text's length; an enumeration stays."""
    limit = {"int": type_.low, "bits": type_.low, "string": type_.high}.get(type_.kind)
    return replace(type_, low=None, high=None) if limit is not None else type_


def number_type(type_: Scalar) -> Scalar:
    """The integer type of an enumeration's numbers; any other type as it is."""
    if type_.kind != "enum":
        return type_
    return next(one for one in _INTEGERS if (one.bits, one.signed) == (type_.bits, type_.signed))


def range_of(type_: Scalar) -> tuple[int, int]:
    """The least and the greatest integer of a type of numbers that are integers."""
    if type_.low is not None and type_.high is not None:
        return type_.low, type_.high
    if type_.signed:
        return -(1 << type_.bits - 1), (1 << type_.bits - 1) - 1
    return 0, (1 << type_.bits) - 1


def fit(source: Scalar, target: Scalar) -> Fit:
    """Whether a value goes into another type without being told: with all of its values, with a risk (a sign or a bit
    pattern is seen as something else, or digits are lost), or not at all."""
    source, target = base_of(source), base_of(target)
    if source == target:
        return "fits"
    return _FITS.get((source.kind, target.kind), _no_fit)(source, target)


def unite(left: Scalar, right: Scalar) -> Scalar | None:
    """The type in which two operands meet. An integer meets another one, a bit string (the unsigned number of its bits)
    or an enumeration in the narrowest integer type that holds all values of both, INT and UINT in DINT; of others the
    one goes into the other. Nothing where there is no such type, as of LINT and ULINT."""
    left, right = base_of(left), base_of(right)
    if left == right:
        return left
    if "int" in (left.kind, right.kind) and {left.kind, right.kind} <= {"int", "bits", "enum"}:
        return _narrowest(left, right)
    for judged in ("fits", "risky"):
        if fit(right, left) == judged:
            return left
        if fit(left, right) == judged:
            return right
    return None


def fit_constant(constant: Constant, target: Scalar) -> Constant | None:
    """A number that has no type of its own as one of the type `target`, or nothing where it is none."""
    value = constant.value
    if target.kind == "real":
        return _fit_real(constant, target)
    if not isinstance(value, int):
        return None
    if target.kind == "bool":
        return Constant(bool(value), target, constant.span) if value in (0, 1) else None
    if target.kind in ("time", "string", "opaque"):
        return None
    if target.kind == "enum" and not target.names[max(value - (target.low or 0), 0):][:1] > ("",):
        return None
    low, high = range_of(target)
    return Constant(value, base_of(target), constant.span) if low <= value <= high else None


def _fit_real(constant: Constant, target: Scalar) -> Constant | None:
    """The nearest REAL or LREAL; nothing for what is beyond the greatest."""
    number = round_real(constant.value, target)
    return Constant(number, base_of(target), constant.span) if isfinite(number) else None


def round_real(value: float, type_: Scalar) -> Value:
    """The nearest number of the type: 32 bits for REAL."""
    if type_.bits != 32:
        return float(value)
    try:
        return struct.unpack("<f", struct.pack("<f", float(value)))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def describe_type(type_: Type) -> str:
    """A type as its author would write it."""
    if isinstance(type_, Array):
        return f"ARRAY[{type_.low}..{type_.high}] OF {describe_type(type_.element)}"
    if isinstance(type_, Record):
        return type_.name.upper() if type_.block else type_.name
    if is_loose(type_):
        return "a number" if type_.kind == "real" else "an integer"
    if type_.kind == "int" and type_.low is not None:
        return f"{type_.name} ({type_.low}..{type_.high})"
    if type_.name in ("STRING", "WSTRING") and type_.high is not None:
        return f"{type_.name}[{type_.high}]"
    return type_.name


def is_opaque(type_: Type) -> bool:
    """Whether nothing is known of its values."""
    return isinstance(type_, Scalar) and type_.kind == "opaque"


def write_moment(count: int, name: str) -> str:
    """A duration, a date or a time of day as a literal of its type."""
    if name in ("TIME", "LTIME"):
        return f"{'T' if name == 'TIME' else 'LTIME'}#{'-' if count < 0 else ''}{abs(count)}{_SMALLEST[name]}"
    seconds, rest = divmod(count * NANOSECONDS[name], 10**9)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    clock = f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"
    if "DATE" not in name:
        return f"{_PREFIXES[name]}#{clock}"
    day = (_EPOCH + datetime.timedelta(days=seconds // 86400)).isoformat()
    return f"{_PREFIXES[name]}#{day}" + (f"-{clock}" if "TIME" in name else "")


_EPOCH = datetime.date(1970, 1, 1)
_SMALLEST = {"TIME": "ms", "LTIME": "ns"}
_PREFIXES = {"DATE": "D", "TIME_OF_DAY": "TOD", "DATE_AND_TIME": "DT", "LDATE": "LDATE", "LTIME_OF_DAY": "LTOD",
             "LDATE_AND_TIME": "LDT"}


@functools.cache
def _narrowest(left: Scalar, right: Scalar) -> Scalar | None:
    """The narrowest integer type that holds all values of both; an enumeration's are those of what it counts in."""
    lows, highs = zip(*(range_of(number_type(one)) for one in (left, right)), strict=True)
    held = (one for one in _INTEGERS if range_of(one)[0] <= min(lows) and max(highs) <= range_of(one)[1])
    return next(held, None)


def _no_fit(_source: Scalar, _target: Scalar) -> Fit:
    return "no"


def _integer_to_integer(source: Scalar, target: Scalar) -> Fit:
    if source.signed == target.signed or target.signed:
        room = target.bits - (target.signed and not source.signed)
        if source.bits <= room:
            return "fits"
    return "risky" if source.bits <= target.bits else "no"


def _integer_to_real(source: Scalar, target: Scalar) -> Fit:
    return "fits" if source.bits <= (24 if target.bits == 32 else 53) else "risky"


def _wider(source: Scalar, target: Scalar) -> Fit:
    return "fits" if source.bits <= target.bits else "no"


def _bits_to_integer(source: Scalar, target: Scalar) -> Fit:
    if source.bits > target.bits:
        return "no"
    return "fits" if source.bits <= target.bits - target.signed else "risky"


def _integer_to_bits(source: Scalar, target: Scalar) -> Fit:
    if source.bits > target.bits:
        return "no"
    return "risky" if source.signed else "fits"


def _enum_to_integer(source: Scalar, target: Scalar) -> Fit:
    return _integer_to_integer(number_type(source), target)


def _time_to_time(source: Scalar, target: Scalar) -> Fit:
    return "fits" if (source.name, target.name) == ("TIME", "LTIME") else "no"


def _text_to_text(_source: Scalar, _target: Scalar) -> Fit:
    return "fits"


_FITS = {
    ("int", "int"): _integer_to_integer, ("int", "real"): _integer_to_real, ("real", "real"): _wider,
    ("bits", "bits"): _wider, ("bits", "int"): _bits_to_integer, ("int", "bits"): _integer_to_bits,
    ("enum", "int"): _enum_to_integer, ("time", "time"): _time_to_time, ("string", "string"): _text_to_text,
}


# Instructions of TIA Portal (STEP 7 V17, "Basic instructions" and "Extended instructions") that have no meaning here. A
# call of one gives any value, and may write what it is given.

_OF_MEMORY = """
    BLKMOV FILL FILL_BLK MOVE_BLK MOVE_BLK_VARIANT PEEK PEEK_BOOL POKE POKE_BLK POKE_BOOL READ_BIG READ_LITTLE
    SCATTER SCATTER_BLK GATHER GATHER_BLK SWAP UBLKMOV UFILL_BLK UMOVE_BLK WRITE_BIG WRITE_LITTLE Serialize Deserialize
"""
_OF_VARIANTS = """
    CountOfElements DB_ANY_TO_VARIANT EQ_TypeOf IS_ARRAY NE_TypeOf TypeOf TypeOfDB TypeOfElements VARIANT_TO_DB_ANY
    VariantGet VariantPut
"""
_OF_TEXTS = """
    ATH BCD16_TO_INT BCD32_TO_DINT Chars_TO_Strg HTA INT_TO_BCD16 DINT_TO_BCD32 JOIN MAX_LEN S_CONV STRG_VAL
    Strg_TO_Chars SPLIT VAL_STRG
"""
_OF_TIME = """
    RD_LOC_T RD_SYS_T RESET_TIMER PRESET_TIMER RUNTIME SET_TIMEZONE SNC_RTCB T_ADD T_COMBINE T_COMP T_CONV
    T_DIFF T_SUB WR_LOC_T WR_SYS_T DTL_TO_DATE DTL_TO_DT DTL_TO_LDT DTL_TO_LTOD DTL_TO_TOD DT_TO_DTL LDT_TO_DTL
"""
_OF_THE_CPU = """
    CAN_DINT CREATE_DB D_ACT_DP DELETE_DB DIS_AIRT DIS_IRT DeviceStates DPNRM_DG DPRD_DAT DPWR_DAT EN_AIRT EN_IRT
    ENDIS_PW GEN_DIAG GET_DIAG GET_ERR_ID GET_ERROR GetChecksum Get_IM_Data GetBlockName GetInstanceName
    GetInstancePath GetSMCinfo GetSymbolForReference GetSymbolName GetSymbolPath GEO2LOG INIT_RD IO2MOD LED LOG2GEO
    LOG2MOD ModuleStates PE_CMD QRY_CINT QRY_DINT QRY_TINT RALRM RDREC RDSYSST RD_ADDR RD_DPARA RD_LGADR RD_OBINF
    RD_SINFO RE_TRIGR READ_DBL SET_CINT SET_TINT SET_TINTL SRT_DINT STP UPDAT_PI UPDAT_PO WAIT WR_DPARM WR_PARM
    WRIT_DBL WRREC
"""
INSTRUCTIONS = frozenset(word.upper() for words in (_OF_MEMORY, _OF_VARIANTS, _OF_TEXTS, _OF_TIME, _OF_THE_CPU)
                         for word in words.split())
"""Their names, in upper case."""
