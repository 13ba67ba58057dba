"""The files of a design as an engineer has them: on the command line, in lists (`-f`), and in include folders."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.cli.shared_options import read_text_file
from chatdev.departments.verilog.bench import read_target
from chatdev.departments.verilog.target import ANSWER, HEADERS, Target, blank_comments, module_names
from chatdev.errors import ConfigError

MOST_FILES = 2000
_DEEPEST_LIST = 20
_FOREIGN = {".vhd": "VHDL", ".vhdl": "VHDL"}
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass(frozen=True, slots=True)
class DesignFiles:
    """A design: the `file` with the module `target.top`, its text, what the other files are called in the sandbox, and
    the inputs of the tools."""

    file: Path
    answer: str
    target: Target
    inputs: Mapping[str, Any]
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def software(self) -> dict[str, bytes]:
        """What is judged, as a run has it."""
        return {ANSWER: self.answer.encode()}

    def file_of(self, name: str) -> Path:
        """The file that a message names."""
        return self.files.get(name.removeprefix("given/"), self.file)


@dataclass(slots=True)
class _FileList:
    sources: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)


def read_design_files(files: Sequence[Path], lists: Sequence[Path], top: str | None, bench: Path | None,
                      reference: Path | None, simulator: str) -> DesignFiles:
    """The design in these files. Raises ConfigError, which names the file, and what to give instead."""
    found = _FileList([*files])
    for one in lists:
        _read_list(one, found, ())
    texts = _read_sources(found, bench)
    inputs: dict[str, Any] = {"simulator": simulator, "top": top}
    for name, path in (("bench", bench), ("reference", reference)):
        if path:
            inputs[name] = read_text_file(path, f"--{name}")
    main = _find_main(texts, top or _module_of_bench(inputs, texts))
    given = _names(texts, main, found.folders)
    inputs["given"] = {name: text for name, (_, text) in given.items()}
    inputs["top"] = top or _module_of(texts[main], texts, inputs)
    target = read_target(inputs)
    return DesignFiles(main, texts[main], target, {name: value for name, value in inputs.items() if value},
                       {name: file for name, (file, _) in given.items()})


def _read_sources(found: _FileList, bench: Path | None) -> dict[Path, str]:
    """The texts of the files, but for the bench, which lists name as well."""
    sources = dict.fromkeys(one for one in found.sources if bench is None or not _same(one, bench))
    if not sources:
        raise ConfigError("no file: name those of the design, or a list of them with -f FILE.f")
    if len(sources) > MOST_FILES:
        raise ConfigError(f"{len(sources)} files; {MOST_FILES} are the most")
    return {file: _read(file) for file in sources}


def _same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _read(file: Path) -> str:
    if language := _FOREIGN.get(file.suffix.lower()):
        raise ConfigError(f"{file}: this is {language}; only Verilog and SystemVerilog are read")
    return read_text_file(file, "design")


def _module_of_bench(inputs: Mapping[str, Any], texts: Mapping[Path, str]) -> str | None:
    """The module that the bench has an instance of."""
    bench = blank_comments(inputs.get("bench") or "")
    used = set(_WORD.findall(bench))
    tested = [name for text in texts.values() for name in module_names(text) if name in used]
    return next((name for name in tested if re.search(rf"\b{name}\b\s*(?:#\s*\(|\w+\s*\()", bench)), None)


def _find_main(texts: Mapping[Path, str], top: str | None) -> Path:
    if top is None:
        if (first := next((file for file, text in texts.items() if module_names(text)), None)) is None:
            raise ConfigError(f"{', '.join(map(str, texts))}: no file has a module")
        return first
    for file, text in texts.items():
        if top in module_names(text):
            return file
    known = ", ".join(name for text in texts.values() for name in module_names(text)) or "none"
    raise ConfigError(f"--top: no file has a module {top!r}; those that there are: {known}")


def _module_of(text: str, texts: Mapping[Path, str], inputs: Mapping[str, Any]) -> str | None:
    """The module of the file that the bench tests, else the first that no file uses."""
    own = module_names(text)
    if (tested := _module_of_bench(inputs, {Path(): text})) in own:
        return tested
    code = [blank_comments(one) for one in texts.values()]
    free = [name for name in own if not any(re.search(rf"\b{name}\b\s*(?:#\s*\(|\w+\s*\()", one) for one in code)]
    return next(iter(free or own), None)


def _names(texts: Mapping[Path, str], main: Path, folders: Sequence[Path]) -> dict[str, tuple[Path, str]]:
    """The other files by what they are called there: sources by their own name, headers as they are included."""
    found = dict[str, tuple[Path, str]]()
    for file, text in texts.items():
        if file != main:
            found[_free(file.name, found)] = file, text
    for folder in folders:
        for file in _headers(folder):
            name = file.relative_to(folder).as_posix()
            found.setdefault(name, (file, _read(file)))
    return found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    stem, number = Path(name), 1
    while name in taken:
        number += 1
        name = f"{stem.stem}_{number}{stem.suffix}"
    return name


def _headers(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise ConfigError(f"+incdir+{folder}: there is no such folder")
    yield from sorted(file for file in folder.glob("*") if file.suffix.lower() in HEADERS and file.is_file())


def _read_list(path: Path, found: _FileList, above: tuple[Path, ...]) -> None:
    """A list of files. Its paths count from the working folder, those of `-F` from the list's own. Raises ConfigError
    for a list that names itself, and for what is not understood."""
    resolved = path.resolve()
    if resolved in above:
        raise ConfigError(f"-f: {path} names itself, by way of {' → '.join(str(one.name) for one in above)}")
    if len(above) == _DEEPEST_LIST:
        raise ConfigError(f"-f: {path} stands {_DEEPEST_LIST} lists deep")
    try:
        words = shlex.split(re.sub(r"//[^\n]*", "", read_text_file(path, "-f")), comments=True)
    except ValueError as error:
        raise ConfigError(f"-f: {path}: {error}") from None
    following, base = iter(words), Path()
    for word in following:
        if word in ("-f", "-F", "-file"):
            inner = next(following, None)
            if inner is None:
                raise ConfigError(f"-f: {path} ends with {word}; name a list behind it")
            _read_list(path.parent / inner if word == "-F" else Path(inner), found, (*above, resolved))
        elif word.startswith("+incdir+"):
            found.folders += [base / one for one in word.removeprefix("+incdir+").split("+") if one]
        elif word.startswith(("-I",)) and len(word) > 2:
            found.folders.append(base / word[2:])
        elif word.startswith(("+", "-")):
            raise ConfigError(f"-f: {path}: {word} is not understood; there are paths, +incdir+DIR, -IDIR, -f and -F. "
                              "What +define+ sets, write into a file that stands first in the list")
        else:
            found.sources.append(base / word)
