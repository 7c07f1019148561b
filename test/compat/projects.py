"""Asks for the stored bytes of a project with the published Weave SDK and prints what it sees as one JSON line."""
import json
import sys

import weave
from weave.vendor.weave_server_sdk import APIStatusError

project = sys.argv[1]
client = weave.init(project)
server = client.server


def sizes(**asked) -> list:
    stats = server.project_stats({"project_id": project, **asked})
    return [
        stats.trace_storage_size_bytes,
        stats.objects_storage_size_bytes,
        stats.tables_storage_size_bytes,
        stats.files_storage_size_bytes,
    ]


@weave.op
def double(x: int) -> int:
    return 2 * x


before = sizes()
double(21)
weave.publish(weave.Dataset(name="rows", rows=[{"i": i} for i in range(3)]))
client.flush()
after = sizes()
files = server.files_stats({"project_id": project}).total_size_bytes


def refused(call) -> list:
    try:
        call()
    except APIStatusError as fault:
        return [fault.status_code, fault.response.json()["reason"]]
    return []


print(
    json.dumps(
        {
            "before": before,
            "after": after,
            "only_files": sizes(
                include_trace_storage_size=False, include_object_storage_size=False, include_table_storage_size=False
            ),
            "files": files,
            "retention": server.project_ttl_settings_read({"project_id": project}).retention_days,
            "scored": refused(
                lambda: server.calls_score({"project_id": project, "call_ids": ["x"], "scorer_refs": ["y"]})
            ),
        }
    )
)
