// POST /logs/query: log records of a project in the order of their times, as JSON Lines.
import { type LogsQueryRequest, logsQueryRequest, maxLogLines } from '../../../schemas/logs.ts'
import { formatTimestamp, parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Store } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { linesType } from '../calls/routes.ts'
import { started } from '../calls/stream.ts'
import { ifSmall, type KeyedList, listRows } from '../list-rows.ts'

/** Greater than each severity number of OpenTelemetry. */
const beyondSeverities = 25

export type LogReadDeps = { store: Pick<Store, 'bytes'>; freshness: Freshness }

/** In the order of `columns`; times are nanoseconds as text. */
type Row = [
  key: string,
  at: string,
  id: string,
  observed: string,
  traceId: string,
  spanId: string,
  severity: number,
  severityText: string,
  eventName: string,
  body: string,
  isBodyJson: number,
  attributes: Record<string, string>,
  jsonKeys: string[],
  resource: Record<string, string>,
  scope: Record<string, string>,
]

const atNs = sql`toString(toUnixTimestamp64Nano(at))`
const key = sql`concat(${atNs}, '_', id)`
const columns = sql`${key} AS key, ${atNs} AS at_ns, id, toString(toUnixTimestamp64Nano(observed_at)) AS observed_ns,
  trace_id, span_id, severity, severity_text, event_name, body, body_json, attributes, json_keys, resource, scope`

/** As nanoseconds still within 64 bits: the year 2255. */
const latestUs = 9e15

const keyForm = /^(\d{1,19})_([0-9a-f]{32})$/

function timeOf(name: 'start' | 'end', value: string | number): number {
  const us = parseTimestamp(value)
  if (us === null) throw fault(400, `${name} must be a time, such as 2026-01-31T12:00:00Z`)
  return Math.min(Math.max(us, 0), latestUs)
}

const time = (ns: Sql): Sql => sql`fromUnixTimestamp64Nano(${ns}, 'UTC')`
const usTime = (us: number): Sql => time(param('Int64', `${us}000`))
const keyTime = (found: string): Sql => time(param('Int64', found.slice(0, found.indexOf('_'))))
const keyId = (found: string): string => found.slice(found.indexOf('_') + 1)

function conditionOf(input: LogsQueryRequest, project: ProjectScope): Sql {
  const startUs = timeOf('start', input.start)
  const endUs = timeOf('end', input.end)
  if (endUs < startUs) throw fault(400, 'end must not be before start')
  const all = [sql`at >= ${usTime(startUs)}`, sql`at < ${usTime(endUs)}`]
  const { trace_id: traceId, span_id: spanId, event_names: names, min_severity: least, contains, after } = input
  if (traceId) {
    const ofSpan = spanId ? sql` AND span_id = ${param('String', spanId)}` : sql``
    const where = sql`trace_id = ${param('String', traceId)}${ofSpan}`
    all.push(sql`(at, id) IN (SELECT at, id ${project.from('logs_by_span', { where })})`)
  } else if (spanId) all.push(sql`span_id = ${param('String', spanId)}`)
  if (names) all.push(sql`event_name IN ${param('Array(String)', names)}`)
  if (least) all.push(sql`severity >= ${param('UInt64', Math.min(least, beyondSeverities))}`)
  if (contains) {
    const text = param('String', contains)
    all.push(
      sql`(position(body, ${text}) > 0 OR arrayExists(one -> position(one, ${text}) > 0, mapValues(attributes)))`,
    )
  }
  if (after) {
    if (!keyForm.test(after)) throw fault(400, 'after must be the cursor of a line')
    all.push(sql`at >= ${keyTime(after)} AND (at, id) > (${keyTime(after)}, ${param('String', keyId(after))})`)
  }
  return join(all, ' AND ')
}

/** All versions of a record say the same, and stand side by side: reading one of each ends as soon as there are enough. */
export function logList(projectId: ProjectId, input: LogsQueryRequest, limit: number): KeyedList<Row> {
  const page = (select: Sql, rows: number, offset: number, settings = sql``) =>
    projectQuery('logs.query', projectId, (project) => {
      return sql`SELECT ${select} ${project.from('logs', { where: conditionOf(input, project) })}
        ORDER BY at, id LIMIT 1 BY at, id LIMIT ${param('UInt64', rows)} OFFSET ${param('UInt64', offset)} ${settings}`
    })
  return {
    whole: page(columns, limit, 0, ifSmall),
    keys: ({ limit: rows, offset }) =>
      page(sql`${key} AS key, length(body) + length(toString(attributes)) + 2000 AS bytes`, rows ?? limit, offset),
    of: (keys) =>
      projectQuery('logs.of-keys', projectId, (project) => {
        const sorted = [...keys].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
        const where = sql`at >= ${keyTime(sorted[0] as string)} AND at <= ${keyTime(sorted.at(-1) as string)}
          AND id IN ${param('Array(String)', keys.map(keyId))}`
        return sql`SELECT ${columns} ${project.from('logs', { where })} LIMIT 1 BY at, id`
      }),
    keyOf: (row) => row[0],
  }
}

/** Texts, and in their places the JSON texts of what was none. */
function membersText(texts: Record<string, string>, jsonKeys: readonly string[] = []): string {
  const json = new Set(jsonKeys)
  const members = Object.entries(texts).map(
    ([name, text]) => `${JSON.stringify(name)}:${json.has(name) ? text : JSON.stringify(text)}`,
  )
  return `{${members.join()}}`
}

function lineOf(row: Row): string {
  const [cursor, at, id, observed, traceId, spanId, severity, severityText, eventName, body, isBodyJson] = row
  const [attributes, jsonKeys, resource, scope] = row.slice(11) as [
    Record<string, string>,
    string[],
    Record<string, string>,
    Record<string, string>,
  ]
  const head = JSON.stringify({
    id,
    time: formatTimestamp(Math.floor(Number(at.slice(0, -3)))),
    time_unix_nano: at,
    observed_time_unix_nano: observed === '0' ? null : observed,
    trace_id: traceId || null,
    span_id: spanId || null,
    severity_number: severity,
    severity_text: severityText,
    event_name: eventName || null,
  })
  const shown = isBodyJson === 1 ? body : JSON.stringify(body)
  return (
    `${head.slice(0, -1)},"body":${shown},"attributes":${membersText(attributes, jsonKeys)}` +
    `,"resource":${membersText(resource)},"scope":${membersText(scope)},"cursor":${JSON.stringify(cursor)}}\n`
  )
}

export function createLogReadRoutes({ store, freshness }: LogReadDeps): Route[] {
  return [
    route({
      name: 'logs.query',
      method: 'POST',
      path: '/logs/query',
      summary: 'Log records of a project between two times, oldest first, as JSON Lines',
      body: { type: 'json', schema: logsQueryRequest, check: 'schema' },
      response: null,
      responseType: 'application/jsonl',
      tables: ['logs', 'logs_by_span'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const limit = Number(input.limit)
        if (limit > maxLogLines) throw fault(400, `limit must not be above ${maxLogLines}`)
        const list = logList(projectId, input, limit)
        const headers = await freshness.wait(context, ['logs'])
        async function* lines(): AsyncGenerator<Buffer> {
          for await (const rows of listRows({ store, options: { signal } }, list, { limit, offset: 0 }))
            yield Buffer.from(rows.map(lineOf).join(''))
        }
        return {
          lines: await started(lines()),
          contentType: linesType(context.header('accept'), 'application/jsonl'),
          headers,
        }
      },
    }),
  ]
}
