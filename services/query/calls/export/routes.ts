// POST /export/calls and GET /export/{ticket}: what a list of calls matches as a file that a browser saves.
import { callsExportRequest, callsExportResponse } from '../../../../schemas/calls-export.ts'
import { fault } from '../../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../../core/http/invoke.ts'
import { type Reply, type Route, route } from '../../../core/http/route.ts'
import { started } from '../stream.ts'
import { csvColumns, csvHead, csvRow, readsCosts } from './csv.ts'
import { createTickets, type Ticket } from './ticket.ts'
import { isTraceColumn, withTraces } from './whole-traces.ts'

type ExportDeps = {
  invoke: Pick<Invoke, 'lines' | 'json'>
  wirePrefix: string
  masterKey(): Buffer | undefined
  now?: () => number
}

/** The address holds the request: proxies take no longer ones. */
const maxBodyBytes = 8 * 1024
const maxColumns = 100
/** Lines that go out in one piece. */
const pieceBytes = 64 * 1024

/** Columns of a CSV file, where the request names none. */
const usualColumns = [
  'id',
  'trace_id',
  'parent_id',
  'op_name',
  'display_name',
  'started_at',
  'ended_at',
  'summary.weave.status',
  'summary.weave.latency_ms',
  'summary.weave.model',
  'summary.weave.input_tokens',
  'summary.weave.output_tokens',
  'summary.weave.cost',
  'exception',
  'inputs',
  'output',
]

async function* inPieces(texts: AsyncIterable<string>, head = ''): AsyncGenerator<Buffer> {
  let pieces = head === '' ? [] : [head]
  let size = head.length
  for await (const text of texts) {
    pieces.push(text)
    size += text.length
    if (size < pieceBytes) continue
    yield Buffer.from(pieces.join(''))
    pieces = []
    size = 0
  }
  // Also when there is nothing: the file has no lines then, and is there.
  yield Buffer.from(pieces.join(''))
}

async function* alone(lines: AsyncIterable<string>) {
  for await (const line of lines) yield { record: Buffer.from(line), traceCell: () => '' }
}

async function* mapped<T>(source: AsyncIterable<T>, make: (one: T) => string): AsyncGenerator<string> {
  for await (const one of source) yield make(one)
}

export function createExportRoutes({ invoke, wirePrefix, masterKey, now }: ExportDeps): Route[] {
  const tickets = createTickets(masterKey, now)

  const fileOf = async (
    { body, format, columns: names }: Ticket,
    project: string,
    as: InvokeCaller,
  ): Promise<Reply> => {
    const headers = {
      'Cache-Control': 'no-store',
      'Content-Disposition': `attachment; filename="calls.${format}"`,
    }
    const ofTraces = format === 'csv' && names.some(isTraceColumn)
    // It ignores what only exports know.
    const priced = format === 'csv' && readsCosts(names) ? body.replace('{', '{"include_costs":true,') : body
    // The last of two members with one name counts.
    const asked = ofTraces ? priced.replace(/\}\s*$/, `,"columns":${JSON.stringify([...names, 'trace_id'])}}`) : priced
    const lines = invoke.lines('calls.stream_query', Buffer.from(asked), as)
    if (format === 'jsonl')
      return {
        lines: await started(inPieces(mapped(lines, (line) => `${line}\n`))),
        contentType: 'application/jsonl',
        headers,
      }
    const columns = csvColumns(names, wirePrefix)
    const records = ofTraces ? withTraces(lines, project, invoke, as) : alone(lines)
    const rows = mapped(records, ({ record, traceCell }) => csvRow(columns, record, traceCell))
    return { bytes: await started(inPieces(rows, csvHead(columns))), contentType: 'text/csv; charset=utf-8', headers }
  }

  return [
    route({
      name: 'calls.export',
      method: 'POST',
      path: '/export/calls',
      summary: 'An address, valid for one minute, of a file of all matching calls, as JSON Lines or CSV',
      // The question is tried without rows; the file's are read by the route of the list.
      tables: [],
      body: { type: 'json', schema: callsExportRequest, check: 'schema', maxBytes: maxBodyBytes },
      response: callsExportResponse,
      async handle(context) {
        const { input, caller, signal, requestId } = context
        context.project(input.project_id)
        const { format, columns = [], ...asked } = input
        if (columns.length > maxColumns) throw fault(400, `An export has at most ${maxColumns} columns`)
        if (format === 'csv') csvColumns(columns, wirePrefix)
        // The list refuses a faulty request here, where somebody reads the reason.
        const none = { ...asked, columns, limit: 0 }
        for await (const _ of invoke.lines('calls.stream_query', none, {
          caller,
          signal,
          requestId,
          freshness: context,
        }))
          break
        const { ticket, untilMs } = tickets.make({
          body: context.body.bytes.toString(),
          format,
          key: caller.keyId ?? '',
          columns: columns.length > 0 ? columns : usualColumns,
        })
        const { origin = '', basePath = '/' } = context.via?.() ?? {}
        const url = `${origin}${basePath}export/${ticket}`
        return { json: { url, expires_at: new Date(untilMs).toISOString() } }
      },
    }),
    route({
      name: 'calls.export_file',
      method: 'GET',
      path: '/export/{ticket}',
      summary: 'The file of an export address',
      tables: [],
      body: { type: 'none' },
      response: null,
      responseType: 'application/jsonl',
      keyOf: ({ ticket = '' }) => tickets.read(ticket).key,
      async handle(context) {
        const ticket = tickets.read(context.params.ticket ?? '')
        const { project_id: project } = JSON.parse(ticket.body) as { project_id: string }
        context.project(project)
        const { caller, signal, requestId } = context
        return fileOf(ticket, project, { caller, signal, requestId, freshness: context })
      },
    }),
  ]
}
