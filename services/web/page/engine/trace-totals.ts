// Figures of a whole trace in a row of the list: its status, and its usage.
import { plural } from './format.ts'
import { type Row, type Status, statusNames } from './rows.ts'

/** Totals as the route of whole traces answers them. */
export type Totals = {
  errors: number
  spans: number
  duration_ms: number
  input_tokens: number
  output_tokens: number
  cost: number | null
  models: readonly string[]
}

/** Undefined while they are on their way; a text says why there are none. */
export type TotalsOfRow = Totals | string | undefined

/** Errors of a trace but for that of the root. */
const errorsBelow = (row: Pick<Row, 'exception'>, totals: TotalsOfRow): number =>
  typeof totals === 'object' ? Math.max(0, totals.errors - (row.exception === null ? 0 : 1)) : 0

/** The mark of a row: a root that failed keeps its own, one with failures below it is none that went well. */
export function outcomeOf(
  row: Pick<Row, 'exception' | 'status'>,
  totals: TotalsOfRow,
): { status: Status; label: string } {
  const below = errorsBelow(row, totals)
  const status = below > 0 && row.status === 'success' ? 'descendant_error' : row.status
  if (below === 0) return { status, label: statusNames[status] }
  const said = `${plural(below, 'error')} below`
  return { status, label: status === 'descendant_error' ? said : `${statusNames[status]}, ${said}` }
}

/** A trace that took longer than its root, by more than what rounds away. */
export const isLonger = (row: Pick<Row, 'latencyMs'>, totals: TotalsOfRow): totals is Totals =>
  typeof totals === 'object' && row.latencyMs !== null && totals.duration_ms > row.latencyMs * 1.01 + 1
