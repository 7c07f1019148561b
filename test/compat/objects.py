"""Publishes datasets, objects and ops with the published Weave SDK and prints what a second client reads back, as one JSON line."""
import json
import sys

import weave

project = sys.argv[1]
client = weave.init(project)


@weave.op
def double(x: int) -> int:
    return 2 * x


class Settings(weave.Object):
    name: str
    ratio: float
    notes: list


class Wrapper(weave.Object):
    inner: Settings
    label: str


def rows(count: int) -> list:
    return [{"i": i, "half": i / 2, "text": f"row {i} é", "nested": {"even": i % 2 == 0}} for i in range(count)]


small = weave.Dataset(name="small", rows=rows(10))
large = weave.Dataset(name="large", rows=rows(10_000))
refs = {
    "small": weave.publish(small),
    "large": weave.publish(large),
    "plain": weave.publish({"a": 1, "b": [1.0, 2.5, None], "c": "héllo \U0001f600"}, name="plain"),
    "op": weave.publish(double, name="double"),
}
settings_ref = weave.publish(Settings(name="settings", ratio=1.0, notes=["x", {"y": 2}]), name="settings")
refs["settings"] = settings_ref
refs["wrapper"] = weave.publish(Wrapper(inner=settings_ref.get(), label="outer"), name="wrapper")
first = {name: ref.uri for name, ref in refs.items()}
again = {
    "small": weave.publish(weave.Dataset(name="small", rows=rows(10))).uri,
    "large": weave.publish(weave.Dataset(name="large", rows=rows(10_000))).uri,
    "plain": weave.publish({"c": "héllo \U0001f600", "b": [1.0, 2.5, None], "a": 1}, name="plain").uri,
}
changed = weave.publish({"a": 2}, name="plain")
client.flush()
client.finish()

reader = weave.init(project)
small_read = weave.ref(first["small"]).get()
large_read = weave.ref(first["large"]).get()
small_rows = [dict(row) for row in small_read.rows]
large_rows = [dict(row) for row in large_read.rows]
row_ref = small_read.rows[3].ref
extended = small_read.add_rows([{"i": 10, "half": 5.0, "text": "new", "nested": {"even": True}}])
extended_ref = weave.publish(extended, name="small")
versions = [v for v in reader._objects() if v.object_id == "plain"]
wrapper = weave.ref(first["wrapper"]).get()
report = {
    "first": first,
    "again": again,
    "small_rows": json.loads(json.dumps(small_rows, default=dict)),
    "large_count": len(large_read.rows),
    "large_ok": [row["i"] for row in large_rows] == list(range(10_000)),
    "row_ref": row_ref.uri if row_ref else None,
    "row_by_ref": json.loads(json.dumps(dict(row_ref.get()), default=dict)) if row_ref else None,
    "extended": len(weave.ref(extended_ref.uri).get().rows),
    "plain": json.loads(json.dumps(dict(weave.ref(first["plain"]).get()), default=list)),
    "op": weave.ref(first["op"]).get()(21),
    "settings": [wrapper.inner.name, wrapper.inner.ratio, wrapper.label],
    "notes": json.loads(json.dumps(list(weave.ref(first["settings"]).get().notes), default=dict)),
    "versions": [[v.version_index, v.is_latest, v.digest == changed.digest] for v in versions],
}
reader.delete_object_version(weave.ref(changed.uri))
try:
    reader.get(weave.ref(changed.uri))
    report["deleted"] = "found"
except Exception as error:
    report["deleted"] = str(error)
reader.flush()
print(json.dumps(report))
