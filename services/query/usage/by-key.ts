// Usage of a project by keys, by day, hour or key: POST /usage/query.
import { type ProjectUsageRequest, projectUsageLine, projectUsageRequest } from '../../../schemas/project-usage.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { identifier, join, param, sql } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'

const counts = [
  'requests',
  'refused',
  'calls',
  'bytes_in',
  'bytes_stored',
  'reads',
  'read_ms',
  'read_bytes',
  'sampled_out',
  'masked',
]
const groups = {
  day: sql`formatDateTime(toStartOfDay(minute), '%Y-%m-%dT00:00:00Z') AS time`,
  hour: sql`formatDateTime(minute, '%Y-%m-%dT%H:00:00Z') AS time`,
  key: sql`key_id`,
} as const

/** Longer than usage is kept. */
const maxLines = 10_000

const secondsOf = (name: 'from' | 'to', value: string | number): number => {
  const us = parseTimestamp(value)
  if (us === null) throw fault(400, `${name} must be a time, such as 2026-01-31T12:00:00Z`)
  return Math.min(Math.max(Math.floor(us / 1e6), 0), 2 ** 32 - 1)
}

export function usageQuery(projectId: ProjectId, { from, to, by }: ProjectUsageRequest): Query {
  const [start, end] = [secondsOf('from', from), secondsOf('to', to)]
  if (end < start) throw fault(400, 'to must not be before from')
  const time = (seconds: number) => sql`toDateTime(${param('Int64', seconds)}, 'UTC')`
  const sums = join(
    counts.map((name) => sql`toInt64(sum(${identifier(name)})) AS ${identifier(`all_${name}`)}`),
    ', ',
  )
  const where = sql`minute >= ${time(start)} AND minute < ${time(end)}`
  return projectQuery('usage.by-key', projectId, (project) => {
    const rows = project.from('usage_minutes', { final: true, where })
    const group = identifier(by === 'key' ? 'key_id' : 'time')
    return sql`SELECT ${groups[by]}, ${sums} ${rows} GROUP BY ${group} ORDER BY ${group}
      LIMIT ${param('UInt64', maxLines + 1)}`
  })
}

type Row = Record<string, string>

const lineOf = ({ time, key_id, ...sums }: Row): string => {
  const numbers = Object.entries(sums).map(([name, sum]) => [name.slice('all_'.length), Number(sum)])
  return `${JSON.stringify({ time, key_id, ...Object.fromEntries(numbers) })}\n`
}

export const projectUsageRoute = ({ store, freshness }: { store: Pick<Store, 'rows'>; freshness: Freshness }): Route =>
  route({
    name: 'usage.query',
    countsAll: true,
    method: 'POST',
    path: '/usage/query',
    summary: 'Usage of a project by its keys: requests, calls, bytes and reads by day, hour or key, as JSON Lines',
    body: { type: 'json', schema: projectUsageRequest, check: 'schema' },
    response: null,
    responseType: 'application/jsonl',
    line: projectUsageLine,
    tables: ['usage_minutes'],
    async handle(context) {
      const { input, signal } = context
      const query = usageQuery(context.project(input.project_id), input)
      const headers = await freshness.wait(context, ['usage'])
      const rows = await store.rows<Row>(query, { signal })
      if (rows.length > maxLines) throw fault(400, `More than ${maxLines} lines: ask for less time, or by day`)
      const bytes = Buffer.from(rows.map(lineOf).join(''))
      return { bytes, contentType: 'application/jsonl', headers }
    },
  })
