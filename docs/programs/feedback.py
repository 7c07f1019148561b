# pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
import json
import os
import urllib.request

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
key = os.environ["KEY"]
project = "acme/demo"

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("weather")


def answer(question):
    """The text, and the id of the call: your application keeps it with the text."""
    with tracer.start_as_current_span("answer") as span:
        span.set_attribute("input.value", question)
        span.set_attribute("output.value", "It is 7 degrees.")
        return "It is 7 degrees.", format(span.get_span_context().span_id, "016x")


def give_feedback(call_id, feedback_type, payload):
    body = {
        "project_id": project,
        "weave_ref": f"weave:///{project}/call/{call_id}",
        "feedback_type": feedback_type,
        "payload": payload,
    }
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(f"{url}/feedback/create", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["id"]


text, call_id = answer("How warm is it in Oslo?")
give_feedback(call_id, "wandb.reaction.1", {"emoji": "👍"})
give_feedback(call_id, "wandb.note.1", {"note": "The user came back and said thanks."})
give_feedback(call_id, "app.rating", {"stars": 4})  # a type of your own
print(text)

provider.shutdown()  # sends what is still waiting
