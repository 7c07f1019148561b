// Fields of call queries that say what the whole trace of a call comes to: they are read from the parts of traces.
import { type TraceNumber, traceNumbers } from '../../../../schemas/traces.ts'
import { type Sql, sql } from '../../../core/store/sql.ts'
import type { Column, Field, Row } from '../../language/types.ts'

/** Columns of whole traces, by the names under which conditions read them. */
export type TraceField = `trace_${TraceNumber}` | 'trace_models'

const fieldOf = (name: TraceNumber): TraceField => `trace_${name}`
const names: ReadonlySet<string> = new Set<TraceField>([...traceNumbers.map(fieldOf), 'trace_models'])
export const isTraceField = (column: string): column is TraceField => names.has(column)

/** A trace as the table of parts knows it. */
export const traceKey = (id: Sql): Sql => sql`reinterpretAsUInt128(sipHash128(${id}))`

const numberOf = (row: Row, name: TraceField): number | null =>
  row[name] === undefined || row[name] === '' ? null : Number(row[name])

/** A cost is null where tokens were used and no model of them has a price. */
const numbers = traceNumbers.map((name): Column => {
  const field = fieldOf(name)
  return {
    name: `trace.${name}`,
    kind: 'double',
    nullable: name === 'cost',
    reads: [field],
    sql: (of) => of(field),
    read: (row) => numberOf(row, field),
  }
})

/** Their names as one text. */
const model: Column = {
  name: 'trace.model',
  kind: 'string',
  nullable: true,
  reads: ['trace_models'],
  sql: (of) => sql`nullIf(arrayStringConcat(${of('trace_models')}, ', '), '')`,
  read(row) {
    const models = row.trace_models
    return (Array.isArray(models) && models.join(', ')) || null
  },
}

type OfTrace = Exclude<Field, { is: 'json' }>

/** By the names that requests have for them. */
export const traceFields: ReadonlyMap<string, OfTrace> = new Map<string, OfTrace>([
  ...[...numbers, model].map((column): [string, OfTrace] => [column.name, { is: 'column', column }]),
  ['trace.models', { is: 'list', list: { name: 'trace.models', column: 'trace_models' } }],
])
