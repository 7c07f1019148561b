# pip install openai-agents==0.24.0 openinference-instrumentation-openai-agents==2.6.0 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
from agents import Agent, Runner, function_tool
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)


@function_tool
def get_weather(city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    return {"celsius": 7}


agent = Agent(name="weather", model="gpt-4o-mini", tools=[get_weather])

with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
    print(Runner.run_sync(agent, "How warm is it in Oslo?").final_output)

provider.shutdown()  # sends what is still waiting
