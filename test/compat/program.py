"""Traces a small program with the published Weave SDK and prints what a second client reads back, as one JSON line."""
import asyncio
import json
import sys
import threading

import weave

project = sys.argv[1]
client = weave.init(project)


@weave.op
def add(a: int, b: int) -> int:
    return a + b


@weave.op
def outer(x: int) -> dict:
    return {"sum": add(x, 1), "float": 1.0, "big": 12345678901234567890, "text": "héllo \U0001f600"}


@weave.op
def fails() -> None:
    raise ValueError("boom")


@weave.op
async def later(n: int) -> int:
    await asyncio.sleep(0)
    return add(n, n)


@weave.op(accumulator=lambda seen, value: (seen or []) + [value])
def stream(n: int):
    for i in range(n):
        yield i


outer(1)
try:
    fails()
except ValueError:
    pass
asyncio.run(later(4))
list(stream(3))
thread = threading.Thread(target=lambda: add(100, 1))
thread.start()
thread.join()
with weave.thread("conversation-1"):
    add(7, 7)
with weave.attributes({"env": "test", "api_key": "secret-value"}):
    result, renamed = add.call(8, 8)
client.flush()
renamed.set_display_name("renamed call")
_, doomed = outer.call(50)
client.flush()
client.delete_call(doomed)
client.flush()

calls = list(client.get_calls(sort_by=[{"field": "started_at", "direction": "asc"}]))
by_id = {call.id: call for call in calls}
print(
    json.dumps(
        {
            "calls": [
                {
                    "op": call.op_name,
                    "name": call.func_name,
                    "display_name": call.display_name,
                    "inputs": {k: v for k, v in call.inputs.items()},
                    "output": call.output,
                    "exception": call.exception,
                    "parent": by_id[call.parent_id].func_name if call.parent_id in by_id else None,
                    "same_trace": call.parent_id is None or by_id[call.parent_id].trace_id == call.trace_id,
                    "thread": call.thread_id,
                    "attributes": {k: v for k, v in dict(call.attributes).items() if k in ("env", "api_key")},
                    "status": call.summary["weave"]["status"],
                    "ended": call.ended_at is not None,
                    "user": call.wb_user_id,
                }
                for call in calls
            ],
            "count": len(client.get_calls()),
            "page": [c.func_name for c in client.get_calls(limit=2, offset=1)],
            "one": client.get_call(calls[0].id).id == calls[0].id,
            "filtered": len(list(client.get_calls(filter={"trace_roots_only": True}))),
            "query": len(
                list(
                    client.get_calls(
                        query={"$expr": {"$eq": [{"$getField": "inputs.a"}, {"$literal": 7}]}},
                        columns=["inputs"],
                    )
                )
            ),
        }
    )
)
