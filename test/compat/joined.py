"""Publishes objects and a dataset, calls an op with refs to them, gives feedback; reads it all through get_calls."""
import json
import sys

import weave

client = weave.init(sys.argv[1])


@weave.op
def judge(example: dict, settings: dict) -> dict:
    return {"settings": settings}


inner = weave.publish({"temp": 0.7, "label": "warm"}, "inner")
settings = weave.publish({"size": 3, "child": inner.uri}, "settings")
small = weave.publish({"size": 1}, "small")
rows = weave.publish(weave.Dataset(name="examples", rows=[{"q": "one", "score": 10}, {"q": "two", "score": 2.5}]))
examples = list(weave.ref(rows.uri).get())

calls = []
for example, ref in zip(examples, [settings, small]):
    _, call = judge.call(example, weave.ref(ref.uri).get())
    calls.append(call)
client.flush()
for call, grade in zip(calls, [0.25, 0.75]):
    call.feedback.add("grade", {"value": grade})
    call.feedback.add_reaction("\U0001f44d")
client.flush()

names = {call.id: name for call, name in zip(calls, "ab")}
field = lambda name: {"$getField": name}
literal = lambda value: {"$literal": value}


def read(expr=None, **more):
    query = None if expr is None else {"$expr": expr}
    found = client.get_calls(query=query, **{"sort_by": [{"field": "started_at", "direction": "asc"}], **more})
    return "".join(names[c.id] for c in found), len(found)


def plain(value):
    if hasattr(value, "items"):
        return {k: plain(v) for k, v in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


expand = ["inputs.settings", "inputs.settings.child", "inputs.example"]
shown = client.server.calls_query_stream(
    {
        "project_id": client.project_id,
        "filter": {"call_ids": [c.id for c in calls]},
        "expand_columns": expand,
        "return_expanded_column_values": True,
        "sort_by": [{"field": "started_at", "direction": "asc"}],
        "columns": ["inputs"],
    }
)
report = {
    "expanded": [plain(dict(c.inputs)) for c in shown],
    "deep": read({"$gt": [field("inputs.settings.child.temp"), literal(0.5)]}, expand_columns=expand),
    "row": read({"$eq": [field("inputs.example.q"), literal("two")]}, expand_columns=expand),
    "sorted": read(
        expand_columns=expand,
        return_expanded_column_values=False,
        sort_by=[{"field": "inputs.example.score", "direction": "asc"}],
    ),
    "unlisted": read({"$eq": [field("inputs.example.q"), literal("two")]}),
    "values": [
        plain(c.inputs["settings"]["size"])
        for c in client.get_calls(
            expand_columns=expand,
            return_expanded_column_values=True,
            columns=["inputs"],
            sort_by=[{"field": "started_at", "direction": "asc"}],
        )
    ],
    "feedback": read({"$gt": [field("feedback.[grade].payload.value"), literal(0.5)]}),
    "reaction": read({"$eq": [field("feedback.[wandb.reaction.1].payload.alias"), literal(":thumbs_up:")]}),
    "best": read(sort_by=[{"field": "feedback.[grade].payload.value", "direction": "desc"}]),
    "both": read(
        {
            "$and": [
                {"$gt": [field("inputs.settings.size"), literal(2)]},
                {"$lt": [field("feedback.[grade].payload.value"), literal(0.5)]},
            ]
        },
        expand_columns=expand,
    ),
    "users": [c.wb_username for c in client.get_calls(include_usernames=True)],
}
print(json.dumps(report))
