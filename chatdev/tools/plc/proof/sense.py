"""Whether properties say anything, before there is a program: can they be read over an interface, can they be broken,
and can they be kept?"""

from __future__ import annotations

from collections.abc import Sequence

from chatdev.isolation.isolate import isolate
from chatdev.tools.plc.proof.checks import ProofStopped, find_nonsense
from chatdev.tools.plc.proof.outcome import Property


@isolate(ProofStopped)
def doubt_properties(interface: str, entry: str, properties: Sequence[Property]) -> tuple[str, ...]:
    """For each property why it is of no use for programs with this interface (a source without statements), or "".

    Of no use is what names unknown variables or does not fit their types, what holds whatever a program does, and what
    no program can keep. Raises ProofStopped.
    """
    return tuple(find_nonsense(interface, entry, asked) for asked in properties)
