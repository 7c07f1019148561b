"""Makes an image with the published Weave SDK's client and reads what was stored of it; prints one JSON line."""
import hashlib
import json
import sys

import weave
from weave.trace.serialization.serialize import from_json

project = sys.argv[1]
client = weave.init(project)
made = client.server.image_create(
    {"project_id": project, "inputs": {"model": "dall-e-2", "prompt": "a cat", "n": 1}}
)
image = from_json(made.response["data"][0]["url"], project, client.server)
refused = client.server.image_create({"project_id": project, "inputs": {"model": "gemini/none", "prompt": "x"}})
call = client.get_call(made.weave_call_id)
shown = call.output["data"][0]["url"]
print(
    json.dumps(
        {
            "type": type(image).__name__,
            "size": image.size,
            "mimetype": image.mimetype,
            "whole": hashlib.sha256(image.data).hexdigest() == image.digest,
            "refused": [refused.response["error"], refused.weave_call_id],
            "op": call.op_name,
            "in_call": [type(shown).__name__, shown.data == image.data],
            "usage": made.response["usage"],
        }
    )
)
