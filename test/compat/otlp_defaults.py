"""Sends spans and log records with the published exporters, set up by the variables of OpenTelemetry alone, and prints
the ids of the spans as one JSON line.

otlp_defaults.py <count>
"""
import json
import logging
import os
import sys

from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

if os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

errors = []


class Kept(logging.Handler):
    def emit(self, record):
        errors.append(record.getMessage())


# A flush does not say that an exporter has given up, its log does.
kept = Kept(logging.ERROR)
logging.getLogger("opentelemetry").addHandler(kept)
traced, logged = TracerProvider(), LoggerProvider()
traced.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
logged.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
tracer = traced.get_tracer("client")
logger = logging.getLogger("client")
logger.setLevel(logging.INFO)
logger.addHandler(LoggingHandler(logger_provider=logged))
print("ready", flush=True)
sys.stdin.readline()
ids = []
for n in range(int(sys.argv[1])):
    span = tracer.start_span("chat", attributes={"gen_ai.prompt": "x" * 100})
    ids.append(format(span.get_span_context().span_id, "016x"))
    span.end()
    logger.info("record %d", n)
errors += [] if traced.force_flush(60_000) else ["spans"]
errors += [] if logged.force_flush(60_000) else ["logs"]
traced.shutdown()
logged.shutdown()
print(json.dumps({"errors": errors, "ids": ids}))
