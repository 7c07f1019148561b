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
