"""What looks like a secret, by its name and its value, and that nothing else is taken for one."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.safe_text import (
    PLACEHOLDER,
    NameSign,
    is_secret,
    keep_address,
    keep_secret,
    keep_variables,
    name_sign,
    scrub,
)

GENERATED = "q7Zx0pLm4vB9nT2wK8sR"
HEX = "9f86d081884c7d659a2feaa0c55ad015"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
SECRETS = [
    ("OPENAI_API_KEY", "sk-proj-a1b2c3d4e5f6g7h8"), ("OPENAI_API_KEY", "sk-a-key-that-nobody-may-see"),
    ("apiKey", GENERATED), ("API_KEYS", GENERATED), ("api-key", GENERATED), ("APIKEY", HEX), ("KEY", GENERATED),
    ("GITHUB_TOKEN", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"), ("githubToken", GENERATED), ("TOKEN1", GENERATED),
    ("SLACK_TOKEN", "xoxb-123456789012-abcDEF"), ("DB_PASSWORD", "hunter2-and-more"), ("PGPASSWORD", "s3cretPg!"),
    ("MYSQL_PWD", "x9!kk2#aa"), ("SMTP_PASS", "Tr0ub4dor&3"), ("PASSPHRASE", "correct horse battery staple"),
    ("DB_PASSWORD", "correct-horse-battery-staple"), ("BACKUP_PASSWORD", "my dog is called Rex1"),
    ("DJANGO_SECRET", "django-insecure-x7$k2"), ("AWS_SECRET_ACCESS_KEY", "/K7MDENG9bPxRfiCYzEXAMPLEwJalrXUtnFEMI0"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE9q"), ("AWS_ACCESS_KEY_ID", "AKIA1234567890ABCDEF"),
    ("STRIPE_KEY_LIVE", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"), ("SIGNING_KEY_PROD", GENERATED), ("JWT", JWT),
    ("OPENAIKEY", GENERATED), ("NPM_AUTH", "v4lue-of-npm"), ("SESSION_COOKIE", "v4lue-of-cookie"),
    ("AZURE_CREDENTIALS", GENERATED), ("MY_SECRETS", "letmein-please-9"), ("EDITOR", "ghp_" + "a1B2" * 8),
    ("OPENAI", "sk-proj-a1b2c3d4e5f6g7h8"), ("SESSION", JWT), ("DEPLOY", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
    ("ACCESS_TOKEN", "xkqPzmWvbnQy"), ("ROOT_PASSWORD", "wkzmtrplqx"), ("TOKEN", "12345678901234567890"),
    ("SECRET_KEY", "550e8400-e29b-41d4-a716-446655440000"), ("ACME_TOKEN", "tok-planted-5t4r3e2w1q"),
    ("SSHPASS", "letmein-please-9"), ("FTPPASS", "hunter2-and-more"), ("STOREPASS", "x9!kk2#aa"),
    ("SLACK", f"https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/{GENERATED}"),
    ("ALERTS", f"https://discord.com/api/webhooks/112233445566778899/{GENERATED}{GENERATED}"),
    ("ALERTS", f"https://discordapp.com/api/v10/webhooks/112233445566778899/{GENERATED}"),
    ("TEAMS", f"https://acme.webhook.office.com/webhookb2/{HEX}@{HEX}/IncomingWebhook/{HEX}/{HEX}"),
    ("FLOW", f"https://prod-07.westus.logic.azure.com:443/workflows/{HEX}/triggers/manual/paths/invoke?sig={GENERATED}"),
    ("CHAT", f"https://chat.googleapis.com/v1/spaces/AAAA/messages?key=AIza{GENERATED}&token={GENERATED}"),
    ("MATTERMOST_URL", f"https://chat.example.org/hooks/{HEX}"), ("N8N", f"https://n8n.example.org/webhook/{HEX}"),
    ("MAKE", f"https://hook.eu1.make.com/{HEX}"), ("IFTTT", f"https://maker.ifttt.com/trigger/door/with/key/{GENERATED}"),
    ("TELEGRAM", f"1234567890:AAH{GENERATED}{GENERATED[:12]}"),
    ("TELEGRAM_URL", f"https://api.telegram.org/bot1234567890:AAH{GENERATED}{GENERATED[:12]}/sendMessage"),
    ("BOT", f"MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.{GENERATED}{GENERATED[:8]}"),
]
OTHERS = [
    ("MONKEY", "import sys"), ("MONKEY", "capuchin-of-the-zoo"), ("TURKEY", "Ankara and Istanbul"),
    ("HOTKEY", "ctrl+shift+p"), ("HOTKEY", "KEY_F12_PRESSED"), ("KEYBOARD_LAYOUT", "pc105-de-nodeadkeys"),
    ("KEYMAP", "de-latin1-nodeadkeys"), ("PASSAGE", GENERATED), ("COMPASS", "north-by-northwest"),
    ("TOKENIZERS_PARALLELISM", "true-for-all"), ("MAX_TOKENS", "4096000000"), ("TOKEN_LIMIT", "100000000"),
    ("PASSWORD_FILE", "/run/secrets/db_password"), ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXabQ1Zz/agent.4711"),
    ("SSH_KEY", "/home/ann/.ssh/id_ed25519"), ("SSH_KEY", "~/.ssh/id_ed25519_2024"), ("TLS_KEY", "server-2024.key"),
    ("SIGNING_KEY", "keys/release-signing.pem"), ("PRIMARY_KEY", "customer_identifier"), ("SORT_KEY", "created_at_2"),
    ("CACHE_KEY", "user_profile_v2_settings"), ("PUBLIC_KEY", "id_rsa_of_everybody"), ("KEY", "some_module.attribute"),
    ("API_KEY", "your-openai-api-key-goes-here"), ("API_KEY", "replace_me_with_your_key"), ("API_KEY", "not-needed"),
    ("API_KEY", "lm-studio"), ("API_KEY", "changeme"), ("API_KEY", "xxxxxxxxxxxxxxxxxxxxxxxx"),
    ("PASSWORD", "****************"), ("PASSWORD", "password"), ("PASSWORD", "import os, sys"),
    ("PASSWORD", "print('hello world')"), ("PASSWORD", "short7!"), ("SECRET", "development"), ("SECRET", "1234567890"),
    ("TOKEN", "localhost:8080"), ("TOKEN", "127.0.0.1:5432"), ("TOKEN", "2024-01-31T10:00:00Z"),
    ("TOKEN", "v1.22.3-beta.1"), ("TOKEN", "1.2.3.4.5.6.7"), ("TOKEN", "https://login.example.com/start"),
    ("BASIC_AUTH", "enabled for all of them"), ("COOKIE", "accepted_by_everybody"), ("PWD", "hunter2-and-more"),
    ("OLDPWD", "not-a-word-7-9"), ("AUTH", "not-needed-7-9"), ("PASS", "through-7-9-11"), ("DB_PASSWORD", "postgres"),
    ("GIT_COMMIT", HEX), ("INVOCATION_ID", HEX), ("LS_COLORS", "rs=0:di=01;34:ln=01;36"), ("LANG", "en_US.UTF-8"),
    ("AUTHOR", "Ann B. Example"), ("KEYCLOAK_URL", "https://id.example.com/auth"), ("SECRETARY", "Ann B. Example 7"),
    ("PATH", "/usr/local/bin:/usr/bin"), ("DATABASE", "postgres://localhost/app"), ("TOKEN_URL", "https://x.org/tok"),
    ("NODE_ENV", "production"), ("SECRET_NAME", "prod/database/main"), ("KEY_ID", "release-2024-01"),
    ("BYPASS", "hunter2-and-more"), ("WEBHOOK_URL", "https://example.com/webhooks/orders"),
    ("DOCS", "https://discord.com/api/webhooks/"), ("HOOKS", "https://example.com/hooks/after-deploy"),
    ("TENANT", f"https://login.example.com/{HEX}/oauth2/token"), ("RATIO", "12345678:90"),
]


@pytest.mark.parametrize(("name", "value"), SECRETS)
def test_what_looks_like_a_secret_is_one(name: str, value: str) -> None:
    assert is_secret(value, name_sign(name))


@pytest.mark.parametrize(("name", "value"), OTHERS)
def test_what_does_not_look_like_a_secret_is_none(name: str, value: str) -> None:
    assert not is_secret(value, name_sign(name))


PROGRAM = """\
import os
import sys
from dataclasses import dataclass, field

API_KEY = os.environ.get("API_KEY", "your-api-key-here")
DATABASE_URL = "postgresql://postgres:postgres@localhost:5432/app"
SORT_KEY = "created_at_timestamp"


@dataclass(frozen=True)
class Customer:
    customer_identifier: int
    keys: list[str] = field(default_factory=list)


def main() -> None:
    # the key of a customer, the password that he sets, the token of the session
    if len(sys.argv) < 2:
        print("usage: main.py FILE", file=sys.stderr)
    with open("/etc/hosts", encoding="utf-8") as file:
        print(file.read().strip() or "localhost:8080", "v1.22.3-beta.1", 1234567890)


if __name__ == "__main__":
    main()
"""
NAMES = sorted({name for name, _ in (*SECRETS, *OTHERS)})
VALUES = [value for _, value in OTHERS if value not in ("hunter2-and-more", GENERATED, HEX)]


@given(st.dictionaries(st.sampled_from([name for name in NAMES if name_sign(name) <= NameSign.DOUBTFUL]),
                       st.sampled_from([*VALUES, *PROGRAM.splitlines(), PROGRAM])),
       st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*re.findall(r"[A-Za-z]{,15}", PROGRAM), "import sys"])))
def test_no_ordinary_variable_changes_a_program(doubtful: dict[str, str], sure: dict[str, str]) -> None:
    keep_variables(doubtful)
    keep_variables(sure)
    assert scrub(PROGRAM) == PROGRAM


def test_the_password_that_everybody_has_is_none() -> None:
    keep_address("postgresql://postgres:postgres@localhost:5432/app")
    assert scrub(PROGRAM) == PROGRAM


@pytest.mark.parametrize(("name", "value", "secret"), [
    ("AUTHORIZATION", "Bearer v4lue-behind-bearer", "v4lue-behind-bearer"),
    ("COOKIE", "theme=dark; sid=q7Zx0pLm4vB9nT2wK8sZ", "q7Zx0pLm4vB9nT2wK8sZ"),
    ("GCP_CREDENTIALS", '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhki'
                        'G9w0BAQEFAASC\\n"}', "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"),
    ("GCP_CREDENTIALS", '{"nested": {"client_secret": "v4lue-of-the-client"}}', "v4lue-of-the-client"),
])
def test_the_secret_within_a_longer_value_is_known(name: str, value: str, secret: str) -> None:
    keep_variables({name: value})
    assert secret not in scrub(f"<{secret}>")


def test_a_field_of_an_address_counts_by_its_words() -> None:
    keep_variables({"A": "https://zoo/?monkey=capuchin-brown-7&api_key=v4lue-of-a-field&sig=v4lue-of-a-signature"})
    shown = scrub("capuchin-brown-7 v4lue-of-a-field v4lue-of-a-signature")
    assert shown == f"capuchin-brown-7 {PLACEHOLDER} {PLACEHOLDER}"


@pytest.mark.parametrize("piece", ["a", "a.", "a-", "A1", "sk-", "eyJ", "a/", "=", "{", "1", "a="])
def test_a_long_value_takes_no_time(piece: str) -> None:
    started = time.process_time()
    for sign in NameSign:
        is_secret(piece * 50_000, sign)
    name_sign(piece * 50_000)
    keep_secret(f"{piece * 10_000} x", NameSign.KEY)
    assert time.process_time() - started < 1
