"""Asks a provider with OpenAI's client under its published instrumentation: spans and log records go out over gRPC, set
up by the variables of OpenTelemetry. Prints the ids of the spans as one JSON line.

openai_events.py <url of the provider>
"""
import json
import sys

from openai import OpenAI
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

traced, logged, kept = TracerProvider(), LoggerProvider(), InMemorySpanExporter()
traced.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
traced.add_span_processor(SimpleSpanProcessor(kept))
logged.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
set_logger_provider(logged)
OpenAIInstrumentor().instrument(tracer_provider=traced, logger_provider=logged)

client = OpenAI(base_url=sys.argv[1], api_key="none")
tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]
asked = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": "How warm is it in Oslo?"}]
call = client.chat.completions.create(model="tool-model", messages=asked, tools=tools).choices[0].message
told = {"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": "7 degrees"}
client.chat.completions.create(model="answer-model", messages=[*asked, call.model_dump(exclude_none=True), told])
stream = client.chat.completions.create(
    model="stream-model", messages=asked[1:], stream=True, stream_options={"include_usage": True}
)
for _ in stream:
    pass
traced.shutdown()
logged.shutdown()
print(json.dumps([format(span.context.span_id, "016x") for span in kept.get_finished_spans()]))
