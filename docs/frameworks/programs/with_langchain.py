# pip install langchain==1.5.2 langchain-openai==1.7.4 openinference-instrumentation-langchain==0.1.80 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
from langchain.agents import create_agent
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LangChainInstrumentor().instrument(tracer_provider=provider)


def get_weather(city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    return {"celsius": 7}


agent = create_agent("openai:gpt-4o-mini", tools=[get_weather], name="weather")

with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
    state = agent.invoke({"messages": [{"role": "user", "content": "How warm is it in Oslo?"}]})
    print(state["messages"][-1].content)

provider.shutdown()  # sends what is still waiting
