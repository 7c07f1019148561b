// Figures of a whole trace in a row of the list: its status, and its usage.
import { plural } from './format.ts'
import type { ValueOfRow } from './row-values.ts'
import { type Row, type Status, statusNames } from './rows.ts'

/** Totals as the route of whole traces answers them. */
export type Totals = {
  errors: number
  spans: number
  duration_ms: number
  is_running: boolean
  input_tokens: number
  output_tokens: number
  cost: number | null
  unpriced_models?: readonly string[] | undefined
  models: readonly string[]
}

/** Null once the trace is gone. */
export type TotalsOfRow = ValueOfRow<Totals>

export const totalsIn = (totals: TotalsOfRow): Totals | undefined =>
  typeof totals === 'object' && totals !== null ? totals : undefined

/** The mark of a row, and what it says. */
export type Outcome = { status: Status; label: string }

/** The mark of the root of a trace. */
export const outcomeOf = (row: Pick<Row, 'exception' | 'status'>, totals: TotalsOfRow): Outcome =>
  outcomeWith(row, Math.max(0, (totalsIn(totals)?.errors ?? 0) - (row.exception === null ? 0 : 1)))

/**
 * The mark of a call: one that failed keeps its own, one with failures below it is none that went well.
 * @param below calls that failed below it
 */
export function outcomeWith(row: Pick<Row, 'status'>, below: number): Outcome {
  const status = below > 0 && row.status === 'success' ? 'descendant_error' : row.status
  if (below === 0) return { status, label: statusNames[status] }
  const said = `${plural(below, 'error')} below`
  return { status, label: status === 'descendant_error' ? said : `${statusNames[status]}, ${said}` }
}

/** A trace that took longer than its root, by more than what rounds away. */
export const isLonger = (row: Pick<Row, 'latencyMs'>, totals: TotalsOfRow): totals is Totals =>
  row.latencyMs !== null && (totalsIn(totals)?.duration_ms ?? 0) > row.latencyMs * 1.01 + 1
