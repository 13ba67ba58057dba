"""A repository before a change (`software.baseline`), and whether what passed passes after it (`software.guard`): its
tests, found by its build files and run as its authors run them, in every language of it."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from chatdev.departments.software import knowledge
from chatdev.departments.software.reading.static import data_errors
from chatdev.departments.software.run import judge_in_use, version_of
from chatdev.departments.software.toolchains.python import PythonToolchain
from chatdev.departments.software.toolchains.verdict import TEST_SECONDS, OwnTests, judge_tests, prior_state
from chatdev.departments.software.trial.plan import any_command, plan_of
from chatdev.errors import SandboxError
from chatdev.paths import bundled_table
from chatdev.sandbox.base import ProcessLimits, SandboxJob
from chatdev.tools.base import ToolContext, Verdict, template, throwaway_copy, tool
from chatdev.workspace.file_tree import is_test
from chatdev.workspace.languages import captures, has_python, is_test_file
from chatdev.workspace.python_errors import syntax_errors

_Failed = Mapping[str, frozenset[str] | None]
"""By the way that tests are run, the names of those that do not hold; None where they cannot be run."""
_NO_TESTS = ("the repository has no tests that can be run here; whether a change is right can show only by examples of "
             "the request, or by tests that come with it")
_NOT_RUN, _NOT_BUILT = "the repository's own tests cannot be run", "the repository cannot be built"
_EVIDENCE = 1.0  # added to the score of a change that something speaks for
_PROSE, _MOST_PROSE_LOST = (".md", ".rst", ".txt"), 0.5  # a change often alters some lines of what tells of it


@tool(reads=("software",), sample={"version": "", "missing": [], "failed": [], "tests": {}, "notes": []})
def baseline(context: ToolContext) -> dict[str, Any]:
    """Run the repository's own tests as it is before the change: what holds then must hold afterwards."""
    tests = run_repository_tests(context, context.software)
    notes = [f"{_NOT_BUILT if one.builds else _NOT_RUN} here ({one.command}): {one.said.strip()[:300]}"
             for one in tests.values() if one.passed is None]
    notes += [f"{path} cannot be run here: there is no module {module}"
              for one in tests.values() for path, module in one.lacking.items()]
    failures = _failures(tests)
    return {"version": version_of(context.software), "missing": [],
            "failed": sorted({name for names in failures.values() for name in names or ()}),
            "tests": {way: None if names is None else sorted(names) for way, names in failures.items()},
            "notes": notes if any(not one.builds for one in tests.values()) else [*notes, _NO_TESTS]}


@tool(reads=("software", "examples?", "checks?", "given?", "plan?"))
def guard(context: ToolContext) -> Verdict:
    """Whether what passed before the change passes after it: the repository's own tests, found by its build files, and
    the request's examples.

    It is judged where something shows that the change does what is asked: a test that failed before and passes now, one
    of the change's own that fails on the software as it was, or an example of the request. Tests that were there and
    were altered count as they were. It is not judged where it takes lines from files that neither the request nor the
    plan names, and everything that was tried is the same without that.
    """
    before, after = context.given, context.software
    changed = {path: data for path, data in after.items() if before.get(path) != data}
    if not changed and before.keys() <= after.keys():
        return Verdict(True, _report(unchanged=True), 0.0, judged=False)
    if errors := [*syntax_errors(changed), *data_errors(changed)]:
        return Verdict(False, _report(errors=[f"{one.path}:{one.line}: {one.message}" for one in errors]), -1.0)
    now = run_repository_tests(context, after)
    tried = judge_in_use(context) if plan_of(context, any_command()).cases else None
    compared = _compare(context, now)
    shown = _is_shown(compared, tried)
    return _judge(compared, now, tried, shown, _find_needless(context, now, tried) if shown else [])


def _is_shown(compared: Comparison, tried: Verdict | None) -> bool:
    """Whether something shows that the change does what is asked."""
    return bool(compared.repaired or compared.fresh or _holds(tried)) and not compared.outdated


def _compare(context: ToolContext, now: Mapping[str, OwnTests]) -> Comparison:
    """What holds before and after the change, and without it, as far as the tests are not the same."""
    before, after = context.given, context.software
    tests = {path for path in (*before, *after) if is_test_file(path) and before.get(path) != after.get(path)}
    failed = as_they_were = _failures(now)
    if tests & before.keys():
        as_they_were = _failures(run_repository_tests(context, _with_tests(after, before)))
    without = _failures(run_repository_tests(context, _with_tests(before, after))) if tests & after.keys() else {}
    return Comparison(_known_failures(context), failed, as_they_were, without)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What does not hold of the tests of a repository: `known`, before the change; `failed`, after it; `as_they_were`,
    after it with the tests from before; `without` it, of the tests that it brings."""

    known: _Failed
    failed: _Failed
    as_they_were: _Failed
    without: _Failed

    @property
    def broken(self) -> dict[str, list[str]]:
        """The tests that fail, and did not before, by the way that they are run."""
        found = {way: _fewer(names, self.known.get(way, frozenset())) for way, names in self.failed.items()}
        return {way: sorted(names) for way, names in found.items() if names}

    @property
    def vanished(self) -> list[str]:
        """The ways to run tests that went before, and do not now."""
        return [way for way, names in self.known.items() if names is not None and self.failed.get(way) is None]

    @property
    def outdated(self) -> list[str]:
        """The tests that do not hold any more as they were; the change has altered them."""
        pairs = [(names, self.known.get(way, frozenset())) for way, names in self.as_they_were.items()]
        return sorted({name for now, before in pairs for name in _fewer(now, before)} - {
            name for names in self.broken.values() for name in names})

    @property
    def repaired(self) -> list[str]:
        """The tests that failed before, and hold now as they were."""
        pairs = [(names, self.as_they_were.get(way)) for way, names in self.known.items()]
        return sorted({name for before, now in pairs for name in _fewer(before, now)})

    @property
    def fresh(self) -> list[str]:
        """The tests of the change that fail without it, and hold with it; all that are run in a way, by its name, where
        they cannot even be run without the change."""
        known = {way: self.known.get(way, frozenset()) for way in self.without}
        unable = [way for way, names in self.without.items()
                  if names is None and None not in (known[way], self.failed.get(way))]
        return unable + sorted({name for way, names in self.without.items()
                                for name in _fewer(_fewer(names, self.failed.get(way)), known[way])})


def _judge(compared: Comparison, now: Mapping[str, OwnTests], tried: Verdict | None, shown: bool,
           unneeded: list[str]) -> Verdict:
    """The verdict on a change that can be read; `shown`: something shows that it does what is asked."""
    proved = shown and not unneeded
    losses = sum(map(len, compared.broken.values())) + len(compared.vanished)
    passed = not losses and (tried is None or tried.passed)
    report = _report(now=now, compared=compared, proved=proved, unneeded=unneeded, tried=tried.report if tried else "")
    evidence = {"tests": {way: {"passed": one.passed, "failed": list(one.failed)} for way, one in now.items()},
                "repaired": compared.repaired, "new": compared.fresh, "unneeded": unneeded}
    return Verdict(passed, report, passed - losses + _EVIDENCE * proved, evidence, judged=proved or not passed,
                   examples=tried.examples if tried else None)


def _holds(tried: Verdict | None) -> bool:
    """Whether all examples of the request hold, and there are some."""
    return bool(tried and tried.passed and tried.judged and tried.examples and tried.examples[0] == tried.examples[1])


def _find_needless(context: ToolContext, now: Mapping[str, OwnTests], tried: Verdict | None) -> list[str]:
    """The files that lose lines though neither the request nor the plan names them, where the tests and the examples
    go just the same with these files as they were."""
    altered = _altered_unnamed(context)
    if not altered:
        return []
    without = {**context.software, **{path: context.given[path] for path in altered}}
    same = _failures(run_repository_tests(context, without)) == _failures(now) and (
        tried is None or judge_in_use(replace(context, software=without)).examples == tried.examples)
    return altered if same else []


def _altered_unnamed(context: ToolContext) -> list[str]:
    before, after = context.given, context.software
    words = f"{context.inputs.get('task') or ''}\n{context.values.get('plan') or ''}"
    there = [path for path in sorted(before) if path in after and not is_test_file(path)]
    return [path for path in there if _loses_lines(path, before[path], after[path]) and not _is_named(path, words)]


def _loses_lines(path: str, before: bytes, after: bytes) -> bool:
    """Whether lines go, or of a text for people most of them."""
    lines = Counter(before.splitlines())
    lost = (lines - Counter(after.splitlines())).total()
    return lost > _MOST_PROSE_LOST * lines.total() if path.lower().endswith(_PROSE) else lost > 0


def _is_named(path: str, text: str) -> bool:
    """Whether a text names a file, by its path, its name, or its name without a suffix."""
    pure = PurePosixPath(path)
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-]|\.\w)", text, re.IGNORECASE)
               for name in {path, pure.name, pure.stem})


def _failures(tests: Mapping[str, OwnTests]) -> _Failed:
    return {way: None if one.passed is None else frozenset((*one.failed, *one.lacking)) for way, one in tests.items()}


def _known_failures(context: ToolContext) -> _Failed:
    """What `software.baseline` has found."""
    tests = prior_state(context).get("tests")
    found = tests if isinstance(tests, Mapping) else {}
    return {str(way): None if names is None else frozenset(map(str, names)) for way, names in found.items()}


def _fewer(names: Any, others: Any) -> frozenset[str]:
    """The names that are not among the others; none where one of them is not known."""
    return frozenset() if names is None or others is None else frozenset(names) - frozenset(others)


def _with_tests(files: Mapping[str, bytes], tests: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with the tests of another version in place of their own."""
    own = {path: data for path, data in files.items() if not is_test_file(path)}
    return {**own, **{path: data for path, data in tests.items() if is_test_file(path)}}


def _report(**facts: Any) -> str:
    return str(template(knowledge.report_template("guard")).render(
        {"unchanged": False, "errors": (), "now": {}, "compared": None, "proved": False, "unneeded": (),
         "tried": "", **facts})).strip()


# The tests of a repository, found by its build files and run as its authors run them, in every language of it.

_TABLE = Path(__file__).with_name("data") / "test_runs.yaml"
_MOST_MODULES = 1500  # Python files that are all read for the packages that they import
_PYTHON = "Python"
_ADDRESS_SPACE = 8 << 30  # bytes; some runtimes reserve much
_PROCESSES, _OPEN_FILES, _DISK = 512, 1024, 2 << 30
_TELLS = re.compile(r"^requirements/[\w.-]+\.(?:txt|in)$|(?:^|/)(?:__init__\.py|setup\.(?:py|cfg)|pyproject\.toml|"
                    r"requirements[\w.-]*\.(?:txt|in)|manage\.py)$")


class TestWay(BaseModel):
    """One row of `test_runs.yaml`, where the fields are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    __test__ = False

    files: str
    holds: str
    needs: tuple[str, ...]
    run: tuple[str, ...]
    failed: str = ""
    inside: bool = True
    env: Mapping[str, str] = {}
    instead: tuple[str, ...] = ()
    builds: bool = False

    def command(self, files: Mapping[str, bytes]) -> tuple[str, list[str]] | None:
        """The folder and the words of its command; None where it is not for these files."""
        paths = (path for path in files if re.search(self.files, path))
        for path in sorted(paths, key=lambda path: (path.count("/"), path)):
            if found := re.search(self.holds, files[path].decode("utf-8", "replace"), re.MULTILINE):
                words = [word.replace("{1}", found[1] if found.re.groups else "") for word in self.run]
                return str(PurePosixPath(path).parent) if self.inside else ".", words
        return None


def run_repository_tests(context: ToolContext, files: Mapping[str, bytes]) -> dict[str, OwnTests]:
    """How the tests of a repository with these files go, by the way of running them, each in a fresh copy; none where
    there are none. One that changes files changes its copy only."""
    found: dict[str, OwnTests] = {}
    if has_python(files) and (tests := _run_python(context, files)):
        found[_PYTHON] = tests
    left_out: set[str] = set()
    for name, way in _ways().items():
        if name not in left_out and (command := way.command(files)):
            left_out |= {*way.instead}
            found[name] = _run(context, files, way, *command)
    return found


@functools.cache
def _ways() -> Mapping[str, TestWay]:
    table = bundled_table(_TABLE)
    return {name: TestWay.model_validate(row) for name, row in table["runs"].items()}


def _run_python(context: ToolContext, files: Mapping[str, bytes]) -> OwnTests | None:
    """The tests in Python. Of very many files only those are read that say which packages are needed."""
    modules = [path for path in files if path.endswith(".py")]
    read = files if len(modules) <= _MOST_MODULES else {
        path: data for path, data in files.items() if is_test(path) or _TELLS.search(path)}
    toolchain = PythonToolchain(replace(context, software=read))
    with throwaway_copy(context.scratch, files) as folder:
        _restore_programs(folder, files)
        return toolchain.own_tests(folder)


def _run(context: ToolContext, files: Mapping[str, bytes], way: TestWay, below: str, words: list[str]) -> OwnTests:
    shown = shlex.join(words) if words[:2] != ["sh", "-c"] else words[2]
    programs = {name: shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") for name in way.needs}
    if missing := [name for name, path in programs.items() if not path]:
        return OwnTests(shown, None, said=f"{' and '.join(missing)} is not here", builds=way.builds)
    limits = ProcessLimits(seconds=TEST_SECONDS, address_space=_ADDRESS_SPACE, processes=_PROCESSES,
                           open_files=_OPEN_FILES, disk=_DISK)
    with throwaway_copy(context.scratch, files) as folder:
        _restore_programs(folder, files)
        argv = ["/bin/sh", "-c", f"cd {shlex.quote(below)} && {shlex.join(words)}"]
        try:
            execution = context.sandbox.run(SandboxJob(argv, folder, limits, env=way.env))
        except SandboxError as error:
            return OwnTests(shown, None, said=str(error), builds=way.builds)
    said = f"{execution.stdout}\n{execution.stderr}"
    return judge_tests(shown, execution, [*captures(way.failed, said)] if way.failed else (), builds=way.builds)


def _restore_programs(folder: Path, files: Mapping[str, bytes]) -> None:
    """Let scripts be started by their names, as they are in the repository."""
    for path, data in files.items():
        if data.startswith(b"#!"):
            (folder / path).chmod(0o755)
