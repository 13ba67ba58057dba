"""Reads the names in a picture back by optical character recognition."""

from __future__ import annotations

import io
from itertools import product
from typing import Any

import numpy as np
from PIL import Image

from chatdev.departments.simulink.layout import Picture
from chatdev.departments.simulink.painter import paint, view_of
from chatdev.runner.raster import rasterise

_SCALE = 2.0
_AROUND = (2, 6)  # pixels beside a line that are looked at, too; the reader is fond of neither for each name
_ALIKE = str.maketrans("0OoIl|", "ooolll")  # letters that nobody tells apart without others beside them


class LabelReader:
    """rapidocr, one line at a time: first on pieces that are not widened, which takes half as long, then as it is."""

    def __init__(self) -> None:
        from rapidocr_onnxruntime import RapidOCR

        self._readers: list[Any] = [RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1, **width)
                                    for width in ({"rec_img_shape": [3, 48, 96]}, {})]

    def misread(self, picture: Picture) -> list[tuple[str, str]]:
        """The names that are read otherwise, as they are and as they are read; from the picture as it is handed in."""
        view = view_of(picture)
        image = Image.open(io.BytesIO(rasterise(paint(picture).encode(), _SCALE, False))).convert("RGB")
        scale = image.width / (view.right - view.left)
        wrong = []
        for name, frame in picture.frames.items():
            room = frame.room
            high = (room.bottom - room.top) / max(1, len(frame.name))
            for number, line in enumerate(frame.name):
                top = room.top + high * number
                for reader, around in product(self._readers, _AROUND):
                    left, right = room.left - around - view.left, room.right + around - view.left
                    upper, lower = top - 1 - view.top, top + high + 1 - view.top
                    found = _read(reader, image.crop((int(scale * left), int(scale * upper), int(scale * right),
                                                      int(scale * lower))))
                    if _plain(line) in _plain(found):
                        break
                else:
                    wrong.append((name, found))
        return wrong


def _read(reader: Any, piece: Image.Image) -> str:
    text: str = reader(np.asarray(piece), use_det=False, use_cls=False, use_rec=True)[0][0][0]
    return text


def _plain(text: str) -> str:
    return "".join(letter for letter in text.translate(_ALIKE).lower() if letter.isascii() and letter.isalnum())
