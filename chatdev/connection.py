"""Providers of models, the addresses and keys that lead to them: where each comes from, which key may go to which
address, the endpoint that the two make (this is the one place where they meet), and the names that one model has at
several providers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict

from chatdev.errors import ConfigError, ConsentMissing, MissingModel
from chatdev.safe_text import keep_address, keep_secret

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Origin(Enum):
    """Who said something; the value is how people call it."""

    FLAG = "the command line"
    """Also an argument of a function of the library."""
    SET = "--set"
    ENVIRONMENT = "the environment"
    SETTINGS = "the settings file"
    DEFAULT = "the default"
    """The default address: OpenAI's own."""
    DOTENV = ".env"
    """The `.env` of the working folder, which may be somebody else's."""
    COMPANY = "the company"
    RECORD = "the journal"
    """The record of an earlier run, which may be somebody else's."""

    @property
    def is_users(self) -> bool:
        """Whether it is this user's own word. What is not needs the user's consent, or is not followed."""
        return self not in (Origin.DOTENV, Origin.COMPANY, Origin.RECORD)


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value (an address, the name of a model or of a variable) and where it comes from."""

    value: str
    origin: Origin


_OF_THIS_USER = frozenset(origin for origin in Origin if origin.is_users)
_GOES_TO = {
    Origin.FLAG: _OF_THIS_USER,
    Origin.ENVIRONMENT: _OF_THIS_USER,
    Origin.DOTENV: frozenset({Origin.DOTENV, Origin.DEFAULT, Origin.FLAG, Origin.SET}),
}


def may_send(key: Origin, address: Origin, *, named: bool = False) -> bool:
    """Whether a key goes to an address. `named`: by `key_env`, which is the word of a company that the user trusts, or
    of the user.

    A key goes to the address that it belongs to: one that the user has set to addresses that the user has set, one in
    `.env` to the address in the same file, to OpenAI, and to what the user says on the spot. A company gets only the
    key that it names. No key goes where only a journal says.
    """
    if address is Origin.RECORD:
        return False
    if named:
        return address is not Origin.DOTENV or key is Origin.DOTENV
    return address in _GOES_TO.get(key, ())


def is_loopback(address: str) -> bool:
    """Whether the server at `address` is on this machine."""
    return _hostname(address) in LOOPBACK


def without_user(address: str) -> str:
    """The address without what may be secret in it: the user, the password and the query. Letters of its host that look
    like others are written as codes."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2].encode("ascii", "backslashreplace").decode("ascii")
    return f"{parts.scheme}://{host}{parts.path}"


def has_user(address: str) -> bool:
    """Whether the address says as whom to ask (`https://user:password@host`)."""
    try:
        return bool(urlsplit(address).username)
    except ValueError:
        return False


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


# Providers of models by name, and the names that one model has at several of them.

HUMAN = "human"
"""The name of a model that is a person."""
_VENDOR = re.compile(r"^(?:[a-z-]+\.)?(?:anthropic|amazon|cohere|deepseek|meta|mistral|openai|qwen)\.")  # and region
_REVISION = re.compile(r"-v\d+:\d+$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")


class Provider(BaseModel):
    """A provider as `models.yaml` has it: where it is asked, and which variables may hold the key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    name: str = ""
    url: str = ""
    """Address of its OpenAI-compatible interface; empty: a variable of the user's has it (Azure)."""
    keys: list[str] = []
    """Environment variables of the key; the first that is set counts."""
    aliases: list[str] = []
    dialect: Literal["openai", "azure"] = "openai"
    """`azure`: deployments instead of models, at the address in `AZURE_OPENAI_ENDPOINT`."""
    needs_key: bool = True
    gateway: bool = False
    """Whether its names of models begin with their makers' (`openai/gpt-4o`) and stay as they are."""
    local: bool = False
    """Whether it serves models on one's own machine, where they cost nothing."""
    list_headers: dict[str, str] = {}
    """Further headers of a request for its list of models; `{key}` stands for the key."""

    @property
    def is_hosted_gateway(self) -> bool:
        """Whether it passes requests on, for money."""
        return self.gateway and not self.local

    def own_name(self, model: str) -> str:
        """The name that it has for a model which may begin with the provider's own."""
        prefix, _, rest = model.partition("/")
        said = prefix.lower() in (self.name, *self.aliases)
        return rest if rest and said and not self.gateway else model


@dataclass(frozen=True, slots=True)
class NamedProvider:
    """A provider, and who says that it is asked."""

    provider: Provider
    origin: Origin


def spellings(model: str) -> list[str]:
    """The name of a model in small letters, and the shorter ones that it stands for: without the prefixes of gateways
    (`openrouter/openai/gpt-4o`), regions and revisions (`us.anthropic.claude-…-v1:0`), with dashes for dots."""
    name = model.strip().lower()
    if name.partition(":")[0] == "local":
        return [name]
    parts = name.split("/")
    shorter = ["/".join(parts[n:]) for n in range(1, len(parts))]
    plain = _REVISION.sub("", _VENDOR.sub("", parts[-1].replace("@", "-")))
    found = dict.fromkeys((*shorter, plain, _DOTTED.sub("-", plain)))
    return [name, *(one for one in found if one.partition(":")[0] != "local")]


LOCAL = "local"
URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
AZURE_URL_VARIABLE, AZURE_KEY_VARIABLE = "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"
_AZURE_VERSION = "2024-10-21"

NO_MODEL = """no model can be reached. Do one of these:
  - set OPENAI_API_KEY (and --model NAME), for OpenAI;
  - set OPENAI_BASE_URL or --base-url, for any OpenAI-compatible server;
  - give --provider NAME (anthropic, gemini, ollama, …; `chatdev model providers` lists them) with its key;
  - run `chatdev model pull` once, for the small local model (1.1 GB, needs no key)."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, the variable that holds it, and where that is set."""

    variable: str
    origin: Origin
    value: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.variable} of {self.origin.value}" if self.variable else f"from {self.origin.value}"


@dataclass(frozen=True, slots=True)
class Connection:
    """The address of a model and the key that goes there, each with where it comes from. The local model's address is
    `local` or `local:FILE`."""

    address: Sourced
    key: Key | None = None
    named_by: Sourced | None = None
    """The variable that the model's own key is in (`key_env`), and who says so."""
    withheld: Key | None = None
    """A key that there is, but that does not belong to the address."""
    azure: bool = False
    provider: Provider | None = None

    @property
    def is_local_model(self) -> bool:
        """Whether the model runs on this machine, from a file."""
        return self.address.value.partition(":")[0] == LOCAL

    @property
    def may_lack_default(self) -> bool:
        """Whether it is asked for models that are not known here: of a server that is neither OpenAI's nor Azure's."""
        return not (self.is_local_model or self.azure or is_official(self.address.value))

    @property
    def strangers(self) -> frozenset[Origin]:
        """Who beside the user names something here that needs the user's consent: an address outside of this machine, a
        file of a model, a variable whose value is sent."""
        found = {self.named_by.origin} if self.named_by else set()
        if not (self.address.value == LOCAL or is_loopback(self.address.value) or self._is_usual):
            found.add(self.address.origin)
        return frozenset(origin for origin in found if not origin.is_users)

    @property
    def is_foreign(self) -> bool:
        """Whether the address comes from somebody else than the user; it gets only the request and the key."""
        return not self.address.origin.is_users

    @property
    def _is_usual(self) -> bool:
        """Whether `.env` names OpenAI's own address, the default."""
        return self.address.origin is Origin.DOTENV and is_official(self.address.value)

    def __str__(self) -> str:
        if self.is_local_model:
            return f"{self.address.value}, on this machine"
        named = "" if self.address.origin is Origin.DEFAULT else f" ({self.address.origin.value})"
        return f"{without_user(self.address.value)}{named}, {self._describe_key()}"

    def _describe_key(self) -> str:
        if self.key:
            return f"key {self.key}"
        if self.named_by:
            return f"key {self.named_by.value}, which is not set"
        if has_user(self.address.value):
            return "the user and password in the address"
        return "no key" + (f" ({self.withheld} is not for an address of {self.address.origin.value})"
                           if self.withheld else "")


def is_official(address: str) -> bool:
    """Whether it is OpenAI's own server, which OPENAI_API_KEY is for."""
    try:
        parts, official = urlsplit(address), urlsplit(OPENAI)
        return (parts.scheme, parts.netloc.lower()) == (official.scheme, official.netloc)
    except ValueError:
        return False


class KeyRing:
    """The variables of the process and of the working folder's `.env`, and the key that a caller gave: which address
    is meant where none is named, and which key goes to which."""

    def __init__(self, process: Mapping[str, str], folder: Mapping[str, str], given: str = "") -> None:
        self._places = {Origin.ENVIRONMENT: process, Origin.DOTENV: folder}
        self._given = Key("", Origin.FLAG, given) if given else None

    def connect(self, address: Sourced | None, key_env: Sourced | None,
                named: NamedProvider | None = None) -> Connection:
        """The connection to an address (None: the provider's, else what the variables say, else OpenAI) with the key in
        `key_env` (None: the provider's, else the usual ones). Nothing is sent. Raises MissingModel where the provider's
        address stands in a variable that is not set."""
        if named and named.provider.dialect == "openai":
            return self._at_provider(address or Sourced(named.provider.url, named.origin), key_env, named)
        azure = self._azure_by_name(address) if named else None if key_env else self._azure(address)
        if azure:
            return self._with_key(azure, key_env, (AZURE_KEY_VARIABLE, KEY_VARIABLE), azure=True)
        if address is None:
            address = next(self.of(URL_VARIABLE), Sourced(OPENAI, Origin.DEFAULT))
        return self._with_key(address, key_env, (KEY_VARIABLE,))

    def is_set(self, *variables: str) -> bool:
        """Whether a key was given or one of the variables has a value."""
        return self._given is not None or any(next(self.of(name), None) for name in variables)

    def of(self, variable: str) -> Iterator[Sourced]:
        """The values of a variable, without the line end that comes with copying; the user's own first."""
        for origin, variables in self._places.items():
            if value := variables.get(variable, "").strip():
                yield Sourced(value, origin)

    def _azure(self, address: Sourced | None) -> Sourced | None:
        """Azure's address, where no other goes before it: the user's own goes before one of `.env`."""
        if address is not None and address.origin is not Origin.DOTENV:
            return None
        found = self.of(AZURE_URL_VARIABLE)
        return next((one for one in found if address is None or one.origin.is_users), None)

    def _azure_by_name(self, address: Sourced | None) -> Sourced:
        """Azure's address, where Azure is named as the provider."""
        if found := address or next(self.of(AZURE_URL_VARIABLE), None):
            return found
        raise MissingModel(f"{AZURE_URL_VARIABLE} is not set, which the provider azure needs; set it to the address of "
                           "your resource, e.g. https://NAME.openai.azure.com, or give --base-url")

    def _at_provider(self, address: Sourced, key_env: Sourced | None, named: NamedProvider) -> Connection:
        provider = named.provider
        found = self._with_key(address, key_env, provider.keys, named=True)
        if key_env is None and provider.keys and (found.key or provider.needs_key) and not is_official(address.value):
            variable = found.key.variable if found.key else provider.keys[0]
            found = replace(found, named_by=Sourced(variable, named.origin) if variable else None)
        return replace(found, provider=provider)

    def _with_key(self, address: Sourced, key_env: Sourced | None, usual: Sequence[str], *, azure: bool = False,
                  named: bool = False) -> Connection:
        """`named`: the usual variables are those of a provider that is named."""
        belongs_to = Origin.DEFAULT if is_official(address.value) else address.origin
        variables = (key_env.value,) if key_env else usual
        keys = [Key(name, one.origin, one.value) for name in variables for one in self.of(name)]
        if self._given and not key_env:
            keys.insert(0, self._given)
        named = named or key_env is not None
        key = next((key for key in keys
                    if may_send(key.origin, belongs_to, named=named and key is not self._given)), None)
        return Connection(address, key, key_env, withheld=None if key or not keys else keys[0], azure=azure)


def open_endpoint(connection: Connection, api_version: str | None, longest: float) -> Endpoint:
    """The endpoint of a connection. Raises MissingModel where the key is missing that it needs."""
    if lack := _lack(connection):
        raise MissingModel(lack)
    address = None if connection.address.origin is Origin.DEFAULT else connection.address.value
    version = (api_version or _AZURE_VERSION) if connection.azure else None
    headers = connection.provider.list_headers if connection.provider else {}
    return Endpoint(address, connection.key.value if connection.key else "", api_version=version, longest=longest,
                    foreign=connection.is_foreign, list_headers=headers,
                    key_variable=(connection.key and connection.key.variable) or KEY_VARIABLE)


def _lack(connection: Connection) -> str:
    """Reason why a connection cannot be opened, with the fix; empty if it can."""
    address = connection.address
    if connection.withheld and (connection.named_by or connection.azure):
        return (f"the key {connection.withheld} does not go to {without_user(address.value)}, which "
                f"{address.origin.value} names; set both in one place, or give the address yourself (--base-url)")
    if connection.key:
        return ""
    provider, named = connection.provider, connection.named_by
    if provider and (named is None or named.value in provider.keys):
        needs = provider.needs_key and not (is_loopback(address.value) or has_user(address.value))
        return _key_missing_text(provider) if needs else ""
    if connection.named_by:
        return f"the environment variable {connection.named_by.value} that holds the key of this model is not set"
    if connection.azure:
        return f"{AZURE_URL_VARIABLE} is set, but no key for it; set {AZURE_KEY_VARIABLE}"
    return NO_MODEL if address.origin is Origin.DEFAULT else ""


def _key_missing_text(provider: Provider) -> str:
    return (f"{' or '.join(provider.keys)} is not set, which holds the key for the provider {provider.name}; set it, "
            f"e.g. export {provider.keys[0]}=…, or name another variable as the model's `key_env`")


def refuse_strangers(connection: Connection, allowed: frozenset[Origin]) -> None:
    """Raise ConsentMissing for a connection that names something by the word of a stranger whom the user has not
    allowed it."""
    if missing := connection.strangers - allowed:
        who = " and ".join(sorted(origin.value for origin in missing))
        raise ConsentMissing(f"{connection}: {who} may name this only with your consent; `chatdev trust` shows it and "
                             "takes your consent")


# Endpoint of a model: its address and its hidden key.

LONGEST_REPLY = 3600.0  # seconds; a small model may write for half an hour
OPENAI = "https://api.openai.com/v1"
_SERVER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]:\\]+)(?::\d*)?")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask. `api_version` makes it an Azure endpoint. `grammar`: the server is llama.cpp.
    `concurrency`: requests under way at a time. `timeout`: seconds without a byte. `longest`: seconds for a whole
    reply, however it trickles in. Raises ConfigError when the address or the key can be none."""

    url: str | None
    key: str = field(repr=False)
    api_version: str | None = None
    grammar: bool = False
    concurrency: int = 64
    timeout: float = 600.0
    longest: float = LONGEST_REPLY
    foreign: bool = False
    """Whether a stranger names it, with the user's consent: the headers that the user's environment adds to every
    request (OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID) stay out."""
    key_variable: str = KEY_VARIABLE
    """Where the key is from, for whoever has to correct it."""
    list_headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Further headers of a request for its list of models; `{key}` stands for the key."""

    def __post_init__(self) -> None:
        keep_secret(self.key)
        keep_address(self.url or "")
        if self.url is not None and not _is_address(self.url):
            raise ConfigError(f"{self.url!r} is no address of a model server; it begins with http:// or https:// and "
                              "names a host, e.g. http://localhost:8000/v1")
        if odd := next((n for n, letter in enumerate(self.key, start=1) if not "!" <= letter <= "~"), None):
            raise ConfigError(f"character {odd} of the model's key can be in no key (blanks, line ends, quotes of a "
                              "word processor); copy the key again")

    def __repr__(self) -> str:
        return f"Endpoint({self.shown_address})"

    @property
    def shown_address(self) -> str:
        """The address without what may be secret in it."""
        return without_user(self.url or OPENAI)

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(self.url or OPENAI)

    @property
    def address(self) -> str | None:
        """The address as requests and their logs have it: without the user and the password, which `user` gives."""
        if self.url is None or self.user is None:
            return self.url
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def user(self) -> tuple[str, str] | None:
        """User and password of the address, for servers that want them."""
        parts = urlsplit(self.url or "")
        return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (bool(re.fullmatch(r"https?://\S+", url)) and url.isprintable() and port != 0
            and bool(_SERVER.fullmatch(parts.netloc.rpartition("@")[2])) and _is_known_to_the_client(url))


def _is_known_to_the_client(url: str) -> bool:
    """Whether what sends the requests can read the address; of plain letters it reads what we read."""
    if url.isascii():
        return True
    from yarl import URL

    try:
        return URL(url).host == urlsplit(url).hostname
    except ValueError:
        return False


def key_header(endpoint: Endpoint) -> dict[str, str]:
    """The header that the key goes in; none without a key, or where the address has a user."""
    if not endpoint.key or endpoint.user:
        return {}
    return {"api-key": endpoint.key} if endpoint.api_version else {"Authorization": f"Bearer {endpoint.key}"}
