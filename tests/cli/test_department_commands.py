"""Commands and data sets of departments: listed without being imported, imported when called, and what goes wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.department import departments
from tests.support.copies import run_module
from tests.support.face_packages import put_company, put_package

ROWS = """commands={'plant': Command('plant.commands:plant', 'Say what is known of tanks.')},
          data_sets={'tanks': Command('plant.commands:tanks', 'Ask about tanks.')},
          companies=Path(__file__).parent / 'companies', checks='plant.checks:probes'"""
COMMANDS = """
import click
from chatdev.cli.outcome import report_outcome
from chatdev.errors import ConfigError

@click.group()
def plant():
    '''Everything about tanks.'''

@plant.command()
@click.argument('litres', type=int)
@report_outcome
def fits(litres):
    '''Say whether so many LITRES fit.'''
    if litres < 0:
        raise ConfigError(f'{litres} litres: give 0 or more')
    click.echo('yes')
    return 0

@click.command()
def tanks():
    '''Ask about all tanks.'''
    click.echo('asked')

text = 'no command'
"""
LISTING = """
import atexit, sys
atexit.register(lambda: print('IMPORTED', *sorted(n for n in sys.modules if n.split('.')[0] == 'plant'
                              or n.startswith('chatdev.departments'))))
from chatdev.cli.app import main
main()
"""

Chatdev = Callable[..., tuple[int, str]]


@pytest.fixture
def path(tmp_path: Path) -> list[str]:
    """The path with the packages of a test, which may add to it."""
    put_company(tmp_path, "plant")
    return [put_package(tmp_path, "plant", ROWS, commands=COMMANDS)]


@pytest.fixture
def chatdev(here: Path, path: list[str]) -> Chatdev:
    """Call the command in a process of its own; its exit code and what it printed."""
    def call(*arguments: str) -> tuple[int, str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])}
        done = run_module("chatdev", *arguments, cwd=here, env=environment, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    return call


@pytest.mark.parametrize(("arguments", "commands"), [
    (["--help"], False), (["eval", "--help"], False), (["companies"], False), (["doctor"], False),
    (["run", "a tank", "--company", "tank", "--model", "local", "--dry-run"], False), (["plant", "--help"], True)])
def test_a_command_is_imported_only_when_it_is_called(here: Path, path: list[str], arguments: list[str],
                                                      commands: bool) -> None:
    """Of our departments, too, no module but the one with the face is imported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])}
    out = subprocess.run([sys.executable, "-c", LISTING, *arguments], cwd=here, env=environment, check=False, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100).stdout
    names = out.rpartition("IMPORTED ")[2].split()
    assert ("plant" in names, "plant.commands" in names) == (True, commands), out
    own = {name for name in names if name.startswith("chatdev.departments") and name.count(".") > 2}
    rows = [row for one in departments().values() for row in (*one.commands.values(), *one.data_sets.values())]
    assert own.isdisjoint(row.path.partition(":")[0] for row in rows)
    assert not own or arguments == ["doctor"]  # which imports their checks


def test_the_help_lists_commands_and_data_sets_of_departments(chatdev: Chatdev) -> None:
    status, out = chatdev("--help")
    assert (status, bool(re.search(r"^  plant +Say what is known of tanks\.$", out, re.M))) == (0, True), out
    assert "  tanks " in (shown := chatdev("eval", "--help")[1])
    assert "Ask about tanks." in shown


def test_a_command_of_a_department_is_called(chatdev: Chatdev) -> None:
    assert chatdev("plant", "fits", "3") == (0, "yes\n")
    assert chatdev("plant", "fits", "--", "-3") == (2, "error: -3 litres: give 0 or more\n")
    assert chatdev("eval", "tanks") == (0, "asked\n")
    status, out = chatdev("plant", "--help")
    assert status == 0
    assert "Usage: chatdev plant [OPTIONS] COMMAND" in out
    assert "Everything about tanks." in out


@pytest.mark.parametrize(("rows", "status", "text"), [
    ("'plant.commands:text'", 2, "the command 'x': plant.commands:text is no click command, but str"),
    ("'plant.commands:nothing'", 4, "(plant.commands:nothing) cannot be imported: "),
    ("'plant.no_module:x'", 4, "(plant.no_module:x) cannot be imported: No module named 'plant.no_module'; install"),
])
def test_a_command_that_cannot_be_imported_says_so(chatdev: Chatdev, path: list[str], tmp_path: Path, rows: str,
                                                   status: int, text: str) -> None:
    path.append(put_package(tmp_path, "odd", f"commands={{'x': Command({rows}, 'Fail.')}}"))
    for arguments in (["x"], ["x", "--help"], ["x", "some", "--more"]):
        ended, out = chatdev(*arguments)
        assert (ended, text in out, "Traceback" in out) == (status, True, False), out
    assert "Traceback" in chatdev("x", "--debug")[1]
    assert re.search(r"^  x +Fail\.$", chatdev("--help")[1], re.M)


def test_a_command_that_two_packages_bring_is_no_ones(chatdev: Chatdev, path: list[str], tmp_path: Path) -> None:
    path.append(put_package(tmp_path, "pond", ROWS.partition("companies=")[0]))
    clash = ("the command 'plant' is there 2 times: in the department 'plant' of acme-plant 1.0 and in the department "
             "'pond' of acme-pond 1.0; uninstall one of the packages, or rename it in one")
    assert chatdev("plant", "fits", "3") == (2, f"error: {clash}\n")
    assert chatdev("eval", "tanks")[0] == 2
    assert chatdev("--version")[0] == 0
    assert clash in " ".join(chatdev("doctor")[1].split())


def test_chatdevs_own_commands_cannot_be_taken(chatdev: Chatdev, path: list[str], tmp_path: Path) -> None:
    path.append(put_package(tmp_path, "taker", "commands={'companies': Command('plant.commands:tanks', 'Take.')}"))
    status, out = chatdev("companies")
    assert (status, "phases: " in out, "asked" in out) == (0, True, False)
    assert "the command 'companies' is there 2 times: in chatdev itself" in " ".join(chatdev("doctor")[1].split())


def test_a_broken_department_is_named_where_its_command_is_missed(chatdev: Chatdev, path: list[str],
                                                                  tmp_path: Path) -> None:
    path.append(put_package(tmp_path, "burst", __init__="import no_such_pipe"))
    status, out = chatdev("burst")
    assert status == 2
    assert "No such command 'burst'; perhaps it is of the department 'burst' of acme-burst 1.0, which cannot be " \
           "used: burst:department: No module named 'no_such_pipe'; reinstall, mend or uninstall acme-burst 1.0" in out
    assert chatdev("plant", "fits", "3") == (0, "yes\n")
    assert "burst" in chatdev("doctor")[1]
    assert chatdev("check", "chatdev")[0] == 0
