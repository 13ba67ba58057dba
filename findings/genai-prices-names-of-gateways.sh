#!/usr/bin/env bash
# Guess: a model is found by the name that gateways give it, `VENDOR/MODEL`, and the tag of an Ollama model is unknown.
# Seen, genai-prices 0.2.3: `openai/gpt-4o` is no model without a provider, and `deepseek-r1:8b`, which runs on a laptop,
# has the price of DeepSeek's API.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check genai-prices==0.2.3
cat > names.py <<'PY'
from genai_prices import Usage, calc_price

usage = Usage(input_tokens=1_000_000, output_tokens=0)


def price(name):
    try:
        return str(calc_price(usage, name).total_price)
    except LookupError:
        return "not found"


found = {name: price(name) for name in ("gpt-4o", "openai/gpt-4o", "claude-sonnet-4-5", "anthropic/claude-sonnet-4.5",
                                        "deepseek-r1:8b")}
for name, what in found.items():
    print(f"{name}: {what}")
assert found["gpt-4o"] != "not found" and found["claude-sonnet-4-5"] != "not found"
assert found["openai/gpt-4o"] == found["anthropic/claude-sonnet-4.5"] == "not found", "names of gateways are found now"
assert found["deepseek-r1:8b"] != "not found", "the tag is unknown now"
PY
venv/bin/python names.py
