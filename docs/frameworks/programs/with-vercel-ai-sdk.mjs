// npm install ai@7.0.173 @ai-sdk/openai@4.0.118 @ai-sdk/otel@1.0.173 zod@4.6.7 @opentelemetry/sdk-node@0.301.0
import { openai } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { generateText, isStepCount, registerTelemetry, tool } from 'ai'
import { z } from 'zod'

const sdk = new NodeSDK() // reads the OTEL_ variables
sdk.start()
registerTelemetry(
  new OpenTelemetry({
    agentSpanName: 'functionId',
    enrichSpan: ({ runtimeContext = {} }) => ({
      'user.id': runtimeContext.userId,
      'session.id': runtimeContext.sessionId,
      'metadata.tenant': runtimeContext.tenant,
    }),
  }),
)

const { text } = await generateText({
  model: openai('gpt-4o-mini'),
  prompt: 'How warm is it in Oslo?',
  tools: {
    getWeather: tool({
      description: 'The temperature in a city, in degrees Celsius.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, celsius: 7 }),
    }),
  },
  stopWhen: isStepCount(5),
  runtimeContext: { userId: 'ada', sessionId: 'session-1', tenant: 'blue' },
  telemetry: { functionId: 'weather', includeRuntimeContext: { userId: true, sessionId: true, tenant: true } },
})
console.log(text)

await sdk.shutdown() // sends what is still waiting
