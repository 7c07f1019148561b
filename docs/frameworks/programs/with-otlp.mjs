// npm install @opentelemetry/api@1.10.0 @opentelemetry/sdk-node@0.301.0
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'

const sdk = new NodeSDK() // reads the OTEL_ variables
sdk.start()
const tracer = trace.getTracer('weather')

/** Runs `work` within a span, which ends with it and says when it failed. */
function inSpan(name, attributes, work) {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span)
    } catch (error) {
      span.recordException(error)
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
      throw error
    } finally {
      span.end()
    }
  })
}

const getWeather = (city) =>
  inSpan(
    'execute_tool get_weather',
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.arguments': JSON.stringify({ city }),
    },
    (span) => {
      const celsius = { Oslo: 7, Lisbon: 19 }[city]
      if (celsius === undefined) throw new RangeError(`no weather for ${city}`)
      span.setAttribute('gen_ai.tool.call.result', JSON.stringify({ celsius }))
      return celsius
    },
  )

const askModel = (question, celsius) =>
  inSpan(
    'chat gpt-4o-mini',
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.input.messages': JSON.stringify([
        { role: 'user', parts: [{ type: 'text', content: `${question} It is ${celsius} degrees.` }] },
      ]),
    },
    (span) => {
      const text = `It is ${celsius} degrees, take a jacket.` // put the call of your model here
      span.setAttributes({
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: [{ type: 'text', content: text }], finish_reason: 'stop' },
        ]),
        'gen_ai.usage.input_tokens': 18,
        'gen_ai.usage.output_tokens': 9,
      })
      return text
    },
  )

const answer = (question, city) =>
  inSpan(
    'invoke_agent weather',
    {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather',
      'gen_ai.conversation.id': 'conversation-1',
      'user.id': 'ada',
      'metadata.tenant': 'blue',
      'input.value': question,
    },
    async (span) => {
      const text = await askModel(question, await getWeather(city))
      span.setAttribute('output.value', text)
      return text
    },
  )

for (const city of ['Oslo', 'Lisbon', 'Atlantis'])
  await answer(`What do I wear in ${city}?`, city).then(console.log, (error) => console.log('failed:', error.message))

await sdk.shutdown() // sends what is still waiting
