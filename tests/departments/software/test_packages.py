"""What must be installed for a program, and which file of its language says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, registry


def found(files: dict[str, bytes], folder: Path = Path()) -> dict[str, Any]:
    context = ToolContext(files, {}, {}, Unconfined(), folder, folder)
    result: dict[str, Any] = registry()["software.packages"].call(context, {})
    return result


@pytest.mark.parametrize(("files", "names"), [
    ({"main.py": b"import json, sys\nfrom todo import Store\n", "todo.py": b"import os\n"}, []),
    ({"main.py": b"import yaml\nfrom PIL import Image\nimport requests.adapters\n"}, ["pillow", "pyyaml", "requests"]),
    ({"main.py": b"import yaml\n", "broken.py": b"def (:\n"}, ["pyyaml"]),
    ({"index.html": b"<p>hi</p>"}, []),
])
def test_imports_from_outside_python_and_the_program_are_named(
        files: dict[str, bytes], names: list[str], tmp_path: Path) -> None:
    result = found(files, tmp_path)
    assert [name.lower() for name in result["names"]] == names
    assert result["file"] == ("requirements.txt" if names else "")


@pytest.mark.parametrize(("path", "source", "file", "names"), [
    ("main.js", "const fs = require('fs');\nimport x from './x.js';", "", []),
    ("main.js", "const e = require('express');\nimport { a,\n b } from '@org/kit/part';", "package.json",
     ["@org/kit", "express"]),
    ("main.js", "console.log('taken from \"here\"'); // import it", "", []),
    ("main.ts", "console.log(1)", "package.json", ["typescript"]),
    ("main.go", 'package main\nimport (\n\t"fmt"\n\tc "github.com/a/b"\n)', "go.mod", ["github.com/a/b"]),
    ("main.go", 'package main\nimport "encoding/json"', "", []),
    ("src/main.rs", "use std::io;\nmod board;\nuse board::Board;\nuse Shape::*;", "", []),
    ("src/main.rs", "use rand::Rng;\nextern crate serde;", "Cargo.toml", ["rand", "serde"]),
    ("main.rb", "require 'json'\nrequire_relative 'a'\nrequire 'rack/request'", "Gemfile", ["rack"]),
    ("Main.java", "package app;\nimport java.util.List;\nimport com.google.gson.Gson;", "pom.xml", ["com.google.gson"]),
    ("Main.kt", "import kotlin.math.abs\nimport kotlinx.coroutines.runBlocking", "build.gradle.kts",
     ["kotlinx.coroutines"]),
    ("main.php", "<?php\nnamespace App;\nuse App\\Model\\X;\nuse Monolog\\Logger;", "composer.json", ["Monolog"]),
    ("main.sh", "import x", "", []), ("main.c", "#include <curl/curl.h>", "", []),
    ("index.html", "<script>import x from 'y'</script>", "", []),
])
def test_other_languages_name_their_own_file(path: str, source: str, file: str, names: list[str]) -> None:
    assert found({path: source.encode()}) == {"names": names, "file": file}


def test_pages_and_own_packages_need_nothing() -> None:
    assert found({"index.html": b"<p>", "a.js": b"import x from 'y'"})["file"] == ""
    assert found({"Main.java": b"import app.model.Board;", "model/Board.java": b"package app.model;"})["file"] == ""


@given(st.dictionaries(st.sampled_from(["a.js", "a.go", "a.rs", "a.rb", "A.java", "a.php", "a.kt", "index.html"]),
                       st.binary(max_size=120), max_size=3))
def test_whatever_stands_there_names_and_file_go_together(files: dict[str, bytes]) -> None:
    result = found(files)
    assert bool(result["names"]) == bool(result["file"])
