// Statements on log records: which are meant, and how a list of them is read.
import type { LogsFilter } from '../../../schemas/logs.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type ProjectId, storedId } from '../../core/ids.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import { promptEventNames, turnAttributes, turnIdOfSaid } from '../../events/gen-ai-events.ts'
import type { LogKey } from '../../events/logs.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { type RecordNames, recordNames } from '../../events/record-names.ts'
import { rowReader } from '../compact-rows.ts'
import { ifSmall, type KeyedList, type ListKey } from '../list-rows.ts'
import type { RecordIds } from './hidden.ts'

/** Whatever a statement on shown records reads. */
export const logTables = ['logs', 'logs_by_span', 'logs_deleted', 'calls_deleted', 'calls', 'call_keys'] as const

/** Greater than each severity number of OpenTelemetry. */
const beyondSeverities = 25

/** Times are nanoseconds as text. */
export type RecordRow = {
  key: string
  at: string
  id: string
  observed: string
  traceId: string
  spanId: string
  severity: number
  severityText: string
  eventName: string
  body: string
  isBodyJson: number
  attributes: Record<string, string>
  jsonKeys: string[]
  resource: Record<string, string>
  scope: Record<string, string>
}

const atNs = sql`toString(toUnixTimestamp64Nano(at))`
const key = sql`concat(${atNs}, '_', id)`
const recordReader = rowReader<RecordRow>({
  key: sql`${key} AS key`,
  at: sql`${atNs} AS at_ns`,
  id: sql`id`,
  observed: sql`toString(toUnixTimestamp64Nano(observed_at)) AS observed_ns`,
  traceId: sql`trace_id`,
  spanId: sql`span_id`,
  severity: sql`severity`,
  severityText: sql`severity_text`,
  eventName: sql`event_name`,
  body: sql`body`,
  isBodyJson: sql`body_json`,
  attributes: sql`attributes`,
  jsonKeys: sql`json_keys`,
  resource: sql`resource`,
  scope: sql`scope`,
})

/** Columns that identify the call of a record: `said` only of prompts, whose calls have their own ids. */
export type RecordKey = ListKey & { traceId: string; spanId: string; said: string[] }
export const recordKeys = rowReader<RecordKey>({
  key: sql`${key} AS key`,
  sizeBytes: sql`length(body) + length(toString(attributes)) + 2000 AS bytes`,
  traceId: sql`trace_id`,
  spanId: sql`span_id`,
  said: sql`if(event_name IN ${param('Array(String)', promptEventNames)},
    arrayMap(name -> attributes[name], ${param('Array(String)', turnAttributes)}), []) AS said`,
})

/** Latest time in nanoseconds that still fits into 64 bits: the year 2255. */
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

/** The selected records, as a condition of a statement on their table. */
export type RecordCondition = (project: ProjectScope) => Sql

/** Key of a record as a cursor names it. @throws Fault */
export function throwUnlessKey(after: string): void {
  if (!keyForm.test(after)) throw fault(400, 'after must be the cursor of a line')
}

export const logKeyOf = (found: string): LogKey => ({ id: keyId(found), at: found.slice(0, found.indexOf('_')) })

export function recordIdsOf({ key, traceId, spanId, said }: RecordKey): RecordIds {
  const id = keyId(key)
  return { id, callId: turnIdOfSaid(said) || id, traceId, spanId }
}

/** Those of some records that come after one of them. */
export const behind =
  (where: RecordCondition, after: string): RecordCondition =>
  (project) =>
    sql`${where(project)} AND at >= ${keyTime(after)} AND (at, id) > (${keyTime(after)}, ${param('String', keyId(after))})`

/** Records between two times for which all that is asked for holds. @throws Fault */
export function filterCondition(input: LogsFilter): RecordCondition {
  const startUs = timeOf('start', input.start)
  const endUs = timeOf('end', input.end)
  if (endUs < startUs) throw fault(400, 'end must not be before start')
  const [traceId, spanId] = [input.trace_id, input.span_id].map((id) => id && storedId(id))
  const { event_names: names, min_severity: least, contains } = input
  return (project) => {
    const all = [sql`at >= ${usTime(startUs)}`, sql`at < ${usTime(endUs)}`]
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
    return join(all, ' AND ')
  }
}

/** Records that name one of some traces, with a span or without. */
export const ofTraces =
  (traceIds: readonly string[]): RecordCondition =>
  (project) =>
    sql`(at, id) IN (SELECT at, id ${project.from('logs_by_span', { where: sql`trace_id IN ${param('Array(String)', traceIds.map(storedId))}` })})`

/** Records that name one of some sessions or users, or whose process or library does. */
export const named =
  ({ names, paths, keys }: RecordNames, values: readonly string[]): RecordCondition =>
  () => {
    const list = (all: readonly string[]) => param('Array(String)', all)
    return recordNames(sql, { names: list(names), paths: list(paths), keys: list(keys), values: list(values) })
  }

/** All versions of a record say the same, and stand side by side: reading one of each ends as soon as there are enough. */
export function logList(projectId: ProjectId, where: RecordCondition, limit: number): KeyedList<RecordRow, RecordKey> {
  const page = (select: Sql, rows: number, offset: number, settings = sql``) =>
    projectQuery('logs.query', projectId, (project) => {
      return sql`SELECT ${select} ${project.from('logs', { where: where(project) })}
        ORDER BY at, id LIMIT 1 BY at, id LIMIT ${param('UInt64', rows)} OFFSET ${param('UInt64', offset)} ${settings}`
    })
  return {
    whole: page(recordReader.select, limit, 0, ifSmall),
    keys: ({ limit: rows, offset }) => page(recordKeys.select, rows ?? limit, offset),
    of: (keys) =>
      projectQuery('logs.of-keys', projectId, (project) => {
        const sorted = [...keys].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
        const where = sql`at >= ${keyTime(sorted[0] as string)} AND at <= ${keyTime(sorted.at(-1) as string)}
          AND id IN ${param('Array(String)', keys.map(keyId))}`
        return sql`SELECT ${recordReader.select} ${project.from('logs', { where })} LIMIT 1 BY at, id`
      }),
    rows: recordReader.rows,
    keyRows: recordKeys.rows,
    keyOf: ({ key }) => key,
  }
}
