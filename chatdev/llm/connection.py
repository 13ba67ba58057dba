"""Address and key of a model, each with its origin: the one place where keys and addresses meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from chatdev.errors import ConsentMissing, MissingModel
from chatdev.llm.endpoint import OPENAI, Endpoint
from chatdev.origins import Origin, Sourced, has_user, is_loopback, may_send, without_user

LOCAL = "local"
URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
AZURE_URL_VARIABLE, AZURE_KEY_VARIABLE = "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"
_AZURE_VERSION = "2024-10-21"

NO_MODEL = """no model can be reached. Do one of these:
  - set OPENAI_API_KEY (and --model NAME), for OpenAI;
  - set OPENAI_BASE_URL or --base-url, for any OpenAI-compatible server;
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

    @property
    def is_local_model(self) -> bool:
        """Whether the model runs on this machine, from a file."""
        return self.address.value.partition(":")[0] == LOCAL

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

    def connect(self, address: Sourced | None, key_env: Sourced | None) -> Connection:
        """The connection to an address (None: what the variables say, else OpenAI) with the key in `key_env` (None:
        the usual ones). Nothing is sent."""
        azure = None if key_env else self._azure(address)
        if azure:
            return self._with_key(azure, None, (AZURE_KEY_VARIABLE, KEY_VARIABLE), azure=True)
        if address is None:
            address = next(self.of(URL_VARIABLE), Sourced(OPENAI, Origin.DEFAULT))
        return self._with_key(address, key_env, (key_env.value if key_env else KEY_VARIABLE,))

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

    def _with_key(self, address: Sourced, key_env: Sourced | None, variables: Sequence[str], *,
                  azure: bool = False) -> Connection:
        belongs_to = Origin.DEFAULT if is_official(address.value) else address.origin
        keys = [Key(name, one.origin, one.value) for name in variables for one in self.of(name)]
        if self._given and not key_env:
            keys.insert(0, self._given)
        key = next((key for key in keys if may_send(key.origin, belongs_to, named=key_env is not None)), None)
        return Connection(address, key, key_env, withheld=None if key or not keys else keys[0], azure=azure)


def open_endpoint(connection: Connection, api_version: str | None, longest: float) -> Endpoint:
    """The endpoint of a connection. Raises MissingModel where the key is missing that it needs."""
    if lack := _lack(connection):
        raise MissingModel(lack)
    address = None if connection.address.origin is Origin.DEFAULT else connection.address.value
    version = (api_version or _AZURE_VERSION) if connection.azure else None
    return Endpoint(address, connection.key.value if connection.key else "", api_version=version, longest=longest,
                    foreign=connection.is_foreign)


def _lack(connection: Connection) -> str:
    """Reason why a connection cannot be opened, with the fix; empty if it can."""
    address = connection.address
    if connection.withheld and (connection.named_by or connection.azure):
        return (f"the key {connection.withheld} does not go to {without_user(address.value)}, which "
                f"{address.origin.value} names; set both in one place, or give the address yourself (--base-url)")
    if connection.key:
        return ""
    if connection.named_by:
        return f"the environment variable {connection.named_by.value} that holds the key of this model is not set"
    if connection.azure:
        return f"{AZURE_URL_VARIABLE} is set, but no key for it; set {AZURE_KEY_VARIABLE}"
    return NO_MODEL if address.origin is Origin.DEFAULT else ""


def refuse_strangers(connection: Connection, allowed: frozenset[Origin]) -> None:
    """Raise ConsentMissing for a connection that names something by the word of a stranger whom the user has not
    allowed it."""
    if missing := connection.strangers - allowed:
        who = " and ".join(sorted(origin.value for origin in missing))
        raise ConsentMissing(f"{connection}: {who} may name this only with your consent; `chatdev trust` shows it and "
                             "takes your consent")
