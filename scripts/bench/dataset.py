"""Publishes a dataset of 10,000 rows with the published SDK and reads it back; prints the seconds as one JSON line."""
import json
import sys
import time

import weave

project, run = sys.argv[1:3]
client = weave.init(project)
count = 10_000
rows = [{"i": i, "run": run, "text": f"row {i} of the dataset", "score": i / 7, "nested": {"even": i % 2 == 0}} for i in range(count)]
began = time.perf_counter()
ref = weave.publish(weave.Dataset(name=f"set-{run}", rows=rows))
client.flush()
published = time.perf_counter() - began
client.finish()

weave.init(project)
began = time.perf_counter()
read = weave.ref(ref.uri).get()
found = [row["i"] for row in read.rows]
took = time.perf_counter() - began
assert found == list(range(count))
print(json.dumps({"publish": published, "read": took}))
