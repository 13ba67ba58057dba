"""What a request surely names of a product that is not typed: the labels of its buttons, and the paths that a service
answers. What may be there, or only sometimes, is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MOST = 100_000  # characters of a request that are looked at
_ITEM = (r"""(?:["“„`'‘](?P<{0}>[^"”“`'’\n]{{1,30}})["”“`'’]|"""
         r"(?<![\w.])(?P<{1}>\d\s?(?:-|–|to)\s?\d|\d|[-+*/=×÷−%.])(?![\w]))")
_LIST = re.compile(
    rf"\bbuttons?(?:\s*:)?\s+(?:(?:that\s+(?:say|are|is)s?|saying|for|with(?:\s+the)?(?:\s+labels?|\s+texts?)?|(?:which\s+are\s+)?"
    rf"(?:labell?ed|named|called))\s+)?(?:the\s+digits?\s+)?:?\s*(?P<items>{_ITEM.format('a', 'b')}"
    rf"(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*|\s+){_ITEM.format('c', 'd')})*)", re.IGNORECASE)
_BEFORE = re.compile(r"""["“„`](?P<label>[^"”“`\n]{1,30})["”“`]\s+buttons?\b""", re.IGNORECASE)
_ONE = re.compile(_ITEM.format("quoted", "sign"))
_DOUBT = re.compile(
    r"\b(?:no|not|without|instead|either|or|if|when|while|once|after|until|unless|maybe|may|might|could|can|should"
    r"|optional(?:ly)?|perhaps|such\s+as|like|e\.?g|for\s+example|ideally|pop|dialog|second|next|then|log)\b|n't\b|\?",
    re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z])|\n\s*\n|\n(?=\s*[-*•]\s)")
_ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\s+`?(/[\w/.-]*)(?![\w/{<:*?])")


def named_buttons(request: str) -> list[str]:
    """The labels that buttons must bear by the request, such as `+` and `0` to `9`."""
    sentences = [part for part in _SENTENCE.split(request[:_MOST]) if not _DOUBT.search(part)]
    found = (label for part in sentences for label in _labels(part))
    return list(dict.fromkeys(found))


def _labels(sentence: str) -> Iterator[str]:
    for match in _LIST.finditer(sentence):
        items = match["items"].rstrip()
        for one in _ONE.finditer(items.removesuffix(".") if _ends(sentence, match) else items):
            yield from [one["quoted"].strip()] if one["quoted"] else _signs(one["sign"])
    yield from (match["label"].strip() for match in _BEFORE.finditer(sentence))


def _ends(sentence: str, match: re.Match[str]) -> bool:
    """Whether a dot behind a list may be the end of the sentence."""
    return not sentence[match.end():].strip(" .")


def _signs(sign: str) -> Iterator[str]:
    first, last = sign[0], sign[-1]
    if first.isdigit() and last.isdigit() and len(sign) > 1:
        yield from map(str, range(int(first), int(last) + 1))
    else:
        yield sign


def named_routes(request: str) -> set[str]:
    """What the request asks of a service by method and path, `GET /health`: without places to fill in."""
    return {f"{match[1]} {match[2].rstrip('.') or '/'}" for match in _ROUTE.finditer(request[:_MOST])}
