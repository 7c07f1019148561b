// POST /logs/query: log records of a project in the order of their times, as JSON Lines.

import { logsQueryRequest, maxLogLines } from '../../../schemas/logs.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { started } from '../calls/stream.ts'
import { linesType } from '../list-reply.ts'
import { behind, filterCondition, logTables, type RecordRow, throwUnlessKey } from './records.ts'
import { createShownRecords } from './shown.ts'

export type LogReadDeps = { store: Pick<Store, 'bytes'>; freshness: Freshness }

/** Texts, and in their places the JSON texts of what was none. */
function membersText(texts: Record<string, string>, jsonKeys: readonly string[] = []): string {
  const json = new Set(jsonKeys)
  const members = Object.entries(texts).map(
    ([name, text]) => `${JSON.stringify(name)}:${json.has(name) ? text : JSON.stringify(text)}`,
  )
  return `{${members.join()}}`
}

function lineOf(row: RecordRow): string {
  const head = JSON.stringify({
    id: row.id,
    time: formatTimestamp(Math.floor(Number(row.at.slice(0, -3)))),
    time_unix_nano: row.at,
    observed_time_unix_nano: row.observed === '0' ? null : row.observed,
    trace_id: row.traceId || null,
    span_id: row.spanId || null,
    severity_number: row.severity,
    severity_text: row.severityText,
    event_name: row.eventName || null,
  })
  const body = row.isBodyJson === 1 ? row.body : JSON.stringify(row.body)
  return (
    `${head.slice(0, -1)},"body":${body},"attributes":${membersText(row.attributes, row.jsonKeys)}` +
    `,"resource":${membersText(row.resource)},"scope":${membersText(row.scope)},"cursor":${JSON.stringify(row.key)}}\n`
  )
}

export function createLogReadRoutes({ store, freshness }: LogReadDeps): Route[] {
  const { shown } = createShownRecords(store)
  return [
    route({
      name: 'logs.query',
      method: 'POST',
      path: '/logs/query',
      summary: 'Log records of a project between two times, oldest first, as JSON Lines',
      body: { type: 'json', schema: logsQueryRequest, check: 'schema' },
      response: null,
      responseType: 'application/jsonl',
      tables: [...logTables],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const limit = Number(input.limit)
        if (limit > maxLogLines) throw fault(400, `limit must not be above ${maxLogLines}`)
        if (input.after) throwUnlessKey(input.after)
        const all = filterCondition(input)
        const where = input.after ? behind(all, input.after) : all
        // Records of deleted calls are not shown.
        const headers = await freshness.wait(context, ['logs', 'calls'])
        async function* lines(): AsyncGenerator<Buffer> {
          for await (const rows of shown({ projectId, where, limit, signal }))
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
