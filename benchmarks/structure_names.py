"""When a function's name is a participle or an adverb: it says neither what the function does nor what it gives."""

from __future__ import annotations

_IRREGULAR = """
    arisen begun bent bound bought bred broken brought built caught chosen come done drawn driven eaten fallen fed felt
    fetched fought flown forbidden foreseen foretold forgotten found frozen given gone grown heard held hidden hung
    kept known laid lain led left lent lost made meant met mown outlived overridden overwritten owed paid proven ridden
    risen rung said sawn seen sent sewn shaken shown shrunk shut slept sold sought spent spoken sprung stood stolen
    struck sung sunk sworn swept swum taken taught thought thrown told torn understood undone unwritten withdrawn woken
    won worn wound woven written rewritten unseen unread unsaid unknown untold upheld
"""
_ADVERBS = """
    again alike alone anew apart aside away back before beside beyond else elsewhere here later meanwhile never now
    often once only otherwise since so soon still then there thus together twice underway until yet
"""
_LINKS = """
    about above after again against along alone among anew apart around as aside at away back before behind below
    beneath beside between beyond by down else enough ever first for from here in inside instead into later like near
    never not now of off on once only onto open or out outside over past since so than then there through to together
    too towards twice under until up upon upwards with within without yet
"""
_VERBS_AND_NOUNS = """
    bed bleed breed embed exceed feed heed need proceed seed shed sled speed succeed weed wed red led hundred shred
"""
IRREGULAR, ADVERBS, LINKS, VERBS_AND_NOUNS = (
    frozenset(words.split()) for words in (_IRREGULAR, _ADVERBS, _LINKS, _VERBS_AND_NOUNS))


def is_participle(name: str) -> bool:
    """Whether a function's name is a participle or adverb, alone or followed by a preposition or particle.

    An adjective before a noun is none (`described_tools`).
    """
    words = name.strip("_").lower().split("_")
    if words[0] in ADVERBS and len(words) == 1:
        return True
    if words[0] in VERBS_AND_NOUNS or not (words[0] in IRREGULAR or words[0].endswith("ed")):
        return words[0] in ADVERBS and words[1] in LINKS
    return len(words) == 1 or words[1] in LINKS
