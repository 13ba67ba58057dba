"""Results of tests as JUnit's XML, which CI servers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class JunitCase:
    """A test: what it is called, what it belongs to, and what went wrong (a failure, an error), or why nothing is known
    (skipped). `where` are more attributes, such as `file` and `line`."""

    name: str
    group: str
    failure: str = ""
    error: str = ""
    skipped: str = ""
    where: tuple[tuple[str, str], ...] = ()


def junit_text(suite: str, cases: Sequence[JunitCase]) -> str:
    """The document of one suite. What XML cannot hold is replaced."""
    root = ElementTree.Element("testsuites")
    counts = {"tests": len(cases), "failures": sum(bool(one.failure) for one in cases),
              "errors": sum(bool(one.error) for one in cases), "skipped": sum(bool(one.skipped) for one in cases)}
    of_suite = ElementTree.SubElement(
        root, "testsuite", {"name": _plain(suite), **{name: str(count) for name, count in counts.items()}})
    for one in cases:
        about = {"name": one.name, "classname": one.group, **dict(one.where)}
        case = ElementTree.SubElement(of_suite, "testcase", {name: _plain(value) for name, value in about.items()})
        for kind, text in (("failure", one.failure), ("error", one.error), ("skipped", one.skipped)):
            if text:
                plain = _plain(text)
                ElementTree.SubElement(case, kind, message=plain.partition("\n")[0]).text = plain
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _plain(text: str) -> str:
    return "".join(one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text)
