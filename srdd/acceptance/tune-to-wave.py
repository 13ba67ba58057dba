"""Tune to Wave: the sound file has the right form, length, pitches and loudness; where a wave begins is left open."""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Iterator, Sequence

from chatdev.evaluation.cases import Case, tried, written
from chatdev.evaluation.trial import Check, Program

_PER_MILLISECOND, _AMPLITUDE, _TOLERANCE = 8, 12000, 0.03
_EXAMPLE, _RESTS, _OCTAVES = "A4 500, C#5 250", "R 40, E4 300, R 200, G#6 150, R 10", "B3 400, C4 400, C2 600, A#7 100"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example is reported", _tune(_EXAMPLE, "example.wav", "notes: 2, samples: 6000"))
    samples = _samples(program, "example.wav")
    yield Check("it is a mono file of 16 bits at 8000 Hz with every sample", len(samples) == 6000, f"{len(samples)}")
    yield Check("its notes sound", _sounds(samples, 500, 440.0) and _sounds(samples[4000:], 250, 554.365))
    yield tried(program, "rests are no notes, but take time", _tune(_RESTS, "rests.wav", "notes: 2, samples: 5600"))
    samples = _samples(program, "rests.wav")
    yield Check("rests are silent between notes that sound", len(samples) == 5600 and _silent(samples[:320])
                and _sounds(samples[320:], 300, 329.628) and _silent(samples[2720:4320])
                and _sounds(samples[4320:], 150, 1661.219) and _silent(samples[5520:]))
    wrong = tried(program, "octaves", _tune(_OCTAVES, "octaves.wav", "notes: 4, samples: 12000"))
    samples = _samples(program, "octaves.wav")
    yield Check("octaves begin at C", wrong.passed and _sounds(samples, 400, 246.942)
                and _sounds(samples[3200:], 400, 261.626) and _sounds(samples[6400:], 600, 65.406)
                and _sounds(samples[11200:], 100, 3729.310), wrong.detail)
    yield tried(program, "a bad line is named alone", *(
        _tune(text, "bad.wav", f"line {line}: bad note", status=1)
        for text, line in (("A4 100, B4 100, H4 100", 3), ("Bb4 100", 1), ("A4 100, E#4 100, x", 2), ("A9 100", 1),
                           ("R 5, A4 long", 2))))


def _tune(lines: str, output: str, prints: str, status: int = 0) -> Case:
    return Case(["tune.txt", output], prints, status, {"tune.txt": lines.replace(", ", "\n") + "\n"})


def _samples(program: Program, name: str) -> Sequence[int]:
    """The samples of a file; none when it has another form."""
    try:
        with wave.open(io.BytesIO(written(program, name) or b"")) as sound:
            if sound.getparams()[:3] != (1, 2, 1000 * _PER_MILLISECOND):
                return []
            return memoryview(sound.readframes(sound.getnframes())).cast("h").tolist()
    except (wave.Error, EOFError, TypeError):  # TypeError: half a sample
        return []


def _sounds(samples: Sequence[int], milliseconds: int, frequency: float) -> bool:
    """Whether the sound begins with a sine wave: what there is of this frequency, and of all, has the amplitude."""
    part = samples[:milliseconds * _PER_MILLISECOND]
    if len(part) < milliseconds * _PER_MILLISECOND:
        return False
    step = 2 * math.pi * frequency / (1000 * _PER_MILLISECOND)
    sines = sum(sample * math.sin(step * place) for place, sample in enumerate(part))
    cosines = sum(sample * math.cos(step * place) for place, sample in enumerate(part))
    of_frequency = 2 * math.hypot(sines, cosines) / len(part)
    of_all = math.sqrt(2 * sum(sample * sample for sample in part) / len(part))
    return all(abs(found - _AMPLITUDE) < _TOLERANCE * _AMPLITUDE for found in (of_frequency, of_all))


def _silent(samples: Sequence[int]) -> bool:
    return not any(samples)
