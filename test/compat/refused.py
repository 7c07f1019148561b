"""Traces calls, in two bursts, with the published Weave SDK; prints how long that took as one JSON line."""
import json
import sys
import time

import weave

project, first, second = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
client = weave.init(project)


@weave.op
def work(n: int) -> int:
    return n + 1


began = time.monotonic()
results = []
for burst in (range(first), range(first, first + second)):
    results += [work(n) for n in burst]
    client.flush()
client.finish()
print(json.dumps({"seconds": time.monotonic() - began, "results": len(results)}))
