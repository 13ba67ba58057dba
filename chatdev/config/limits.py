"""What model calls may take at most, for a whole run or for one execution of a phase."""

from __future__ import annotations

from pydantic import Field

from chatdev.config.strict import Strict


class Limits(Strict):
    """A budget; what is unset is unlimited."""

    calls: int | None = Field(None, ge=1)
    """Model calls."""
    tokens: int | None = Field(None, ge=1)
    """Prompt and completion tokens together."""
    cost: float | None = Field(None, ge=0, allow_inf_nan=False)
    """US dollars."""
    minutes: float | None = Field(None, gt=0, allow_inf_nan=False)
    """Time that passes, not only that of the calls."""
