"""Takes an annotation queue through its life with the published Weave SDK; prints one JSON line."""
import json
import sys

import weave

client = weave.init(sys.argv[1])


@weave.op
def greet(name: str) -> str:
    return "hello " + name


spec = weave.publish(weave.AnnotationSpec(name="quality", field_schema={"type": "integer"}))
queue_id = client.create_annotation_queue(name="To review", scorer_refs=[spec.uri()], description="Be kind")
other_id = client.create_annotation_queue(name="Another", scorer_refs=[])

calls = [greet.call(name)[1] for name in ["a", "b", "c"]]
ids = [call.id for call in calls]
shown = {"ids": ids, "ref": spec.uri()}


def added(response):
    return [response.added_count, response.duplicates]


def queue(found):
    return {
        "name": found.name,
        "description": found.description,
        "scorer_refs": found.scorer_refs,
        "by": found.created_by,
        "changed": found.updated_at > found.created_at,
        "deleted": found.deleted_at is not None,
    }


# the calls are flushed by this very call
shown["added"] = [
    added(client.add_calls_to_annotation_queue(queue_id, call_ids=ids[:2], display_fields=["inputs.name", "output"])),
    added(client.add_calls_to_annotation_queue(queue_id, call_ids=[*ids, "unknown"], display_fields=[])),
]
shown["read"] = queue(client.get_annotation_queue(queue_id))
shown["listed"] = [found.name for found in client.list_annotation_queues()]
shown["found"] = [found.id == queue_id for found in client.list_annotation_queues(name="REVIEW", limit=5)]
by_name = [{"field": "name", "direction": "asc"}]
shown["sorted"] = [found.name for found in client.list_annotation_queues(sort_by=by_name)]

items = client.list_annotation_queue_items(queue_id, include_position=True)
shown["items"] = [
    [i.call_id, i.annotation_state, i.position_in_queue, i.display_fields, i.call_ended_at is not None] for i in items
]
shown["op"] = items[0].call_op_name == calls[0].op_name and items[0].call_trace_id == calls[0].trace_id


def progress(n, state):
    done = client.server.annotator_queue_items_progress_update(
        {
            "project_id": client.project_id,
            "queue_id": queue_id,
            "item_id": items[n].id,
            "annotation_state": state,
        }
    )
    return [done.item.annotation_state, done.item.annotator_user_id]


shown["progress"] = [progress(0, "in_progress"), progress(0, "completed"), progress(1, "skipped")]
try:
    progress(0, "in_progress")
except Exception as error:
    shown["refused"] = getattr(error, "status_code", None) or getattr(error.response, "status_code", None)

feedback = client.server.feedback_create(
    {
        "project_id": client.project_id,
        "weave_ref": calls[0].ref.uri,
        "feedback_type": "wandb.annotation.quality",
        "annotation_ref": spec.uri(),
        "queue_id": queue_id,
        "payload": {"value": 5},
    }
)
client.flush()
shown["feedback"] = [[f.queue_id == queue_id, f.payload] for f in client.get_feedback(feedback.id)]

unstarted = client.list_annotation_queue_items(queue_id, filter={"annotation_states": ["unstarted"]}, include_position=True)
shown["unstarted"] = [[i.call_id, i.position_in_queue] for i in unstarted]
stats = client.get_annotation_queue_stats([queue_id, other_id, "nope"])
shown["stats"] = [[s.total_items, s.completed_items] for s in stats]

shown["renamed"] = queue(client.update_annotation_queue(queue_id, name="Reviewed", description=""))
shown["gone"] = queue(client.delete_annotation_queue(queue_id))
shown["left"] = [found.name for found in client.list_annotation_queues()]
shown["kept"] = len(client.list_annotation_queue_items(queue_id))
try:
    client.get_annotation_queue(queue_id)
except Exception as error:
    shown["missing"] = getattr(error, "status_code", None) or getattr(error.response, "status_code", None)
print(json.dumps(shown))
