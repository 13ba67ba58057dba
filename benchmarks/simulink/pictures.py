"""How long the picture of a model takes, and whether a reader that is told nothing finds its names.

    python -m benchmarks.simulink.pictures [--read] [MODEL ...]

For each of the models that ship: `svg`, placing its blocks, leading its wires and writing the SVG, in milliseconds of
the processor (median of five after one that warms up; at most 300 are promised for 60 blocks); `png`, making a PNG of
that in the reading child, in milliseconds that pass. `--read`: of its names, those that rapidocr does not find in
pieces of the picture of 900 by 600 pixels that overlap, without being told where they are (a minute or two for each).
Writes benchmarks/results/simulink_pictures.json.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.simulink import layout
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.painter import draw
from chatdev.runner.raster import rasterise

MODELS = Path(layout.__file__).parent / "models"
_PIECE, _STEP = (900, 600), (650, 450)
_ALIKE = str.maketrans("0OoIl|", "ooolll")


def measure(model: Diagram, times: int = 5) -> dict[str, Any]:
    """Blocks, wires, and what their picture takes."""
    draw(model)
    spent = []
    for _ in range(times):
        begin = time.process_time()
        svg = draw(model).encode()
        spent.append(1000 * (time.process_time() - begin))
    rasterise(svg)
    begin = time.perf_counter()
    rasterise(svg, 2.0, False)
    return {"blocks": len(model.blocks), "wires": len(model.wires), "svg": round(statistics.median(spent)),
            "png": round(1000 * (time.perf_counter() - begin))}


def unread(model: Diagram) -> list[str]:
    """The names of which a word is not found anywhere in the picture."""
    from PIL import Image
    from rapidocr_onnxruntime import RapidOCR

    reader: Any = RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)
    image = Image.open(io.BytesIO(rasterise(draw(model).encode(), 2.0, False))).convert("RGB")
    found = "".join(_plain(text) for piece in _pieces(image) for text in _texts(reader, piece))
    return [name for name in model.blocks if any(_plain(word) not in found for word in name.split())]


def _pieces(image: Any) -> Iterator[Any]:
    for left in range(0, image.width, _STEP[0]):
        for top in range(0, image.height, _STEP[1]):
            yield image.crop((left, top, min(image.width, left + _PIECE[0]), min(image.height, top + _PIECE[1])))


def _texts(reader: Any, piece: Any) -> Iterator[str]:
    import numpy as np

    lines, _ = reader(np.asarray(piece), use_cls=False)
    yield from (text for _, text, _ in lines or [])


def _plain(text: str) -> str:
    return "".join(letter for letter in text.translate(_ALIKE).lower() if letter.isalnum())


def table(study: Mapping[str, Any]) -> str:
    """A line for each model."""
    rows = study["milliseconds"]
    columns = [*next(iter(rows.values()), {})]
    lines = markdown_table(["model", *columns], [[name, *row.values()] for name, row in rows.items()])
    return f"Times in milliseconds.\n\n{lines}"


TABLE = KeptTable(table, RESULTS_FOLDER / "simulink_pictures.json", DOCS / "simulink.md",
                  marks("pictures", "simulink.pictures"))


def main() -> None:
    """Run the study, print its table and keep its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read", action="store_true")
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    rows = {}
    for path in sorted(path for path in MODELS.glob("*.yaml") if path.stem != "index"):
        if not given.models or path.stem in given.models:
            model = Diagram.read(path)
            rows[path.stem] = measure(model) | ({"unread": unread(model)} if given.read else {})
    study = {"machine": machine(), "milliseconds": rows}
    print(table(study) if given.models else TABLE.keep(study))


if __name__ == "__main__":
    main()
