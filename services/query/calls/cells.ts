// POST /calls/cells: single values of calls, cut, for the rows that a table shows; whole payloads stay here.
import { setImmediate as turn } from 'node:timers/promises'
import { type Cell, callsCellsRequest, callsCellsResponse } from '../../../schemas/call-values.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { holdsOwnValues } from '../../core/json/own-value.ts'
import { splitPath } from '../language/path.ts'
import type { Column, PathSegment, Row } from '../language/types.ts'
import { readPages } from './access/read-calls.ts'
import { attributeCell, cellOf } from './cell-text.ts'
import { compileCallsQuery } from './conditions/compile-query.ts'
import { callFields, isDocument } from './conditions/fields.ts'
import { callQueryTables, topicsOfQuery } from './conditions/joined-tables.ts'
import type { Document } from './conditions/types.ts'
import { type CallHeader, headerReader } from './header.ts'
import { type CallDocuments, readPayloads } from './payloads.ts'
import type { QueryStatsDeps } from './query-stats.ts'
import { batchesOf } from './stream.ts'

/** Calls whose payloads are held at once. */
const batchRows = 100
/** Bytes that are looked through before others have their turn. */
const turnBytes = 1_000_000

type Source = {
  documents: Document[]
  cell(row: Row, payload: CallDocuments, chars: number): Cell | null
  reads: number
}

function columnCell(column: Column, row: Row, chars: number): Cell | null {
  const value = column.read(row)
  if (value === null || value === '') return null
  const whole = String(value)
  const text = whole.slice(0, chars).toWellFormed()
  const type = typeof value === 'string' ? 'string' : 'number'
  return { type, text, size: Buffer.byteLength(whole), is_cut: text.length < whole.length }
}

/** Items of lists that are counted from their end; queries have none. */
const fromEnd = /^-[1-9]\d?$/
const joined = (names: readonly string[]): string => names.map((name) => name.replaceAll('.', '\\.')).join('.')

/** @throws Fault 422 for fields that no call has, 400 for those that lie beside it */
function sourceOf(path: string, fields: ReturnType<typeof callFields>): Source {
  const names = splitPath(path)
  const field = fields(joined(names.map((name) => (fromEnd.test(name) ? '0' : name))))
  if (field.is === 'column') {
    const { column } = field
    return { documents: [], cell: (row, _, chars) => columnCell(column, row, chars), reads: 0 }
  }
  if (field.is === 'list' || !isDocument(field.json.document))
    throw fault(400, `Field ${path.slice(0, 200)} has no cells: it is not a value of the call itself`)
  const { document, over } = field.json
  const placesOf = (of: readonly PathSegment[]): PathSegment[] =>
    of.map((segment, n) => {
      const name = names[names.length - of.length + n] ?? ''
      return fromEnd.test(name) ? Number(name) : segment
    })
  const [segments, segmentsOver] = [placesOf(field.json.path), placesOf(over?.path ?? [])]
  const cellAt = holdsOwnValues(document) ? attributeCell : cellOf
  const documents = (over ? [document, over.document] : [document]) as Document[]
  return {
    documents,
    cell(_, payload, chars) {
      const above = over && payload[over.document as Document]
      if (over && above?.length) return cellAt(above, segmentsOver, chars)
      const text = payload[document as Document]
      return text ? cellAt(text, segments, chars) : null
    },
    reads: 1,
  }
}

/** The columns of a header by their names in the table. */
const rowOf = (header: CallHeader): Row => ({
  id: header.id,
  trace_id: header.traceId,
  op_name: header.opName,
  started_at: header.startedUs,
  display_name: header.displayName,
  ended_at: header.endedUs,
  exception: header.exception,
  error_count: header.errorCount,
  end_ver: header.hasEnd,
  parent_id: header.parentId,
  thread_id: header.threadId,
  turn_id: header.turnId,
  user_id: header.userId,
  run_id: header.runId,
  run_step: header.runStep,
  run_step_end: header.runStepEnd,
})

/** Counts the bytes that are looked through, and lets others have their turn in between. */
function createPause(): (lookedBytes: number) => Promise<void> | undefined {
  let sum = 0
  return (lookedBytes) => {
    sum += lookedBytes
    if (sum < turnBytes) return undefined
    sum = 0
    return turn()
  }
}

export function createCellRoutes(deps: QueryStatsDeps): Route[] {
  const { store, freshness, cache } = deps
  return [
    route({
      name: 'calls.cells',
      method: 'POST',
      path: '/calls/cells',
      summary: 'Single values of calls by their paths, cut to what a table shows',
      body: { type: 'json', schema: callsCellsRequest, check: 'schema' },
      response: callsCellsResponse,
      tables: callQueryTables,
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const fields = callFields()
        const sources = input.paths.map((path) => sourceOf(path, fields))
        if (input.call_ids.length === 0) return { json: { cells: {} } }
        const query = compileCallsQuery({ filter: { call_ids: input.call_ids }, projectId })
        const headers = await freshness.wait(context, topicsOfQuery(query))
        const documents = [...new Set(sources.flatMap((source) => source.documents))]
        const reader = { store, projectId, query, options: { signal }, cache }
        const page = { columns: headerReader(null, documents.length > 0), limit: null, offset: 0 }
        const cells = new Map<string, (Cell | null)[]>()
        const pauseAfter = createPause()
        for await (const { rows, spread } of readPages(reader, page))
          for (const batch of batchesOf(rows, () => batchRows)) {
            const payloads = await readPayloads(store, projectId, batch, documents, spread, { signal })
            for (const [n, header] of batch.entries()) {
              const row = { ...rowOf(header), project_id: projectId }
              const of: (Cell | null)[] = []
              for (const source of sources) {
                of.push(source.cell(row, payloads[n] ?? {}, input.max_chars))
                await pauseAfter(source.reads * header.bytes)
              }
              cells.set(header.id, of)
            }
          }
        // The keys are ids that clients chose: `__proto__` is one like others.
        return {
          jsonText: Buffer.from(
            `{"cells":{${[...cells].map(([id, of]) => `${JSON.stringify(id)}:${JSON.stringify(of)}`).join()}}}`,
          ),
          headers,
        }
      },
    }),
  ]
}
