# pip install litellm==1.110.2 openinference-instrumentation-litellm==0.1.51 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
import litellm
from openinference.instrumentation import using_attributes
from openinference.instrumentation.litellm import LiteLLMInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LiteLLMInstrumentor().instrument(tracer_provider=provider)

messages = [{"role": "user", "content": "How warm is it in Oslo?"}]
with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
    reply = litellm.completion(model="openai/gpt-4o-mini", messages=messages)
    print(reply.choices[0].message.content)

provider.shutdown()  # sends what is still waiting
