// Numbers of a trace, over its parts.
import type { TraceOrder } from '../../../schemas/traces.ts'
import { identifier, type Sql, sql } from '../../core/store/sql.ts'
import type { PartColumn } from './parts.ts'

/** A value of a trace as an expression over its parts, and the columns that it reads. */
export type OfParts = { reads: PartColumn[]; sql: Sql }

const counted = (name: 'input' | 'output' | 'total' | 'cost') => ({
  reads: ['has_top', `top_${name}`, `other_${name}`] as PartColumn[],
  sql: sql`if(max(has_top) = 1, sum(${identifier(`top_${name}`)}), sum(${identifier(`other_${name}`)}))`,
})

export const traceValues: Record<TraceOrder, OfParts> = {
  spans: { reads: ['spans'], sql: sql`sum(spans)` },
  errors: { reads: ['errors'], sql: sql`sum(errors)` },
  input_tokens: counted('input'),
  output_tokens: counted('output'),
  total_tokens: counted('total'),
  cost: counted('cost'),
  duration_ms: { reads: ['begun', 'ended'], sql: sql`(max(ended) - min(begun)) / 1000` },
  model: { reads: ['model'], sql: sql`nullIf(minIf(model, model != ''), '')` },
  started_at: { reads: ['begun'], sql: sql`min(begun)` },
}
