"""What a run says of packages: whether they may be installed, who is asked, and which are there from the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from chatdev.packages import known_modules

Policy = Literal["auto", "ask", "never"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
"""From the most liberal to the strictest."""


@dataclass(frozen=True, slots=True)
class Supply:
    """`ask` is called with the name of a package and says whether it may be installed; None: there is nobody to ask.
    `runtime` is the name of a prepared set of packages."""

    policy: Policy = "auto"
    ask: Callable[[str], bool] | None = None
    runtime: str | None = None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of a tool that say so."""
        return {"install": self.policy, "ask": self.ask, "runtime": self.runtime}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Supply:
        """From the options of a tool; what is not among them has its default."""
        return cls(options.get("install", "auto"), options.get("ask"), options.get("runtime"))

    @property
    def asks(self) -> bool:
        """Whether a refusal is somebody's answer, which holds for the whole run."""
        return self.policy == "ask" and self.ask is not None

    def refusal(self, distribution: str) -> str | None:
        """Why it may not be installed, or None when it may; this may ask."""
        if self.policy == "auto":
            return None
        if self.policy == "never":
            return known_modules.refusal("off")
        if self.ask is None:
            return known_modules.refusal("nobody")
        return None if self.ask(distribution) else known_modules.refusal("declined")


def strictest_policy(*policies: Policy | None) -> Policy:
    """The strictest of those given."""
    return max((policy for policy in policies if policy), key=POLICIES.index, default="auto")
