"""The budget of a run: its limits as the user gave them, the prices it needs, and what earlier sessions spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, TypeVar

from pydantic import ValidationError

from chatdev.config.phases import Limits
from chatdev.config.profiles import ModelProfile, profile_for
from chatdev.config.schema import CompanyConfig
from chatdev.engine.activity import Replied, result_from_json
from chatdev.engine.budget import Spending
from chatdev.engine.context import RoleModel
from chatdev.errors import ConfigError, JournalError
from chatdev.paths import settings_file
from chatdev.runner.options import RunOptions

N = TypeVar("N", int, float)


def read_limits(options: RunOptions) -> Limits:
    """The run's limits. Raises ConfigError for one that is none."""
    given = {"calls": options.max_calls, "tokens": options.max_tokens, "cost": options.max_cost,
             "minutes": options.max_minutes}
    try:
        return Limits.model_validate(given)
    except ValidationError as error:
        lines = [f"max_{e['loc'][0]}: {e['msg'][:1].lower()}{e['msg'][1:]} (given: {e['input']!r})"
                 for e in error.errors()]
        raise ConfigError("\n".join(lines)) from None


def refuse_unpriced(role_models: Mapping[tuple[str, str], RoleModel], limits: Limits, company: CompanyConfig) -> None:
    """Raise ConfigError when a cost is limited and the price of a model that counts in it is unknown."""
    for (phase, _), role_model in role_models.items():
        own = company.phases[phase].budget.cost is not None
        if role_model.profile.price is None and (own or limits.cost is not None):
            what = f"phases.{phase}.budget.cost" if own else "--max-cost"
            raise ConfigError(_price_missing_text(role_model.sampling.model, what))


def _price_missing_text(model: str, what: str) -> str:
    return (f"{what} needs the price of every model, and that of {model!r} is unknown. Write it into {settings_file()}"
            f" (US dollars per million tokens):\n  models:\n    - match: [{model!r}]\n"
            "      price: {prompt: 1.0, completion: 4.0}\nor limit calls, tokens or minutes instead")


def sum_past_spending(records: Iterable[Mapping[str, Any]], profiles: Sequence[ModelProfile] = ()) -> Spending:
    """Spending of the sessions in a journal, for the one that resumes the run: every live call and the time of each
    session.

    A call without a known cost is priced by the profile its model has now. A session that was killed left no time of
    its own; the time of its calls stands for it. Its last calls may have no event yet; they are in its activities.
    """
    total, unfinished = Spending(), 0.0
    without_event: dict[str, Spending] = {}
    for record in records:
        match record["kind"]:
            case "Activity" if not record.get("copied") and (spent := _activity_spending(record, profiles)):
                without_event[record["place"]] = spent
            case "ModelCalled" | "ToolCalled" if not record.get("replayed"):
                unfinished += _at_least_nothing(record["seconds"])
                if record["kind"] == "ModelCalled":
                    without_event.pop(record["place"], None)
                    total += _call_spending(record, profiles)
            case "RunStarted":  # the session before was killed, if anything is left of it
                total, unfinished = total + Spending(seconds=unfinished), 0.0
            case "RunFinished":
                total, unfinished = total + Spending(seconds=_at_least_nothing(record["seconds"])), 0.0
    return sum(without_event.values(), total + Spending(seconds=unfinished))


def _activity_spending(record: Mapping[str, Any], profiles: Sequence[ModelProfile]) -> Spending | None:
    """Spending of a model's reply; None for other activities."""
    result = result_from_json(record["result"])
    if not isinstance(result, Replied):
        return None
    usage = result.reply.usage
    profile = profile_for(result.reply.model or record["request"]["sampling"]["model"], profiles)
    cost = profile.cost(usage.prompt_tokens, usage.completion_tokens)
    tokens = _at_least_nothing(usage.prompt_tokens) + _at_least_nothing(usage.completion_tokens)
    return Spending(1, tokens, cost, _at_least_nothing(result.seconds))


def _call_spending(record: Mapping[str, Any], profiles: Sequence[ModelProfile]) -> Spending:
    tokens = _at_least_nothing(record["prompt_tokens"]), _at_least_nothing(record["completion_tokens"])
    cost = record.get("cost")
    return Spending(1, sum(tokens), profile_for(record["model"], profiles).cost(*tokens) if cost is None
                    else _at_least_nothing(cost))


def _at_least_nothing(spent: N) -> N:
    """The amount, if it can have been spent. Raises JournalError for a negative or infinite one."""
    if not 0 <= spent < inf:
        raise JournalError(f"the journal says that {spent} was spent, which is no amount; it is damaged")
    return spent
