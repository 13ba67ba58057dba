"""Models as functional mock-up units (FMI 2.0 and 3.0, co-simulation), which other simulators take.

The unit holds the model and a few lines of Python (`wording/co_simulation.py.j2`); our simulation runs it, so that a
Python with chatdev must be there where the unit is used. Its library is pythonfmu, or pythonfmu3.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Self
from xml.etree.ElementTree import Element, SubElement

from chatdev.departments.simulink.agreement import model_name
from chatdev.departments.simulink.catalogue import block_finder
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.hierarchy import block_type_of, spread
from chatdev.errors import MissingProgram
from chatdev.tools.base import render_file
from chatdev.workspace.file_tree import explain_os_errors

_SHAPE = Path(__file__).parents[1] / "wording" / "co_simulation.py.j2"
_LIBRARIES = {"2.0": "pythonfmu", "3.0": "pythonfmu3"}
_STEPS = 500  # of the default experiment
_NOT_TUNED = ("SampleTime", "PortDimensions", "Port")
_NAMESPACE = uuid.UUID("5c1b8f1c-52a7-4b0e-9d2b-0c6f5b1f6a55")


def write_unit(model: Diagram, path: Path, version: str = "2.0") -> tuple[str, ...]:
    """Writes the unit of a model; what is to be known of it. Raises ModelFault for a model that is not simulated,
    MissingProgram, WorkspaceError."""
    library = _load(version)
    unit = Unit(model)
    content = json.dumps({"model": model.text()}).encode()
    script = render_file(_SHAPE, package=library.__name__, major=int(version[0]))
    with tempfile.TemporaryDirectory(prefix="chatdev-") as name, _import_path_kept():
        folder = Path(name)
        (folder / "unit.json").write_bytes(content)
        source = folder / f"chatdev_unit_{version[0]}.py"
        source.write_text(f"{script}\n", encoding="utf-8")
        made = library.FmuBuilder.build_FMU(source, dest=folder / "made", project_files=[folder / "unit.json"])
        with explain_os_errors("write", path):
            path.write_bytes(Path(made).read_bytes())
    return (f"FMI {version}, co-simulation: {len(unit.inputs)} inputs, {len(unit.outputs)} outputs, "
            f"{len(unit.parameters)} parameters; where it is used, a Python with chatdev-chain[simulink] must be "
            "loaded",)


def _load(version: str) -> Any:
    name = _LIBRARIES[version]
    try:
        library: ModuleType = __import__(name)
        __import__(f"{name}.builder")
    except ImportError:
        raise MissingProgram(f"a unit of FMI {version} needs {name}: pip install 'chatdev-chain[fmi]'") from None
    return library


@contextlib.contextmanager
def _import_path_kept() -> Iterator[None]:
    """The libraries import what they pack, and leave its folder on the path."""
    before = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = before
        for name in [name for name in sys.modules if name.startswith("chatdev_unit_")]:
            del sys.modules[name]


class Unit:
    """A model as a co-simulation sees it: inputs, outputs and parameters by name, each one number. `columns` says which
    column of the results an output is."""

    def __init__(self, model: Diagram) -> None:
        from chatdev.departments.simulink.simulation import solve

        self._solve, self._model = solve, model
        self._options = solve.options_of(model, rows=1000)
        self.name, self.about = model_name(model.name), model.about
        self.token = uuid.uuid5(_NAMESPACE, model.text())
        self.stop, self.tolerance = self._options.stop, self._options.relative
        self.step = self._options.step or self.stop / _STEPS
        first = self._simulate({})
        self._places = {label: (name, number) for name, places in first.model.inputs.items()
                        for number, label in enumerate(_labels(name, len(places)))}
        self.inputs = [*self._places]
        self.given = dict.fromkeys(self.inputs, 0.0)
        self.parameters = _parameters(model, first.model.numbers)
        self.values = dict(self.parameters)
        self.columns = _outputs(model, first.model.columns, first.model.sinks, {*self.inputs, *self.parameters})
        self.outputs = [*self.columns]
        self._simulation: Any = None
        self._time = 0.0

    @classmethod
    def read(cls, path: Path) -> Self:
        """The unit that was written."""
        return cls(Diagram.parse(json.loads(path.read_bytes())["model"], str(path)))

    def _simulate(self, settings: Mapping[str, str]) -> Any:
        return self._solve.Simulation(self._model, self._options, settings, inputs={})

    def begin(self, time: float) -> None:
        """The simulation begins at 0. Raises ValueError for another time."""
        if time != 0:
            raise ValueError(f"the start time is {time:g} s; this model begins at 0 s")

    def set_input(self, name: str, value: float) -> None:
        """Holds from now on."""
        self.given[name] = float(value)

    def set_parameter(self, name: str, value: float) -> None:
        """Holds for the whole simulation. Raises ValueError once that runs."""
        if self._time > 0:
            raise ValueError(f"the parameter {name} is fixed; set it before the simulation begins")
        self.values[name], self._simulation = float(value), None

    def output(self, name: str | None) -> float:
        """The value of an output now, with the inputs that are given; of none, 0."""
        self.advance(self._time)
        return 0.0 if name is None else float(self._simulation.row[self.columns[name]])

    def advance(self, to: float) -> bool:
        """Goes on to a time (seconds); whether the model has ended."""
        if self._simulation is None:
            self._simulation = self._simulate({name: repr(value) for name, value in self.values.items()
                                               if value != self.parameters[name]})
        inputs: dict[str, list[float]] = {}
        for label, (name, _) in self._places.items():
            inputs.setdefault(name, []).append(self.given[label])
        self._simulation.advance(to, inputs)
        self._time = to
        return bool(self._simulation.is_over)

    def describe(self, description: Element, major: int) -> Element:
        """The model description, with what the libraries leave out: names are plain, and outputs initial unknowns."""
        description.set("variableNamingConvention", "flat")
        structure = description.find("ModelStructure")
        if major == 2 and structure is not None and self.outputs:
            unknowns = SubElement(structure, "InitialUnknowns")
            for output in structure.findall("Outputs/Unknown"):
                SubElement(unknowns, "Unknown", dict(output.attrib))
        return description


def _labels(name: str, width: int) -> list[str]:
    plain = " ".join(name.split())
    return [plain] if width == 1 else [f"{plain}[{number}]" for number in range(1, width + 1)]


def _parameters(model: Diagram, numbers: Mapping[str, float]) -> dict[str, float]:
    """Parameters of blocks that are one finite number, and decide no port; variables of the workspace."""
    from chatdev.departments.simulink.simulation.expressions import ExpressionFault, Values, value_of

    found, variables = dict[str, float](), dict[str, Values]()
    for name, text in model.variables.items():
        with contextlib.suppress(ExpressionFault):
            variables[name] = value_of(text, variables)
            if variables[name].size == 1:
                found[name] = float(variables[name].flat[0])
    flat = spread(model).blocks
    for name, value in numbers.items():
        block, _, parameter = name.rpartition(".")
        kind = block_finder().known(flat[block].type) if block in flat else None
        if kind and parameter not in (*_NOT_TUNED, *kind.port_parameters) and "\n" not in name:
            found[name] = value
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _outputs(model: Diagram, columns: tuple[str, ...], sinks: Mapping[str, tuple[str, ...]],
             taken: set[str]) -> dict[str, int]:
    """The columns of the results by names of their own: those of Out1 blocks, else of the blocks they come from."""
    found: dict[str, int] = {}
    places = {column: number for number, column in enumerate(columns)}
    ports = [name for name in sinks if name in model.blocks and block_type_of(model.blocks[name]) == "Outport"]
    for name in sorted(sinks, key=lambda sink: sink not in ports):
        labels = _labels(name, len(sinks[name])) if name in ports else sinks[name]
        for label, column in zip(labels, sinks[name], strict=True):
            if name in ports or places[column] not in found.values():
                found[_free_label(" ".join(label.split()), {*found, *taken})] = places[column]
    return found


def _free_label(label: str, taken: set[str]) -> str:
    number = 2
    while (new := label if number == 2 else f"{label} ({number - 1})") in taken:
        number += 1
    return new
