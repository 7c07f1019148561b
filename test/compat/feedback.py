"""Gives feedback to a call with the published Weave SDK, reads it back and purges it; prints one JSON line."""
import json
import sys

import weave

client = weave.init(sys.argv[1])


@weave.op
def greet(name: str) -> str:
    return "hello " + name


_, call = greet.call("a")
_, other = greet.call("b")
client.flush()

reaction = call.feedback.add_reaction("\U0001f44d\U0001f3fd")
note = call.feedback.add_note("well done")
custom = call.feedback.add("custom", {"score": 1.5, "big": 123456789012345678901})
other.feedback.add_reaction("\U0001f44d")
client.flush()

items = list(call.feedback)
shown = {
    "ids": [reaction, note, custom],
    "listed": [
        {"id": f.id, "type": f.feedback_type, "payload": f.payload, "ref": f.weave_ref, "user": f.wb_user_id}
        for f in items
    ],
    "ref": call.ref.uri,
    "reactions": len(list(client.get_feedback(reaction="\U0001f44d\U0001f3fd"))),
    "all": len(list(client.get_feedback())),
    "one": [f.feedback_type for f in client.get_feedback(note)],
    "page": len(list(client.get_feedback(limit=2))),
}
read = list(client.get_calls(include_feedback=True, sort_by=[{"field": "started_at", "direction": "asc"}]))
shown["included"] = [[f["feedback_type"] for f in c.summary["weave"]["feedback"]] for c in read]

call.feedback.purge(note)
client.flush()
shown["left"] = [f.feedback_type for f in client.get_call(call.id).feedback]
print(json.dumps(shown))
