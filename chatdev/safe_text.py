"""Texts that may leave this process: without secrets, and without what steers a terminal or hides from its reader.

Whoever reads a secret (a key, a token, a password in an address) says so with `keep_secret`; whatever texts come from
outside (replies, tool results, inputs) and whatever leaves us (journal, report, errors, terminal) passes `scrub`. The
record is one of the process, because a key of one run must not show in another.

Plain values are what of a model's, a program's or a server's words may go on into prompts, journals and requests: their
texts can be encoded, their numbers can be written, and their nesting has an end. What comes in as a text is cleaned or
refused by `load_json`; what a tool made is refused by `plain_value`.
"""

from __future__ import annotations

import base64
import builtins
import hashlib
import json
import keyword
import math
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import IntEnum
from functools import lru_cache
from itertools import islice
from typing import Any, AnyStr, TypeVar
from urllib.parse import quote, unquote

LARGEST = 10_000_000
"""Characters of a value that a tool gives."""
LONGEST_NAME = 80
"""Characters of a name that a model gives to something, as places and headers have it."""
_MOST = 1e15  # nothing that is counted comes near it; not below it is also what is no number (NaN)
_DEEPEST = 100  # levels; far below what Python's own reader takes, which depends on who calls it
_HALVES = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_STEERS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


def encodable_text(text: str) -> str:
    """The text with `?` for half characters, which JSON can carry but no file and no later request."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def encodable_values(value: Any) -> Any:
    """JSON values of which every text can be encoded, keys too."""
    if isinstance(value, str):
        return encodable_text(value)
    if isinstance(value, dict):
        return {encodable_values(key): encodable_values(child) for key, child in value.items()}
    return [encodable_values(child) for child in value] if isinstance(value, list) else value


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass with slots, by name; unlike `dataclasses.asdict` it copies no value."""
    return {name: getattr(record, name) for name in record.__slots__}


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """The name, unless it is long or steers a terminal: then its beginning, and a fingerprint that tells it from every
    other."""
    if len(name) <= longest and not _STEERS.search(name):
        return name
    fingerprint = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{_STEERS.sub('?', name[:longest - 20])}~{fingerprint}"


_GIST = 120  # characters


def describe_value(value: Any, name: str = "") -> str:
    """A value in a few words for a person: the first line of a text, `4 commands` of a list, the names of a mapping."""
    if isinstance(value, list):
        if len(value) < 2:
            return "1 entry" if value else "none"
        return f"{len(value)} {name.replace('_', ' ') if name.endswith('s') else 'entries'}"
    if isinstance(value, dict):
        return shorten(", ".join(_describe_entry(key, child) for key, child in islice(value.items(), 4)), _GIST)
    text = value if isinstance(value, str) else json.dumps(value)
    return shorten(next((line.strip() for line in text[:10_000].splitlines() if line.strip()), ""), _GIST)


def _describe_entry(key: Any, value: Any) -> str:
    key = str(key)
    told = describe_value(value, key)
    return told if told.endswith(f" {key.replace('_', ' ')}") else f"{key}: {told}"


def shorten(text: str, longest: int) -> str:
    """The text; of a longer one its beginning."""
    return text if len(text) <= longest else f"{text[:longest - 2].rstrip()} …"


def load_json(text: str, *, strict: bool = True) -> Any:
    """The value of a JSON text, with `?` for half characters. Raises ValueError, also for NaN, a number without an end,
    and a value that is nested deeper than 100 levels; `strict` is that of `json.loads`."""
    try:
        value = json.loads(text, strict=strict, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    check_depth(value)
    return encodable_values(value) if _HALVES.search(text) else value


def check_depth(value: Any, deepest: int = _DEEPEST) -> None:
    """Raise ValueError for JSON values that are nested deeper than `deepest` levels."""
    level = _full([value])
    for _ in range(deepest - 1):
        if not level:
            return
        level = [child for parent in level for child in _full(parent.values() if isinstance(parent, dict) else parent)]
    if level:
        raise ValueError("nested too deeply")


def plain_value(value: Any) -> Any:
    """What a tool gave, as the journal gives it back. Raises ValueError for what is no JSON value: other objects, NaN,
    half characters, what is nested too deeply or has no end, and more than can be used."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError as error:
        raise ValueError(str(error)) from None
    if len(text) > LARGEST:
        raise ValueError(f"{len(text)} characters of JSON are too much; {LARGEST} are possible")
    return load_json(text)


def is_amount(value: Any) -> bool:
    """Whether a JSON value is a number that can be counted with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _refuse(word[:20])


def _full(values: Iterable[Any]) -> list[Any]:
    """Those that hold a further level."""
    return [value for value in values if value and isinstance(value, dict | list)]


_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but line end and tab
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    "\ud800-\udfff"  # half characters
    "\U000e0000-\U000e007f]"  # invisible letters
)


def sanitize(text: str) -> str:
    """The text without what would steer a terminal or hide from its reader, and without secrets."""
    return scrub(_STEERING.sub("", text))


def sanitize_values(value: Any) -> Any:
    """A value with all texts in it sanitized; keys of dicts stay as they are."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, tuple):
        return tuple(map(sanitize_values, value))
    if isinstance(value, dict):
        return {key: sanitize_values(child) for key, child in value.items()}
    return value


def escape_json(text: str) -> str:
    """A JSON text with the same meaning and nothing in it that steers a terminal or hides, and without secrets."""
    return scrub(_STEERING.sub(_escape, text))


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


_ACTIVE = re.compile(r"[\\*\[\]<>|~&]|(?<=\w):(?=//)|(?<=www)\.", re.IGNORECASE)
"""What makes Markdown of a text: HTML, links and pictures, emphasis, cells of a table, addresses. (Backticks make code,
in which nothing else does.)"""


def escape_markdown(text: str) -> str:
    """The text as Markdown that shows it as it is: nothing in it is HTML, a link or a picture."""
    return _ACTIVE.sub(r"\\\g<0>", text)


# Secrets: what looks like one, and the values that must not leave this process: keys, tokens, passwords in
# addresses.

# What looks like a secret: the name that a value goes by, and the value itself.


class NameSign(IntEnum):
    """What a name says of its value; the greater, the surer."""

    NONE = 0
    DOUBTFUL = 1  # PRIMARY_KEY, KEY_ID, TOKEN_LIVE: of a secret, or about one
    KEY = 2  # what a machine has made: without blanks
    PASSWORD = 3  # what a person may have made of words


SHORTEST = 8
"""Characters that a secret has at least."""

_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PASSWORD = re.compile(r"\w*?(?:password|passwd|passphrase|passcode|secret)s?|pwds?"
                       r"|(?:ssh|ftp|sftp|db|pg|my|smtp|imap|mail|user|root|admin|key|store|vault|http|proxy)pass",
                       re.IGNORECASE)
_KEY = re.compile(r"\w*?(?:tokens?|credentials?|(?:api|access|auth|private|signing|encryption|master|secret)keys?)"
                  r"|keys?|cookies?|jwts?|authorization", re.IGNORECASE)
_ONLY_BEHIND_OTHERS = {"pass": NameSign.PASSWORD, "pwd": NameSign.PASSWORD, "auth": NameSign.KEY}
_KEYS_OF_DATA = frozenset({  # what stands behind them is the name of a field
    "cache", "column", "dict", "foreign", "function", "group", "hash", "hot", "index", "lookup", "map", "object",
    "partition", "primary", "public", "row", "sort", "shortcut", "translation", "unique"})
_ENDS_IN_KEY = re.compile(r"\w+keys?", re.IGNORECASE)
_TELLS_OF_ONE = frozenset({
    "key", "keys", "token", "tokens", "secret", "secrets", "password", "passwords", "credential", "credentials",
    "private", "salt", "webhook"})

_MADE_BY_PROVIDERS = re.compile(r"""
    (?:sk|pk|rk)-[\w-]{16,} | (?:sk|rk)_(?:live|test)_\w{16,} | gh[opsur]_\w{20,} | github_pat_\w{20,}
    | glpat-[\w-]{16,} | xox[abeoprs]-[\w-]{10,} | xapp-[\w-]{10,} | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[\w-]{30,}
    | ya29\.[\w-]{20,} | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]* | hf_\w{20,} | npm_\w{30,} | pypi-[\w-]{16,}
    | (?:gsk|r8|dop_v1|shpat|whsec)_\w{16,} | nvapi-[\w-]{16,} | SG\.[\w-]{16,}\.[\w-]{16,}
    | \d{8,10}:AA[\w-]{30,} | [MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,38}""", re.VERBOSE)  # bots of Telegram, Discord
_WEBHOOK = re.compile(r"""https?://(?:
      hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/\S+
    | [\w.-]*discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\S+
    | [\w.-]+\.webhook\.office\.com/\S+ | [\w.-]+\.logic\.azure\.com(?::\d+)?/\S+ | [\w.-]+\.powerplatform\.com\S+
    | outlook\.office(?:365)?\.com/webhook/\S+ | chat\.googleapis\.com/v1/spaces/\S+ | hooks\.zapier\.com/hooks/\S+
    | hook\.[\w.-]*make\.com/\S+ | maker\.ifttt\.com/trigger/\S+/key/\S+ | api\.telegram\.org/bot\S+
    | [^\s/]+/(?:\S+/)?(?:hooks?|webhooks?|webhookb2)/\S+)""", re.VERBOSE | re.IGNORECASE)
_LONGEST_ADDRESS = 2000  # characters
_BETWEEN = re.compile(r"[/?&=#@]+")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")

_LONGEST_WORD = 15  # "not-needed", "lm-studio", "your-api-key": what people set where no key is needed
_WORDS = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*|[0-9]+")
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:[_.][A-Za-z]+)+")
_NUMBER = re.compile(r"""[-+]?\d{1,15}(?:[.,]\d{1,15})?%? | v?\d+(?:\.\d+)+(?:[-+.]?[A-Za-z]{1,8}\.?\d{0,4})*
    | \d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[-+]\d\d:?\d\d)?)?""", re.VERBOSE)
_HOST = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[a-z]+(?:[-.][a-z]+)*\.(?:com|net|org|io|dev|local|internal))"
                   r"(?::\d+)?(?:/\d+)?")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_FILE = re.compile(r"[\w./~-]*[A-Za-z_][\w-]*\.(?:pem|key|crt|cer|pub|p12|pfx|jks|json|ya?ml|toml|txt|env|gpg|asc|ini"
                   r"|cfg|conf|db|sqlite3?|log|csv|py|js|ts|sh|html|md)")
_COMPOSED = re.compile(r"(?:[A-Za-z]{1,15}|\d{1,4}|[A-Za-z]{1,4}\d{1,3})(?:[-_.](?:[A-Za-z]{1,15}|\d{1,4}|[A-Za-z]{1,4}"
                       r"\d{1,3}))+")  # of words and small numbers
_LONGEST_OF_THESE = 300  # characters: what is longer is none of them
_ROOTS = frozenset({
    "app", "bin", "boot", "data", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "nix", "opt", "private",
    "proc", "root", "run", "sbin", "secrets", "snap", "srv", "sys", "tmp", "usr", "var", "workspace", "Users",
    "Applications", "Library", "Volumes"})
_PLACEHOLDER = re.compile(r"(?:^|[^A-Za-z])(?:your|my|changeme|change|example|placeholder|dummy|replace|insert|needed"
                          r"|required|unused|x{3,})(?:$|[^A-Za-z])", re.IGNORECASE)
_NAMES_IN_CODE = re.compile(r"[^\W\d]\w*")
_CODE = frozenset({
    *keyword.kwlist, *keyword.softkwlist, *dir(builtins), *sys.stdlib_module_names,
    "self", "cls", "args", "kwargs", "main", "app", "test", "tests", "hello", "world", "foo", "bar", "baz", "spam",
    "eggs", "name", "value", "data", "item", "items", "index", "count", "const", "let", "var", "function", "new",
    "this", "null", "undefined", "console", "log", "echo", "cd", "ls", "cat", "grep", "npm", "pip", "install",
    "run", "start", "build", "python", "python3", "node", "bash", "sh", "git", "make", "select", "where", "insert",
    "into", "update", "delete", "end", "begin", "module", "endmodule", "wire", "reg", "the", "an", "of", "to",
    "on", "at", "by", "it", "you", "we", "they", "was", "were", "be", "been", "have", "has", "do", "does", "will",
    "can", "example", "text"})


@lru_cache(maxsize=4096)
def name_sign(name: str) -> NameSign:
    """What the name of a variable says of its value."""
    words = _WORDS_OF_NAME.findall(name)
    if not words:
        return NameSign.NONE
    *others, last = (word.lower() for word in words)
    if sign := _ONLY_BEHIND_OTHERS.get(last):
        return sign if others else NameSign.NONE
    if _PASSWORD.fullmatch(last):
        return NameSign.PASSWORD
    if _KEY.fullmatch(last):
        return NameSign.DOUBTFUL if others and others[-1] in _KEYS_OF_DATA else NameSign.KEY
    return NameSign.DOUBTFUL if _ENDS_IN_KEY.fullmatch(last) or _TELLS_OF_ONE & {*others, last} else NameSign.NONE


def is_secret(value: str, sign: NameSign) -> bool:
    """Whether `value`, stripped, is a secret when it stands behind a name with this sign."""
    if len(value) < SHORTEST or len({*value}) < 3:
        return False
    if _PRIVATE_KEY.match(value) or _is_made_by_provider(value):
        return True
    if sign <= NameSign.DOUBTFUL or _ADDRESS.fullmatch(value):
        return sign == NameSign.DOUBTFUL and _looks_generated(value)
    return not _is_ordinary(value, sign)


def secret_parts(value: str) -> list[str]:
    """The secrets within the value of a sure name that has blanks: the key of `Bearer …`, what cookies hold."""
    words = value.split()
    if len(words) == 2 and words[0].lower() in ("bearer", "basic", "token", "key"):
        return [words[1]] if is_secret(words[1], NameSign.KEY) else []
    parts = (part.strip(";,\"'") for word in words for part in (word, word.partition("=")[2]))
    return [part for part in parts if _looks_generated(part)]


def _is_made_by_provider(value: str) -> bool:
    """Whether only a provider of keys, bots or webhooks writes it."""
    if _MADE_BY_PROVIDERS.fullmatch(value) and _has_digit(value):
        return True
    return len(value) <= _LONGEST_ADDRESS and bool(_WEBHOOK.fullmatch(value) and generated_parts(value))


def generated_parts(address: str) -> list[str]:
    """Generated-looking parts of an address's path and query; empty for other texts."""
    parts = _BETWEEN.split(address)[2:] if "://" in address else []
    return [part for part in parts if _looks_generated(part)]


def _is_ordinary(value: str, sign: NameSign) -> bool:
    """Whether the value of a sure name is plainly something else: a word, a number, a file, a host, code."""
    if len(value) <= _LONGEST_WORD and _WORDS.fullmatch(value) and not _is_jumble(value):
        return True
    if _is_name_or_number(value) or _is_path(value) or _is_code(value):
        return True
    if _WORDS.fullmatch(value) and _PLACEHOLDER.search(value):
        return True
    if sign == NameSign.KEY:
        return " " in value or (bool(_IDENTIFIER.fullmatch(value)) and not _is_jumble(value))
    return False


def _looks_generated(value: str) -> bool:
    """Whether the text looks generated: long, without blanks, of mixed characters."""
    if len(value) < 16 or any(map(str.isspace, value)) or _is_path(value):
        return False
    if _is_name_or_number(value) or _COMPOSED.fullmatch(value) or _ADDRESS.fullmatch(value):
        return False
    kinds = sum(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    letters = sum(map(str.isalnum, value))
    return kinds >= 2 and letters >= 0.8 * len(value) and _has_digit(value) and _entropy(value) >= 3.0


def _is_name_or_number(value: str) -> bool:
    """Whether it is a number, a version, a time, a host, or the name of a file."""
    return len(value) <= _LONGEST_OF_THESE and any(form.fullmatch(value) for form in (_NUMBER, _HOST, _FILE))


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _entropy(value: str) -> float:
    """Bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_jumble(value: str) -> bool:
    """Whether letters stand together that make no words: hardly a vowel among them."""
    letters = [letter for letter in value.lower() if letter.isalpha()]
    return len(letters) >= 10 and sum(letter in "aeiouy" for letter in letters) < 0.15 * len(letters)


def _is_path(value: str) -> bool:
    """Whether it names a place in the file system; base64 may begin with a slash, too."""
    if value.startswith(("~/", "./", "../")) or re.match(r"[A-Za-z]:\\", value):
        return True
    if not value.startswith("/"):
        return False
    first = value.split("/")[1]
    return first in _ROOTS or (first != "" and os.path.lexists(f"/{first}"))


def _is_code(value: str) -> bool:
    """Whether it is made of the words of languages alone (`import sys`)."""
    names = _NAMES_IN_CODE.findall(value)
    return bool(names) and all(name in _CODE for name in names)


# The values that were read, and taking them out of what leaves.

PLACEHOLDER = "[secret]"
"""What stands in the place of a secret."""

T = TypeVar("T")

_SHORTEST_PART = 4  # of a secret that was cut: less tells nothing
_LINE = re.compile(r"[\w+/=.-]{24,}")  # of a secret with several lines
_LEAST_VARIETY = 8  # different characters of such a line: a rule of dashes is none
_USER = re.compile(r"://([^/?#\s]*)@")
_QUERY = re.compile(r"[?&]([\w.-]+)=([^&#\s]+)")
_EVERYBODYS = ("password", "postgres", "root", "admin", "guest", "test", "secret", "example", "pass", "changeme")
_SIGNATURES = ("sig", "signature")

_known: tuple[str, ...] = ()  # longest first: one may be the beginning of another
_lock = threading.Lock()


def keep_secret(value: str, sign: NameSign = NameSign.PASSWORD) -> None:
    """Remember `value` as a secret, unless it is too short or too ordinary to be one. `sign`: what the
    name says that it goes by; without one it is in use as a secret. Of several lines (a private key) each is one,
    because they may be shown one by one; lines of words are none."""
    value = value.strip()
    if is_secret(value, sign):
        _remember_parts(value)
    elif sign <= NameSign.DOUBTFUL:
        return
    lines = value.splitlines()
    for line in lines if len(lines) > 1 else ():
        if _LINE.fullmatch(line) and len({*line}) >= _LEAST_VARIETY:
            _remember(line)
    for part in secret_parts(value) if " " in value else ():
        _remember(part)
    if value.startswith("{"):
        _keep_fields(value)


def _remember_parts(value: str) -> None:
    """Keep a secret; of an address also what in it was generated, by which programs put it together."""
    for part in (value, *generated_parts(value)):
        _remember(part)


def _keep_fields(text: str) -> None:
    """Remember the secrets in a JSON object (the key file of a cloud), each by the name of its field."""
    with suppress(ValueError, RecursionError):
        json.loads(text, object_hook=lambda fields: keep_variables(
            {name: value for name, value in fields.items() if isinstance(value, str)}))


def keep_address(address: str) -> None:
    """Remember the user, the password and the keys in the query of an address (`https://user:password@host?key=…`)."""
    for user in _USER.findall(address):
        name, _, password = user.partition(":")
        keep_secret(password or name, NameSign.PASSWORD if password else NameSign.KEY)
        if password and password not in (name, *_EVERYBODYS):
            _remember(f"{user}@")  # a password too short to be looked for alone
            pair = f"{unquote(name)}:{unquote(password)}".encode("utf-8", "surrogateescape")
            _remember(base64.b64encode(pair).decode())  # as the header has it
    for field, value in _QUERY.findall(address):
        keep_secret(value, NameSign.KEY if field.lower() in _SIGNATURES else name_sign(field))


def keep_variables(variables: Mapping[str, str]) -> None:
    """Remember the secrets in environment variables: those that look like one, and those within addresses."""
    for name, value in variables.items():
        keep_secret(value, name_sign(name))
        if "://" in value:
            keep_address(value)


def holds_secret(text: str) -> bool:
    """Whether a secret is in `text`."""
    return any(secret in text for secret in _known)


def scrub(text: str) -> str:
    """`text` with the placeholder for every secret."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, PLACEHOLDER)
    return text


def scrub_bytes(data: bytes) -> bytes:
    """`data` with the placeholder for every secret."""
    for secret in _known:
        data = data.replace(secret.encode("utf-8", "surrogateescape"), PLACEHOLDER.encode())
    return data


def scrub_ends(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """The beginning and the end of a text whose middle is missing, without the secrets in them, and without what may be
    the part of one that was cut in two."""
    head, tail = scrub_bytes(head), scrub_bytes(tail)
    known = [secret.encode("utf-8", "surrogateescape") for secret in _known]
    begun = max((_overlap(head, secret) for secret in known), default=0)
    ended = max((_overlap(tail[::-1], secret[::-1]) for secret in known), default=0)
    return (head[:len(head) - begun] if begun >= _SHORTEST_PART else head,
            tail[ended:] if ended >= _SHORTEST_PART else tail)


def scrub_values(value: T) -> T:
    """Plain JSON values with every text scrubbed, keys of mappings too."""
    return _scrub(value) if _known else value


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {_scrub(key): _scrub(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_scrub(child) for child in value)
    return value


class StreamScrubber:
    """Passes on a text that comes in pieces, without the secrets in it; what may be the beginning of one waits for
    the next piece or for `end`."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        self._listener = listener
        self._waiting = ""

    def add(self, piece: str) -> None:
        """Take the next piece."""
        text = scrub(self._waiting + piece)
        held = max((_overlap(text, secret) for secret in _known), default=0)
        self._waiting = text[len(text) - held:]
        self._pass_on(text[:len(text) - held])

    def end(self) -> None:
        """Pass on what still waits."""
        text, self._waiting = self._waiting, ""
        self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        if text:
            self._listener(text)


def _overlap(text: AnyStr, secret: AnyStr) -> int:
    """Length of the longest end of `text` that begins `secret`."""
    return next((n for n in range(min(len(secret) - 1, len(text)), 0, -1) if text.endswith(secret[:n])), 0)


def _remember(value: str) -> None:
    """Keep a secret in every form that it is written in: as it is, within JSON, within an address."""
    global _known
    if value in _known:
        return
    forms = {value, unquote(value), quote(value, safe="", errors="surrogateescape")}
    forms |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
    with _lock:
        _known = tuple(sorted({*_known, *forms}, key=lambda form: (-len(form), form)))
