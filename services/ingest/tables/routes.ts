// Writing tables: POST /table/create and /table/create_from_digests.
import {
  tableCreateRequest,
  tableCreateResponse,
  tableFromDigestsRequest,
  tableFromDigestsResponse,
} from '../../../schemas/tables.ts'
import { items, members } from '../../core/canonical-json.ts'
import type { Clock } from '../../core/clock.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/positions.ts'
import { refuseInternalRefs } from '../../core/refs.ts'
import { type TableCreated, tableOf, tableRecord, tableRow } from '../../core/table-rows.ts'

export type TableWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
}

/** The rows' own texts, so that their numbers keep their spelling. */
function rowTexts(body: string): string[] {
  const table = members(body)?.get('table') ?? ''
  return items(members(table)?.get('rows') ?? '') ?? []
}

function checkExpected(expected: string | null | undefined, digest: string): void {
  if (typeof expected === 'string' && expected !== digest)
    throw fault(409, `expected_digest is ${expected.slice(0, 100)}, the table has ${digest}`)
}

export function createTableWriteRoutes({ log, clock }: TableWriteDeps): Route[] {
  const append = async (created: Omit<TableCreated, 'clock'>): Promise<Record<string, string>> => {
    const position = await log.append('tables', [tableRecord({ ...created, clock: clock.next() })])
    return { [positionHeader]: formatPositions([position]) }
  }
  return [
    route({
      name: 'tables.create',
      method: 'POST',
      path: '/table/create',
      right: 'ingest',
      summary: 'Stores rows and the table that they make',
      body: { type: 'json', schema: tableCreateRequest, check: 'schema' },
      response: tableCreateResponse,
      topics: ['tables'],
      async handle({ input, body, project }) {
        const projectId = project(input.table.project_id)
        const text = body.bytes.toString()
        refuseInternalRefs(text, input.table.rows)
        const rows = rowTexts(text).map(tableRow)
        const table = tableOf(rows.map((row) => row.digest))
        checkExpected(input.table.expected_digest, table.digest)
        const headers = await append({ projectId, ...table, rows })
        return { json: { digest: table.digest, row_digests: table.rowDigests }, headers }
      },
    }),
    route({
      name: 'tables.create_from_digests',
      method: 'POST',
      path: '/table/create_from_digests',
      right: 'ingest',
      summary: 'Makes a table of rows that are stored already',
      // Clients send the digests of all chunks at once: room for three million rows.
      body: { type: 'json', schema: tableFromDigestsRequest, check: 'schema', times: 4 },
      response: tableFromDigestsResponse,
      topics: ['tables'],
      async handle({ input, project }) {
        const projectId = project(input.project_id)
        const table = tableOf(input.row_digests)
        checkExpected(input.expected_digest, table.digest)
        const headers = await append({ projectId, ...table, rows: [] })
        return { json: { digest: table.digest }, headers }
      },
    }),
  ]
}
