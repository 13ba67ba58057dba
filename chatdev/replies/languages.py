"""Languages by the words models put on a fence and by file extension, telling command lines from programs, and lines
that stand for code left out, such as `# ... rest of the code` or `// ... unchanged`."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

# language: its words on a fence | its extensions, the usual one first. Only programs get a file without being named.
_PROGRAMS = """
python: python py python3 pyw | py pyw pyi
javascript: javascript js node jsx mjs | js mjs cjs jsx
typescript: typescript ts tsx | ts tsx
html: html htm xhtml | html htm
css: css scss sass less | css scss sass less
c: c | c h
c++: c++ cpp cxx cc hpp | cpp cc cxx hpp hh h
c#: c# csharp cs | cs
java: java | java
kotlin: kotlin kt | kt kts
scala: scala | scala
go: go golang | go
rust: rust rs | rs
swift: swift | swift
ruby: ruby rb | rb
php: php | php
lua: lua | lua
perl: perl pl | pl pm
r: r rscript | R r
julia: julia jl | jl
dart: dart | dart
haskell: haskell hs | hs
matlab: matlab octave | m
sql: sql sqlite mysql postgresql | sql
verilog: verilog v | v vh sv svh
systemverilog: systemverilog sv | sv svh v vh
vhdl: vhdl | vhd vhdl
structured text: st iecst structured-text structuredtext structured_text scl iec-st plc iec61131 | st scl iecst
"""
_SHELLS = """
shell: bash sh shell zsh fish console terminal shell-session shellsession sh-session cmdline | sh bash zsh fish
powershell: powershell ps1 pwsh ps | ps1
batch: batch bat cmd dos | bat cmd
"""
_OTHERS = """
json: json jsonc json5 | json
yaml: yaml yml | yaml yml
toml: toml | toml
ini: ini cfg conf properties | ini cfg conf
xml: xml svg xsl | xml svg xsd xsl
markdown: markdown md mdx | md markdown mdx
text: text txt plain plaintext | txt
csv: csv tsv | csv tsv
diff: diff patch udiff | diff patch
make: make makefile | mk
docker: docker dockerfile |
"""
_WHOLE_NAMES = {"make": "Makefile", "docker": "Dockerfile"}


def _table(text: str) -> dict[str, tuple[list[str], list[str]]]:
    rows = {}
    for row in text.strip().splitlines():
        language, _, rest = row.partition(": ")
        words, _, extensions = rest.partition("|")
        rows[language] = (words.split(), extensions.split())
    return rows


_LANGUAGES = _table(_PROGRAMS) | _table(_SHELLS) | _table(_OTHERS)
_BY_WORD = {word: language for language, (words, _) in _LANGUAGES.items() for word in words}
_BY_EXTENSION = {extension: language for language, (_, extensions) in reversed(_LANGUAGES.items())
                 for extension in extensions}
_EXTENSIONS = {extension for _, extensions in _LANGUAGES.values() for extension in extensions}
_PROGRAM_EXTENSIONS = {extension for _, extensions in _table(_PROGRAMS).values() for extension in extensions}


def program_extensions() -> list[str]:
    """Every extension of a program that is known, without its dot."""
    return sorted(_PROGRAM_EXTENSIONS)


def language_of(word: str) -> str | None:
    """The language a word on a fence means, or None."""
    return _BY_WORD.get(word.casefold())


def language_of_file(path: str) -> str | None:
    """The language of a file by its name, or None."""
    by_name = next((language for language, name in _WHOLE_NAMES.items() if name == PurePosixPath(path).name), None)
    return by_name or _BY_EXTENSION.get(_extension(path))


def is_shell(language: str | None) -> bool:
    """Whether `language` is one of command lines."""
    return language in ("shell", "powershell", "batch")


def usual_name(language: str, stem: str = "main") -> str | None:
    """The file a nameless program in `language` gets; None for data, text and command lines."""
    if language in _WHOLE_NAMES:
        return _WHOLE_NAMES[language]
    extensions = _LANGUAGES[language][1]
    return f"{stem}.{extensions[0]}" if extensions[:1] and extensions[0] in _PROGRAM_EXTENSIONS else None


def fits(path: str, language: str | None) -> bool:
    """Whether a file called `path` can hold `language`."""
    if language is None:
        return False
    return _extension(path) in _LANGUAGES[language][1] or PurePosixPath(path).name == _WHOLE_NAMES.get(language)


def is_known(path: str) -> bool:
    """Whether the extension of `path` is one of a known language."""
    return _extension(path) in _EXTENSIONS


def is_program(path: str) -> bool:
    """Whether `path` is a source file of a programming language (command scripts are not)."""
    return _extension(path) in _PROGRAM_EXTENSIONS


def is_python(path: str) -> bool:
    """Whether `path` is a Python source file."""
    return _extension(path) in ("py", "pyw", "pyi")


def _extension(path: str) -> str:
    suffix = PurePosixPath(path.replace("\\", "/")).suffix[1:]
    return suffix if suffix == "R" else suffix.casefold()


_PROMPT = re.compile(r"(?:\$|>|PS [^>]{0,80}>|[A-Za-z]:\\[^>]{0,80}>|(?:\([\w.-]{1,40}\) ?)\$)\s+(?=\S)")
_COMMAND = re.compile(
    r"(?:sudo\s+)?(?:"
    r"(?:python|pip|pypy)[0-9.]*|py|uv|poetry|pytest|conda|npm|npx|yarn|pnpm|node|deno|bun|cargo|rustc|javac|java|mvn|gradle|"
    r"gcc|g\+\+|clang|cmake|make|go\s+(?:run|build|get|mod)|git|docker|docker-compose|apt|apt-get|brew|choco|winget|"
    r"cd|ls|dir|mkdir|touch|rm|cp|mv|cat|echo|chmod|source|curl|wget|bash|sh|iverilog|vvp|verilator|"
    r"export\s+\w+=\S*|\.{1,2}/[\w./-]+"
    r")(?:\s+(?![-+*/%&|<>=!]?=)(?![-+*/%<>|&]\s)[^(){};]*)?", re.IGNORECASE)
_LONGEST = 400


def holds_only_commands(text: str) -> bool:
    """Whether every line of `text` that is not blank or a comment is typed at a prompt (`pip install x`, `$ ls`)."""
    commands = 0
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "::", "REM ")):
            continue
        if not _is_command(stripped):
            return False
        commands += 1
    return commands > 0


def _is_command(line: str) -> bool:
    if len(line) > _LONGEST:
        return False
    return _PROMPT.match(line) is not None or _COMMAND.fullmatch(line) is not None


# Lines that stand for code left out, such as `# ... rest of the code` or `// ... unchanged`.

_OPENS = re.compile(r"#+|//+|--+|;+|%+|/\*+|\(\*+|<!--+|\{/\*+")
_CLOSES = {"*/}": "*", "*/": "*", "*)": "*", "-->": "-"}
"""Ends of comments, and the character that may stand in them more often."""
_BARE = re.compile(r"\.{3}|…|\[(?P<text>[A-Za-z.…](?=[^ ]* )[^\[\]]*+)\]")
_CLEAR = {"existing", "rest", "unchanged", "unmodified", "omitted"}
_DOTTED = _CLEAR | {"remaining", "previous", "other", "same", "original", "keep"}  # these need dots to be understood
_CODE = {
    "code", "method", "methods", "function", "functions", "class", "classes", "implementation", "implementations",
    "imports", "file", "program", "logic", "definitions", "script", "module", "body", "content", "contents",
}
_FILLERS = {
    "of", "the", "your", "my", "this", "as", "is", "are", "remain", "remains", "stay", "stays", "go", "goes", "here",
    "for", "brevity", "and", "no", "not", "changes", "change", "changed", "to", "in", "from", "part", "parts", "all",
    "shown", "section", "import", "statements", "everything", "else", "exactly", "it", "with", "etc", "above", "before",
}
_TEXT_SUFFIXES = {"", "md", "markdown", "txt", "rst", "json", "csv", "tsv"}
_LONGEST_PLACEHOLDER = 200
_MARKS = re.compile(r"\.\.\.|…|existing|rest|unchanged|unmodified|omitted", re.IGNORECASE)


def is_elision(line: str) -> bool:
    """Whether `line` holds nothing but words that stand for code left out (in any common comment syntax)."""
    stripped = line.strip()
    if len(stripped) > _LONGEST_PLACEHOLDER or not _MARKS.search(stripped):
        return False
    if bare := _BARE.fullmatch(stripped):
        return bare["text"] is None or _stands_for_code(bare["text"])
    comment = _OPENS.match(stripped)
    return comment is not None and _stands_for_code(_comment_text(stripped[comment.end():]).strip("() \t[]"))


def _comment_text(text: str) -> str:
    """What a comment says, without its end."""
    text = text.strip()
    end = next((end for end in _CLOSES if text.endswith(end)), None)
    return text if end is None else text.removesuffix(end).rstrip(_CLOSES[end]).rstrip()


def _stands_for_code(comment: str) -> bool:
    words = set(re.findall(r"[a-z]+", comment.casefold()))
    known = words <= _DOTTED | _CODE | _FILLERS
    if comment.startswith(("...", "…")):
        return known or bool(words & _DOTTED)
    if comment.endswith(("...", "…")):
        return known and bool(words & _DOTTED)
    return known and bool(words & _CLEAR) and bool(words & _CODE)


def elided_line(path: str, content: str) -> int | None:
    """Number of the first line of a program that stands for code left out; None for text and data files."""
    if PurePosixPath(path).suffix[1:].casefold() in _TEXT_SUFFIXES:
        return None
    return next((number for number, line in enumerate(content.split("\n"), 1) if is_elision(line)), None)
