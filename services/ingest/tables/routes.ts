// Writing tables: POST /table/create and /table/create_from_digests.
import {
  tableCreateRequest,
  tableCreateResponse,
  tableFromDigestsRequest,
  tableFromDigestsResponse,
} from '../../../schemas/tables.ts'
import { type Maskings, noMaskings } from '../../content/masking/maskings.ts'
import { refuseInternalRefs } from '../../content/refs.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { items, members } from '../../core/json/canonical.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { makeTable, type NewTable } from '../../events/tables.ts'

export type TableWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  maskings?: Maskings
}

/** The rows' own texts, so that their numbers keep their spelling. */
function rowTexts(body: string): string[] {
  const table = members(body)?.get('table') ?? ''
  return items(members(table)?.get('rows') ?? '') ?? []
}

export function createTableWriteRoutes({ log, clock, maskings = noMaskings }: TableWriteDeps): Route[] {
  async function create(table: Omit<NewTable, 'clock'>, expected: string | null | undefined) {
    const { digest, rowDigests, record } = await makeTable({ ...table, clock })
    if (typeof expected === 'string' && expected !== digest)
      throw fault(409, `expected_digest is ${expected.slice(0, 100)}, the table has ${digest}`)
    const position = await log.append('tables', [record])
    return { digest, rowDigests, headers: { [positionHeader]: formatPositions([position]) } }
  }
  return [
    route({
      name: 'tables.create',
      method: 'POST',
      path: '/table/create',
      summary: 'Stores rows as a table',
      body: { type: 'json', schema: tableCreateRequest, check: 'schema' },
      response: tableCreateResponse,
      topics: ['tables'],
      async handle({ input, body, project }) {
        const projectId = project(input.table.project_id)
        const text = body.bytes.toString()
        refuseInternalRefs(text, input.table.rows)
        const table: Omit<NewTable, 'clock'> = {
          projectId,
          texts: rowTexts(text),
          masker: maskings.of(projectId)?.objects,
          list: (rows) => rows.map((row) => row.digest),
        }
        const { digest, rowDigests, headers } = await create(table, input.table.expected_digest)
        return { json: { digest, row_digests: rowDigests }, headers }
      },
    }),
    route({
      name: 'tables.create_from_digests',
      method: 'POST',
      path: '/table/create_from_digests',
      summary: 'Creates a table of rows that are already stored',
      // Clients send the digests of all chunks at once: room for three million rows.
      body: { type: 'json', schema: tableFromDigestsRequest, check: 'schema', times: 4 },
      response: tableFromDigestsResponse,
      topics: ['tables'],
      async handle({ input, project }) {
        const projectId = project(input.project_id)
        const table = { projectId, texts: [], list: () => input.row_digests }
        const { digest, headers } = await create(table, input.expected_digest)
        return { json: { digest }, headers }
      },
    }),
  ]
}
