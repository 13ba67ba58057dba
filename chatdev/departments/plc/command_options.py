"""What the commands of `chatdev plc` take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.errors import ConfigError

if TYPE_CHECKING:
    from chatdev.departments.plc.source_check import SourceCheck

Command = Callable[..., Any]

entry_option = click.option("--entry", metavar="NAME",
                            help="The PROGRAM or FUNCTION_BLOCK that runs in every scan. [default: the PROGRAM, else "
                                 "the last block that no other one uses]")
json_option = click.option("--json", "form", flag_value="json", default="text", help="Print one JSON object.")
_sarif_option = click.option("--sarif", "form", flag_value="sarif", help="Print SARIF, for code hosts and editors.")


verifier_option = click.option("--with", "verifier", type=click.Choice(["plcverif-cli"]),
                               help="Ask this verifier (PLCverif) for a second opinion on each property, if it is on "
                                    "the PATH with nuXmv or cbmc. It runs in the sandbox.")
with_option = click.option("--with", "compilers", multiple=True, type=click.Choice(["iec2c", "iec2iec", "plc"]),
                           help="Ask this compiler, too, if it is on the PATH: matiec (iec2c, iec2iec) or RuSTy (plc). "
                                "It runs in the sandbox.")


def cycle_option(default: int | None) -> Callable[[Command], Command]:
    """Add `--cycle-ms`."""
    told = "" if default else " [default: any from 1 to 1000]"
    return click.option("--cycle-ms", type=click.IntRange(1, 2**31 - 1), default=default, show_default=bool(default),
                        metavar="N", help=f"Milliseconds from one scan to the next.{told}")


def _read_defines(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from chatdev.departments.plc.st.core import Dialect

    try:
        return Dialect(defines=names).defines
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def dialect_options(command: Command) -> Command:
    """Add what is chosen of the language, as `dialect`."""
    @wraps(command)
    def collect(*, kind: Any, mod_zero: Any, defines: tuple[str, ...], **given: Any) -> Any:
        from chatdev.departments.plc.st.core import Dialect

        return command(dialect=Dialect(kind, mod_zero, defines), **given)

    extended: Command = collect
    for add in (
        click.option("--mod-zero", type=click.Choice(["fault", "zero"]), default="fault", show_default=True,
                     help="What x MOD 0 is: a run-time fault, or 0 as in IEC 61131-3."),
        click.option("--dialect", "kind", type=click.Choice(["iec", "codesys"]), default="iec", show_default=True,
                     help="With codesys, F_TRIG sees no edge in its first call."),
        click.option("--define", "defines", multiple=True, metavar="NAME", callback=_read_defines,
                     help="Let `{IF defined (NAME)}` hold; may be given several times. Nothing else is defined."),
    ):
        extended = add(extended)
    return extended


turns_option = click.option("--most-turns", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True,
                            metavar="N", help="More turns of a loop in one scan are a run-time fault.")


def form_options(command: Command) -> Command:
    """Add `--json` and `--sarif`, as `form`."""
    return json_option(_sarif_option(command))


def proof_options(command: Command) -> Command:
    """Add FILE and what a proof takes, as `file`, `properties`, `entry`, `options` and `dialect`."""
    @wraps(command)
    def collect(*, seconds: float, most_k: int, cycle_ms: int | None, overflow: bool, most_turns: int,
                **given: Any) -> Any:
        from chatdev.departments.plc.source_proof import ProofOptions

        return command(options=ProofOptions(seconds, most_k, cycle_ms, overflow, most_turns), **given)

    extended: Command = dialect_options(collect)
    for add in (
        click.option("--overflow", is_flag=True, help="Integers may not overflow, either."),
        turns_option,
        cycle_option(default=None),
        click.option("--most-k", type=click.IntRange(1, 1000), default=30, show_default=True, metavar="K",
                     help="How many scans are looked at."),
        click.option("--seconds", type=click.FloatRange(min=0.1, max=86_400), default=10.0, show_default=True,
                     help="What each property may take."),
        entry_option,
        click.option("--properties", type=click.Path(path_type=Path), metavar="JSON",
                     help="A list of properties, in the form of PLCverif's patterns (docs/plc.md)."),
        click.argument("file", type=click.Path(path_type=Path)),
    ):
        extended = add(extended)
    return extended


def refuse_entry(checks: Iterable[SourceCheck]) -> None:
    """Raise ConfigError where the routine of `--entry` is not there: the option is wrong, not the program."""
    for check in checks:
        for one in check.diagnostics:
            if one.code == "no-such-entry":
                raise ConfigError(f"--entry: {one.message}{f' ({one.hint})' if one.hint else ''}")
