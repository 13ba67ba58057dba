"""Reads the names in a picture back by optical character recognition."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from chatdev.departments.simulink.layout import Picture
from chatdev.departments.simulink.painter import paint, view_of
from chatdev.departments.simulink.raster import rasterise

_SCALE = 2.0
_AROUND = 6  # pixels beside a line that are looked at, too
_ALIKE = str.maketrans("0OoIl|", "ooolll")  # letters that nobody tells apart without others beside them


class LabelReader:
    """rapidocr, one line at a time."""

    def __init__(self) -> None:
        from rapidocr_onnxruntime import RapidOCR

        self._read: Any = RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)

    def misread(self, picture: Picture) -> list[tuple[str, str]]:
        """The names that are read otherwise, as they are and as they are read; in a whole picture as it is handed in."""
        view = view_of(picture)
        image = Image.open(io.BytesIO(rasterise(paint(picture).encode(), _SCALE, False))).convert("RGB")
        scale = image.width / (view.right - view.left)
        wrong = []
        for name, frame in picture.frames.items():
            room, found = frame.room, ""
            high = (room.bottom - room.top) / max(1, len(frame.name))
            for line in range(len(frame.name)):
                box = (room.left - _AROUND - view.left, room.top + high * line - 1 - view.top,
                       room.right + _AROUND - view.left, room.top + high * (line + 1) + 1 - view.top)
                piece = np.asarray(image.crop(tuple(int(scale * side) for side in box)))
                found += self._read(piece, use_det=False, use_cls=False, use_rec=True)[0][0][0]
            if _plain(" ".join(frame.name)) not in _plain(found):
                wrong.append((name, found))
        return wrong


def _plain(text: str) -> str:
    return "".join(letter for letter in text.translate(_ALIKE).lower() if letter.isascii() and letter.isalnum())
