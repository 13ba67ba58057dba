"""Run in the sandbox with the names of modules: imports each, and dies of the first that is wrong by itself. What may
lie in this machine (another module or a program that is missing, another system) is told and is no fault."""

import importlib
import re
import sys


def is_own_fault(error: BaseException, own: set[str]) -> bool:
    """Whether an import fails by a mistake in the software itself."""
    if isinstance(error, NameError | SyntaxError):
        return True
    named = getattr(error, "name", None) if isinstance(error, ImportError) else None
    told = named or next(iter(re.findall(r"module '([\w.]+)'", str(error))), "")
    return isinstance(error, ImportError | AttributeError) and told.split(".")[0] in own


def main() -> None:
    """Import what the command line names."""
    own = {name.split(".")[0] for name in sys.argv[1:]}
    for name in sys.argv[1:]:
        try:
            importlib.import_module(name)
        except BaseException as error:
            if is_own_fault(error, own):
                raise
            print(f"not imported: {name} ({type(error).__name__}: {error})")


if __name__ == "__main__":
    main()
