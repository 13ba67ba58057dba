"""A documented import of earlier versions; `Allowance` lives in `chatdev.batch.attempt`."""

from chatdev.batch.attempt import Allowance

__all__ = ["Allowance"]
