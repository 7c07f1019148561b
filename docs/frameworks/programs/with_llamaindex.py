# pip install llama-index-core==0.14.25 llama-index-llms-openai==0.8.3 openinference-instrumentation-llama-index==4.6.1 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LlamaIndexInstrumentor().instrument(tracer_provider=provider)


def get_weather(city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    return {"celsius": 7}


agent = FunctionAgent(name="weather", llm=OpenAI(model="gpt-4o-mini"), tools=[get_weather], streaming=False)


async def main():
    with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
        print(await agent.run("How warm is it in Oslo?"))


asyncio.run(main())

provider.shutdown()  # sends what is still waiting
