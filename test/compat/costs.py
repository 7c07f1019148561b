"""Prices models and reads costs with the published Weave SDK, and prints what it sees as one JSON line."""
import datetime
import json
import sys

import weave

project = sys.argv[1]
client = weave.init(project)


@weave.op
def answer(model: str) -> dict:
    return {"model": model, "usage": {"prompt_tokens": 120, "completion_tokens": 3, "total_tokens": 123}}


early = datetime.datetime(2023, 1, 1, tzinfo=datetime.timezone.utc)
late = datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc)
first = client.add_cost("own-model", 0.001, 0.002, effective_date=early, provider_id="me")
second = client.add_cost("own-model", 9, 9, effective_date=late)
other = client.add_cost("other-model", 5, 6, cache_read_input_token_cost=0.5, cache_creation_input_token_cost=0.25)

answer("own-model")
answer("unpriced-model")
answer("gpt-4o")
client.flush()


def shown(cost) -> dict:
    return {
        "id": cost.id,
        "llm_id": cost.llm_id,
        "prices": [
            cost.prompt_token_cost,
            cost.completion_token_cost,
            cost.cache_read_input_token_cost,
            cost.cache_creation_input_token_cost,
        ],
        "provider": cost.provider_id,
        "year": cost.effective_date.year,
    }


def costs() -> list:
    calls = client.get_calls(include_costs=True, sort_by=[{"field": "started_at", "direction": "asc"}])
    return [call.summary["weave"].get("costs") for call in calls]


ids = [pair[0] for result in (first, second, other) for pair in result.ids]
report = {
    "ids": ids,
    "models": [pair[1] for result in (first, second, other) for pair in result.ids],
    "all": [shown(cost) for cost in client.query_costs()],
    "one": [cost.id for cost in client.query_costs(ids[1])],
    "of_model": [cost.id for cost in client.query_costs(llm_ids=["own-model"], limit=10)],
    "page": [cost.id for cost in client.query_costs(offset=1, limit=1)],
    "costs": costs(),
    "plain": ["costs" in call.summary["weave"] for call in client.get_calls()],
}
client.purge_costs(ids[0])
report["after_one"] = costs()[0]["own-model"]["prompt_tokens_total_cost"]
client.purge_costs(ids[1:])
report["after_all"] = costs()[0]
report["left"] = len(client.query_costs())
print(json.dumps(report))
