# pip install "pydantic-ai-slim[openai]==2.68.0" opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent, InstrumentationSettings

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))

agent = Agent("openai:gpt-4o-mini", name="weather")


@agent.tool_plain
def get_weather(city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    return {"celsius": 7}


print(agent.run_sync("How warm is it in Oslo?", conversation_id="conversation-1", metadata={"tenant": "blue"}).output)

provider.shutdown()  # sends what is still waiting
