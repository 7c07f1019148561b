# pip install crewai==1.15.30 openinference-instrumentation-crewai==1.1.21 openinference-instrumentation-openai==0.1.66 opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
from crewai import Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation import using_attributes
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
CrewAIInstrumentor().instrument(tracer_provider=provider)
OpenAIInstrumentor().instrument(tracer_provider=provider)


@tool
def get_weather(city: str) -> str:
    """The temperature in a city."""
    return "7 degrees Celsius"


reporter = Agent(
    role="weather reporter",
    goal="say how warm it is",
    backstory="You measure before you answer.",
    llm="openai/gpt-4o-mini",
    tools=[get_weather],
)
task = Task(description="How warm is it in {city}?", expected_output="one sentence", agent=reporter)
crew = Crew(name="weather", agents=[reporter], tasks=[task])

with using_attributes(session_id="session-1", user_id="ada", metadata={"tenant": "blue"}):
    print(crew.kickoff(inputs={"city": "Oslo"}))

provider.shutdown()  # sends what is still waiting
