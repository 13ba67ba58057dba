"""As whom programs run when we are root: somebody who owns nothing but the folder of the job."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from chatdev.errors import SandboxError

SPARE_USERS = range(65000, 65534)
"""Reserved in Debian's policy, so nobody's; inside the 65536 ids of a container."""


def spare_user() -> int:
    """Any of them: apart, so that the processes of two programs count apart."""
    return random.choice(SPARE_USERS)


def hand_over(folder: Path, user: int) -> None:
    """Give the throwaway copy to the user the program will run as. (By chown, since an earlier program may have left
    folders in it that are deeper than Python follows.)"""
    done = subprocess.run(["chown", "-hR", f"{user}:{user}", "--", str(folder)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SandboxError(f"cannot hand {folder} over to the program: {done.stderr.decode(errors='replace').strip()}")
