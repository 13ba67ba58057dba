"""MATLAB's functions that build models, over the models of one engine.

Each takes and gives what `matlab.engine` carries: texts, numbers, arrays. `FUNCTIONS` says which there are, and how
many values each can give back.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from chatdev.departments.simulink.engine import library as say
from chatdev.departments.simulink.engine.arguments import (
    MatlabArray,
    at_least,
    double,
    matlab_statements,
    pairs_of,
    parameter_text,
    position_of,
    split_path,
    text_of,
    value_text,
)
from chatdev.departments.simulink.engine.library import BUILT_IN, BuildRefused, Library, LibraryBlock, PortKey
from chatdev.departments.simulink.engine.rules import (
    LONGEST_NAME,
    BlockDiagram,
    PlacedBlock,
    Socket,
    network_faults,
    open_ports,
)

_ASSIGNMENT = re.compile(r"\s*([A-Za-z]\w{0,62})\s*=(?!=)\s*([^;\n]*?)\s*;?\s*", re.ASCII)
_SYSTEM_NAME = re.compile(r"[A-Za-z]\w{0,62}", re.ASCII)
_MOST_SYSTEMS = 50
_SWITCH = ("on", "off")
_MOST_SHOWN = 50  # warnings of one check, and calls that were refused
_PORT_KINDS = {"Inport": "in", "Outport": "out", "LConn": "LConn", "RConn": "RConn"}


class Handled(NamedTuple):
    """What a handle stands for: a system, a block of it, a port of that, or a line."""

    diagram: BlockDiagram
    block: PlacedBlock | None = None
    port: PortKey | None = None
    line: tuple[Socket, Socket] | None = None
    is_workspace: bool = False


class Session:
    """The systems that are open, and the variables; saved systems are written to `folder` as JSON."""

    def __init__(self, library: Library, folder: Path, *, strict: bool = True) -> None:
        self.library, self.folder, self.strict = library, folder, strict
        self.systems: dict[str, BlockDiagram] = {}
        self.workspace: dict[str, Any] = {}
        self.output: TextIO = sys.stdout
        self.refused: list[str] = []
        self.handles: dict[float, Handled] = {}
        self.numbers = itertools.count(1)

    def warn(self, text: str) -> None:
        """Show a warning as MATLAB does."""
        print(f"Warning: {text}", file=self.output)

    def handle_of(self, handled: Handled) -> float:
        """A new handle."""
        handle = next(self.numbers) + 0.0001
        self.handles[handle] = handled
        return handle

    def system(self, given: Any) -> BlockDiagram:
        """The open system of this name, path or handle."""
        if isinstance(given, float) and given in self.handles:
            handled = self.handles[given]
            return handled.diagram.inside(_name_of(handled)) if handled.block else handled.diagram
        name = text_of(given, "the system")
        if "/" in name:
            diagram, block = self.place(name)
            return diagram.inside(block)
        if name not in self.systems:
            raise say.NOT_LOADED.about(path=name, model=name.split("/")[0])
        return self.systems[name]

    def target(self, given: Any) -> tuple[BlockDiagram, str | None]:
        """The system, and the name of the block in it, that a path or handle means."""
        if isinstance(given, float) and given in self.handles:
            handled = self.handles[given]
            return handled.diagram, _name_of(handled) if handled.block else None
        path = text_of(given, "the object")
        if path in self.systems:
            return self.systems[path], None
        diagram, name = self.place(path)
        diagram.block(name)
        return diagram, name

    def place(self, path: str) -> tuple[BlockDiagram, str]:
        """The system and the block's name that a path says, whether it is there or not."""
        model, *names = split_path(path)
        if model not in self.systems:
            raise say.NOT_LOADED.about(path=path, model=model)
        diagram = self.systems[model]
        if not names or not names[-1].strip():
            raise say.BAD_BLOCK_NAME.about(path=path)
        for name in names[:-1]:
            diagram = diagram.inside(name)
        return diagram, names[-1]

    def socket(self, diagram: BlockDiagram, given: Any, side: str) -> Socket:
        """The port that `block/1` or a handle means."""
        if isinstance(given, float) and given in self.handles:
            handled = self.handles[given]
            if handled.port is not None and handled.diagram is diagram:
                return Socket(_name_of(handled), *handled.port)
        return diagram.socket(text_of(given, "the port"), side)

    def checked(self, diagram: BlockDiagram, block: str | None, kind: LibraryBlock,
                given: Iterator[tuple[str, Any]]) -> tuple[dict[str, str], tuple[int, ...] | None]:
        """Parameters of a block as texts, by their right names, and the position among them."""
        path, position, texts = diagram.path(block or ""), None, {}
        for name, value in given:
            if not name:
                raise say.NO_PARAMETER.about(kind=f"{kind.block_type} block", name=name)
            if len(name) > LONGEST_NAME:
                raise say.TOO_LARGE.about(most=LONGEST_NAME, things="characters of a name")
            known = kind.parameter(name)
            if known == "Position":
                position = position_of(path, value)
                continue
            if known is None:
                near = f" (did you mean '{kind.near(name)}'?)" if kind.near(name) else ""
                self.warn(say.UNKNOWN_PARAMETER.words.format(name=name, type=kind.type, block=path, near=near))
            text = parameter_text(name, value)
            if kind.defaults.get(known or "") in _SWITCH and text.lower() not in _SWITCH:
                raise say.NOT_A_SWITCH.about(name=name, block=path, given=text)
            texts[known or name] = text
        return texts, position

    def show_faults(self, faults: list[str]) -> None:
        """Warn of each, up to a number of them."""
        for fault in faults[:_MOST_SHOWN]:
            self.warn(fault)
        if len(faults) > _MOST_SHOWN:
            self.warn(f"{len(faults) - _MOST_SHOWN} more of this kind")


def _name_of(handled: Handled) -> str:
    for name, block in handled.diagram.blocks.items():
        if block is handled.block:
            return name
    raise say.NO_OBJECT.about(path=f"{handled.diagram.name}/…", block="…")


def new_system(session: Session, *arguments: Any) -> float:
    """Make an empty system."""
    at_least(arguments, 1, "new_system", "new_system('model')")
    name = text_of(arguments[0], "the name of the system")
    if not _SYSTEM_NAME.fullmatch(name):
        raise say.BAD_SYSTEM_NAME.about(model=name)
    if name in session.systems or name in session.library.names:
        raise say.SYSTEM_EXISTS.about(model=name)
    if len(session.systems) >= _MOST_SYSTEMS:
        raise say.TOO_LARGE.about(most=_MOST_SYSTEMS, things="open systems")
    session.systems[name] = BlockDiagram(name, session.library, strict=session.strict)
    return session.handle_of(Handled(session.systems[name]))


def open_system(session: Session, *arguments: Any) -> None:
    """Show a system: there must be one."""
    load_system(session, *arguments)


def load_system(session: Session, *arguments: Any) -> float:
    """Load a system or library."""
    at_least(arguments, 1, "load_system", "load_system('model')")
    if isinstance(arguments[0], float):
        return session.handle_of(Handled(session.system(arguments[0])))
    name = _stem(text_of(arguments[0], "the name of the system"))
    model = split_path(name)[0]
    if model in session.library.names:
        return 0.0
    if model not in session.systems:
        raise say.NO_FILE.about(name=name)
    return session.handle_of(Handled(session.systems[model]))


def add_block(session: Session, *arguments: Any) -> float:
    """Put a block of a library, or a copy of one that is there, into a system."""
    at_least(arguments, 2, "add_block", "add_block('simulink/Sources/Step', 'model/Step')")
    source, path = text_of(arguments[0], "the block's source"), text_of(arguments[1], "the block's path")
    pairs = dict(pairs_of("add_block", arguments[2:]))
    unique = next((parameter_text(name, pairs.pop(name)) for name in list(pairs) if name.lower() == "makenameunique"),
                  "off")
    kind, copied, content = session.library.at(source), dict[str, str](), None
    if kind is None:
        if split_path(source)[0] not in session.systems:
            raise say.NO_LIBRARY_BLOCK.about(path=source)
        diagram, name = session.place(source)
        original = diagram.block(name)
        kind, copied, content = original.kind, original.parameters, original.system
    try:
        diagram, name = session.place(path)
    except BuildRefused as refused:
        raise say.NOT_ADDED.about(path=path, cause=refused.as_cause) from None
    texts, position = session.checked(diagram, name, kind, iter(pairs.items()))
    name = diagram.add_block(kind, texts.pop("Name", name), copied | texts, unique=unique.lower() == "on")
    block = diagram.blocks[name]
    if content is not None:
        diagram.fill(name, content)
    elif source.startswith(BUILT_IN) and kind.block_type == "SubSystem":
        diagram.empty(name)
    block.position, block.handle = position, session.handle_of(Handled(diagram, block))
    return block.handle


def delete_block(session: Session, *arguments: Any) -> None:
    """Take a block away."""
    at_least(arguments, 1, "delete_block", "delete_block('model/Step')")
    diagram, name = session.target(arguments[0])
    diagram.delete_block(name or "")


def add_line(session: Session, *arguments: Any) -> Any:
    """Draw a line, or several between lists of ports."""
    at_least(arguments, 2, "add_line", "add_line('model', 'A/1', 'B/1')")
    diagram = session.system(arguments[0])
    if isinstance(arguments[1], MatlabArray):
        raise say.POINTS.about(model=diagram.name)
    at_least(arguments, 3, "add_line", "add_line('model', 'A/1', 'B/1')")
    several = isinstance(arguments[1], list | tuple)
    sources, targets = (arguments[1], arguments[2]) if several else ([arguments[1]], [arguments[2]])
    handles = []
    for source, target in zip(sources, targets, strict=False):
        line = session.socket(diagram, source, "out"), session.socket(diagram, target, "in")
        diagram.add_line(*line)
        handles.append(session.handle_of(Handled(diagram, line=line)))
    return double(handles) if several else handles[0]


def delete_line(session: Session, *arguments: Any) -> None:
    """Take a line away."""
    at_least(arguments, 1, "delete_line", "delete_line('model', 'A/1', 'B/1')")
    if len(arguments) == 1 and (handled := session.handles.get(arguments[0])) and handled.line:
        return handled.diagram.delete_line(*handled.line)
    at_least(arguments, 3, "delete_line", "delete_line('model', 'A/1', 'B/1')")
    diagram = session.system(arguments[0])
    source, target = session.socket(diagram, arguments[1], "out"), session.socket(diagram, arguments[2], "in")
    return diagram.delete_line(source, target)


def set_param(session: Session, *arguments: Any) -> None:
    """Change parameters of a block or a system."""
    at_least(arguments, 3, "set_param", "set_param('model/Gain', 'Gain', '2')")
    diagram, name = session.target(arguments[0])
    given = pairs_of("set_param", arguments[1:])
    if name is None:
        for parameter, value in given:
            if not 0 < len(parameter) <= LONGEST_NAME:
                raise say.NO_PARAMETER.about(kind="block_diagram", name=parameter[:80])
            diagram.settings[parameter] = parameter_text(parameter, value)
            if parameter.lower() == "simulationcommand" and diagram.settings.pop(parameter) in ("start", "update"):
                sim(session, diagram.name)
        return
    block = diagram.block(name)
    texts, position = session.checked(diagram, name, block.kind, given)
    new = texts.pop("Name", None)
    block.position = position or block.position
    if texts:
        diagram.set_parameters(name, texts)
    if new is not None:
        diagram.rename(name, new)


def get_param(session: Session, *arguments: Any) -> Any:
    """A parameter of a block or a system."""
    at_least(arguments, 2, "get_param", "get_param('model/Gain', 'Gain')")
    diagram, name = session.target(arguments[0])
    parameter = text_of(arguments[1], "the parameter's name")
    if name is None:
        found = {"Name": diagram.name, "Handle": lambda: session.handle_of(Handled(diagram)), "Type": "block_diagram",
                 "ModelWorkspace": lambda: session.handle_of(Handled(diagram, is_workspace=True)),
                 **diagram.settings}
        kind = "block_diagram"
    else:
        found, kind = _facts(session, diagram, name), f"{diagram.block(name).kind.block_type} block"
    value = next((value for known, value in found.items() if known.lower() == parameter.lower()), None)
    if value is None:
        raise say.NO_PARAMETER.about(kind=kind, name=parameter)
    return value() if callable(value) else value


def _facts(session: Session, diagram: BlockDiagram, name: str) -> dict[str, Any]:
    """What get_param knows of a block."""
    block = diagram.block(name)
    position = block.position or (0, 0, 0, 0)
    return {"Name": name, "Handle": block.handle, "Type": "block", "BlockType": block.kind.block_type,
            "Parent": diagram.name, "Position": double([position]),
            "PortHandles": lambda: _port_handles(session, diagram, block),
            "DialogParameters": {name: {} for name in block.kind.defaults}, **block.kind.defaults, **block.parameters}


def _port_handles(session: Session, diagram: BlockDiagram, block: PlacedBlock) -> dict[str, Any]:
    """Handles of a block's ports, kind by kind: a number where there is one, else an array."""
    rows: dict[str, list[float]] = {kind: [] for kind in _PORT_KINDS}
    for side, port in block.ports:
        kind = next((kind for kind, start in _PORT_KINDS.items() if start == (side or port[:5])), port)
        rows.setdefault(kind, []).append(session.handle_of(Handled(diagram, block, (side, port))))
    return {kind: handles[0] if len(handles) == 1 else double(handles) for kind, handles in rows.items()}


def delete_contents(session: Session, *arguments: Any) -> None:
    """Take all blocks and lines out of a subsystem."""
    at_least(arguments, 1, "deleteContents", "Simulink.SubSystem.deleteContents('model/Subsystem')")
    diagram, name = session.target(arguments[0])
    diagram.empty(name or "")


def find_system(session: Session, *arguments: Any) -> list[str]:
    """Paths of a system and its blocks, or of those with some value of a parameter."""
    at_least(arguments, 1, "find_system", "find_system('model')")
    diagram = session.system(arguments[0])
    wanted = {name.lower(): parameter_text(name, value) for name, value in pairs_of("find_system", arguments[1:])}
    wanted.pop("searchdepth", None)
    facts = {diagram.name: {"type": "block_diagram", "name": diagram.name}}
    facts |= {diagram.path(name): {key.lower(): value for key, value in _facts(session, diagram, name).items()}
              for name in diagram.blocks}
    return [path for path, known in facts.items() if all(known.get(name) == value for name, value in wanted.items())]


def save_system(session: Session, *arguments: Any) -> str:
    """Write a system, perhaps under another name, and warn of what it lacks."""
    at_least(arguments, 1, "save_system", "save_system('model')")
    diagram = session.system(_stem(arguments[0]) if isinstance(arguments[0], str) else arguments[0])
    if len(arguments) > 1 and isinstance(arguments[1], str) and (name := _stem(arguments[1])) != diagram.name:
        if not _SYSTEM_NAME.fullmatch(name):
            raise say.BAD_SYSTEM_NAME.about(model=name)
        del session.systems[diagram.name]
        diagram.name = name
        session.systems[name] = diagram
    faults = [*open_ports(diagram), *network_faults(diagram)]
    session.show_faults(faults)
    session.folder.mkdir(exist_ok=True)
    saved = {**diagram.plain(), "refused": session.refused[:_MOST_SHOWN],
             "order": next(session.numbers)}
    (session.folder / f"{diagram.name}.json").write_text(json.dumps(saved), encoding="utf-8")
    return f"{diagram.name}.slx"


def close_system(session: Session, *arguments: Any) -> None:
    """Close a system; saved before where that is asked."""
    if not arguments:
        return
    given = _stem(arguments[0]) if isinstance(arguments[0], str) else arguments[0]
    if isinstance(given, str) and given not in session.systems:
        session.warn(f"close_system: no block diagram '{given}' is loaded")
        return
    diagram = session.system(given)
    if len(arguments) > 1 and arguments[1]:
        save_system(session, diagram.name, *arguments[1:2])
    del session.systems[diagram.name]


def bdclose(session: Session, *arguments: Any) -> None:
    """Close systems without saving them."""
    for given in arguments:
        if given == "all":
            session.systems.clear()
        elif isinstance(given, str):
            session.systems.pop(given, None)


class SimulationOutput:
    """What a simulation would have given."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name}: the model was checked, and not simulated; there is no MATLAB here")


def sim(session: Session, *arguments: Any) -> SimulationOutput:
    """Check whether a system could be simulated."""
    at_least(arguments, 1, "sim", "sim('model')")
    diagram = session.system(_stem(arguments[0]) if isinstance(arguments[0], str) else arguments[0])
    session.show_faults(open_ports(diagram))
    if faults := network_faults(diagram):
        raise say.NOT_COMPILED.about(model=diagram.name, cause="\n    ".join(faults))
    session.warn(say.NOT_SIMULATED.words.format(model=diagram.name))
    return SimulationOutput()


def arrange_system(session: Session, *arguments: Any) -> None:
    """Place the blocks anew; here none has a place until it is drawn."""
    at_least(arguments, 1, "arrangeSystem", "Simulink.BlockDiagram.arrangeSystem('model')")
    for block in session.system(arguments[0]).blocks.values():
        block.position = None


def bd_is_loaded(session: Session, *arguments: Any) -> bool:
    """Whether a system is open."""
    return bool(arguments) and arguments[0] in session.systems


def exist(session: Session, *arguments: Any) -> float:
    """4 for a system, 1 for a variable, else 0."""
    name = arguments[0] if arguments else ""
    return 4.0 if name in session.systems else float(name in session.workspace)


def evaluate(session: Session, *arguments: Any) -> None:
    """Carry out statements: assignments of numbers and texts, and calls."""
    at_least(arguments, 1, "eval", "eval('x = 3;')")
    for variable, function, values in matlab_statements(text_of(arguments[0], "the statement")):
        if variable:
            session.workspace[variable] = values[0]
            continue
        if function not in FUNCTIONS or FUNCTIONS[function][0] is evaluate:
            raise say.UNRECOGNIZED.about(name=function)
        FUNCTIONS[function][0](session, *values)


def pwd(session: Session) -> str:
    """Where the program runs."""
    return str(Path.cwd())


def nothing(session: Session, *arguments: Any) -> None:
    """What changes no model."""


def assign(session: Session, *arguments: Any) -> None:
    """Set a variable: assignin('base', 'x', 3), or one of a model's workspace."""
    at_least(arguments, 3, "assignin", "assignin('base', 'x', 3)")
    name = text_of(arguments[1], "the variable")
    if (variables := _workspace(session, arguments[0])) is None:
        session.workspace[name] = arguments[2]
    else:
        variables[name] = value_text(arguments[2])


def evaluate_in(session: Session, *arguments: Any) -> None:
    """Carry out a statement; in a model's workspace, one assignment of any expression."""
    at_least(arguments, 2, "evalin", "evalin('base', 'x = 3;')")
    if (variables := _workspace(session, arguments[0])) is None:
        return evaluate(session, *arguments[1:])
    statement = text_of(arguments[1], "the statement")
    if not (found := _ASSIGNMENT.fullmatch(statement)):
        raise say.NOT_EVALUATED.about(statement=statement[:200])
    variables[found[1]] = found[2]
    return None


def _workspace(session: Session, given: Any) -> dict[str, str] | None:
    """The variables of a model's workspace, if that is given."""
    handled = session.handles.get(given) if isinstance(given, float) else None
    return handled.diagram.variables if handled and handled.is_workspace else None


def _stem(path: str) -> str:
    """The name of the system that a file's path says."""
    return re.sub(r"\.(slx|mdl)$", "", re.split(r"[/\\]", path)[-1]) if re.search(r"\.(slx|mdl)$", path) else path


FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "new_system": (new_system, 1), "open_system": (open_system, 0), "load_system": (load_system, 1),
    "add_block": (add_block, 1), "delete_block": (delete_block, 0), "add_line": (add_line, 1),
    "delete_line": (delete_line, 0), "set_param": (set_param, 0), "get_param": (get_param, 1),
    "find_system": (find_system, 1), "save_system": (save_system, 1), "close_system": (close_system, 0),
    "bdclose": (bdclose, 0), "sim": (sim, 1), "bdIsLoaded": (bd_is_loaded, 1), "exist": (exist, 1),
    "eval": (evaluate, 0), "evalin": (evaluate_in, 0),
    "assignin": (assign, 0), "Simulink.BlockDiagram.arrangeSystem": (arrange_system, 0),
    "Simulink.SubSystem.deleteContents": (delete_contents, 0), "pwd": (pwd, 1),
    **dict.fromkeys(("cd", "addpath", "rmpath", "warning", "figure"), (nothing, 1)),
    **dict.fromkeys(("clc", "clear", "close", "disp", "pause", "drawnow", "format"), (nothing, 0))}
"""MATLAB's functions by their names, with the most values that each gives back."""
