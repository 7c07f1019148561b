// Reads that look into payloads: our routes against SQL of the usual shape (parts grouped at read time, JSONExtract).
import type { Store } from '../../services/core/store/store.ts'
import { createFieldIndex } from '../../services/derived/field-index/field-index.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'
import type { ReadCase } from './reads-case.ts'

/** One row for the start and one for the end of each call; empty text where a part has no value. */
const partsTable = `CREATE TABLE IF NOT EXISTS callhouse.bench_parts
(
    project_id String,
    id String,
    trace_id SimpleAggregateFunction(max, String),
    parent_id SimpleAggregateFunction(max, String),
    thread_id SimpleAggregateFunction(max, String),
    turn_id SimpleAggregateFunction(max, String),
    op_name SimpleAggregateFunction(max, String),
    started_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    ended_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    exception SimpleAggregateFunction(max, String),
    attributes SimpleAggregateFunction(max, String),
    inputs SimpleAggregateFunction(max, String),
    output SimpleAggregateFunction(max, String),
    summary SimpleAggregateFunction(max, String),
    deleted SimpleAggregateFunction(max, UInt8)
) ENGINE = AggregatingMergeTree ORDER BY (project_id, id)`

const run = (store: Store, sql: string): Promise<void> => store.command({ name: 'bench.parts', sql, params: {} })

/** The calls of the tables once more, as parts. */
export async function fillParts(store: Store): Promise<void> {
  await run(store, partsTable)
  const columns =
    'project_id, id, trace_id, parent_id, thread_id, turn_id, op_name, started_at, ended_at, exception, attributes, inputs, output, summary'
  const from = `FROM callhouse.payloads AS p INNER JOIN callhouse.calls AS c ON c.project_id = p.project_id AND c.id = p.id
    WHERE toDate(p.at) = toDate({day:DateTime}) AND toDate(c.started_at) = toDate({day:DateTime})`
  const zero = `toDateTime64(0, 6, 'UTC')`
  const days = await store.rows<{ day: string }>({
    name: 'bench.days',
    sql: 'SELECT DISTINCT toString(toStartOfDay(started_at)) AS day FROM callhouse.calls',
    params: {},
  })
  for (const { day } of days)
    for (const values of [
      `c.project_id, c.id, c.trace_id, c.parent_id, c.thread_id, c.turn_id, c.op_name, c.started_at, ${zero}, '', p.attributes, p.inputs, '', ''`,
      `c.project_id, c.id, '', '', '', '', '', ${zero}, c.ended_at, c.exception, '', '', p.output, p.summary`,
    ])
      await run(
        store,
        `INSERT INTO callhouse.bench_parts (${columns}) SELECT ${values} ${from}`.replaceAll(
          '{day:DateTime}',
          `'${day}'`,
        ),
      )
  await run(store, 'OPTIMIZE TABLE callhouse.bench_parts FINAL')
}

/** Derives the field index of everything; returns microseconds of CPU per payload. */
export async function deriveFieldIndex(store: Store): Promise<number> {
  const fieldIndex = createFieldIndex({ store })
  const rollups = createRollups({
    store,
    committed: async () => [{ topic: 'calls', partition: 0, offset: 1 }],
    onError(error) {
      throw error
    },
    table: [fieldIndex.rollup],
  })
  const before = process.cpuUsage()
  await rollups.refresh()
  const { user, system } = process.cpuUsage(before)
  const [row] = await store.rows<{ n: number }>({
    name: 'bench.count',
    sql: 'SELECT toUInt32(count()) AS n FROM callhouse.payloads',
    params: {},
  })
  return (user + system) / (row?.n ?? 1)
}

export const headers = 'any(trace_id), any(op_name), any(started_at) AS start, any(ended_at), any(exception)'
const heavy = `${headers}, any(attributes), any(inputs), any(output), any(summary)`

const usually = (store: Store, project: string, sql: string) =>
  store.rows(
    { name: 'bench.usual', sql: `${sql} SETTINGS use_query_condition_cache = 0`, params: { project } },
    { timeoutMs: 300_000, memoryBytes: 8 * 2 ** 30 },
  )

/**
 * A list in the usual shape: group the parts of the calls of the project, then filter and sort.
 * @param where what parts alone can tell; a part without the payload passes
 */
export const grouped =
  (project: string, columns: string, having: string, order: string, { offset = 0, where = '1' } = {}) =>
  (store: Store) =>
    usually(
      store,
      project,
      `SELECT id, ${columns} FROM callhouse.bench_parts WHERE project_id = {project:String} AND (${where})
      GROUP BY project_id, id HAVING any(deleted) = 0 AND (${having}) ORDER BY ${order}, id DESC LIMIT 50 OFFSET ${offset}`,
    )

/** Ids first, then all columns of these alone. */
export const usualPage =
  (project: string, having: string, where = '1') =>
  (store: Store) =>
    usually(
      store,
      project,
      `SELECT id, ${heavy} FROM callhouse.bench_parts WHERE project_id = {project:String} AND id IN
      (SELECT id FROM (SELECT id, any(started_at) AS start FROM callhouse.bench_parts
        WHERE project_id = {project:String} AND (${where})
        GROUP BY project_id, id HAVING any(deleted) = 0 AND (${having}) ORDER BY start DESC LIMIT 50))
      GROUP BY project_id, id ORDER BY start DESC`,
    )

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const newest = [{ field: 'started_at', direction: 'desc' }]

export async function payloadCases(store: Store, project: string): Promise<ReadCase[]> {
  const [sample] = await store.rows<{ customer: string; score: number }>({
    name: 'bench.sample',
    sql: `SELECT JSONExtractString(inputs, 'customer', 'id') AS customer FROM callhouse.payloads
      WHERE project_id = {project:String} ORDER BY cityHash64(id) LIMIT 1`,
    params: { project },
  })
  const customer = sample?.customer ?? ''
  const columns = ['parent_id', 'display_name', 'ended_at', 'exception', 'thread_id']
  const list = (
    name: string,
    goal: number | undefined,
    body: Record<string, unknown>,
    usual: NonNullable<ReadCase['usual']>,
  ): ReadCase => ({
    name,
    path: '/calls/stream_query',
    usual,
    ...(goal === undefined ? {} : { goal }),
    body: { sort_by: newest, limit: 50, ...body },
  })
  const where = (expression: unknown) => ({ query: { $expr: expression } })
  const [score, label] = ["JSONExtractFloat(any(output), 'score')", "JSONExtractString(any(output), 'label')"]
  return [
    list(
      'inputs path = value, 50 full rows',
      20,
      where({ $eq: [field('inputs.customer.id'), literal(customer)] }),
      usualPage(
        project,
        `JSONExtractString(any(inputs), 'customer', 'id') = '${customer}'`,
        `inputs = '' OR JSONExtractString(inputs, 'customer', 'id') = '${customer}'`,
      ),
    ),
    list(
      'inputs number > x',
      100,
      { columns, ...where({ $gt: [field('inputs.temperature'), literal(0.985)] }) },
      grouped(project, headers, "JSONExtractFloat(any(inputs), 'temperature') > 0.985", 'start DESC', {
        where: "inputs = '' OR JSONExtractFloat(inputs, 'temperature') > 0.985",
      }),
    ),
    list(
      'two output conditions',
      20,
      {
        columns,
        ...where({
          $and: [{ $eq: [field('output.label'), literal('bad')] }, { $gt: [field('output.score'), literal(0.998)] }],
        }),
      },
      grouped(project, headers, `${label} = 'bad' AND ${score} > 0.998`, 'start DESC', {
        where:
          "output = '' OR (JSONExtractString(output, 'label') = 'bad' AND JSONExtractFloat(output, 'score') > 0.998)",
      }),
    ),
    list(
      'inputs contains a word that is not there',
      undefined,
      {
        columns,
        ...where({
          $contains: { input: field('inputs.query'), substr: literal('zebra'), case_insensitive: true },
        }),
      },
      grouped(
        project,
        headers,
        "positionCaseInsensitive(JSONExtractString(any(inputs), 'query'), 'zebra') > 0",
        'start DESC',
        { where: "inputs = '' OR positionCaseInsensitive(JSONExtractString(inputs, 'query'), 'zebra') > 0" },
      ),
    ),
    list(
      'sort by output.score',
      15,
      { columns, sort_by: [{ field: 'output.score', direction: 'desc' }] },
      grouped(project, headers, '1', `${score} DESC`),
    ),
  ]
}
