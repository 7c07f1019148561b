// Traces without a root that were over before they were sent: their topmost spans are listed as soon as they are readable, until
// a parent or a root comes.
import { beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/old-orphans'
let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const span = (traceId: string, name: string, parent: string, agoMs: number) => {
  const beganNs = BigInt(Date.now() - agoMs) * 1_000_000n
  return aSpan({
    traceId,
    spanId: `00000000000000${name}`,
    ...(parent && { parentSpanId: `00000000000000${parent}` }),
    startTimeUnixNano: String(beganNs),
    endTimeUnixNano: String(beganNs + 1_000_000_000n),
  })
}
const send = async (...spans: ReturnType<typeof span>[]) =>
  expect(await server.send('/otel/v1/traces', aRequest(spans), { project_id })).toEqual({})

const listed = async (trace: string) => {
  const filter = { trace_roots_only: true, trace_ids: [trace] }
  const body = { project_id, filter, columns: ['id'] }
  const records = await server.list<{ id: string; is_orphan?: true }>('/calls/stream_query', body)
  return records.map(({ id, is_orphan }) => `${id.slice(-2)}${is_orphan ? ' orphan' : ''}`).sort()
}

it('are listed at once, and give way to a parent and to a root', async () => {
  const trace = 'a1'.repeat(16)
  await send(span(trace, '0b', '0a', 120_000), span(trace, '0c', 'ff', 118_000))
  await expectSoon(() => listed(trace)).toEqual(['0b orphan', '0c orphan'])
  await send(span(trace, '0a', 'fe', 121_000))
  await expectSoon(() => listed(trace)).toEqual(['0a orphan', '0c orphan'])
  await send(span(trace, 'ff', '', 125_000))
  await expectSoon(() => listed(trace)).toEqual(['ff'])
})

it.each([
  ['young', 'a2', 2_000],
  ['imported', 'a4', 7_200_000],
])('are not listed at once where their spans are %s', async (_, id, agoMs) => {
  const trace = id.repeat(16)
  await send(span(trace, '0b', '0a', agoMs))
  // The trace of the first test comes by the same way, later.
  const other = id.replace('a', 'b').repeat(16)
  await send(span(other, '0b', '0a', 120_000))
  await expectSoon(() => listed(other)).toEqual(['0b orphan'])
  expect(await listed(trace)).toEqual([])
})
