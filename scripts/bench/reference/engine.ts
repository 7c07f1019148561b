// The engine of the reference: one table of calls with three materialized views, filled from files of JSON lines.
import { join } from 'node:path'
import { Session } from 'chdb'

/** Columns of a line, in its order. */
const lineColumns = {
  project_id: 'LowCardinality(String)',
  id: 'String',
  trace_id: 'String',
  parent_id: 'String',
  thread_id: 'String',
  op_name: 'LowCardinality(String)',
  started_us: 'Int64',
  ended_us: 'Int64',
  exception: 'String',
  attributes: 'String',
  inputs: 'String',
  output: 'String',
  summary: 'String',
}
const structure = Object.entries(lineColumns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ')

const statements = [
  'CREATE DATABASE IF NOT EXISTS reference ENGINE = Atomic',
  `CREATE TABLE IF NOT EXISTS reference.calls (
    ${structure},
    INDEX ix_id id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1
  ) ENGINE = ReplacingMergeTree
  PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(started_us, 'UTC'))
  ORDER BY (project_id, started_us, id)`,
  `CREATE TABLE IF NOT EXISTS reference.stats (
    project_id LowCardinality(String), id String, started_us Int64, op_name LowCardinality(String), bytes UInt64, ms Float64
  ) ENGINE = ReplacingMergeTree ORDER BY (project_id, started_us, id)`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS reference.stats_view TO reference.stats AS
  SELECT project_id, id, started_us, op_name,
    length(inputs) + length(output) + length(attributes) + length(summary) AS bytes,
    (ended_us - started_us) / 1000 AS ms
  FROM reference.calls`,
  `CREATE TABLE IF NOT EXISTS reference.usage (
    project_id LowCardinality(String), hour DateTime('UTC'), model LowCardinality(String),
    requests UInt64, prompt_tokens UInt64, completion_tokens UInt64
  ) ENGINE = SummingMergeTree ORDER BY (project_id, hour, model)`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS reference.usage_view TO reference.usage AS
  SELECT project_id, toStartOfHour(toDateTime(intDiv(started_us, 1000000), 'UTC')) AS hour, kv.1 AS model,
    sum(JSONExtractUInt(kv.2, 'requests')) AS requests,
    sum(JSONExtractUInt(kv.2, 'prompt_tokens')) AS prompt_tokens,
    sum(JSONExtractUInt(kv.2, 'completion_tokens')) AS completion_tokens
  FROM reference.calls ARRAY JOIN JSONExtractKeysAndValuesRaw(summary, 'usage') AS kv
  GROUP BY project_id, hour, model`,
  `CREATE TABLE IF NOT EXISTS reference.traces (
    project_id LowCardinality(String), trace_id String,
    first SimpleAggregateFunction(min, Int64), last SimpleAggregateFunction(max, Int64),
    calls SimpleAggregateFunction(sum, UInt64), errors SimpleAggregateFunction(sum, UInt64)
  ) ENGINE = AggregatingMergeTree ORDER BY (project_id, trace_id)`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS reference.traces_view TO reference.traces AS
  SELECT project_id, trace_id, min(started_us) AS first, max(ended_us) AS last,
    toUInt64(count()) AS calls, toUInt64(countIf(exception != '')) AS errors
  FROM reference.calls GROUP BY project_id, trace_id`,
]

/** @param dir data folder; the engine's files are in `<dir>/clickhouse` */
export async function openReferenceEngine(dir: string) {
  const path = join(dir, 'clickhouse')
  const writer = new Session(path)
  const reader = new Session(path)
  for (const statement of statements) await writer.queryAsync(statement)
  return {
    /** Applies a file of lines. */
    async apply(file: string): Promise<void> {
      await writer.queryAsync(
        `INSERT INTO reference.calls (${Object.keys(lineColumns).join(', ')}) SELECT * FROM file('${file}', JSONEachRow, '${structure}')`,
      )
    },
    async count(): Promise<number> {
      const result = await reader.queryAsync('SELECT toUInt32(count()) AS n FROM reference.calls', {
        format: 'JSONEachRow',
      })
      return (JSON.parse(result.text()) as { n: number }).n
    },
  }
}
