"""The company of a run that is not new: as its order has it, or as it is now."""

from __future__ import annotations

import tempfile
from pathlib import Path

from chatdev.config.load import load_company
from chatdev.config.schema import CompanyConfig
from chatdev.errors import ConfigError
from chatdev.runner.order import Order
from chatdev.runner.toolbox import Facts


def recorded_company(order: Order) -> CompanyConfig:
    """The company as it was when the order was given."""
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        file = Path(folder) / "company.yaml"
        file.write_text(order.company, encoding="utf-8")
        return load_company(file, tools=Facts())


def current_company(order: Order) -> CompanyConfig:
    """The company as it is now. Raises ConfigError when it cannot be loaded any more."""
    if not order.source:
        return recorded_company(order)
    try:
        return load_company(**order.source, tools=Facts())
    except ConfigError as error:
        raise ConfigError(f"the company of the run cannot be loaded any more:\n{error}\n`--as-it-was` takes it as it "
                          "was when the run began") from error
