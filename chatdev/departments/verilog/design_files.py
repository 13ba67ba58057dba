"""The files of a design as an engineer has them: on the command line, in lists (`-f`), in folders of libraries (`-y`)
and of headers (`+incdir+`)."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.cli.shared_options import read_text_file
from chatdev.departments.verilog import cocotb_bench
from chatdev.departments.verilog.bench import read_target
from chatdev.departments.verilog.target import (
    ANSWER,
    HEADERS,
    SOURCES,
    Target,
    blank_comments,
    included_files,
    instance_names,
    module_names,
)
from chatdev.errors import ConfigError

MOST_FILES = 2000
_DEEPEST_LIST = 20
_FOREIGN = {".vhd": "VHDL", ".vhdl": "VHDL", ".vlt": "a configuration of Verilator", ".sdc": "a file of constraints",
            ".xdc": "a file of constraints", ".tcl": "Tcl", ".f": "a list of files (-f)"}
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_COMMENTS = re.compile(r"/\*.*?\*/|(?:(?<=\s)|^)(?://|#)[^\n]*", re.DOTALL | re.MULTILINE)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\}|\((\w+)\))")
_PLUS = re.compile(r"\+(incdir|define|libext)\+(.*)", re.DOTALL)
_DASH = re.compile(r"(-[DIyv]|(?:--top|--top-module|-top|-s)$)(.*)", re.DOTALL)
_MACRO = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:=(?P<value>[^\n]*))?")
_NO_MATTER = re.compile(r"\+librescan|\+libverbose|\+v2k|-sv|-sverilog|-g20\d\d(?:-v)?|-g2005-sv|-W[\w-]*"
                        r"|--(?:timing|assert|trace|binary|lint-only|Wall)|-full64|-q|-quiet")
"""What other tools are told in a list, and what changes nothing of the design."""
_TAKEN = "paths, +define+NAME=VALUE, +incdir+DIR, +libext+.v, -D, -I, -y DIR, -v FILE, --top MODULE, -f and -F"


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


def read_design_files(words: Sequence[str], lists: Sequence[Path], top: str | None, bench: Path | None,
                      reference: Sequence[Path], simulator: str, use_environment: bool = False) -> DesignFiles:
    """The design in these files and options (`+define+W=4`), and in these lists; several files of a reference are one
    text. Raises ConfigError, which names the file, and what to give instead."""
    found = _FileList.of(words, lists, use_environment)
    headers = _Headers(found.folders)
    texts = {file: headers.include(file, text) for file, text in _read_sources(found, bench).items()}
    beside = {name: "\n".join(headers.include(path, read_text_file(path, f"--{name}")) for path in paths)
              for name, paths in (("bench", [bench] if bench else []), ("reference", reference)) if paths}
    inputs: dict[str, Any] = {"simulator": simulator, "defines": found.defines, "may_end": True, **beside}
    top = top or found.top
    main = _find_main(texts, top or _module_of_bench(inputs, texts))
    inputs["top"] = top or _module_of(texts[main], texts, inputs)
    given = headers.found | _names(texts, main, headers.found)
    inputs["given"] = {name: text for name, (_, text) in given.items()} | _python_beside(bench, inputs)
    return DesignFiles(main, texts[main], read_target(inputs), dict(filter(lambda one: one[1], inputs.items())),
                       {name: file for name, (file, _) in given.items()})


@dataclass(slots=True)
class _FileList:
    """What command line and lists name."""

    use_environment: bool
    sources: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    libraries: list[Path] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)
    top: str | None = None
    missing: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, words: Sequence[str], lists: Sequence[Path], use_environment: bool) -> _FileList:
        found = cls(use_environment)
        for word in words:
            found.take(word, iter(()), Path(), "")
        for one in lists:
            found.read(one, ())
        if found.missing:
            raise ConfigError("\n".join(found.missing))
        return found

    def read(self, path: Path, above: tuple[Path, ...], base: Path | None = None) -> None:
        """A list of files. Its paths count from `base`, which is the working folder for `-f` and the list's own for
        `-F`. Raises ConfigError for a list that names itself, and for what is not understood."""
        resolved = path.resolve()
        if resolved in above:
            raise ConfigError(f"-f: {path} names itself, by way of {' → '.join(str(one.name) for one in above)}")
        if len(above) == _DEEPEST_LIST:
            raise ConfigError(f"-f: {path} stands {_DEEPEST_LIST} lists deep")
        words = _words_of(path)
        for place, word in words:
            following = (one for _, one in words)
            if word in ("-f", "-F", "-file"):
                inner = self._value(word, following, place)
                start = path.parent if word == "-F" else base or Path()
                self.read(start / inner, (*above, resolved), (start / inner).parent if word == "-F" else base)
            else:
                self.take(word, following, base or Path(), place)

    def take(self, word: str, following: Iterator[str], base: Path, place: str) -> None:
        """A path or option; `place` is where it stands, "" on the command line."""
        word = self._expand(word, place)
        if option := _PLUS.fullmatch(word):
            self._take_option(option[1], [*filter(None, option[2].split("+"))], base, place)
        elif option := _DASH.fullmatch(word):
            value = option[2] or self._expand(self._value(word, following, place), place)
            self._take_option(option[1], [value], base, place)
        elif word.startswith(("+", "-")) and not _NO_MATTER.fullmatch(word):
            raise ConfigError(f"{place or 'FILE'}: {word} is not understood; there are {_TAKEN}")
        elif not word.startswith(("+", "-")):
            self.sources.append(base / word)
            if place and not (base / word).exists():
                self.missing.append(f"{place}: there is no file {base / word} (paths count from the working folder, "
                                    "with -F from the list's own)")

    def _take_option(self, option: str, values: list[str], base: Path, place: str) -> None:
        if option in ("define", "-D"):
            self._define(values, place)
        elif option == "libext":
            self.endings += values
        elif option in ("--top", "--top-module", "-top", "-s"):
            self.top = values[0]
        else:
            paths = {"-y": self.libraries, "-v": self.sources}.get(option, self.folders)
            paths += [base / one for one in values]

    def _define(self, macros: Iterable[str], place: str) -> None:
        for one in filter(None, macros):
            if (macro := _MACRO.fullmatch(one)) is None:
                raise ConfigError(f"{place or 'FILE'}: {one!r} defines no macro; write NAME or NAME=VALUE")
            self.defines[macro["name"]] = "1" if macro["value"] is None else macro["value"]

    def _value(self, option: str, following: Iterator[str], place: str) -> str:
        if (value := next(following, None)) is None:
            raise ConfigError(f"{place or 'FILE'}: nothing stands behind {option}")
        return value

    def _expand(self, word: str, place: str) -> str:
        """The word of a list with its variables; these are the user's, and no list takes them by itself. (On the
        command line the shell has put them in.)"""
        def value_of(found: re.Match[str]) -> str:
            name = found[1] or found[2] or found[3]
            if not self.use_environment:
                raise ConfigError(f"{place}: {word} has the variable {name} of the environment; give --env, so "
                                  "that lists may use such variables")
            if name not in os.environ:
                raise ConfigError(f"{place}: {word} has the variable {name}, which is not set")
            return os.environ[name]

        return _VARIABLE.sub(value_of, word) if place else word


def _words_of(path: Path) -> Iterator[tuple[str, str]]:
    """The words of a list, each with its place, without comments."""
    text = _COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), read_text_file(path, "-f"))
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            for word in shlex.split(re.sub(r"\\(?=[\w.])", "/", line.rstrip().removesuffix("\\"))):
                yield f"{path}:{number}", word
        except ValueError as error:
            raise ConfigError(f"{path}:{number}: {error}") from None


def _read_sources(found: _FileList, bench: Path | None) -> dict[Path, str]:
    """The texts of the files, but for the bench, which lists name as well; then those of libraries that are used."""
    sources = dict.fromkeys(one for one in found.sources if bench is None or not _same(one, bench))
    if not 0 < len(sources) <= MOST_FILES:
        raise ConfigError(f"{len(sources)} files; {MOST_FILES} are the most" if sources else
                          "no file: name those of the design, or a list of them with -f FILE.f")
    texts, library = {file: _read(file) for file in sources}, _files_of_libraries(found)
    while new := _needs_of(texts.values(), library) - texts.keys():
        texts |= {file: _read(file) for file in sorted(new)}
    return texts


def _files_of_libraries(found: _FileList) -> dict[str, Path]:
    """The files that modules are looked for in, by the modules' names."""
    files = dict[str, Path]()
    for folder in found.libraries:
        if not folder.is_dir():
            raise ConfigError(f"-y {folder}: there is no such folder")
        for ending in found.endings or SOURCES:
            for file in sorted(folder.glob(f"*{ending}")):
                files.setdefault(file.name.removesuffix(ending), file)
    return files


def _needs_of(texts: Iterable[str], library: Mapping[str, Path]) -> set[Path]:
    return {library[name] for name in _instances_in(texts) if name in library} if library else set()


def _same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))


def _read(file: Path) -> str:
    if language := _FOREIGN.get(file.suffix.lower()):
        raise ConfigError(f"{file}: this is {language}; only Verilog and SystemVerilog are read")
    if file.is_dir():
        raise ConfigError(f"{file}: this is a folder; name its files, or give -y {file} to take modules from it")
    return read_text_file(file, "design")


def _module_of_bench(inputs: Mapping[str, Any], texts: Mapping[Path, str]) -> str | None:
    """The module that the bench has an instance of."""
    bench = inputs.get("bench") or ""
    if cocotb_bench.is_python(bench):
        return cocotb_bench.toplevel_of(bench)
    bench = blank_comments(bench)
    used = set(_WORD.findall(bench))
    tested = [name for text in texts.values() for name in module_names(text) if name in used]
    return next((name for name in tested if re.search(rf"\b{name}\b\s*(?:#\s*\(|\w+\s*\()", bench)), None)


def _python_beside(bench: Path | None, inputs: Mapping[str, Any]) -> dict[str, str]:
    """What a bench in Python imports from its own folder, directly or by way of these."""
    found, left = dict[str, str](), [inputs.get("bench") or ""]
    while bench and left and cocotb_bench.is_python(inputs["bench"]):
        for name in cocotb_bench.imported_modules(left.pop()):
            path = bench.parent / f"{name}.py"
            if path.name not in found and path.is_file():
                found[path.name] = _read(path)
                left.append(found[path.name])
    return found


def _find_main(texts: Mapping[Path, str], top: str | None) -> Path:
    """The file with this module, or else the first one with a module that no other uses."""
    files = dict[str, Path]()
    for file, text in texts.items():
        files = dict.fromkeys(module_names(text), file) | files
    if top in files:
        return files[top]
    if top is not None:
        known = ", ".join(sorted(files)) or "none"
        raise ConfigError(f"--top: no file has a module {top!r}; those that there are: {known}")
    if not files:
        raise ConfigError(f"{', '.join(map(str, texts))}: no file has a module")
    used = _instances_in(texts.values())
    return next((file for file, text in texts.items() if not used.issuperset(module_names(text))),
                next(file for file, text in texts.items() if module_names(text)))


def _instances_in(texts: Iterable[str]) -> set[str]:
    """The names of what has instances."""
    return set[str]().union(*map(instance_names, texts))


def _module_of(text: str, texts: Mapping[Path, str], inputs: Mapping[str, Any]) -> str | None:
    """The module of the file that the bench tests, else the first that no file uses."""
    own = module_names(text)
    if (tested := _module_of_bench(inputs, {Path(): text})) in own:
        return tested
    used = _instances_in(texts.values())
    return next(iter([name for name in own if name not in used] or own), None)


def _names(texts: Mapping[Path, str], main: Path, taken: Mapping[str, Any]) -> dict[str, tuple[Path, str]]:
    """The other sources by what they are called there: their own names, where these are free."""
    found = dict[str, tuple[Path, str]]()
    headers = {file.resolve() for file, _ in taken.values()}
    for file, text in texts.items():
        if file != main and file.resolve() not in headers:
            is_known = file.name.endswith((*SOURCES, *HEADERS)) or not module_names(text)
            found[_free(file.name if is_known else f"{file.name}.v", {**taken, **found})] = file, text
    return found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    stem, number = Path(name), 1
    while name in taken:
        number += 1
        name = f"{stem.stem}_{number}{stem.suffix}"
    return name


class _Headers:
    """What is included: looked for beside the file that names it, then in the folders, then in the working folder."""

    def __init__(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise ConfigError(f"+incdir+{folder}: there is no such folder")
        self._folders = folders
        self.found = dict[str, tuple[Path, str]]()

    def include(self, file: Path, text: str) -> str:
        """The text, whose included files are then found; what cannot be called there as it is here has another name."""
        parts, place = list[str](), 0
        for at, name in included_files(text):
            header = self._find(name, file) if name else None
            if header is None:
                continue
            known = next((one for one, (path, _) in self.found.items() if _same(path, header)), None)
            called = known or _free(name if _is_plain(name) else _as_header(Path(name).name), self.found)
            if known is None:
                self.found[called] = header, ""
                self.found[called] = header, self.include(header, _read(header))
            start = text.index(name, at)
            parts += [text[place:start], called]
            place = start + len(name)
        return "".join((*parts, text[place:]))

    def _find(self, name: str, file: Path) -> Path | None:
        places = (folder / name for folder in (file.parent, *self._folders, Path()))
        return next((place for place in places if place.is_file()), None)


def _is_plain(name: str) -> bool:
    return ".." not in name and not name.startswith("/") and name.endswith((*SOURCES, *HEADERS))


def _as_header(name: str) -> str:
    return name if name.endswith((*SOURCES, *HEADERS)) else f"{name}{HEADERS[0]}"
