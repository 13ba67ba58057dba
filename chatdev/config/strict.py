"""The base of everything that YAML may say."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Unknown keys are refused, nothing is converted (`"10"` is no number, `yes` no truth value), values never change
    after loading, docstrings below fields describe them; pydantic's own errors show no values (one may be a key)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True,
                              populate_by_name=True, hide_input_in_errors=True)
