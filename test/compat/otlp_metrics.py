"""Sends metrics with the published exporter over gRPC, set up by the variables of OpenTelemetry alone, and prints how
that ended and what it logged as one JSON line.
"""
import json
import logging

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

lines = []


class Kept(logging.Handler):
    def emit(self, record):
        lines.append(record.getMessage())


logging.getLogger().addHandler(Kept(logging.WARNING))
provider = MeterProvider(metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())])
provider.get_meter("test").create_counter("requests").add(1)
flushed = provider.force_flush()
provider.shutdown()
print(json.dumps({"flushed": flushed, "lines": lines}))
