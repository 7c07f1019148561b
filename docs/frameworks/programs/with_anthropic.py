# pip install anthropic==2.14.0 openinference-instrumentation-anthropic==3.1.0 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
from anthropic import Anthropic
from openinference.instrumentation import TracerProvider, using_attributes
from openinference.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
AnthropicInstrumentor().instrument(tracer_provider=provider)
tracer = provider.get_tracer("weather")

client = Anthropic()
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"name": "get_weather", "description": "The temperature in a city.", "input_schema": schema}]


@tracer.tool
def get_weather(city: str) -> dict:
    return {"celsius": 7}


@tracer.chain
def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=500, messages=messages, tools=tools)
        if reply.stop_reason != "tool_use":
            return reply.content[0].text
        messages.append({"role": "assistant", "content": reply.content})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": str(get_weather(**block.input))}
            for block in reply.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
    print(answer("How warm is it in Oslo?"))

provider.shutdown()  # sends what is still waiting
