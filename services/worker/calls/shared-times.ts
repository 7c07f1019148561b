// Keeps the rows of spans apart that have one id and begin in the same microsecond of two traces: the table has one row for
// a project, time and id, so the later of them begins a microsecond later there.
import { Buffer } from 'node:buffer'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import type { SegmentRow } from '../../events/segment-rows.ts'
import { keyOfTexts, type PlacedSpan, placedSpanOf } from './call-rows.ts'
import type { SpansOfRows } from './spans.ts'

const keyOf = ({ project, id }: PlacedSpan): string => keyOfTexts(project, id)

/** Spans of which something may be stored, or that come in two traces. */
function suspectsOf({ traces, storedCalls }: SpansOfRows): Map<string, PlacedSpan[]> {
  const all = [...traces.values()].flatMap(({ project, trace, spans }) =>
    spans.map(({ id, startedUs: us }) => ({ project, id, trace, us })),
  )
  const byCall = Map.groupBy(all, keyOf)
  for (const [key, spans] of byCall) if (spans.length === 1 && storedCalls?.has(key) === false) byCall.delete(key)
  return byCall
}

/** Times of the spans in the table: those that are stored keep theirs, and so does the first that comes. */
function place(spans: readonly PlacedSpan[], stored: readonly PlacedSpan[]): Map<string, number> {
  const takenBy = new Map(stored.map(({ us, trace }) => [us, trace]))
  const placed = new Map<string, number>()
  for (const { trace, us } of spans) {
    let free = us
    while ((takenBy.get(free) ?? trace) !== trace) free++
    takenBy.set(free, trace)
    placed.set(`${trace} ${us}`, free)
  }
  return placed
}

const timeLead = '"started_us":'

function withTime(row: SegmentRow, from: number, to: number): SegmentRow {
  const at = row.text.indexOf(`${timeLead}${from}`) + timeLead.length
  const end = at + String(from).length
  const text = Buffer.concat([row.text.subarray(0, at), Buffer.from(String(to)), row.text.subarray(end)])
  return { ...row, text }
}

/**
 * Moves spans whose time is taken by the row of another trace, in the rows and in `spans`. The same rows get the same times
 * each time they come.
 * @param read the rows of `spans`
 * @returns the rows as they are to be inserted; undefined when none is moved, which is the common case
 */
export async function withSharedTimesMoved(
  store: Pick<Store, 'rows'>,
  spans: SpansOfRows,
  read: () => Promise<SegmentRow[]>,
): Promise<SegmentRow[] | undefined> {
  const suspects = suspectsOf(spans)
  if (suspects.size === 0) return undefined
  const named = [...suspects.values()].map(([first]) => first as PlacedSpan)
  const params = { projects: named.map(({ project }) => project), ids: named.map(({ id }) => id) }
  const found = await store.rows<{ project_id: string; id: string; trace_id: string; us: string }>(
    statement('calls-shared-times', params),
    { pool: 'background' },
  )
  const stored = Map.groupBy(
    found.map(({ project_id: project, id, trace_id: trace, us }) => ({ project, id, trace, us: Number(us) })),
    keyOf,
  )
  const moves = new Map<string, number>()
  for (const [key, some] of suspects)
    for (const [at, us] of place(some, stored.get(key) ?? []))
      if (!at.endsWith(` ${us}`)) moves.set(`${key}\n${at}`, us)
  if (moves.size === 0) return undefined
  const moved = (span: PlacedSpan): number => moves.get(`${keyOf(span)}\n${span.trace} ${span.us}`) ?? span.us
  for (const { project, trace, spans: some } of spans.traces.values())
    for (const span of some) span.startedUs = moved({ project, trace, id: span.id, us: span.startedUs })
  return (await read()).map((row) => {
    const span = placedSpanOf(row.text)
    const us = span && moved(span)
    return span === undefined || us === undefined || us === span.us ? row : withTime(row, span.us, us)
  })
}
