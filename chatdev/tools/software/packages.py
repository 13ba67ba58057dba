"""`software.packages`: which packages does a Python program need?"""

from __future__ import annotations

from typing import Any

from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.software.knowledge import distributions
from chatdev.tools.software.static import imports, syntax_errors, third_party


@tool(reads=("software",))
def packages(ctx: ToolContext) -> dict[str, Any]:
    """Name the packages that the program imports from outside the standard library.

    Returns `names`, sorted; empty for programs in other languages and for files that do not compile.
    """
    broken = {error.path for error in syntax_errors(ctx.software)}
    sound = {path: data for path, data in ctx.software.items() if path not in broken}
    modules = third_party(frozenset(imports(sound).every))
    names = {distributions().get(module, module) for module in modules}
    return {"names": sorted(names, key=str.lower)}
