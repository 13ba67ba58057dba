"""What the journal costs a model call: python -m benchmarks.engine.journal

CPU time of this process (kernel included) for one message, one activity of a few kilobytes, and the wait for the disk;
by one dialogue, and by sixteen at a time, whose waits are shared.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from chatdev.journal import Journal

_CALLS = 3200
_MESSAGE = {"role": "user", "content": "word " * 300}
_ACTIVITY = {
    "digest": "d" * 24,
    "request": {"messages": ["h" * 24] * 8, "sampling": {"model": "m", "temperature": 0.2}},
    "result": {"text": "word " * 400, "usage": {"prompt_tokens": 900, "completion_tokens": 400}, "seconds": 2.5},
}


async def _cost(path: Path, dialogues: int) -> float:
    """Milliseconds of CPU a call."""
    journal = Journal(path)

    async def dialogue(number: int) -> None:
        for call in range(_CALLS // dialogues):
            journal.message(f"{number}-{call}", _MESSAGE)
            journal.append("Activity", f"{number}/{call}", _ACTIVITY)
            await journal.sync()

    started = time.process_time()
    await asyncio.gather(*map(dialogue, range(dialogues)))
    journal.close()
    return (time.process_time() - started) / _CALLS * 1000


def main() -> None:
    """Print the cost for one dialogue and for sixteen."""
    with tempfile.TemporaryDirectory() as folder:
        for dialogues in (1, 16):
            cost = asyncio.run(_cost(Path(folder) / f"{dialogues}.jsonl", dialogues))
            print(f"{dialogues:2} dialogues at a time: {cost:.3f} ms of CPU a call")


if __name__ == "__main__":
    main()
