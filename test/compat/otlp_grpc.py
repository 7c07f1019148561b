"""Sends spans with the published exporter over gRPC and prints how each batch ended as one JSON line.

otlp_grpc.py <host:port> <project> <batches> <spans per batch> <seconds per batch>
"""
import json
import os
import sys

from grpc import Compression
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

endpoint, project = sys.argv[1:3]
batches, size, seconds = (int(word) for word in sys.argv[3:])

# The authority comes from OTEL_EXPORTER_OTLP_CERTIFICATE.
exporter = OTLPSpanExporter(
    endpoint=f"https://{endpoint}",
    headers=(("authorization", "Bearer test-key"), ("project_id", project)),
    compression=Compression.Gzip,
    timeout=seconds,
)
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
tracer = provider.get_tracer("test")

results = []
ids = []
for batch in range(batches):
    for n in range(size):
        with tracer.start_as_current_span(f"batch {batch}", attributes={"gen_ai.prompt": "x" * 100, "n": n}):
            pass
    spans = kept.get_finished_spans()
    kept.clear()
    ids += [format(span.context.span_id, "016x") for span in spans]
    results.append(exporter.export(spans).name)
exporter.shutdown()
print(json.dumps({"results": results, "ids": ids}))
