"""Small faults of Python programs: each changes one place of the text as somebody might have written it by mistake."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from typing import Any

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}
"""What an operator is mistaken for."""


def mutants(program: str, seed: int, most: int) -> list[str]:
    """Programs with one fault each, drawn by a seed."""
    tree = ast.parse(program)
    found = sorted({ast.unparse(mutant) for mutant in _all_mutants(tree)} - {ast.unparse(tree)})
    return random.Random(seed).sample(found, min(most, len(found)))


def _all_mutants(tree: ast.Module) -> Iterator[ast.Module]:
    for place, node in enumerate(ast.walk(tree)):
        for name, value in _changes(node):
            mutant = copy.deepcopy(tree)
            setattr(list(ast.walk(mutant))[place], name, value)
            yield mutant


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """The fields of a node that may be wrong, with what they are instead."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in _SWAPS:
            yield "op", _SWAPS[type(op)]()
        case ast.Compare(ops=[op]) if type(op) in _SWAPS:
            yield "ops", [_SWAPS[type(op)]()]
        case ast.Constant(value=bool(value)):
            yield "value", not value
        case ast.Constant(value=int(value)):
            yield "value", value + 1
        case ast.Constant(value=str(value)) if value.strip() and "." not in value:
            yield "value", f"{value}s"
        case ast.If(body=body) if len(body) > 1:
            yield "body", body[:-1]
        case ast.IfExp(body=body):
            yield "orelse", body
