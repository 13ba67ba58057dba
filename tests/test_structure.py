"""The shape of the code: what a file is, how things are named, how complex a function may be, and what tests import.

`scripts/structure` prints the figures; here stand the bounds.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from benchmarks.structure import COMPLEX, TOO_COMPLEX, Tree
from benchmarks.structure_names import is_participle
from tests.support.checkout import ROOT, imported, named

pytestmark = pytest.mark.xdist_group("structure")  # one worker, so that the tree is parsed once
TREE = Tree(ROOT)
SMALL_FOR_A_REASON = {
    "__main__.py": "what `python -m chatdev` runs",
    **{f"departments/{name}/__init__.py": "the face of a department" for name in ("plc", "process", "simulink")},
    "departments/simulink/engine/matlab/__init__.py": "what programs import as MATLAB's package",
    "replies/__init__.py": "what the layer offers",
    "replies/python/__init__.py": "how its modules hang together",
}
PUBLISHED = {  # documented imports: of hidden tests (docs/evaluation.md) and of work on clusters (docs/scaling.md)
    "evaluation/cases.py": {"tried", "written"}, "evaluation/trial.py": {"crashed", "said"},
    "batch/ray_cluster.py": {"joined"},
}
MOST_COMPLEX = {False: 27, True: 171}  # functions above complexity 10: of the core, and of departments
FUNCTION = 60  # lines of the longest function
SUBJECT, COMMITS = 72, 50  # characters of a commit's subject, in the latest commits
OLDER_THAN_THE_RULE = {  # subjects that cannot be changed any more
    "chatdev: the manual comes with the program where a structure was agreed on",
    "software: whole numbers in checks; what another source takes in starts nothing",
    "plc: random runs refute what the solver leaves open; a study of public loops",
}
TEST_NAME = 70  # characters, at which a name is too long
MANY_FILES = 5  # above which a folder needs a README
NO_README = {  # patterns of folders that need none, and why
    "srdd/tasks/*": "the categories of an area, all of one form; srdd/tasks/README.md speaks of them",
    "srdd/easy/*": "the tasks of a set, all of one form; srdd/easy/README.md speaks of them",
}
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def test_a_module_is_a_whole_idea() -> None:
    small = {line.split()[0] for line in TREE.small()}
    assert small - SMALL_FOR_A_REASON.keys() == set()


def test_public_classes_have_names_of_their_own() -> None:
    assert TREE.repeated_classes(tools=False) + TREE.repeated_classes(tools=True) == []


def test_no_function_is_named_by_a_participle_or_adverb() -> None:
    found = [line.replace(":", " ").split() for line in TREE.participles(top_level=True)]
    assert [line for line in found if line[2] not in PUBLISHED.get(line[0], ())] == []


def test_no_function_is_longer_than_a_screen() -> None:
    long = [f"{module.path} {node.name}: {node.end_lineno - node.lineno + 1} lines"
            for module in TREE.modules for node in module.functions()
            if node.end_lineno is not None and node.end_lineno - node.lineno >= FUNCTION]
    assert long == []


def test_few_functions_are_complex_and_none_very() -> None:
    assert TREE.complex_functions(TOO_COMPLEX) == []
    for of_departments, most in MOST_COMPLEX.items():
        found = [line for line in TREE.complex_functions(COMPLEX) if line.startswith("departments/") is of_departments]
        assert len(found) <= most, found


@pytest.mark.parametrize("name", ["told", "_kept", "again", "laid_out", "gone_on", "opened_in", "apart"])
def test_participles_and_adverbs_are_seen(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["described_tools", "read", "read_table", "put_together", "split", "set_pip", "feed",
                                  "without_circles", "exit_code", "is_kept", "embed"])
def test_verbs_nouns_and_adjectives_are_let_be(name: str) -> None:
    assert not is_participle(name)


def test_test_names_are_short_enough_to_be_read() -> None:
    name = re.compile(rf"^ *(?:async )?def (test_\w{{{TEST_NAME - 5},}})", re.MULTILINE)
    assert [f"{path.relative_to(ROOT)} {found}" for path in TESTS
            for found in name.findall(path.read_text(encoding="utf-8"))] == []


def test_no_test_imports_another_tests_module() -> None:
    found = [f"{path.relative_to(ROOT)}: {name}" for path in TESTS if path.name.startswith("test_")
             for name in imported(ast.parse(path.read_text(encoding="utf-8")))
             if name.startswith("tests.") and any(part.startswith("test_") for part in name.split(".")[1:-1])]
    assert found == []


def test_every_test_has_a_limit_of_time(pytestconfig: pytest.Config) -> None:
    assert 0 < float(pytestconfig.getini("timeout")) <= 300


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout of git: there is no history")
def test_subjects_of_the_latest_commits_are_short() -> None:
    subjects = _git("log", f"-{COMMITS}", "--no-merges", "--format=%s").splitlines()
    assert subjects, "the history is empty"
    assert [one for one in subjects if len(one) > SUBJECT and one not in OLDER_THAN_THE_RULE] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout of git: there is no list of tracked files")
def test_every_folder_with_many_files_says_what_lives_there() -> None:
    paths = [PurePosixPath(name) for name in _git("ls-files", "-z").split("\0") if name]
    large = {folder for folder, files in Counter(path.parent for path in paths).items() if files > MANY_FILES}
    described = {path.parent for path in paths if path.name == "README.md"}
    assert PurePosixPath("chatdev/engine") in large, "the list of files is wrong"
    assert sorted(str(folder) for folder in large - described
                  if not any(folder.match(pattern) for pattern in NO_README)) == []


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=ROOT, check=True, text=True,
                          capture_output=True).stdout


@pytest.mark.parametrize("readme", [path for part in ("benchmarks", "chatdev", "tests")
                                    for path in sorted((ROOT / part).rglob("README.md"))], ids=named)
def test_every_module_that_a_folders_readme_names_is_there(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    names = set(re.findall(r"`([\w/.*-]+\.(?:py|j2))`", text))
    assert [name for name in sorted(names) if not name.startswith("NAME_") and not _is_there(name, readme.parent)] == []


def _is_there(name: str, folder: Path) -> bool:
    """Whether a README in `folder` can mean a file by this name: from there, below it, or from the checkout's parts."""
    if (folder / name).exists():
        return True
    if name.startswith(".."):
        return False
    return any(folder.rglob(name)) or any(any(place.glob(name)) for place in (ROOT, ROOT / "chatdev", ROOT / "tests"))
