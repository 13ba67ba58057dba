"""Pragmas: which text of a source counts, as its conditional ones say, and which of the others change what it means.

    {IF defined (SIM) AND NOT defined (TEST)} … {ELSIF defined (TEST)} … {ELSE} … {END_IF}

A name is defined by who reads the source (`Dialect.defines`), never by the source. What says nothing of the program's
meaning (`{attribute 'x'}`, `{region 'x'}`, `{S7_Optimized_Access := 'TRUE'}`) is passed over; what does and is not
evaluated here is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Findings

_MOST_NESTING = 50
_HEAD = re.compile(r"\{\s*(\w*)")
_WORDS = re.compile(r"\s*([^\W\d]\w*|'[^']*'|\S)")
_STRINGS = re.compile(r"'(?:\$.|[^'$])*+'|\"[^\"\n]*+\"")
_SETTING = re.compile(r"\s*[\w.]+\s*(?::=.*)?", re.DOTALL)
_SILENT = frozenset(("attribute", "region", "endregion", "end_region", "warning", "info", "text", "flow", "implicit",
                     "library"))
_MACROS = frozenset(("define", "undefine"))


class _Refused(Exception):
    """A condition cannot be evaluated; the text names what in it."""


@dataclass(slots=True)
class _Choice:
    """An `{IF …}` that is open: whether the text around it counts, whether one of its branches did, and whether its
    `{ELSE}` was read."""

    span: Span
    around: bool
    taken: bool
    is_last: bool = False


class Pragmas:
    """Reads the pragmas of one source, in their order."""

    def __init__(self, defines: Iterable[str] | None, findings: Findings) -> None:
        """Without `defines` no conditional pragma may stand there."""
        self.is_foreign = False
        """Whether the pragma read last holds code of another language."""
        self.counts = True
        """Whether the text behind the pragma read last is part of the program."""
        self._defines = frozenset(name.lower() for name in defines or ())
        self._allowed = defines is not None
        self.findings = findings
        self._open: list[_Choice] = []
        self._missed: dict[str, str] = {}
        self._first: Span | None = None

    def read(self, text: str, span: Span, opens_block: bool) -> bool:
        """Take one pragma, with its braces. Whether it may be passed over; `opens_block` tells that it stands where
        other languages have a block, and what is no pragma then is one."""
        self.is_foreign = False
        head = _HEAD.match(text)
        assert head is not None
        word = head[1].lower()
        if word in _BRANCHES:
            self._branch(word, text[head.end():-1], span)
            return True
        if not self.counts or word in _SILENT or word.startswith("s7_"):
            return True
        if word not in _MACROS and opens_block and not text.startswith("{{"):
            return False
        self._judge(word, text[1:-1], span)
        return True

    def end(self) -> None:
        """Say what is not closed, and which names nothing defines."""
        for choice in self._open[:1]:
            self.findings.report("open-pragma", choice.span)
        if self._missed and self._first:
            self.findings.report("undefined-names", self._first, names=", ".join(self._missed.values()))

    def _branch(self, word: str, condition: str, span: Span) -> None:
        if not self._allowed:
            self.findings.report("refused-pragma", span, what=f"{{{word.upper()} …}}")
        elif word == "if":
            holds = self.counts and self._holds(condition, span)
            self._open.append(_Choice(span, self.counts, holds))
            self.counts = holds
        elif not self._open or (self._open[-1].is_last and word != "end_if"):
            self.findings.report("stray-pragma", span, found=f"{{{word.upper()}}}")
        elif word == "end_if":
            self.counts = self._open.pop().around
        else:
            self._go_on(self._open[-1], word == "else", condition, span)

    def _go_on(self, choice: _Choice, is_last: bool, condition: str, span: Span) -> None:
        """From one branch to the next."""
        choice.is_last = is_last
        may = choice.around and not choice.taken
        self.counts = may and (is_last or self._holds(condition, span))
        choice.taken = choice.taken or self.counts

    def _judge(self, word: str, text: str, span: Span) -> None:
        """Report a pragma that changes what the program is."""
        if word in _MACROS:
            self.findings.report("refused-pragma", span, what=f"{{{word} …}}")
        elif word == "error":
            self.findings.report("error-pragma", span, text=text.strip()[len("error"):].strip(" '\""))
        elif _is_code(text):
            self.is_foreign = True
            self.findings.report("foreign-code", span)

    def _holds(self, condition: str, span: Span) -> bool:
        """Whether a condition holds; one that cannot be evaluated is reported, and no branch counts."""
        try:
            return _Condition(condition, self._is_defined).evaluate()
        except _Refused as refused:
            self.findings.report("refused-pragma", span, what=str(refused))
            return False
        finally:
            self._first = self._first or span

    def _is_defined(self, name: str) -> bool:
        if name.lower() not in self._defines:
            self._missed.setdefault(name.lower(), name)
        return name.lower() in self._defines


class _Condition:
    """Evaluates `defined (NAME)` with NOT, AND, OR and brackets; raises _Refused for all else."""

    def __init__(self, text: str, is_defined: Callable[[str], bool]) -> None:
        self._words = [*_WORDS.findall(text), ""]
        self._at = 0
        self._depth = 0
        self._is_defined = is_defined

    def evaluate(self) -> bool:
        """Whether it holds. All of it is looked at."""
        holds = self._either()
        if self._word:
            raise _Refused(f"'{self._word}' in the condition of a pragma")
        return holds

    @property
    def _word(self) -> str:
        word: str = self._words[self._at]
        return word

    def _accept(self, word: str) -> bool:
        found = self._word.lower() == word
        self._at += found
        return found

    def _expect(self, word: str, within: str) -> None:
        if not self._accept(word):
            raise _Refused(f"'{within} {self._word}'" if self._word else f"'{within}' without '{word}'")

    def _either(self) -> bool:
        holds = self._both()
        while self._accept("or"):
            holds = self._both() or holds
        return holds

    def _both(self) -> bool:
        holds = self._one()
        while self._accept("and"):
            holds = self._one() and holds
        return holds

    def _one(self) -> bool:
        if self._depth == _MOST_NESTING:
            raise _Refused(f"a condition of a pragma with more than {_MOST_NESTING} brackets within each other")
        self._depth += 1
        holds = not self._one() if self._accept("not") else self._bracket() if self._accept("(") else self._test()
        self._depth -= 1
        return holds

    def _bracket(self) -> bool:
        holds = self._either()
        self._expect(")", "(")
        return holds

    def _test(self) -> bool:
        if not self._accept("defined"):
            raise _Refused(f"'{self._word or '{IF …}'}' in the condition of a pragma")
        self._expect("(", "defined")
        name = self._word
        if not name.isidentifier():
            raise _Refused(f"'defined ({name}'")
        self._at += 1
        if self._word != ")":
            raise _Refused(f"'defined ({name}{self._word} …)'")
        self._at += 1
        return self._is_defined(name)


_BRANCHES = ("if", "elsif", "else", "end_if")


def _is_code(text: str) -> bool:
    """Whether a pragma holds statements of another language, as those of C that some compilers copy to their output."""
    plain = _STRINGS.sub("''", text)
    parts = plain.split(";")
    return "{" in plain or (len(parts) > 1 and not all(_SETTING.fullmatch(part) or not part.strip() for part in parts))
