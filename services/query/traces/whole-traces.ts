// Rows for the fields of whole traces in call queries: one per trace, from the parts of traces (conditions/trace-fields.ts).

import type { ProjectId } from '../../core/ids.ts'
import { identifier, join, type Sql, sql } from '../../core/store/sql.ts'
import type { Store } from '../../core/store/store.ts'
import type { ProjectScope } from '../../events/project-query.ts'
import type { TraceField } from '../calls/conditions/trace-fields.ts'
import type { ReadWholeTraces } from '../calls/reader.ts'
import { rangeOf } from '../calls/scope.ts'
import type { Prices } from '../costs/prices.ts'
import { type OfParts, traceValues } from './numbers.ts'
import { type PartsAsked, traceParts } from './parts.ts'
import { partsReachOf, readParts } from './read-parts.ts'

const asFloat = ({ reads, sql: value }: OfParts): OfParts => ({ reads, sql: sql`toFloat64(${value})` })

/** Where roots or spans report usage, theirs alone counts. */
const ofCounting = (all: Sql, tops: Sql): Sql => sql`if(max(has_top) = 1, ${tops}, ${all})`

const isPriced = ofCounting(sql`max(is_priced)`, sql`max(is_priced = 1 AND has_top = 1)`)

const columns: Record<TraceField, OfParts> = {
  trace_spans: asFloat(traceValues.spans),
  trace_errors: asFloat(traceValues.errors),
  trace_input_tokens: traceValues.input_tokens,
  trace_output_tokens: traceValues.output_tokens,
  trace_total_tokens: traceValues.total_tokens,
  trace_cost: {
    reads: [...traceValues.cost.reads, ...traceValues.total_tokens.reads, 'is_priced'],
    sql: sql`if(${isPriced} = 1 OR ${traceValues.total_tokens.sql} = 0, ${traceValues.cost.sql}, NULL)`,
  },
  trace_duration_ms: traceValues.duration_ms,
  trace_models: {
    reads: ['has_top', 'model'],
    sql: sql`arraySort(${ofCounting(
      sql`groupUniqArrayIf(model, model != '')`,
      sql`groupUniqArrayIf(model, model != '' AND has_top = 1)`,
    )})`,
  },
}

/** Rows of all traces that have a part: `trace_key` and the columns. */
export function wholeTraceRows(
  projectId: ProjectId,
  names: readonly TraceField[],
  asked: Omit<PartsAsked, 'roots'>,
): (project: ProjectScope) => Sql {
  const values = names.map((name) => sql`${columns[name].sql} AS ${identifier(name)}`)
  return (project) => sql`SELECT trace AS trace_key, ${join(values, ', ')}
    FROM ${traceParts(project, projectId, { ...asked, roots: null })} GROUP BY trace`
}

/** Makes the one reader of a process: it remembers what the table of parts covers. */
export function createWholeTraces({
  store,
  prices,
}: {
  store: Pick<Store, 'bytes' | 'rows'>
  prices: Prices
}): ReadWholeTraces {
  const cache = { covered: new Map() }
  return async (query, { projectId, options }) => {
    const { traces } = query.derivedFields
    // A call that nothing can be is looked for nowhere.
    if (traces.columns.size === 0 || query.facts.nothing) return query
    const named = [...traces.columns]
    const needs = new Set(named.flatMap((name) => columns[name].reads))
    const range = partsReachOf(rangeOf(query.facts))
    const asked = await readParts({ store, projectId, options, cache }, () => prices.of(projectId, options), {
      range,
      needs,
      live: [],
    })
    const rows = wholeTraceRows(projectId, named, asked)
    return { ...query, derivedFields: { ...query.derivedFields, traces: { ...traces, rows } } }
  }
}
