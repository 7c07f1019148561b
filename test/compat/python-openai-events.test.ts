// tier: deep compat
// The published OpenTelemetry instrumentation of OpenAI's client, live: its messages come as log records beside the spans,
// and the calls hold both.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import {
  answerJson,
  answerStream,
  chunk,
  completion,
  type FakeProvider,
  startFakeProvider,
  usageChunk,
} from '../fixtures/fake-provider.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { pythonEnvironment, runProgram } from '../fixtures/python.ts'

const version = '2.4b0'
const { python, install } = pythonEnvironment(`openai-v2-${version}`, [
  `opentelemetry-instrumentation-openai-v2==${version}`,
  'opentelemetry-util-genai==0.4b0',
  'openai==3.57.0',
  'httpx==0.28.1',
  'opentelemetry-sdk==1.45.2',
  'opentelemetry-exporter-otlp-proto-grpc==1.45.2',
])
const dir = mkdtempSync(join(tmpdir(), 'callhouse-openai-events-'))
let server: LiveServer
let provider: FakeProvider
beforeAll(async () => {
  await install()
  server = await startLiveServer(['--otlp-grpc-port', '0'])
  provider = await startFakeProvider()
  const tool_calls = [{ id: 'call-1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }]
  const asks = { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls } }
  provider.on('tool-model', answerJson({ ...completion('tool-model'), choices: [asks] }))
  provider.on('answer-model', answerJson(completion('answer-model', 'It is 7 degrees.')))
  const pieces = ['It is ', '7 degrees.'].map((content) => chunk('stream-model', { role: 'assistant', content }))
  provider.on('stream-model', answerStream([...pieces, chunk('stream-model', {}, 'stop'), usageChunk('stream-model')]))
}, 300_000)
afterAll(async () => {
  await provider?.close()
  await server?.remove()
  rmSync(dir, { recursive: true, force: true })
})

type Call = { id: string; inputs: unknown; output: unknown; summary: { usage: object } }

/** Settings for sending messages with the instrumentation, and the names under which calls hold them then. */
const ways = {
  'a record of each message': { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' },
  'one record of all details': {
    OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENT_ONLY',
    OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT: 'true',
  },
}

describe(`the instrumentation of OpenAI's client ${version}`, () => {
  it.each(Object.entries(ways))('sends %s, and each call holds its messages', async (way, env) => {
    const project_id = `python/events-${Object.keys(ways).indexOf(way)}`
    const ids = await runProgram<string[]>(python, 'openai_events.py', [provider.url], {
      HOME: dir,
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${server.now().otlp?.grpc}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20test-key,project_id=${project_id}`,
    })
    expect(ids).toHaveLength(3)
    await eventually(
      async () => {
        const sort_by = [{ field: 'started_at', direction: 'asc' }]
        const calls = await server.list<Call>('/calls/stream_query', { project_id, sort_by })
        expect(calls.map(({ id }) => id)).toEqual(ids)
        expect(calls.map(({ summary }) => Object.keys(summary.usage))).toEqual([
          ['tool-model'],
          ['answer-model'],
          ['stream-model'],
        ])
        const [asking, answering, streaming] = calls.map(({ inputs, output }) => JSON.stringify([inputs, output]))
        for (const text of [asking, answering, streaming]) expect(text).toContain('How warm is it in Oslo?')
        for (const text of [asking, answering]) expect(text).toContain('Answer briefly.')
        for (const text of [asking, answering]) expect(text).toMatch(/call-1.*weather|weather.*call-1/)
        for (const text of [answering, streaming]) expect(text).toContain('It is 7 degrees.')
        expect(answering).toContain('7 degrees"')
      },
      { withinMs: 100_000, everyMs: 2_000 },
    )
  })
})
