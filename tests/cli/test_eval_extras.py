"""What an installation without an extra says of `chatdev eval`: what to install, before a model is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
ARCHIVE = DATA / "verilogeval_v2.tar.gz"
WITHOUT = """
import sys
sys.modules[sys.argv.pop(1)] = None
from chatdev.cli.app import main
main(sys.argv[1:])
"""
SRDD = ("srdd", "--companies", "single", "--limit", "1")
VERILOGEVAL = ("verilogeval", "--companies", "single_verilog", "--limit", "1", "--data", str(ARCHIVE))
PLC = ("plc", "--companies", "single", "--limit", "1", "--data", str(DATA / "plc_simple"))


@pytest.mark.parametrize(("package", "command", "extra"), [
    ("pygments", SRDD, "eval"), ("sqlalchemy", SRDD, "eval"), ("pyslang", VERILOGEVAL, "verilog"),
    ("z3", PLC, "plc"),
])
@pytest.mark.usefixtures("here")
def test_a_missing_extra_is_named_before_a_model_is_asked(chat_server: ChatServer, package: str,
                                                          command: tuple[str, ...], extra: str) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT, package, "eval", *command, "--model", "m", "--quiet",
                           "--base-url", chat_server.url], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, chat_server.requests) == (4, []), done.stderr
    assert f"pip install 'chatdev-chain[{extra}]'" in done.stderr
