"""Asks for completions with the published Weave SDK: whole, streamed, and by a structured model with a prompt."""
import json
import sys

import weave
from weave.flow.llm_structured_model import LLMStructuredCompletionModel

client = weave.init(sys.argv[1])
project_id = sys.argv[1]
messages = [{"role": "user", "content": "Hi {name}"}]
inputs = {"model": "coreweave/small", "messages": messages, "template_vars": {"name": "Ann"}}

whole = client.server.completions_create(req={"project_id": project_id, "inputs": inputs, "track_llm_call": True})
failed = client.server.completions_create(
    req={"project_id": project_id, "inputs": {"model": "nobody", "messages": messages}, "track_llm_call": True}
)
chunks = list(
    client.server.completions_create_stream(
        req={"project_id": project_id, "inputs": {**inputs, "model": "coreweave/streamed"}, "track_llm_call": True}
    )
)
prompt = weave.publish(weave.MessagesPrompt([{"role": "system", "content": "Greet {name}"}]), name="greeting")
model = LLMStructuredCompletionModel(
    llm_model_id="coreweave/small", default_params={"prompt": prompt.uri(), "temperature": 0.5, "response_format": "text"}
)
predicted = model.predict(user_input=[{"role": "user", "content": "Hello {name}"}], name="Bob")
client.flush()
call = client.get_call(whole.weave_call_id)
streamed = client.get_call(chunks[0]["_meta"]["weave_call_id"])

print(
    json.dumps(
        {
            "whole": whole.response["choices"][0]["message"]["content"],
            "failed": failed.response.get("error"),
            "text": "".join(c["choices"][0]["delta"].get("content", "") for c in chunks[1:] if c.get("choices")),
            "predicted": getattr(predicted, "content", predicted),
            "op": call.op_name,
            "output": call.output["choices"][0]["message"]["content"],
            "usage": call.summary["usage"]["coreweave/small"]["total_tokens"],
            "streamed": streamed.output["choices"][0]["message"]["content"],
        }
    )
)
