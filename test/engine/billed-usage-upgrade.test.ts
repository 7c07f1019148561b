// An installation from before bills were kept: costs are right at once, and come from statistics once all are recounted.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import type { Store } from '../../services/core/store/store.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, start } from '../fixtures/call-world.ts'

const shipped = new URL('../../clickhouse/migrations/', import.meta.url).pathname
const added = '0022_billed_usage.sql'
const dir = mkdtempSync(join(tmpdir(), 'callhouse-upgrade-'))
const migrationsDir = join(dir, 'migrations')
let store: Store
let world: CallWorld

const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
const model = 'claude-old'
/** 9,000 that were not cached, 5,000 read, 200 written: 14,200 x 0.001 would be billed too little or too much. */
const counts = {
  input_tokens: 9000,
  cache_read_input_tokens: 5000,
  cache_creation_input_tokens: 200,
  output_tokens: 10,
}
const ended = {
  usage: [{ model, requests: 0, input: 9000, output: 10, total: 0, cacheRead: 5000, cacheWrite: 200 }],
  summary: JSON.stringify({ usage: { [model]: counts } }),
}

beforeAll(async () => {
  mkdirSync(migrationsDir)
  // The table of keys, seconds of dirty buckets and columns of masking too: the worker of today reads and writes them.
  const ofToday = (file: string) => file.endsWith('_call_keys.sql') || file.endsWith('_dirty_seconds.sql')
  for (const file of readdirSync(shipped).filter((one) => one < added || ofToday(one)))
    cpSync(join(shipped, file), join(migrationsDir, file))
  store = await createEmbeddedStore({
    dir,
    memoryCapBytes: 2 ** 30,
    queryTimeoutMs: 20_000,
    queryMemoryBytes: 2 ** 28,
    migrationsDir,
  })
  await store.migrate()
  await run('ALTER TABLE callhouse.calls_in ADD COLUMN mask UInt32, ADD COLUMN mask_hits UInt16')
  const remove = async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
  world = await createCallWorld({ made: { store, remove } })
  // One whole, one in two parts, in two hours.
  await world.apply([complete('a', { startedUs: baseUs, ...ended })])
  await world.apply([start('b', { startedUs: baseUs + 3600e6 })])
  await world.apply([end('b', { endedUs: baseUs + 7200e6, ...ended })])
  // Statistics as the release before made them: token sums, and nothing of bills.
  for (const [unit, seconds] of [
    ['Minute', 60],
    ['Hour', 3600],
  ])
    await run(`INSERT INTO callhouse.call_stats (project_id, seconds, bucket, root, revision, calls, usage_model, usage_top,
        usage_points, usage_input_sum, usage_output_sum, usage_total_sum, usage_cache_read_sum, usage_cache_write_sum)
      SELECT project_id, ${seconds}, toStartOf${unit}(started_at), 1, 1, 1, ['${model}'], [1], [1], [9000], [10], [0], [5000], [200]
      FROM callhouse.calls FINAL`)
  await run(`INSERT INTO callhouse.rollups (name, partition, position, revision)
    SELECT arrayJoin(['call_stats', 'call_counts']), 0, 3, 1`)
  await run(`INSERT INTO callhouse.costs_in (project_id, id, clock, event, llm_id, provider_id, prompt_token_cost,
      completion_token_cost, cache_read_input_token_cost, cache_creation_input_token_cost)
    SELECT 'ent/proj', 'p', 1, 'created', '${model}', 'default', 0.003, 0.015, 0.0003, 0.00375`)
  cpSync(shipped, migrationsDir, { recursive: true })
  await store.migrate()
})
afterAll(() => world.remove())

const times = { start: baseUs / 1e6, end: baseUs / 1e6 + 7200, granularity: 3600 }
async function sums(metric: string): Promise<(number | null)[]> {
  world.statements.length = 0
  const { json } = await world.ask('/calls/stats', { ...times, usage_metrics: [{ metric }] })
  return (json as { usage_buckets: Record<string, number>[] }).usage_buckets.map((row) => row[`sum_${metric}`] ?? null)
}
/** 9,000 x 0.003 + 10 x 0.015 + 5,000 x 0.0003 + 200 x 0.00375 */
const bill = expect.closeTo(27 + 0.15 + 1.5 + 0.75, 9)

it('costs are right before anything is recounted, while tokens still come from the statistics', async () => {
  expect(await sums('total_cost')).toEqual([bill, bill])
  expect(world.statements).not.toContain('call-stats.usage-rolled')
  expect(await sums('input_tokens')).toEqual([9000, 9000])
  expect(world.statements).toContain('call-stats.usage-rolled')
  const [line] = await world.list({ include_costs: true, filter: { call_ids: ['b'] } })
  expect(line?.summary.weave.costs[model].prompt_tokens_total_cost).toBeCloseTo(27, 9)
})

it('costs come from the statistics once all of them are recounted', async () => {
  await world.refresh()
  expect(await sums('total_cost')).toEqual([bill, bill])
  expect(world.statements).toContain('call-stats.usage-rolled')
  await world.apply([complete('c', { startedUs: baseUs + 60e6, ...ended })])
  expect(await sums('total_cost')).toEqual([expect.closeTo(2 * 29.4, 9), bill])
})
