"""Tasks from folders and tables, and what bad ones get."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import Task, load_tasks

CATEGORY = """area: Education
category: Mathematics
tasks:
- name: Fraction Ladder
  acceptance: fraction-ladder
  description: >-
    Adds
    two fractions.
- {name: Times Tables, description: Asks for products.}
"""


def test_a_folder_of_categories(tmp_path: Path) -> None:
    (tmp_path / "education").mkdir()
    (tmp_path / "education" / "mathematics.yaml").write_text(CATEGORY)
    assert load_tasks(tmp_path) == [
        Task("Fraction Ladder", "Education", "Mathematics", "Adds two fractions.", "fraction-ladder"),
        Task("Times Tables", "Education", "Mathematics", "Asks for products.")]


def test_one_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(CATEGORY)
    assert [task.id for task in load_tasks(file)] == ["Mathematics/Fraction Ladder", "Mathematics/Times Tables"]


def test_the_form_of_the_published_data_set(tmp_path: Path) -> None:
    file = tmp_path / "tasks.csv"
    file.write_text('\ufeffName,Description,Category\nTo_Do_List,"Keeps, and sorts,\ntasks.",Tools_Utilities\n')
    assert load_tasks(file) == [Task("To Do List", "", "Tools Utilities", "Keeps, and sorts, tasks.")]


@pytest.mark.parametrize(("content", "words"), [
    ("", ["'Name' is missing", "nothing"]),
    ("Name,Text,Category\na,b,c\n", ["'Description' is missing", "Name, Text, Category"]),
    ("Name,Description,Category\n", ["no tasks"]),
    ("Name,Description,Category\na,,c\n", [":2", "'Description' is empty"]),
    ("Name,Description,Category\na,b\n", [":2", "'Category' is empty"]),
    ("Name,Description,Category\na,b,c\n\n,,\n", [":4", "'Name' is empty", "take the row out"]),
    ("Name,Description,Category\na,b,c\na,d,c\n", ["'a' stands twice in the category 'c'", "rename"]),
    ("Name,Description,Category,Name\na,b,c,d\n", ["the column 'Name' stands twice"]),
    (f"Name,Description,Category\na,b,c\na,{'x' * 10_000_000},c\n",
     [":3", "'Description' has 10000000 characters; shorten it to 100000"]),
    (f"Name,Description,Category\n{'x' * 10_000_000},b,c\n", [":2", "'Name' has 10000000 characters"]),
    (f"Name,Description,Category\na,{'x' * 20_000_001},c\n", ["line 2 cannot be read", "field larger"]),
    ('Name,Description,Category\na,b,c\nd,"e,f\ng,h,i\n', ["line 3 cannot be read", "quotation mark left open"]),
    ("Name,Description,Category\na\0,b,c\n", [":2", "'Name' holds a NUL character"]),
])
def test_a_table_that_is_none_says_what_to_do(tmp_path: Path, content: str, words: list[str]) -> None:
    file = tmp_path / "tasks.csv"
    file.write_text(content)
    with pytest.raises(ConfigError) as raised:
        load_tasks(file)
    for word in words:
        assert word in str(raised.value)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tasks.CSV").write_text("Name,Description,Category\na,b,c\n")
    assert load_tasks(tmp_path / "tasks.CSV")
    (tmp_path / "tasks.tsv").write_text("Name\tDescription\tCategory\na\tb\tc\n")
    with pytest.raises(ConfigError, match=r"tasks.tsv is no data set.*ends in .csv"):
        load_tasks(tmp_path / "tasks.tsv")


def test_a_huge_field_of_a_yaml_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(CATEGORY.replace("Asks for", "x" * 200_000))
    with pytest.raises(ConfigError, match=r"mine.yaml:9: tasks.1.description: .*100000") as raised:
        load_tasks(file)
    assert len(str(raised.value)) < 1000


def test_a_table_in_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "tasks.csv"
    file.write_bytes("Name,Description,Category\nä,b,c\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="UTF-8"):
        load_tasks(file)


def test_what_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.csv", tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(ConfigError, match=str(path)):
            load_tasks(path)


def test_a_wrong_field_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(CATEGORY.replace("description: Asks", "text: Asks"))
    with pytest.raises(ConfigError, match="mine.yaml:9: tasks.1.text: unknown key"):
        load_tasks(file)
