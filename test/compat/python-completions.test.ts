// tier: deep compat
// The published Python SDK asks for completions: whole, streamed, and with a stored prompt.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, answerStream, chunk, completion, startFakeProvider } from '../fixtures/fake-provider.ts'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

const engine = await startFakeProvider()
beforeAll(() => {
  engine.on('small', answerJson(completion('small')))
  const delta = (content: string) => chunk('streamed', { content })
  engine.on('streamed', answerStream([delta('Hel'), delta('lo'), chunk('streamed', {}, 'stop')]))
})
afterAll(() => engine.close())

describe(`completions of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk, { CALLHOUSE_ENGINE_URL: engine.url })

  it('are answered and recorded', { timeout: 180_000 }, async () => {
    const report = await runPython<Record<string, unknown>>('completions.py', ['compat/python-completions'], server)
    expect(report).toEqual({
      whole: 'Hello',
      failed: 'The model nobody does not exist',
      text: 'Hello',
      predicted: 'Hello',
      op: 'weave.completions_create',
      output: 'Hello',
      usage: 5,
      streamed: 'Hello',
    })
    expect(engine.last().json).toEqual({
      model: 'small',
      temperature: 0.5,
      response_format: { type: 'text' },
      messages: [
        { role: 'system', content: 'Greet Bob' },
        { role: 'user', content: 'Hello Bob' },
      ],
    })
  })
})
