"""The transition of a program as an SMV module, for those who have nuXmv or NuSMV.

Numbers are unsigned words; where the sign counts, they are seen as signed. Every shared term is a DEFINE. REAL has no
counterpart there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from chatdev.departments.plc.proof.terms import Inexpressible, lift
from chatdev.departments.plc.proof.transition import Transition
from chatdev.departments.plc.st.core import Scalar

_INFIX = {z3.Z3_OP_AND: " & ", z3.Z3_OP_OR: " | ", z3.Z3_OP_XOR: " xor ", z3.Z3_OP_EQ: " = ", z3.Z3_OP_BADD: " + ",
          z3.Z3_OP_BSUB: " - ", z3.Z3_OP_BMUL: " * ", z3.Z3_OP_BAND: " & ", z3.Z3_OP_BOR: " | ",
          z3.Z3_OP_BXOR: " xor ", z3.Z3_OP_ULT: " < ", z3.Z3_OP_ULEQ: " <= ", z3.Z3_OP_UGT: " > ",
          z3.Z3_OP_UGEQ: " >= ", z3.Z3_OP_BUDIV: " / ", z3.Z3_OP_BUREM: " mod ", z3.Z3_OP_CONCAT: " :: ",
          z3.Z3_OP_DISTINCT: " != "}
_SIGNED = {z3.Z3_OP_SLT: "<", z3.Z3_OP_SLEQ: "<=", z3.Z3_OP_SGT: ">", z3.Z3_OP_SGEQ: ">="}
_SIGNED_WORDS = {z3.Z3_OP_BSDIV: "/", z3.Z3_OP_BSREM: "mod"}
_CALLS = {z3.Z3_OP_NOT: "!", z3.Z3_OP_BNOT: "!", z3.Z3_OP_BNEG: "-"}
_SHIFTS = {z3.Z3_OP_BSHL: "<<", z3.Z3_OP_BLSHR: ">>"}


def write_smv(transition: Transition) -> str:
    """The text of the module; run-time obligations are INVARSPECs. Raises Inexpressible for REAL and what else SMV does
    not know."""
    writer = _Writer()
    variables = [*transition.states.items(), *transition.inputs.items()]
    lines = [f"  {_quote(path)} : {_type(scalar)};" for path, scalar in variables]
    assigned = []
    for path, scalar in transition.states.items():
        start = writer.write(lift(transition.start[path], scalar))
        assigned.append(f"  init({_quote(path)}) := {start};\n  next({_quote(path)}) := "
                        f"{writer.write(transition.next[path])};")
    limits = [f"INVAR {writer.write(limit)};" for limit in transition.limits]
    owed = [f"INVARSPEC !({writer.write(lift(one.violated, Scalar('BOOL', 'bool', 1)))}); "
            f"-- {one.kind} at {one.span}" for one in transition.obligations]
    return "\n".join(["MODULE main", "VAR", *lines, "DEFINE", *writer.defined, "ASSIGN", *assigned, *limits, *owed, ""])


def _quote(path: str) -> str:
    """SMV reads a dot and a bracket as a way into a module; a name has letters, digits and a few signs."""
    return "v_" + "".join(sign if sign.isalnum() and sign.isascii() else f"${ord(sign):x}_" for sign in path)


def _type(scalar: Scalar) -> str:
    if scalar.kind in ("real", "string"):
        raise Inexpressible(f"{scalar.name} in SMV")
    return "boolean" if scalar.kind == "bool" else f"unsigned word[{scalar.bits}]"


class _Writer:
    """Writes terms; each inner one once, under a name of its own."""

    def __init__(self) -> None:
        self.defined: list[str] = []
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []

    def write(self, root: Any) -> str:
        """The text or the name of a term."""
        self._alive.append(root)
        waiting = [root]
        while waiting:
            node = waiting[-1]
            open_ = [child for child in node.children() if child.get_id() not in self._names]
            if open_:
                waiting.extend(open_)
                continue
            waiting.pop()
            if node.get_id() not in self._names:
                self._names[node.get_id()] = self._name(node)
        return self._names[root.get_id()]

    def _name(self, node: Any) -> str:
        if z3.is_true(node) or z3.is_false(node):
            return "TRUE" if z3.is_true(node) else "FALSE"
        if z3.is_bv_value(node):
            return f"0ud{node.size()}_{node.as_long()}"
        if z3.is_const(node):
            return _quote(node.decl().name())
        name = f"d{len(self.defined)}"
        text = self._operation(node, [self._names[child.get_id()] for child in node.children()])
        self.defined.append(f"  {name} := {text};")
        return name

    def _operation(self, node: Any, operands: list[str]) -> str:
        kind = node.decl().kind()
        if kind in _INFIX:
            return f"({_INFIX[kind].join(operands)})"
        if kind in _CALLS:
            return f"{_CALLS[kind]}({operands[0]})"
        if kind in _SIGNED or kind in _SIGNED_WORDS:
            both = f" {(_SIGNED | _SIGNED_WORDS)[kind]} ".join(f"signed({one})" for one in operands)
            return f"({both})" if kind in _SIGNED else f"unsigned({both})"
        if kind == z3.Z3_OP_ITE:
            return "({} ? {} : {})".format(*operands)
        return self._width(node, kind, operands)

    def _width(self, node: Any, kind: int, operands: Iterable[str]) -> str:
        one, *more = operands
        if kind == z3.Z3_OP_EXTRACT:
            high, low = node.params()
            return f"{one}[{high}:{low}]"
        if kind == z3.Z3_OP_ZERO_EXT:
            return f"extend({one}, {node.params()[0]})"
        if kind == z3.Z3_OP_SIGN_EXT:
            return f"unsigned(extend(signed({one}), {node.params()[0]}))"
        if kind in _SHIFTS:
            return f"({one} {_SHIFTS[kind]} {more[0]})"
        raise Inexpressible(f"{node.decl().name()} in SMV")
