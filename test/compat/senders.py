"""Sends one span with the published client of another product, set up as its users set it up, and prints its id.

senders.py <product> <base address> <gRPC address> <key> <project name>
"""
import os
import sys

product, base, grpc, key, project = sys.argv[1:6]


def provider(processor):
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    made = TracerProvider()
    made.add_span_processor(processor)
    trace.set_tracer_provider(made)
    return made


def one_span(made):
    with made.get_tracer("client").start_as_current_span("chat", attributes={"gen_ai.prompt": "Hello?"}) as span:
        sent = format(span.get_span_context().span_id, "016x")
    made.force_flush()
    return sent


def langfuse():
    os.environ.update(LANGFUSE_BASE_URL=base, LANGFUSE_HOST=base, LANGFUSE_PUBLIC_KEY="any", LANGFUSE_SECRET_KEY=key)
    from langfuse import Langfuse

    client = Langfuse()
    with client.start_as_current_observation(name="chat", as_type="generation", model="gpt-test-1", input="Hello?") as span:
        span.update(
            output="Hi.",
            usage_details={"input": 20, "output": 8, "cache_read_input_tokens": 5},
            cost_details={"input": 0.001, "output": 0.002, "total": 0.003},
        )
        sent = span.id
    client.flush()
    return sent


def phoenix(endpoint, protocol):
    os.environ.update(PHOENIX_API_KEY=key)
    from phoenix.otel import register

    return one_span(register(endpoint=endpoint, protocol=protocol, project_name=project, batch=False, verbose=False))


def logfire():
    import logfire as client

    client.configure(token=key, advanced=client.AdvancedOptions(base_url=base), console=False, inspect_arguments=False)
    with client.span("chat", **{"gen_ai.prompt": "Hello?"}) as span:
        sent = format(span.context.span_id, "016x")
    client.force_flush()
    return sent


def langsmith():
    os.environ.update(LANGSMITH_ENDPOINT=base, LANGSMITH_API_KEY=key, LANGSMITH_PROJECT=project)
    from langsmith.integrations.otel import OtelSpanProcessor

    return one_span(provider(OtelSpanProcessor()))


def braintrust():
    os.environ.update(BRAINTRUST_API_URL=base, BRAINTRUST_API_KEY=key, BRAINTRUST_PARENT=f"project_name:{project}")
    from braintrust.otel import BraintrustSpanProcessor

    return one_span(provider(BraintrustSpanProcessor()))


def langwatch():
    os.environ.update(LANGWATCH_ENDPOINT=base, LANGWATCH_API_KEY=key)
    import langwatch as client
    from opentelemetry import trace

    client.setup()
    return one_span(trace.get_tracer_provider())


def exporter(path, headers):
    """The exporter that products without one of their own tell their users to set up."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    os.environ.update(OTEL_EXPORTER_OTLP_ENDPOINT=base + path, OTEL_EXPORTER_OTLP_HEADERS=headers)
    return one_span(provider(SimpleSpanProcessor(OTLPSpanExporter())))


products = {
    "langfuse": langfuse,
    "phoenix": lambda: phoenix(f"{base}/v1/traces", "http/protobuf"),
    "phoenix over gRPC": lambda: phoenix(f"http://{grpc}", "grpc"),
    "logfire": logfire,
    "langsmith": langsmith,
    "braintrust": braintrust,
    "langwatch": langwatch,
    "opik": lambda: exporter(
        "/api/v1/private/otel", f"Authorization={key},Comet-Workspace=default,projectName={project.replace(' ', '%20')}"
    ),
    "mlflow": lambda: exporter("", f"Authorization=Bearer%20{key},x-mlflow-experiment-id=17"),
}
print('"' + products[product]() + '"')
