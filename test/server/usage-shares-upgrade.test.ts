// An installation whose spans came before shares were kept: once everything is counted again each token counts once.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'upgrade/shares'
const startedMs = Date.UTC(2026, 9, 5, 12)
const traceId = 'ab'.repeat(16)
const ids = ['a', 'b'].map((digit) => digit.repeat(16))
let server: LiveServer

const spanOf = (id: string, parentSpanId: string | undefined, kind: string, atMs: number) => ({
  traceId,
  spanId: id,
  ...(parentSpanId && { parentSpanId }),
  name: kind,
  kind: 1,
  startTimeUnixNano: String(atMs * 1e6),
  endTimeUnixNano: String((atMs + 1) * 1e6),
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: kind } },
    { key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o' } },
    { key: 'gen_ai.usage.input_tokens', value: { intValue: 100 } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: 10 } },
  ],
})

async function tokens(): Promise<number | null | undefined> {
  const { groups } = await server.send<{ groups: { total: Record<string, number | null> }[] }>('/calls/aggregate', {
    project_id,
    start: new Date(startedMs - 3_600_000).toISOString(),
    end: new Date(startedMs + 7_200_000).toISOString(),
    metrics: [{ field: 'input_tokens', as: 'sum' }],
  })
  return groups[0]?.total['input_tokens.sum']
}

beforeAll(async () => {
  server = await startLiveServer()
  const [root, leaf] = ids as [string, string]
  const spans = [spanOf(root, undefined, 'invoke_agent', startedMs), spanOf(leaf, root, 'chat', startedMs + 60_000)]
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, { project_id })
  expect(await tokens()).toBe(100)
  await server.now().worker?.rollups.refresh()
  // As the version before left it: no shares, and statistics that were counted without them.
  const run = (sql: string) => server.now().store.command({ name: 'test', sql, params: {} })
  await run('TRUNCATE TABLE callhouse.usage_shares')
  await run("ALTER TABLE callhouse.rollups DELETE WHERE name = 'call_stats_calls_by_op' SETTINGS mutations_sync = 2")
  await server.restart()
})
afterAll(() => server?.remove())

it('counts stored spans once all are counted again', async () => {
  await server.now().worker?.rollups.refresh()
  expect(await tokens()).toBe(100)
  const usage = await server.send<{ call_usage: Record<string, Record<string, { prompt_tokens: number }>> }>(
    '/calls/usage',
    { project_id, call_ids: [ids[0]] },
  )
  expect(usage.call_usage[ids[0] ?? '']?.['gpt-4o']?.prompt_tokens).toBe(100)
  const rows = await server.now().store.rows<{ n: number }>({
    name: 'test',
    sql: 'SELECT toFloat64(count()) AS n FROM callhouse.usage_shares FINAL WHERE nested = 1',
    params: {},
  })
  expect(rows).toEqual([{ n: 1 }])
})
