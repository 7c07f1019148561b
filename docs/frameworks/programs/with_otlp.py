# pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
import json

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("weather")


def get_weather(city):
    with tracer.start_as_current_span("execute_tool get_weather") as span:
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", "get_weather")
        span.set_attribute("gen_ai.tool.call.arguments", json.dumps({"city": city}))
        celsius = {"Oslo": 7, "Lisbon": 19}[city]  # an unknown city is a KeyError
        span.set_attribute("gen_ai.tool.call.result", json.dumps({"celsius": celsius}))
        return celsius


def ask_model(question, celsius):
    with tracer.start_as_current_span("chat gpt-4o-mini") as span:
        asked = [{"role": "user", "parts": [{"type": "text", "content": f"{question} It is {celsius} degrees."}]}]
        text = f"It is {celsius} degrees, take a jacket."  # put the call of your model here
        answered = [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}]
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.provider.name", "openai")
        span.set_attribute("gen_ai.request.model", "gpt-4o-mini")
        span.set_attribute("gen_ai.input.messages", json.dumps(asked))
        span.set_attribute("gen_ai.output.messages", json.dumps(answered))
        span.set_attribute("gen_ai.usage.input_tokens", 18)
        span.set_attribute("gen_ai.usage.output_tokens", 9)
        return text


def answer(question, city):
    with tracer.start_as_current_span("invoke_agent weather") as span:
        span.set_attribute("gen_ai.operation.name", "invoke_agent")
        span.set_attribute("gen_ai.agent.name", "weather")
        span.set_attribute("gen_ai.conversation.id", "conversation-1")
        span.set_attribute("user.id", "ada")
        span.set_attribute("metadata.tenant", "blue")
        span.set_attribute("input.value", question)
        text = ask_model(question, get_weather(city))
        span.set_attribute("output.value", text)
        return text


for city in ("Oslo", "Lisbon", "Atlantis"):
    try:
        print(answer(f"What do I wear in {city}?", city))
    except KeyError as error:
        print("failed:", error)

provider.shutdown()  # sends what is still waiting
