"""Sends metrics with the published exporter over gRPC and prints how that ended and what it logged as one JSON line.

otlp_metrics.py <host:port> <project>
"""
import json
import logging
import sys

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

endpoint, project = sys.argv[1:3]
lines = []


class Kept(logging.Handler):
    def emit(self, record):
        lines.append(record.getMessage())


logging.getLogger().addHandler(Kept(logging.WARNING))
# The authority comes from OTEL_EXPORTER_OTLP_CERTIFICATE.
exporter = OTLPMetricExporter(
    endpoint=f"https://{endpoint}", headers=(("authorization", "Bearer test-key"), ("project_id", project))
)
provider = MeterProvider(metric_readers=[PeriodicExportingMetricReader(exporter)])
provider.get_meter("test").create_counter("requests").add(1)
flushed = provider.force_flush()
provider.shutdown()
print(json.dumps({"flushed": flushed, "lines": lines}))
