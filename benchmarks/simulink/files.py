"""Files of Simulink: do models come back from them as they were, and what becomes of files that others wrote.

    python -m benchmarks.simulink.files [--random 500]

*Round trip*: the reference models and random ones (all block types, odd names, systems within systems, masks) are
written as .slx, as .mdl in the classic grammar, and as .mdl in one text, and read again. The same: blocks with types,
parameters and places that were given, wires, nets, settings and variables; a parameter that says the default counts as
left out, and blocks that are one in a file (Add is a Sum) as the one. *Changes*: a file is changed (a block goes, one
is new, a parameter, a wire), and what comes back is what was asked for. *Foreign parser*: MISS_HIT's reader of .slx
(`miss_hit_core`, in a virtual environment of its own) takes the files.

*Public files*: every different file below studies/public_models/{open,unseen}/OWNER+NAME@COMMIT is read, checked, drawn
and simulated (300 s each); only counts are kept. Where the folder is missing, the counts that were kept stay. Those of
`unseen` were read once.

Writes benchmarks/results/simulink_files.json.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import subprocess
import sys
import tempfile
import venv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, markdown_table, marks, read_results
from chatdev.departments.simulink.catalogue import BlockType, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.files.blocks import SUBSYSTEM, canonical
from chatdev.departments.simulink.files.model_tree import settings_of
from chatdev.departments.simulink.hierarchy import outer_ports
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.errors import ChatDevError, ConfigError

RESULTS = RESULTS_FOLDER / "simulink_files.json"
FORMS = (".slx", "classic .mdl", ".mdl in one text")
MISS_HIT = "miss_hit_core==0.9.44"
_PUBLIC = ROOT / "studies" / "public_models"
_LIMIT = 300  # seconds for a public file
_ODD = ("it's", 'a "b"', "a/b", "two\nlines", " blanks ", "Größe", "𝛼 %d", "a -> b", "[x;y]", "back\\slash\\n", "%{",
        "tab\there", "#1: {a}", "&amp;<b>", "日本語", "x")
_VALUES = ("K*2", "[1 2;3 4]", "'text'", 'say "x"', "a\nb", "1e-3", "\\n", "<&>", "ü", "-1", "[]")
_OWN_PORTS = ("S-Function", "M-S-Function", "PMIOPort", "Inport", "Outport")
_CONTROLS = {"Enable": "enable", "Trigger": "trigger", "Action Port": "ifaction", "Reset": "reset"}


# Random models.

def random_model(seed: int, levels: int = 4) -> Diagram:
    """A model of up to 20 blocks of all kinds in each system, with odd names, and systems in up to so many levels."""
    chosen = random.Random(seed)
    model = _random_system(chosen, levels)
    settings = {"StopTime": "20", "Solver": "ode23", "MaxStep": "0.1"} if chosen.random() < 0.5 else {}
    about = 'What it\'s for:\n"everything" & <more>' if chosen.random() < 0.5 else ""
    return replace(model, name=f"random_{seed}", settings=settings, about=about)


def _random_system(chosen: random.Random, levels: int, *, is_inside: bool = False) -> Diagram:
    blocks = dict[str, DiagramBlock]()
    if is_inside:
        for kind in ("In1", "Out1"):
            for number in range(1, chosen.randint(1, 3)):
                blocks[f"{kind} {number}"] = DiagramBlock(kind, {"Port": str(number)} if number > 1 else {})
        if chosen.random() < 0.4:
            kind = chosen.choice([*_CONTROLS])
            blocks[kind] = DiagramBlock(kind)
    kinds = _kinds()
    for number in range(chosen.randint(1, 20)):
        name = f"{chosen.choice(_ODD)} {number}"
        if levels > 1 and chosen.random() < 0.1:
            blocks[name] = DiagramBlock("Subsystem", {}, _position(chosen), _random_system(
                chosen, levels - 1, is_inside=True))
        else:
            other = chosen.choice(kinds)
            blocks[name] = DiagramBlock(other.type, _parameters(other, chosen), _position(chosen))
    variables = {"K": "2*pi", "T": "K/2"} if chosen.random() < 0.4 else {}
    return Diagram("random", blocks, tuple(_random_wires(blocks, chosen)), variables=variables)


def _kinds() -> list[BlockType]:
    return [kind for kind in catalogue().types.values()
            if kind.block_type not in (SUBSYSTEM, *_OWN_PORTS) and kind.type not in _CONTROLS]


def _position(chosen: random.Random) -> tuple[int, int, int, int] | None:
    left, top = chosen.randint(-2000, 2000), chosen.randint(-2000, 2000)
    return (left, top, left + chosen.randint(5, 90), top + chosen.randint(5, 90)) if chosen.random() < 0.6 else None


def _parameters(kind: BlockType, chosen: random.Random) -> dict[str, str]:
    """Some parameters with other values; those that decide the ports get only what these allow."""
    found = dict[str, str]()
    for name, default in kind.parameters.items():
        if chosen.random() < 0.3:
            words = kind.choices.get(name) or (("on", "off") if default in ("on", "off") else ())
            text = chosen.choice([*words] or [default if name in kind.port_parameters else chosen.choice(_VALUES)])
            try:
                kind.ports_with({**found, name: text})
            except ValueError:
                continue
            found[name] = text
    return found


def _random_wires(blocks: Mapping[str, DiagramBlock], chosen: random.Random) -> Iterator[Wire]:
    sources, targets, terminals = list[End](), list[End](), defaultdict[str, list[End]](list)
    for name, block in blocks.items():
        ports = outer_ports(block.system) if block.system else catalogue().types[block.type].ports_with(
            block.parameters)
        for port in ports:
            if port.is_physical:
                terminals[port.domain].append(End(name, port.name))
            else:
                (targets if port.direction == "in" else sources).append(End(name, port.name))
    for target in targets:
        if sources and chosen.random() < 0.8:
            yield Wire(chosen.choice(sources), target)
    for ends in terminals.values():
        chosen.shuffle(ends)
        yield from (Wire(one, other) for one, other in pairwise(ends) if chosen.random() < 0.6)


# The same model.

def is_same(before: Diagram, after: Diagram) -> bool:
    """Whether a model that was read is the one that was written."""
    return _plain(canonical(before), before, is_top=True) == _plain(after, before, is_top=True)


def _plain(model: Diagram, written: Diagram, *, is_top: bool = False) -> tuple[object, ...]:
    """All that counts of a system: of places, those that were `written`."""
    blocks = {}
    for name, block in model.blocks.items():
        other = written.blocks.get(name)
        system = _plain(block.system, other.system) if block.system and other and other.system else block.system
        blocks[name] = (block.type, dict(block.parameters), block.position if other and other.position else None,
                        system)
    wires = sorted(wire for wire in model.wires if not wire.is_physical)
    return (blocks, wires, {*model.nets()}, dict(model.variables), model.about,
            settings_of(model.settings) if is_top else {})


def round_trip(model: Diagram, folder: Path) -> dict[str, bool]:
    """Whether a model comes back from each form."""
    paths = [folder / f"{model.name}{ending}" for ending in (".slx", ".mdl", ".text.mdl")]
    read = list[ModelFile]()
    for path, source in zip(paths, (ModelFile(model), ModelFile(model), None), strict=True):
        write_model(source or read[0], path)  # what was a .slx stays a package
        read.append(read_model(path))
    return {form: is_same(model, one.diagram) for form, one in zip(FORMS, read, strict=True)}


def is_change_kept(path: Path, seed: int) -> bool:
    """Whether a change of a file comes back, and nothing else."""
    chosen = random.Random(seed)
    old = read_model(path)
    write_model(replace(old, diagram=(wanted := change(old.diagram, chosen))), path)
    return is_same(wanted, read_model(path).diagram)


def change(model: Diagram, chosen: random.Random) -> Diagram:
    """The model with a block less, a new one wired to another, and another value of a parameter."""
    names = list(model.blocks)
    gone = chosen.choice(names) if len(names) > 3 else ""
    blocks = {name: block for name, block in model.blocks.items() if name != gone}
    wires = [wire for wire in model.wires if gone not in (wire.source.block, wire.target.block)]
    blocks["new gain"] = DiagramBlock("Gain", {"Gain": "7"}, (10, 10, 40, 40))
    if sources := [wire.source for wire in wires if not wire.is_physical]:
        wires.append(Wire(chosen.choice(sources), End("new gain", "1")))
    name = chosen.choice(list(blocks))
    kind = catalogue().types.get(blocks[name].type)
    free = [one for one in kind.parameters if one not in kind.port_parameters and one not in kind.choices
            and kind.parameters[one] not in ("on", "off")] if kind else []
    if free:
        block = blocks[name]
        blocks[name] = replace(block, parameters={**block.parameters, chosen.choice(free): "3.25"})
    return replace(model, blocks=blocks, wires=tuple(wires))


# What others say, and what others wrote.

def count_accepted(paths: Sequence[Path]) -> int:
    """How many files MISS_HIT's parser takes."""
    python = ROOT / "studies" / "miss_hit" / "bin" / "python"
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", MISS_HIT], check=True)
    return sum(subprocess.run([python, "-m", "miss_hit_core.s_parser", path], capture_output=True, check=False,
                              timeout=120).returncode == 0 for path in paths)


def try_file(path: Path) -> dict[str, str]:
    """What becomes of a file that somebody wrote: how it is read, checked, drawn and simulated."""
    try:
        found = read_model(path)
    except ConfigError as error:
        return {"read": "refused", "why": str(error).removeprefix(f"{path}")[:200]}
    told = {"read": "with rest" if found.notes else "whole"}
    steps = {"check": _check, "draw": _draw, "run": _run, "change": _change_nothing}
    for name, step in steps.items():
        try:
            told[name] = step(found, path)
        except ChatDevError as error:  # a simulation that fails says so, too
            told[name] = f"refused: {error}"[:80]
    return told


def _check(model: ModelFile, _: Path) -> str:
    from chatdev.departments.simulink.checks import check_diagram

    check_diagram(model.diagram)
    return "done"


def _draw(model: ModelFile, _: Path) -> str:
    from chatdev.departments.simulink.painter import draw

    return "done" if draw(model.diagram) else "empty"


def _run(model: ModelFile, _: Path) -> str:
    from chatdev.departments.simulink.simulation.solve import Options, simulate

    simulate(model.diagram, Options(stop=1.0))
    return "done"


def _change_nothing(model: ModelFile, path: Path) -> str:
    """A file with one block more, written and read."""
    wanted = replace(model.diagram, blocks={**model.diagram.blocks, "?": DiagramBlock("Gain", {}, (0, 0, 30, 30))})
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, path.name)
        write_model(replace(model, diagram=wanted), target)
        return "done" if is_same(wanted, read_model(target).diagram) else "another model"


def _try_apart(path: Path) -> dict[str, str]:
    """In a process of its own, so that a crash or a hang is seen."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        try:
            return pool.apply_async(try_file, [path]).get(_LIMIT)
        except multiprocessing.TimeoutError:
            return {"read": "too long"}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
            return {"read": f"crash: {type(error).__name__}: {error}"[:200]}


def public_files() -> list[dict[str, Any]]:
    """Counts by repository."""
    rows, seen = list[dict[str, Any]](), set[str]()
    with tempfile.TemporaryDirectory() as name:  # what a first file loads, the processes of the others inherit
        write_model(ModelFile(reference_models()["pendulum"].diagram), Path(name, "pendulum.slx"))
        try_file(Path(name, "pendulum.slx"))
    for folder in sorted(_PUBLIC.glob("*/*@*")):
        name, _, commit = folder.name.partition("@")
        row: dict[str, Any] = {"half": folder.parent.name, "repository": name.replace("+", "/", 1), "commit": commit}
        counts, why = Counter[str](), Counter[str]()
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() not in (".slx", ".mdl") or (
                    digest := hashlib.sha256(path.read_bytes()).hexdigest()) in seen:
                continue
            seen.add(digest)
            told = _try_apart(path)
            counts["files"] += 1
            counts.update(f"{key} {text.split(':')[0]}" for key, text in told.items() if key != "why")
            why.update([told["why"]] if "why" in told else [])
            print(path.name, told, file=sys.stderr)
        rows.append({**row, **counts, "why": dict(why)})
    return rows


def measure(random: int) -> dict[str, Any]:
    """All of it."""
    counted: dict[str, Counter[str]] = {"reference": Counter(), "random": Counter()}
    models = {"reference": [one.diagram for one in reference_models().values()],
              "random": [random_model(seed) for seed in range(random)]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, group in models.items():
            for number, model in enumerate(group):
                counted[kind].update(form for form, same in round_trip(model, folder).items() if same)
                for form, ending in (("change of .slx", ".slx"), ("change of .mdl", ".mdl")):
                    path = folder / f"{model.name}{ending}"
                    counted[kind][form] += is_change_kept(path, number)
        paths = [folder / f"{model.name}.slx" for model in (*models["reference"], *models["random"][:21])]
        accepted = count_accepted(paths)
    kept = read_results(RESULTS).get("public", [])
    return {"models": {kind: len(group) for kind, group in models.items()},
            "same": {kind: dict(counts) for kind, counts in counted.items()},
            "foreign": {"parser": MISS_HIT, "files": len(paths), "accepted": accepted},
            "public": public_files() if _PUBLIC.is_dir() else kept}


def tables(study: Mapping[str, Any]) -> str:
    """What came back, and what became of public files."""
    forms = [*FORMS, "change of .slx", "change of .mdl"]
    came_back = markdown_table(["came back the same", "reference models", "random models"], [
        (form, *(f"{study['same'][kind].get(form, 0)} of {study['models'][kind]}" for kind in ("reference", "random")))
        for form in forms])
    foreign = study["foreign"]
    said = f"{foreign['parser']} takes {foreign['accepted']} of {foreign['files']} of these .slx files."
    keys = ("files", "read whole", "read with rest", "read refused", "check done", "draw done", "change done",
            "run done")
    rows = [(row["repository"], row["commit"][:10], row["half"], *(row.get(key, 0) for key in keys))
            for row in study["public"] if row.get("files")]
    total = ("all", "", "", *(sum(int(row.get(key, 0)) for row in study["public"]) for key in keys))
    public = markdown_table(["repository", "commit", "half", "files", "whole", "with kept rest", "refused", "checked",
                             "drawn", "changed", "simulated"], [*rows, total])
    bad = sum(int(count) for row in study["public"] for key, count in row.items()
              if key in ("read too long", "read crash"))
    return f"{came_back}\n\n{said}\n\n{public}\n\nCrashes, or files that took more than {_LIMIT} s: {bad}."


STUDY = KeptStudy(tables, RESULTS, DOCS / "simulink.md", marks("files", "simulink.files"), measure,
                  {"random": (500, "how many random models")})

if __name__ == "__main__":
    STUDY.main(__doc__)
