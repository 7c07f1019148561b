// Usage and statistics: our routes against SQL of the usual shape (parts grouped at read time, JSONExtract of the summary).
import type { Store } from '../../services/core/store/store.ts'
import { rollupTable } from '../../services/derived/rollups/rollup-table.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'
import type { ReadCase } from './reads-case.ts'

const traceCalls = 10_000
const trace = '01900000-0000-7000-8000-00000000aaaa'
const root = '019fffff-0000-7000-8000-000000000000'

/** One trace of 10,000 calls, each the parent of eight, a quarter of them with usage. */
export async function fillLargeTrace(store: Store, project: string, startedUs: number): Promise<void> {
  const idOf = (n: string) => `concat('019fffff-0000-7000-8000-', lower(leftPad(hex(${n}), 12, '0')))`
  const usage = (value: string, none = '[]') => `if(n % 4 = 2, [${value}], ${none})`
  await store.command({ name: 'bench.truncate', sql: 'TRUNCATE TABLE callhouse.calls_batch', params: {} })
  await store.command({
    name: 'bench.trace',
    params: { project, trace, startedUs, count: traceCalls },
    sql: `INSERT INTO callhouse.calls_in (* EXCEPT (mask, mask_hits))
SELECT '' AS _record, 'complete' AS kind, {project:String} AS project_id, ${idOf('n')} AS id,
    1832718374832718374 + n * 1024 AS clock, {startedUs:Int64} + n * 1000 AS started_us, started_us + 5000 AS ended_us,
    toInt64(0) AS payload_us, {trace:String} AS trace_id, if(n = 0, '', ${idOf('intDiv(n - 1, 8)')}) AS parent_id,
    '' AS thread_id, '' AS turn_id, 'step' AS op_name, 0 AS named, '' AS display_name, '' AS exception, 'bench' AS user_id,
    '' AS run_id, -1 AS run_step, -1 AS run_step_end, [] AS input_refs, [] AS output_refs, 0 AS error_count,
    ${usage("'gpt-4o'", '[]::Array(String)')} AS usage_model, ${usage('1')} AS usage_requests, ${usage('300')} AS usage_input,
    ${usage('100')} AS usage_output, ${usage('400')} AS usage_total, ${usage('0')} AS usage_cache_read,
    ${usage('0')} AS usage_cache_write, 0 AS start_bytes, 0 AS end_bytes, 0 AS odd, '{}' AS attributes, '{}' AS inputs,
    'null' AS output, if(n % 4 = 2, '{"usage":{"gpt-4o":{"requests":1,"prompt_tokens":300,"completion_tokens":100,"total_tokens":400}}}', '{}') AS summary,
    '' AS otel_dump
FROM (SELECT number AS n FROM numbers({count:UInt64}))`,
  })
}

/** The statistics of all calls; returns microseconds of CPU per call. */
export async function deriveStats(store: Store): Promise<number> {
  const rollups = createRollups({
    store,
    committed: async () => [{ topic: 'calls', partition: 0, offset: 1 }],
    onError(error) {
      throw error
    },
    table: rollupTable.filter(({ name }) => name === 'call_stats'),
  })
  const before = process.cpuUsage()
  await rollups.refresh()
  const { user, system } = process.cpuUsage(before)
  const sql = 'SELECT toUInt32(count()) AS n FROM callhouse.calls'
  const [row] = await store.rows<{ n: number }>({ name: 'bench.count', sql, params: {} })
  return (user + system) / (row?.n ?? 1)
}

/** Rows of one call: when it began, and the usage that its summary reports. */
const grouped = `SELECT id, any(started_at) AS start, any(ended_at) AS end, any(exception) AS failure, any(trace_id) AS trace,
      any(summary) AS s
    FROM callhouse.bench_parts WHERE project_id = {project:String} GROUP BY project_id, id
    HAVING any(deleted) = 0`
const field = (name: string) => `sum(ifNull(toInt64OrNull(JSONExtractRaw(entry.2, '${name}')), 0))`
const tokens = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map(field).join(', ')
const entries = "arrayJoin(JSONExtractKeysAndValuesRaw(s, 'usage')) AS entry"

/** @param project whose calls are asked for; `callhouse.bench_parts` holds them as parts */
export function usageCases(project: string): ReadCase[] {
  const end = new Date()
  const start = new Date(end.getTime() - 30 * 86_400_000)
  const month = { start: start.toISOString(), end: end.toISOString(), granularity: 3600 }
  const params = { project, trace, from: start.getTime() * 1000 }
  const within = 'AND start >= fromUnixTimestamp64Micro({from:Int64})'
  const sql = (text: string) => (store: Store) =>
    store.rows({ name: 'bench.usual', sql: text, params }, { timeoutMs: 300_000, memoryBytes: 8 * 2 ** 30 })
  return [
    {
      name: 'tokens per hour and model, 30 days',
      goal: 35,
      path: '/calls/stats',
      body: {
        ...month,
        usage_metrics: ['input_tokens', 'output_tokens', 'total_tokens'].map((metric) => ({ metric })),
      },
      usual: sql(
        `SELECT toStartOfHour(start) AS hour, entry.1 AS model, ${tokens} FROM (SELECT start, ${entries} FROM (${grouped} ${within})) GROUP BY hour, model ORDER BY hour, model`,
      ),
    },
    {
      name: 'calls, errors, latency per hour, 30 days',
      path: '/calls/stats',
      body: {
        ...month,
        call_metrics: [
          { metric: 'call_count' },
          { metric: 'error_count' },
          { metric: 'latency_ms', aggregations: ['avg', 'max'] },
        ],
      },
      usual: sql(
        `SELECT toStartOfHour(start) AS hour, count(), countIf(failure != ''), avg(took), max(took) FROM (SELECT start, failure, toUnixTimestamp64Milli(end) - toUnixTimestamp64Milli(start) AS took FROM (${grouped} ${within})) GROUP BY hour ORDER BY hour`,
      ),
    },
    {
      name: 'latency p50 and p95 per hour, 30 days',
      path: '/calls/stats',
      body: { ...month, call_metrics: [{ metric: 'latency_ms', aggregations: [], percentiles: [50, 95] }] },
      usual: sql(
        `SELECT toStartOfHour(start) AS hour, quantilesExactInclusive(0.5, 0.95)(toUnixTimestamp64Milli(end) - toUnixTimestamp64Milli(start)) FROM (${grouped} ${within}) GROUP BY hour ORDER BY hour`,
      ),
    },
    {
      name: 'usage of a 10k-call trace',
      goal: 6,
      path: '/calls/usage',
      body: { call_ids: [root] },
      usual: sql(
        `SELECT id, entry.1, ${tokens} FROM (SELECT id, ${entries} FROM (${grouped} AND trace = {trace:String})) GROUP BY id, entry.1`,
      ),
    },
  ]
}
