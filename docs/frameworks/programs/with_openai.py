# pip install openai==3.57.0 openinference-instrumentation-openai==0.1.66 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
import json

from openai import OpenAI
from openinference.instrumentation import TracerProvider, using_attributes
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
OpenAIInstrumentor().instrument(tracer_provider=provider)
tracer = provider.get_tracer("weather")

client = OpenAI()
parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]


@tracer.tool
def get_weather(city: str) -> dict:
    return {"celsius": 7}


@tracer.chain
def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        message = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
    print(answer("How warm is it in Oslo?"))

provider.shutdown()  # sends what is still waiting
